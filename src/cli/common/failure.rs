//! The failure of a command: its message, its exit code, and hints on the commands and options that help. Libraries
//! name no commands, because others use them without the program.

use std::fmt::Display;
use std::io;
use std::path::Path;

use m3_embedding::EncoderError;
use m3_encoder::{AssetError, CacheError, CacheTrouble, OnnxError};
use m3_score::{RoleRulesError, ScoreError};
use m3_servers::candidates::CandidateError;
use m3_servers::distractors::DistractorError;
use m3_servers::simulated::SimulationError;
use m3_support::journal::JournalError;
use m3_support::text::shortened;
use m3_support::{files, names};
use m3_trajectory::catalog::CatalogError;
use m3_trajectory::{OpenError, SourceError, WholeFileError};

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

/// A result of the command line's own functions, whose error ends the command.
pub(crate) type Result<T = (), E = Failure> = std::result::Result<T, E>;

impl Failure {
    pub(crate) fn new(code: u8, message: impl Into<String>) -> Self {
        Self { code, message: Some(message.into()) }
    }

    /// Bad usage or input.
    pub(crate) fn input(message: impl Display) -> Self {
        Self::new(code::INPUT, message.to_string())
    }

    /// Something needed is not available.
    pub(crate) fn unavailable(message: impl Display) -> Self {
        Self::new(code::UNAVAILABLE, message.to_string())
    }

    /// Mistakes in the arguments, as clap words them.
    pub(crate) fn usage(error: &clap::Error) -> Self {
        let text = error.to_string();
        Self::input(text.trim_start_matches("error: ").trim_end())
    }

    /// A failure whose messages are printed already.
    pub(crate) fn silent(code: u8) -> Self {
        Self { code, message: None }
    }

    /// A failure to write to the file or folder at `path`.
    pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> Self {
        move |cause| Self::output(&format!("`{}`", path.display()), &cause)
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

/// A failure to write a result, whose error names the target. If the reader has stopped reading (`m3 score .. | head`),
/// it is not a failure.
impl From<io::Error> for Failure {
    fn from(cause: io::Error) -> Self {
        Self::to_write(&cause.to_string(), &cause)
    }
}

impl From<WholeFileError> for Failure {
    fn from(error: WholeFileError) -> Self {
        match error {
            WholeFileError::Source(error) => error.into(),
            error => Self::input(error),
        }
    }
}

impl From<RoleRulesError> for Failure {
    fn from(error: RoleRulesError) -> Self {
        match error {
            RoleRulesError::File(error) => error.into(),
            error @ RoleRulesError::Content { .. } => Self::input(error),
        }
    }
}

impl From<CatalogError> for Failure {
    fn from(error: CatalogError) -> Self {
        match error {
            CatalogError::File(error) => error.into(),
            error @ CatalogError::Shape { .. } => Self::input(error),
        }
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
            Err(error) => Self::unavailable(error),
        }
    }
}

impl From<ScoreError> for Failure {
    fn from(error: ScoreError) -> Self {
        match error {
            ScoreError::Source(error) => error.into(),
            ScoreError::Encoder(error) => error.into(),
            error @ ScoreError::NoOverlap { .. } => Self::input(error),
        }
    }
}

/// The message of an error with one more hint, unless that is empty.
fn with_hint(error: &impl Display, hint: &str) -> String {
    let message = error.to_string();
    if hint.is_empty() {
        return message;
    }
    let is_hinted = message.lines().last().is_some_and(|line| line.starts_with("hint: "));
    match is_hinted {
        // After a question mark, the next hint begins without a semicolon.
        true if message.ends_with('?') => format!("{message} {hint}"),
        true => format!("{message}; {hint}"),
        false => format!("{message}\nhint: {hint}"),
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        let code =
            if let SourceError::Spool { cause, .. } = &error { Self::code_of(cause) } else { code::INPUT };
        let is_growth = matches!(error, SourceError::Growth { .. });
        Self::new(code, with_hint(&error, if is_growth { "if it should: `--max-unpacked MIB`" } else { "" }))
    }
}

impl From<AssetError> for Failure {
    fn from(error: AssetError) -> Self {
        let code = match &error {
            AssetError::File { cause, .. } => Self::code_of(cause),
            _ => code::UNAVAILABLE,
        };
        let hint = match &error {
            AssetError::EncoderDir { .. } => "`--encoder` or M3_ENCODER_DIR names it",
            AssetError::RuntimeLibrary { .. } => "where the variable is not set, `m3 setup` fetches it",
            AssetError::Damaged { .. } => {
                "`m3 setup --force` fetches it again; one placed by hand should be copied again"
            }
            AssetError::NotFetched { .. } => "`m3 setup` tries again",
            AssetError::UnknownModel { .. } => "`m3 setup --help` lists all",
            AssetError::NoCacheDir => "`--cache-dir` names one too",
            _ => "",
        };
        Self::new(code, with_hint(&error, hint))
    }
}

impl From<OnnxError> for Failure {
    fn from(error: OnnxError) -> Self {
        match error {
            OnnxError::Asset(error) => error.into(),
            OnnxError::Runtime { .. } => Self::unavailable(with_hint(&error, "`m3 setup --force` does that")),
            _ => Self::unavailable(error),
        }
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
    let needs_encoder = matches!(error, DistractorError::NoEncoder);
    with_hint(error, if needs_encoder { "`m3 setup` fetches it" } else { "" })
}

impl From<DistractorError> for Failure {
    fn from(error: DistractorError) -> Self {
        match error {
            DistractorError::Encoder(error) => error.into(),
            error => Self::input(distractors_message(&error)),
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
            error => {
                let hint = match error {
                    SimulationError::Trajectories(OpenError::Invalid { .. }) => "`m3 validate` lists them",
                    SimulationError::EmptyCatalog { .. } => {
                        "a catalog is what `m3 tools CONFIG --format json` prints"
                    }
                    _ => "",
                };
                Self::input(with_hint(&error, hint))
            }
        }
    }
}

/// A hint with the most similar names: ` hint: did you mean ..`, or an empty text.
pub(crate) fn nearest(name: &str, known: &[&str]) -> String {
    let near: Vec<String> = names::nearest(name, known.iter().copied())
        .iter()
        .filter(|(likeness, _)| *likeness > 0.7)
        .map(|(_, known)| format!("`{}`", shortened(known, 100)))
        .collect();
    if near.is_empty() { String::new() } else { format!("\nhint: did you mean {}?", near.join(" or ")) }
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
