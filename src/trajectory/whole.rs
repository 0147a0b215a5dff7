//! Small JSON files, read whole: catalogs, configurations, arguments.

use std::io::Read as _;
use std::path::Path;

use super::json::{self, Json, Oddity};
use super::source::{Source, SourceError};

/// A JSON file as it was read.
#[derive(Debug)]
pub struct WholeFile {
    /// The file as the user named it, made visible; `standard input` for `-`.
    pub name: String,
    /// What is in it.
    pub value: Json,
    /// What is not plain JSON in it.
    pub oddities: Vec<Oddity>,
}

/// A JSON file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum WholeFileError {
    /// Opening or reading failed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It is larger than what is asked for can be.
    #[error("`{path}` has more than {mebibytes} MiB\nhint: this is probably another file than was meant")]
    TooLarge {
        /// The file.
        path: String,
        /// The limit.
        mebibytes: u64,
    },
    /// It is not JSON.
    #[error("`{path}:{line}:{column}` is not JSON: {message}")]
    Syntax {
        /// The file.
        path: String,
        /// Line, from 1.
        line: u64,
        /// Column in bytes, from 1.
        column: u64,
        /// What is wrong.
        message: String,
    },
}

impl WholeFile {
    /// Reads one JSON value from a file, `-` for standard input, gzip too.
    ///
    /// # Errors
    /// [`WholeFileError`], with the place.
    pub fn read(path: &Path, max_mebibytes: u64) -> Result<Self, WholeFileError> {
        let source = Source::open(path)?;
        let max_bytes = max_mebibytes << 20;
        let mut text = Vec::new();
        source.reader()?.take(max_bytes + 1).read_to_end(&mut text).map_err(|cause| source.error(cause))?;
        let name = source.name().to_owned();
        if text.len() as u64 > max_bytes {
            return Err(WholeFileError::TooLarge { path: name, mebibytes: max_mebibytes });
        }
        match json::parse(&text) {
            Ok((value, oddities)) => Ok(Self { name, value, oddities }),
            Err(error) => {
                let (line, column) = source.position(error.offset as u64);
                Err(WholeFileError::Syntax { path: name, line, column, message: error.message })
            }
        }
    }
}
