//! Hints that the program adds to the errors of its libraries: which commands and options help. The libraries name
//! none, because others use them without the program.

use std::fmt::Display;

use m3_encoder::{AssetError, CacheError, CacheTrouble, OnnxError};
use m3_servers::candidates::CandidateError;
use m3_servers::distractors::DistractorError;
use m3_servers::simulated::SimulationError;
use m3_trajectory::{OpenError, SourceError};

use super::failure::{Failure, code};

/// The message of an error with one more hint.
fn with_hint(error: &impl Display, hint: &str) -> String {
    let message = error.to_string();
    let is_hinted = message.lines().last().is_some_and(|line| line.starts_with("hint: "));
    match is_hinted {
        // After a question mark, the next hint begins without a semicolon.
        true if message.ends_with('?') => format!("{message} {hint}"),
        true => format!("{message}; {hint}"),
        false => format!("{message}\nhint: {hint}"),
    }
}

/// The message of an error about the encoder's files.
fn assets_message(error: &AssetError) -> String {
    match error {
        AssetError::EncoderDir { .. } => with_hint(error, "`--encoder` or M3_ENCODER_DIR names it"),
        AssetError::RuntimeLibrary { .. } => {
            with_hint(error, "where the variable is not set, `m3 setup` fetches it")
        }
        AssetError::Damaged { .. } => {
            with_hint(error, "`m3 setup --force` fetches it again; one placed by hand should be copied again")
        }
        AssetError::NotFetched { .. } => with_hint(error, "`m3 setup` tries again"),
        AssetError::UnknownModel { .. } => with_hint(error, "`m3 setup --help` lists all"),
        AssetError::NoCacheDir => with_hint(error, "`--cache-dir` names one too"),
        _ => error.to_string(),
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        let code =
            if let SourceError::Spool { cause, .. } = &error { Self::code_of(cause) } else { code::INPUT };
        let message = match &error {
            SourceError::Growth { .. } => with_hint(&error, "if it should: `--max-unpacked MIB`"),
            _ => error.to_string(),
        };
        Self::new(code, message)
    }
}

impl From<AssetError> for Failure {
    fn from(error: AssetError) -> Self {
        let code = match &error {
            AssetError::File { cause, .. } => Self::code_of(cause),
            _ => code::UNAVAILABLE,
        };
        Self::new(code, assets_message(&error))
    }
}

impl From<OnnxError> for Failure {
    fn from(error: OnnxError) -> Self {
        let message = match error {
            OnnxError::Asset(error) => return error.into(),
            OnnxError::Runtime { .. } => with_hint(&error, "`m3 setup --force` does that"),
            _ => error.to_string(),
        };
        Self::new(code::UNAVAILABLE, message)
    }
}

impl From<CacheError> for Failure {
    fn from(error: CacheError) -> Self {
        let hint = match error.trouble() {
            CacheTrouble::Damaged => "`m3 cache clear` replaces a damaged cache",
            CacheTrouble::ReadOnly => "make it writable, or name another folder with `--cache-dir`",
            CacheTrouble::Busy => "another m3 is writing to it; try again when that has ended",
            CacheTrouble::Full => "make space, or name another folder with `--cache-dir`",
            CacheTrouble::Other => "name another folder with `--cache-dir`",
        };
        let is_read_only = error.trouble() == CacheTrouble::ReadOnly;
        Self::new(if is_read_only { code::INPUT } else { code::UNAVAILABLE }, with_hint(&error, hint))
    }
}

fn distractors_message(error: &DistractorError) -> String {
    match error {
        DistractorError::NoEncoder => with_hint(error, "`m3 setup` fetches it"),
        _ => error.to_string(),
    }
}

impl From<DistractorError> for Failure {
    fn from(error: DistractorError) -> Self {
        match error {
            DistractorError::Encoder(error) => error.into(),
            error => Self::new(code::INPUT, distractors_message(&error)),
        }
    }
}

/// The message of an error about the tools that a task is offered.
pub(crate) fn candidates_message(error: &CandidateError) -> String {
    match error {
        CandidateError::NotOffered { .. } => with_hint(error, "`m3 tools CONFIG` lists what is offered"),
        CandidateError::Distractors(error) => distractors_message(error),
        CandidateError::TooManyNeeded { .. } => error.to_string(),
    }
}

impl From<SimulationError> for Failure {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Distractors(error) => error.into(),
            SimulationError::Source(error) | SimulationError::Trajectories(OpenError::Source(error)) => {
                error.into()
            }
            SimulationError::Trajectories(OpenError::Invalid { .. }) => {
                Self::new(code::INPUT, with_hint(&error, "`m3 validate` lists them"))
            }
            SimulationError::EmptyCatalog { .. } => Self::new(
                code::INPUT,
                with_hint(&error, "a catalog is what `m3 tools CONFIG --format json` prints"),
            ),
            error => Self::new(code::INPUT, error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message_of(error: impl Into<Failure>) -> String {
        error.into().message.unwrap()
    }

    #[test]
    fn what_the_library_says_is_followed_by_the_command_that_helps() {
        let damaged = AssetError::Damaged { path: "w".into(), found: "1".to_owned(), expected: "2" };
        assert_eq!(damaged.to_string(), "`w` is damaged: its SHA-256 is 1, not 2");
        let expected = "`w` is damaged: its SHA-256 is 1, not 2\nhint: `m3 setup --force` fetches it again; one placed \
                        by hand should be copied again";
        assert_eq!(message_of(damaged), expected);
        let empty = SimulationError::EmptyCatalog { path: "c.json".to_owned() };
        assert!(message_of(empty).ends_with(
            "no tools to simulate\nhint: a catalog is what `m3 tools CONFIG --format json` prints"
        ));
    }

    /// A second hint stands on the line of the first.
    #[test]
    fn a_hint_of_the_library_stays() {
        let said = message_of(DistractorError::NoEncoder);
        assert!(said.ends_with("\nhint: random ones do without; `m3 setup` fetches it"), "{said}");
        assert_eq!(said.matches("hint:").count(), 1);
    }
}
