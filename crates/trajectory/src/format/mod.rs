//! The formats of files that trajectories are read from: a table, and the parts of a row.
//!
//! [`TrajectoryFile`](crate::TrajectoryFile) only uses the table, never a format by name. m3's own formats are read
//! in place. Every other format is converted, one trajectory after the other, as m3's own JSON Lines in an unnamed
//! temporary file: so problems, repeated ids and reading on demand are handled in the same way for all, and memory
//! does not grow with the file.

mod json;
mod json_lines;
mod output;

pub use output::Output;

use crate::source::Source;
use crate::source_error::SourceError;
use crate::split::{Layout, Noun, without_byte_order_mark};

/// Every format. The first that recognizes a file reads it: the most specific come first, and the last accepts every
/// file.
pub const FORMATS: &[Format] = &[json_lines::FORMAT, json::FORMAT];

/// A format of files that hold trajectories.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The name of the format for users, such as `json-lines`.
    pub name: &'static str,
    /// The content of the files, in words for users.
    pub title: &'static str,
    /// Whether a file with this beginning has this format.
    pub recognizes: fn(&Start<'_>) -> bool,
    /// The way in which the files are read.
    pub read: ReadFormat,
}

/// How the files of a format are read.
#[derive(Debug, Clone, Copy)]
pub enum ReadFormat {
    /// m3's own trajectories: their places are found, and each is read from its place on demand.
    InPlace(FindTrajectories),
    /// All trajectories are written to the output in the order of the file, with their problems.
    Converted(ConvertFile),
}

/// Finds trajectories in a file.
pub type FindTrajectories = fn(&Source, Noun) -> Result<Layout, SourceError>;

/// Reads the file's bytes, and writes trajectories and problems with their places.
pub type ConvertFile = fn(&Source, &mut Output<'_>) -> Result<(), SourceError>;

/// The beginning of a file.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// The file as the user named it. A name is a hint only; standard input has none.
    pub name: &'a str,
    /// The first 64 KiB of the file after decompression, without a byte order mark.
    pub bytes: &'a [u8],
    /// The file, for formats that have to look further.
    pub source: &'a Source,
}

/// How many bytes of a file's start are passed to formats.
const START: u64 = 64 << 10;

/// The format of a file among `formats`.
pub(crate) fn recognize(source: &Source, formats: &[Format]) -> Result<Format, SourceError> {
    let start = source.start(START)?;
    let start = Start { name: source.name(), bytes: without_byte_order_mark(&start), source };
    let found = formats.iter().find(|format| (format.recognizes)(&start));
    if source.is_folder() && found.is_none_or(|format| matches!(format.read, ReadFormat::InPlace(_))) {
        return Err(SourceError::Folder { path: source.name().to_owned() });
    }
    // A file of no format in `formats` is read as JSON, so that its problems are reported.
    Ok(*found.unwrap_or(&json::FORMAT))
}

#[cfg(test)]
mod tests;
