//! The program that runs a command in place of a shell, and gets its output, messages and progress.
//!
//! A listener belongs to one thread: it gets the messages of the command on this thread, and the progress of bars made
//! there.

use std::cell::RefCell;
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};

use m3_trajectory::{Problem, Severity};

/// A message of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The severity of the message.
    pub severity: Severity,
    /// The text, as the command would print it after `error:`.
    pub text: String,
    /// The problem in a file that the message is about, if there is one.
    pub problem: Option<Problem>,
}

/// The result of a command.
#[derive(Debug, Default)]
pub struct CommandResult {
    /// The exit code of the command: 0 for success.
    pub code: u8,
    /// The bytes that the command would write to standard output.
    pub output: Vec<u8>,
    /// The messages that the command would write to standard error.
    pub messages: Vec<Message>,
}

/// Receives progress: the name of the work, the amount that is done, and the total. Returns whether to go on. The
/// threads of the command call it.
pub type Watch = dyn Fn(&str, u64, u64) -> bool + Send + Sync;

/// The payload of the unwinding that ends a command when its caller does not want it any more.
pub(crate) struct StoppedByCaller;

/// The program that called a command, and gets its output, messages and progress.
#[derive(Clone)]
pub(crate) struct Listener {
    heard: Arc<Mutex<CommandResult>>,
    watch: Arc<Watch>,
}

thread_local! {
    static CURRENT: RefCell<Option<Listener>> = const { RefCell::new(None) };
}

/// A guard: the messages of this thread go to its listener until the guard is dropped.
pub(crate) struct Listening;

impl Drop for Listening {
    fn drop(&mut self) {
        CURRENT.take();
    }
}

impl Listener {
    pub(crate) fn new(watch: Arc<Watch>) -> Self {
        Self { heard: Arc::default(), watch }
    }

    /// Takes the output and messages received so far.
    pub(crate) fn take(&self) -> CommandResult {
        std::mem::take(&mut self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The listener of the command that runs on this thread.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    pub(crate) fn start(&self) -> Listening {
        CURRENT.set(Some(self.clone()));
        Listening
    }

    pub(crate) fn hear(&self, severity: Severity, text: &str, problem: Option<&Problem>) {
        let message = Message { severity, text: text.to_owned(), problem: problem.cloned() };
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).messages.push(message);
    }

    /// Reports progress to the caller. Unwinds if the caller wants the command to stop.
    pub(crate) fn progress(&self, what: &str, done: u64, total: u64) {
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
