//! Files that m3 has written, opened again, and why one of them cannot be used.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use m3_support::files::is_gzip;
use m3_support::text::{counted, shortened, visible};
use m3_support::unpack::GzipReader;
use m3_trajectory::SourceError;

/// Nothing is read beyond so many bytes; the largest file of the real benchmark has 0.7 MB.
const MAX_BYTES: u64 = 4 << 30;

/// A file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UnusableFile {
    /// It cannot be read.
    #[error("failed to read `{}`: {cause}", visible(&.path.display().to_string(), false))]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        cause: io::Error,
    },
    /// It is a file of trajectories that cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It is something else, or has something in it that cannot be.
    #[error(
        "`{}` {}: {}\nhint: {}", visible(&.path.display().to_string(), false), .expected.not_met,
        shortened(.message, 300), .expected.hint
    )]
    Content {
        /// The file.
        path: PathBuf,
        /// What it should be.
        expected: ExpectedFile,
        /// What is wrong.
        message: String,
    },
    /// It is of other calls.
    #[error(
        "`{}` is of other predictions: trajectory `{}` has {found} in it, and {} in the predictions\nhint: run \
         `{command}` again on the predictions that are scored",
        visible(&.path.display().to_string(), false), shortened(.id, 80), counted(*.calls, "call")
    )]
    OtherCalls {
        /// The file.
        path: PathBuf,
        /// The trajectory.
        id: String,
        /// How many calls it has in the file, in words.
        found: String,
        /// How many calls the prediction has.
        calls: usize,
        /// What writes such files.
        command: &'static str,
    },
}

/// What a file should be.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedFile {
    /// What to say of a file that is something else.
    pub(crate) not_met: &'static str,
    /// What makes such a file.
    pub(crate) hint: &'static str,
}

/// Opens a file, decompressed if it is gzip.
///
/// # Errors
/// The system's reason; a folder is no file.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    decompressed(Box::new(BufReader::new(file)))
}

/// Decompresses what is gzip (RFC 1952), and passes over a byte order mark.
pub(crate) fn decompressed(mut reader: Box<dyn BufRead>) -> io::Result<Box<dyn BufRead>> {
    if is_gzip(reader.fill_buf()?) {
        reader = Box::new(GzipReader::buffered(reader));
    }
    if reader.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        reader.consume(3);
    }
    Ok(Box::new(reader.take(MAX_BYTES)))
}
