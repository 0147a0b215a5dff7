//! m3 called by a program instead of a shell: whole commands, and pairs of trajectories in memory.

pub(crate) mod pairs;

use std::any::Any;
use std::ffi::OsString;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use clap::Parser as _;
use m3_trajectory::Severity;
pub use pairs::{
    FidelityOfArgument, FidelityOfCalls, Pair, PairError, PairScorer, ScoredPair, add_sums, aggregate,
};

use crate::cli::common::{CommandResult, Failure, Listener, Printer, Result, StoppedByCaller, Watch, code};
use crate::cli::old_options::renamed;
use crate::cli::{Cli, run};

/// Runs a command in this process: `arguments` are those after `m3`.
pub fn call(arguments: impl IntoIterator<Item = OsString>, watch: Arc<Watch>) -> CommandResult {
    let listener = Listener::new(watch);
    let arguments = std::iter::once(OsString::from("m3")).chain(arguments);
    let (arguments, notes) = renamed(arguments);
    let done = {
        let _listening = listener.start();
        catch_unwind(AssertUnwindSafe(|| match Cli::try_parse_from(arguments) {
            Ok(cli) => {
                let printer = Printer::new(false);
                for note in &notes {
                    printer.warn(note);
                }
                run(cli, printer)
            }
            Err(error) => said(&error),
        }))
    };
    let code = match done {
        Ok(Ok(())) => 0,
        Ok(Err(Failure { code, message })) => {
            if let Some(message) = message {
                listener.hear(Severity::Error, &message, None);
            }
            code
        }
        Err(panic) => ended_by(&*panic, &listener),
    };
    CommandResult { code, ..listener.take() }
}

/// Writes help or version as output; every other error of clap is a mistake in the arguments.
fn said(error: &clap::Error) -> Result {
    if error.use_stderr() {
        return Err(Failure::usage(error));
    }
    Printer::out().write_all(error.to_string().as_bytes()).map_err(Failure::from)
}

/// The exit code of a command that unwound.
fn ended_by(panic: &(dyn Any + Send), listener: &Listener) -> u8 {
    if panic.is::<StoppedByCaller>() {
        return code::INTERRUPTED;
    }
    let reason = panic.downcast_ref::<&str>().copied();
    let reason =
        reason.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given");
    listener.hear(
        Severity::Error,
        &format!("m3 has failed on a bug of its own: {reason}\nhint: please report it"),
        None,
    );
    code::CRASHED
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(arguments: &[&str], is_wanted: bool) -> CommandResult {
        call(arguments.iter().map(OsString::from), Arc::new(move |_, _, _| is_wanted))
    }

    #[test]
    fn output_and_messages_are_handed_back() {
        let version = called(&["--version"], true);
        assert_eq!(
            (version.code, version.output),
            (0, format!("m3 {}\n", env!("CARGO_PKG_VERSION")).into_bytes())
        );
        let wrong = called(&["scoer"], true);
        assert_eq!((wrong.code, wrong.messages.len()), (code::INPUT, 1));
        assert!(wrong.messages[0].text.contains("scoer"), "{wrong:?}");
    }

    #[test]
    fn problems_have_their_places_and_calls_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wrong.jsonl");
        std::fs::write(&path, "{\"id\": \"a\", \"steps\": []}\n{\"id\": \"b\", \"steps\": 3}\n").unwrap();
        let path = path.to_str().unwrap();
        let check = || {
            let found = called(&["score", path, path], true);
            assert_eq!(found.code, code::INPUT);
            let problem = found.messages[0].problem.as_ref().unwrap();
            assert_eq!((problem.place.line, problem.place.pointer.as_str()), (Some(2), "/steps"));
            assert_eq!(found.messages.len(), 2, "one for each file: {:?}", found.messages);
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(check);
            }
        });
    }

    #[test]
    fn a_command_that_is_not_wanted_any_more_ends() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/trajectories/references.json");
        assert_eq!(called(&["validate", path], false).code, code::INTERRUPTED);
        assert!(Listener::current().is_none());
    }
}
