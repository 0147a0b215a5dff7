//! The failure of a command: its message and its exit code.

use std::io;

use m3_embedding::EncoderError;
use m3_encoder::OnnxError;
use m3_executor::TooManyTools;
use m3_score::{RoleRulesError, ScoreError, ThresholdError};
use m3_support::files;
use m3_support::journal::JournalError;
use m3_trajectory::WholeFileError;
use m3_trajectory::catalog::CatalogError;

/// The name of the folder in which a report is prepared, for messages.
pub(crate) const TEMPORARY: &str = "the folder for temporary files (TMPDIR)";

/// The exit codes of every command; 0 is success, 130 (interrupted) comes from the shell.
pub(crate) mod code {
    /// A condition that the user set is not satisfied, such as `--fail-under` or `--fail-if-worse`.
    pub(crate) const NOT_MET: u8 = 1;
    /// Bad usage or input.
    pub(crate) const INPUT: u8 = 2;
    /// Finished, with recorded failures of servers or a tool.
    pub(crate) const FAILED: u8 = 3;
    /// Something needed is not available.
    pub(crate) const UNAVAILABLE: u8 = 4;
    /// The run was told to end (Ctrl-C, `SIGTERM`, `SIGHUP`), and everything it had started was ended. (If there is
    /// nothing to end, the shell sets this code.)
    pub(crate) const INTERRUPTED: u8 = 130;
    /// A simulated server crashed as it was told to, or m3 called as a library has failed on a bug (`EX_SOFTWARE`).
    pub(crate) const CRASHED: u8 = 70;
}

/// The failure of a command.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    /// The message; `None` if all messages are printed already.
    pub(crate) message: Option<String>,
}

impl Failure {
    pub(crate) fn new(code: u8, message: impl Into<String>) -> Self {
        Self { code, message: Some(message.into()) }
    }

    /// Mistakes in the arguments, as clap words them.
    pub(crate) fn usage(error: &clap::Error) -> Self {
        let text = error.to_string();
        Self::new(code::INPUT, text.trim_start_matches("error: ").trim_end())
    }

    /// A failure whose messages are printed already.
    pub(crate) fn silent(code: u8) -> Self {
        Self { code, message: None }
    }

    /// A failure to write a result, whose error names the target. If the reader has stopped reading (`m3 score .. |
    /// head`), it is not a failure.
    pub(crate) fn written(cause: &io::Error) -> Self {
        Self::to_write(&cause.to_string(), cause)
    }

    /// A failure to use the folder for temporary files.
    pub(crate) fn temporary(cause: &io::Error) -> Self {
        Self::output(TEMPORARY, cause)
    }

    /// A failure to write a result to `target`.
    pub(crate) fn output(target: &str, cause: &io::Error) -> Self {
        Self::to_write(&format!("{target}: {cause}"), cause)
    }

    fn to_write(what: &str, cause: &io::Error) -> Self {
        let cause = unwrapped(cause);
        if cause.kind() == io::ErrorKind::BrokenPipe {
            return Self::silent(0);
        }
        Self::new(Self::code_of(cause), format!("failed to write to {what}\nhint: {}", files::hint(cause)))
    }

    /// The code for a failure to write: [`code::INPUT`] if another place has to be named, [`code::UNAVAILABLE`] if
    /// something is missing on the machine.
    pub(crate) fn code_of(cause: &io::Error) -> u8 {
        if files::is_of_place(cause) { code::INPUT } else { code::UNAVAILABLE }
    }
}

/// The system's error inside an error of the `csv` crate, which does not pass on its kind.
fn unwrapped(cause: &io::Error) -> &io::Error {
    match cause.get_ref().and_then(|inner| inner.downcast_ref::<csv::Error>()).map(csv::Error::kind) {
        Some(csv::ErrorKind::Io(inner)) => inner,
        _ => cause,
    }
}

impl From<WholeFileError> for Failure {
    fn from(error: WholeFileError) -> Self {
        match error {
            WholeFileError::Source(error) => error.into(),
            error => Self::new(code::INPUT, error.to_string()),
        }
    }
}

impl From<RoleRulesError> for Failure {
    fn from(error: RoleRulesError) -> Self {
        match error {
            RoleRulesError::File(error) => error.into(),
            error @ RoleRulesError::Content { .. } => Self::new(code::INPUT, error.to_string()),
        }
    }
}

impl From<CatalogError> for Failure {
    fn from(error: CatalogError) -> Self {
        match error {
            CatalogError::File(error) => error.into(),
            error @ CatalogError::Shape { .. } => Self::new(code::INPUT, error.to_string()),
        }
    }
}

impl From<ThresholdError> for Failure {
    fn from(error: ThresholdError) -> Self {
        Self::new(code::INPUT, error.to_string())
    }
}

impl From<TooManyTools> for Failure {
    fn from(error: TooManyTools) -> Self {
        Self::new(code::INPUT, error.to_string())
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        let code = match error {
            JournalError::Foreign { .. } | JournalError::Line { .. } | JournalError::TooLarge { .. } => {
                code::INPUT
            }
            JournalError::Io { ref cause, .. } => Self::code_of(cause),
            JournalError::Locked { .. } | JournalError::Changed { .. } => code::UNAVAILABLE,
        };
        Self::new(code, error.to_string())
    }
}

impl From<EncoderError> for Failure {
    fn from(error: EncoderError) -> Self {
        match error.into_cause().downcast::<OnnxError>() {
            Ok(error) => (*error).into(),
            Err(error) => Self::new(code::UNAVAILABLE, error.to_string()),
        }
    }
}

impl From<ScoreError> for Failure {
    fn from(error: ScoreError) -> Self {
        match error {
            ScoreError::Source(error) => error.into(),
            ScoreError::Encoder(error) => error.into(),
            error @ ScoreError::NoOverlap { .. } => Self::new(code::INPUT, error.to_string()),
        }
    }
}
