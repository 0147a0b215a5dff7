//! Commands called by a program that has m3 as a library: nothing is printed, everything is handed back.
//!
//! A call listens on its own thread: what the command says there, and the bars that it makes there, go to the caller. So
//! several threads may call at once.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Parser as _;
use m3_trajectory::{Problem, Severity};

use super::failure::{Failure, code};
use super::printer::Printer;
use super::{Cli, run};

/// What a command said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// How bad it is.
    pub severity: Severity,
    /// What was said, as it would have been printed after `error:`.
    pub text: String,
    /// The problem in a file that it is about, if it is about one.
    pub problem: Option<Problem>,
}

/// What became of a command.
#[derive(Debug, Default)]
pub struct Called {
    /// The exit code of the command: 0 for success.
    pub code: u8,
    /// What it would have written to standard output.
    pub output: Vec<u8>,
    /// What it would have written to standard error.
    pub messages: Vec<Message>,
}

/// Is told what is being done, how much of it is done and how much there is; says whether to go on. Asked from the threads of
/// the command.
pub type Watch = dyn Fn(&str, u64, u64) -> bool + Send + Sync;

/// Runs a command in this process: `arguments` are those after `m3`.
pub fn call(arguments: impl IntoIterator<Item = OsString>, watch: Arc<Watch>) -> Called {
    let listener = Listener { heard: Arc::default(), watch };
    let arguments = std::iter::once(OsString::from("m3")).chain(arguments);
    let done = {
        let _listening = listener.start();
        catch_unwind(AssertUnwindSafe(|| match Cli::try_parse_from(arguments) {
            Ok(cli) => run(cli, Printer::new(false)),
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
        Err(panic) => listener.ended_by(&*panic),
    };
    let mut heard = listener.heard.lock().unwrap_or_else(PoisonError::into_inner);
    Called { code, ..std::mem::take(&mut heard) }
}

/// Help and version are what was asked for; everything else is a mistake in the arguments.
fn said(error: &clap::Error) -> Result<(), Failure> {
    let text = error.to_string();
    if error.use_stderr() {
        let text = text.trim_start_matches("error: ").trim_end();
        return Err(Failure::new(code::INPUT, text));
    }
    Printer::out().write_all(text.as_bytes()).map_err(|cause| Failure::written(&cause))
}

/// Ends a command from within, when the caller does not want it any more.
struct Stopped;

/// Who hears what a command says.
#[derive(Clone)]
pub(super) struct Listener {
    heard: Arc<Mutex<Called>>,
    watch: Arc<Watch>,
}

thread_local! {
    static CURRENT: RefCell<Option<Listener>> = const { RefCell::new(None) };
}

/// Listens until it is dropped.
struct Listening;

impl Drop for Listening {
    fn drop(&mut self) {
        CURRENT.take();
    }
}

impl Listener {
    /// Who called the command that runs on this thread.
    pub(super) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    fn start(&self) -> Listening {
        CURRENT.set(Some(self.clone()));
        Listening
    }

    pub(super) fn hear(&self, severity: Severity, text: &str, problem: Option<&Problem>) {
        let message = Message { severity, text: text.to_owned(), problem: problem.cloned() };
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).messages.push(message);
    }

    /// Tells the caller how far the work is. Unwinds if the caller wants no more.
    pub(super) fn progress(&self, what: &str, done: u64, total: u64) {
        if !(self.watch)(what, done, total) {
            resume_unwind(Box::new(Stopped));
        }
    }

    fn ended_by(&self, panic: &(dyn Any + Send)) -> u8 {
        if panic.is::<Stopped>() {
            return code::INTERRUPTED;
        }
        let reason = panic.downcast_ref::<&str>().copied();
        let reason = reason
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no reason given");
        self.hear(
            Severity::Error,
            &format!("m3 has failed on a bug of its own: {reason}\nhint: please report it"),
            None,
        );
        code::CRASHED
    }
}

impl Write for Listener {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(arguments: &[&str], is_wanted: bool) -> Called {
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
