//! Buffers what is read on other cores until it can be given in the order of the file.

use m3_trajectory::json::Json;

use crate::pieces::{Part, Piece};
use crate::sink::{ReadError, Sink};
use crate::trace::Trace;

/// Buffers the traces of a part of a file, until they are passed on in the order of the parts.
#[derive(Debug)]
pub(crate) struct SinkBuffer {
    entries: Vec<(Option<u64>, SinkEntry)>,
    ended: Result<(), ReadError>,
    /// The place and the reason of text that is not JSON.
    pub(crate) not_json: Option<(u64, String)>,
}

#[derive(Debug)]
enum SinkEntry {
    Trace(Box<Trace>),
    Tool(Option<String>, Json),
    Warning(String),
    Lost(String),
}

impl Sink for SinkBuffer {
    fn trace(&mut self, line: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        self.entries.push((line, SinkEntry::Trace(Box::new(trace))));
        Ok(())
    }

    fn tool(&mut self, server: Option<&str>, tool: Json) {
        self.entries.push((None, SinkEntry::Tool(server.map(str::to_owned), tool)));
    }

    fn warn(&mut self, line: Option<u64>, message: &str) {
        self.entries.push((line, SinkEntry::Warning(message.to_owned())));
    }

    fn lost(&mut self, line: Option<u64>, message: &str) {
        self.entries.push((line, SinkEntry::Lost(message.to_owned())));
    }
}

impl Default for SinkBuffer {
    fn default() -> Self {
        Self { entries: Vec::new(), ended: Ok(()), not_json: None }
    }
}

impl SinkBuffer {
    /// The entries of each piece, up to an error.
    pub(crate) fn collect(
        part: &Part,
        mut each: impl FnMut(&mut Self, Piece<'_>) -> Result<(), ReadError>,
    ) -> Self {
        let mut buffer = Self::default();
        buffer.ended = part.pieces().try_for_each(|piece| each(&mut buffer, piece));
        buffer
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The traces among the entries.
    pub(crate) fn traces(&self) -> impl Iterator<Item = &Trace> {
        self.entries.iter().filter_map(|(_, entry)| match entry {
            SinkEntry::Trace(trace) => Some(&**trace),
            _ => None,
        })
    }

    /// Changes each trace among the entries.
    pub(crate) fn change_traces(&mut self, mut change: impl FnMut(&mut Trace)) {
        for (_, entry) in &mut self.entries {
            if let SinkEntry::Trace(trace) = entry {
                change(trace);
            }
        }
    }

    /// Passes the entries on, in their order.
    pub(crate) fn give(self, sink: &mut dyn Sink) -> Result<(), ReadError> {
        for (line, entry) in self.entries {
            match entry {
                SinkEntry::Trace(trace) => sink.trace(line, *trace)?,
                SinkEntry::Tool(server, tool) => sink.tool(server.as_deref(), tool),
                SinkEntry::Warning(message) => sink.warn(line, &message),
                SinkEntry::Lost(message) => sink.lost(line, &message),
            }
        }
        self.ended
    }
}
