//! Files that m3 has written, opened again, and why one of them cannot be used.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use m3_support::text::{counted, shortened, visible};
use m3_support::unpack::{UnpackedReader, is_packed};
use m3_trajectory::SourceError;

/// The most bytes that are read; the largest file of the real benchmark has 0.7 MB.
const MAX_BYTES: u64 = 4 << 30;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UnusableFile {
    /// The file cannot be read.
    #[error("failed to read `{}`: {cause}", visible(&.path.display().to_string(), false))]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        cause: io::Error,
    },
    /// The file of trajectories cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The file is of another kind, or has invalid content.
    #[error(
        "`{}` {}: {}\nhint: {}", visible(&.path.display().to_string(), false), .expected.not_met,
        shortened(.message, 300), .expected.hint
    )]
    Content {
        /// The file.
        path: PathBuf,
        /// The kind of file that was expected.
        expected: ExpectedFile,
        /// The fault in the content.
        message: String,
    },
    /// The file is about other calls.
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
        /// How many calls the trajectory has in the file, in words.
        found: String,
        /// How many calls the prediction has.
        calls: usize,
        /// The command that writes such files.
        command: &'static str,
    },
}

/// The kind of file that is expected.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedFile {
    /// The message about a file of another kind.
    pub(crate) not_met: &'static str,
    /// A hint on how to make such a file.
    pub(crate) hint: &'static str,
}

/// Opens a file, unpacked if it is packed.
///
/// # Errors
/// The system's reason; an error also for a folder.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    decompressed(Box::new(BufReader::new(file)))
}

/// Unpacks gzip and zstd, and skips a byte order mark.
pub(crate) fn decompressed(mut reader: Box<dyn BufRead>) -> io::Result<Box<dyn BufRead>> {
    if is_packed(reader.fill_buf()?) {
        reader = Box::new(UnpackedReader::buffered(reader)?);
    }
    if reader.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        reader.consume(3);
    }
    Ok(Box::new(reader.take(MAX_BYTES)))
}
