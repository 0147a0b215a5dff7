//! Who hears what a command says, when a program calls it rather than a shell.
//!
//! A listener is of a thread: what a command says on it, and the bars that it makes there, go to the caller.

use std::cell::RefCell;
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};

use m3_trajectory::{Problem, Severity};

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
pub struct CommandResult {
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

/// Ends a command from within, when the caller does not want it any more.
pub(in crate::cli) struct StoppedByCaller;

/// Who hears what a command says.
#[derive(Clone)]
pub(in crate::cli) struct Listener {
    heard: Arc<Mutex<CommandResult>>,
    watch: Arc<Watch>,
}

thread_local! {
    static CURRENT: RefCell<Option<Listener>> = const { RefCell::new(None) };
}

/// Listens until it is dropped.
pub(in crate::cli) struct Listening;

impl Drop for Listening {
    fn drop(&mut self) {
        CURRENT.take();
    }
}

impl Listener {
    pub(in crate::cli) fn new(watch: Arc<Watch>) -> Self {
        Self { heard: Arc::default(), watch }
    }

    /// What was heard so far.
    pub(in crate::cli) fn take(&self) -> CommandResult {
        std::mem::take(&mut self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Who called the command that runs on this thread.
    pub(in crate::cli) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    pub(in crate::cli) fn start(&self) -> Listening {
        CURRENT.set(Some(self.clone()));
        Listening
    }

    pub(in crate::cli) fn hear(&self, severity: Severity, text: &str, problem: Option<&Problem>) {
        let message = Message { severity, text: text.to_owned(), problem: problem.cloned() };
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).messages.push(message);
    }

    /// Tells the caller how far the work is. Unwinds if the caller wants no more.
    pub(in crate::cli) fn progress(&self, what: &str, done: u64, total: u64) {
        if !(self.watch)(what, done, total) {
            resume_unwind(Box::new(StoppedByCaller));
        }
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
