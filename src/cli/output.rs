//! Where a report goes: standard output, or a file that appears when the report is complete.

use std::fs::File;
use std::io::{self, Seek as _, Write};
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::printer::Printer;
use crate::files::AtomicFile;

/// The target of a report.
pub(super) enum Output {
    Standard {
        out: Box<dyn Write>,
        is_styled: bool,
    },
    /// Gathered in a temporary file without a name, so that nothing stays behind when the run is interrupted.
    File {
        gathered: File,
        path: PathBuf,
    },
}

impl Output {
    /// Standard output, or `path`. Fails at once if nothing can be written there, not after the work is done.
    pub(super) fn open(path: Option<&Path>, printer: Printer) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Self::Standard { out: Box::new(Printer::out()), is_styled: printer.is_styled() });
        };
        let gathered = AtomicFile::create(path).and_then(|_| tempfile::tempfile());
        match gathered {
            Ok(gathered) => Ok(Self::File { gathered, path: path.to_owned() }),
            Err(cause) => Err(failure(path, &cause)),
        }
    }

    /// Whether the target shows colours.
    pub(super) fn is_styled(&self) -> bool {
        matches!(self, Self::Standard { is_styled: true, .. })
    }

    /// Makes the report complete.
    pub(super) fn commit(self) -> Result<(), Failure> {
        match self {
            Self::Standard { mut out, .. } => {
                out.flush().map_err(|cause| Failure::output("standard output", &cause))
            }
            Self::File { mut gathered, path } => {
                let mut write = || {
                    gathered.rewind()?;
                    let mut file = AtomicFile::create(&path)?;
                    io::copy(&mut gathered, &mut file)?;
                    file.commit()
                };
                write().map_err(|cause| failure(&path, &cause))
            }
        }
    }
}

fn failure(path: &Path, cause: &io::Error) -> Failure {
    Failure::output(&format!("`{}`", path.display()), cause)
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard { out, .. } => out.write(bytes),
            Self::File { gathered, .. } => gathered.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard { out, .. } => out.flush(),
            Self::File { gathered, .. } => gathered.flush(),
        }
    }
}
