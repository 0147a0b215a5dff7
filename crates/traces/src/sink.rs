//! The receiver of the traces of a file, and the reasons why a file gives none.

use m3_trajectory::SourceError;
use m3_trajectory::json::Json;

use crate::trace::Trace;

/// The longest line or document, in bytes: its values take several times as much memory.
pub(crate) const LONGEST: u64 = 256 << 20;

/// Why a file gives no traces.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read, or a temporary file cannot be written.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The file is of a kind without calls, or without values that scoring needs: the reason, and what to use instead.
    #[error("{0}")]
    Refused(String),
    /// The sink asked to stop.
    #[error("interrupted")]
    Stopped,
}

impl ReadError {
    /// A refusal with its reason.
    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused(reason.into())
    }
}

/// The receiver of the traces of a file.
pub trait Sink {
    /// Receives a trajectory. `line` is the line where it begins, from 1, if the format has lines.
    ///
    /// # Errors
    /// [`ReadError`] if it cannot be kept.
    fn trace(&mut self, line: Option<u64>, trace: Trace) -> Result<(), ReadError>;

    /// Receives a tool that was offered: its server, `None` if the file does not name it, and its name, description and
    /// `inputSchema` as in a catalog.
    fn tool(&mut self, _server: Option<&str>, _tool: Json) {}

    /// Receives the name of the format that the file is read as, before its trajectories, if it is not the one that was
    /// recognized.
    fn format(&mut self, _name: &'static str) {}

    /// Receives a warning that a part of the file could not be read.
    fn warn(&mut self, line: Option<u64>, message: &str);

    /// Tells of a record that is left out; the reading goes on.
    ///
    /// # Errors
    ///
    /// Never; the result is what a reader of records returns.
    fn skip(&mut self, line: Option<u64>, message: &str) -> Result<(), ReadError> {
        self.warn(line, message);
        Ok(())
    }

    /// Receives a record that is left out because none of its calls could be read.
    fn lost(&mut self, line: Option<u64>, message: &str) {
        self.warn(line, message);
    }

    /// Receives the progress in bytes: how many are done, and the total. A large file reports it now and then, also
    /// before the first trajectory.
    ///
    /// # Errors
    /// [`ReadError::Stopped`] ends the reading.
    fn progress(&mut self, _done: u64, _total: u64) -> Result<(), ReadError> {
        Ok(())
    }
}

/// Passes everything on but the traces, which `take` gets with the inner sink; counts the records that are lost.
pub(crate) struct TakingSink<'s, F> {
    sink: &'s mut dyn Sink,
    take: F,
    lost: u64,
}

impl<'s, F: FnMut(&mut dyn Sink, Option<u64>, Trace) -> Result<(), ReadError>> TakingSink<'s, F> {
    /// A sink around another one.
    pub(crate) fn new(sink: &'s mut dyn Sink, take: F) -> Self {
        Self { sink, take, lost: 0 }
    }

    /// The number of records that are lost so far.
    pub(crate) fn lost_records(&self) -> u64 {
        self.lost
    }
}

impl<F: FnMut(&mut dyn Sink, Option<u64>, Trace) -> Result<(), ReadError>> Sink for TakingSink<'_, F> {
    fn trace(&mut self, line: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        (self.take)(&mut *self.sink, line, trace)
    }

    fn tool(&mut self, server: Option<&str>, tool: Json) {
        self.sink.tool(server, tool);
    }

    fn warn(&mut self, line: Option<u64>, message: &str) {
        self.sink.warn(line, message);
    }

    fn lost(&mut self, line: Option<u64>, message: &str) {
        self.lost += 1;
        self.sink.lost(line, message);
    }

    fn progress(&mut self, done: u64, total: u64) -> Result<(), ReadError> {
        self.sink.progress(done, total)
    }
}

/// Where a conversation is in its file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct At {
    /// The number of the conversation, from 0; `None` if it is the whole file.
    pub(crate) index: Option<u64>,
    /// The line, from 1.
    pub(crate) line: Option<u64>,
}

impl At {
    /// The id of a conversation: its own, else its place.
    pub(crate) fn id(self, own: Option<String>) -> Option<String> {
        own.or_else(|| self.index.map(|index| index.to_string()))
    }
}
