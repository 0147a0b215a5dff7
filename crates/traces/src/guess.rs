//! A second try for a file whose format is known but of which no call could be read: by signs, as files of unknown
//! programs are read.

use m3_trajectory::json::Json;

use crate::formats::{FORMATS, SIGNS};
use crate::sink::{ReadError, Sink};
use crate::sink_buffer::SinkBuffer;
use crate::trace::Trace;
use crate::{RecognizedFile, lost};

/// The most messages that wait for the first trajectory.
const MOST_WAITING: usize = 10_000;

impl RecognizedFile<'_> {
    /// Reads the file as [`RecognizedFile::read`] does. If that gives nothing but reasons why calls could not be read, the
    /// calls are told by signs (format `signs`), which a warning says.
    ///
    /// # Errors
    /// Those of [`RecognizedFile::read`].
    pub fn read_or_guess(&self, sink: &mut dyn Sink) -> Result<(), ReadError> {
        let mut first =
            WaitingSink { sink: &mut *sink, waiting: Some(SinkBuffer::default()), holds_traces: false };
        let result = self.read(&mut first);
        let Some(waiting) = first.waiting else { return result };
        if matches!(result, Err(ReadError::Refused(_)))
            && let Some(format) =
                FORMATS.iter().find(|format| format.name == SIGNS && format.name != self.format.name)
        {
            let file =
                RecognizedFile { format, source: self.source, head: self.head.clone(), envelope: None };
            if let Some(guessed) = file.read_to_buffer(sink)?
                && guessed.traces().any(lost::has_calls)
            {
                sink.format(format.name);
                return guessed.give(sink);
            }
        }
        waiting.give(sink)?;
        result
    }

    /// Reads the file into a buffer; `None` if it is refused. The sink hears of the progress alone, so that it can stop.
    ///
    /// # Errors
    /// [`ReadError::Stopped`], and if the file cannot be read.
    pub(crate) fn read_to_buffer(&self, sink: &mut dyn Sink) -> Result<Option<SinkBuffer>, ReadError> {
        let waiting = Some(SinkBuffer::default());
        let mut holding = WaitingSink { sink, waiting, holds_traces: true };
        match self.read(&mut holding) {
            Ok(()) => Ok(holding.waiting),
            Err(ReadError::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Holds what comes before the first trajectory, or all; the progress is passed on at once, so that a reader can stop.
struct WaitingSink<'s> {
    sink: &'s mut dyn Sink,
    /// `None` once it is passed on.
    waiting: Option<SinkBuffer>,
    holds_traces: bool,
}

impl WaitingSink<'_> {
    /// The buffer while there is one and it is not full, else the inner sink.
    fn receiver(&mut self) -> &mut dyn Sink {
        if let Some(full) =
            self.waiting.take_if(|waiting| !self.holds_traces && waiting.len() >= MOST_WAITING)
        {
            // Messages alone: no trajectory is among them, so nothing can fail.
            let _ = full.give(self.sink);
        }
        match &mut self.waiting {
            Some(waiting) => waiting,
            None => self.sink,
        }
    }
}

impl Sink for WaitingSink<'_> {
    fn trace(&mut self, line: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        if self.holds_traces {
            return self.receiver().trace(line, trace);
        }
        self.waiting.take().map_or(Ok(()), |waiting| waiting.give(self.sink))?;
        self.sink.trace(line, trace)
    }

    fn tool(&mut self, server: Option<&str>, tool: Json) {
        self.receiver().tool(server, tool);
    }

    fn warn(&mut self, line: Option<u64>, message: &str) {
        self.receiver().warn(line, message);
    }

    fn lost(&mut self, line: Option<u64>, message: &str) {
        self.receiver().lost(line, message);
    }

    fn progress(&mut self, done: u64, total: u64) -> Result<(), ReadError> {
        self.sink.progress(done, total)
    }
}
