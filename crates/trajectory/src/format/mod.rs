//! The formats of files that trajectories are read from: a table, and what a row of it has to give.
//!
//! [`TrajectoryFile`](crate::TrajectoryFile) asks the table and never for a format by name. m3's own formats are read where they stand.
//! Every other format is written anew, one trajectory after the other, as m3's own JSON Lines in an unnamed temporary
//! file: problems, ids that stand twice and reading on demand are then the same for all, and memory does not grow with the file.

mod json;
mod json_lines;
mod output;

pub use output::Output;

use crate::source::{Source, SourceError};
use crate::split::{Layout, Noun, without_byte_order_mark};

/// Every format. The first that recognizes a file reads it: those that look for the most come first, and the last takes
/// whatever is left.
pub const FORMATS: &[Format] = &[json_lines::FORMAT, json::FORMAT];

/// A format of files that hold trajectories.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Its name for users, such as `json-lines`.
    pub name: &'static str,
    /// What files of it hold, in words for users.
    pub title: &'static str,
    /// Whether a file that begins so is of it.
    pub recognizes: fn(&Start<'_>) -> bool,
    /// How it is read.
    pub read: ReadFormat,
}

/// How the files of a format are read.
#[derive(Debug, Clone, Copy)]
pub enum ReadFormat {
    /// m3's own trajectories: their places are found, and each is read from its place when it is wanted.
    InPlace(FindTrajectories),
    /// All trajectories are given to the output in the order of the file, with what is wrong or odd in it.
    Converted(ConvertFile),
}

/// Finds trajectories in a file.
pub type FindTrajectories = fn(&Source, Noun) -> Result<Layout, SourceError>;

/// Bytes in, trajectories and problems with places out.
pub type ConvertFile = fn(&Source, &mut Output<'_>) -> Result<(), SourceError>;

/// How a file begins.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// The file as the user named it. A name is a hint only; standard input has none.
    pub name: &'a str,
    /// Its first 64 KiB, what came out of gzip, without a byte order mark.
    pub bytes: &'a [u8],
}

/// Bytes of a file's start that formats are shown.
const START: u64 = 64 << 10;

/// The format of a file among `formats`.
pub(crate) fn recognize(source: &Source, formats: &[Format]) -> Result<Format, SourceError> {
    let start = source.start(START)?;
    let start = Start { name: source.name(), bytes: without_byte_order_mark(&start) };
    let found = formats.iter().find(|format| (format.recognizes)(&start));
    // Whoever leaves m3's own formats out still gets the problems of a file that is none of theirs.
    Ok(*found.unwrap_or(&json::FORMAT))
}

#[cfg(test)]
mod tests;
