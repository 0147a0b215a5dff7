//! Why a command failed, and the exit code that says so.

use std::io;

use crate::encoder::{AssetError, EncoderError};
use crate::score::{ScoreError, ThresholdError};
use crate::trajectory::catalog::CatalogError;
use crate::trajectory::{OpenError, SourceError};

/// The exit codes of every command; 0 is success, 130 (interrupted) comes from the shell.
pub(crate) mod code {
    /// A threshold given by the user was not met.
    pub(crate) const NOT_MET: u8 = 1;
    /// Bad usage or input.
    pub(crate) const INPUT: u8 = 2;
    /// Something needed is not available.
    pub(crate) const UNAVAILABLE: u8 = 4;
}

/// A command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    /// What to say; nothing if everything has been said.
    pub(crate) message: Option<String>,
}

impl Failure {
    pub(crate) fn new(code: u8, message: impl Into<String>) -> Self {
        Self { code, message: Some(message.into()) }
    }

    /// Everything has been said already.
    pub(crate) fn silent(code: u8) -> Self {
        Self { code, message: None }
    }

    /// A failure to write a result. A reader that has seen enough (`m3 score .. | head`) is no failure.
    pub(crate) fn output(target: &str, cause: &io::Error) -> Self {
        let code = match cause.kind() {
            io::ErrorKind::BrokenPipe => return Self::silent(0),
            io::ErrorKind::NotFound
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::NotADirectory => code::INPUT,
            _ => code::UNAVAILABLE,
        };
        let hint = if code == code::INPUT {
            "check that the folder exists and may be written"
        } else {
            "make space or name another place; what stood there before is unchanged"
        };
        Self::new(code, format!("failed to write to {target}: {cause}\nhint: {hint}"))
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::new(code::INPUT, error.to_string())
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::new(code::INPUT, error.to_string())
    }
}

impl From<CatalogError> for Failure {
    fn from(error: CatalogError) -> Self {
        Self::new(code::INPUT, error.to_string())
    }
}

impl From<ThresholdError> for Failure {
    fn from(error: ThresholdError) -> Self {
        Self::new(code::INPUT, error.to_string())
    }
}

impl From<AssetError> for Failure {
    fn from(error: AssetError) -> Self {
        Self::new(code::UNAVAILABLE, error.to_string())
    }
}

impl From<EncoderError> for Failure {
    fn from(error: EncoderError) -> Self {
        Self::new(code::UNAVAILABLE, error.to_string())
    }
}

impl From<ScoreError> for Failure {
    fn from(error: ScoreError) -> Self {
        match error {
            ScoreError::Source(error) => error.into(),
            ScoreError::Encoder(error) => error.into(),
            ScoreError::Sink(cause) => Self::output("standard output", &cause),
            error @ (ScoreError::NoOverlap { .. } | ScoreError::TooLarge { .. }) => {
                Self::new(code::INPUT, error.to_string())
            }
        }
    }
}
