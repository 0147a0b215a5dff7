//! Refuses files of which no call was read although they have some: who scores such a file would take a model that was
//! right for one that did nothing.

use std::collections::BTreeMap;

use m3_support::text::shortened;
use m3_trajectory::json::Json;

use crate::call_shapes::named_like_calls;
use crate::sink::{At, ReadError, Sink};
use crate::trace::{Trace, TraceKind};

/// The most names that a message tells.
const NAMES: usize = 5;

/// The most characters of such a name.
const LONGEST_NAME: usize = 40;

/// Passes everything on, and remembers whether there were trajectories, and calls.
pub(crate) struct CountingSink<'s> {
    sink: &'s mut dyn Sink,
    traces: bool,
    calls: bool,
    lost: u64,
}

impl<'s> CountingSink<'s> {
    pub(crate) fn new(sink: &'s mut dyn Sink) -> Self {
        Self { sink, traces: false, calls: false, lost: 0 }
    }

    /// Refuses a file of which records are left out because their calls could not be read.
    pub(crate) fn refuse_lost(&self) -> Result<(), ReadError> {
        match self.lost {
            0 => Ok(()),
            1 => Err(ReadError::refused("a record is left out, because none of its calls could be read")),
            lost => Err(ReadError::refused(format!(
                "{lost} records are left out, because none of their calls could be read"
            ))),
        }
    }

    /// Whether trajectories were read, and none of them has a call. Tasks need none.
    pub(crate) fn lacks_calls(&self) -> bool {
        self.traces && !self.calls
    }
}

impl Sink for CountingSink<'_> {
    fn trace(&mut self, line: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        let has_calls = |trace: &Trace| trace.call_count() > 0 || trace.kind == TraceKind::Task;
        let inner = || trace.nested.iter().any(|(_, inner)| has_calls(inner));
        self.calls |= has_calls(&trace) || trace.reference.as_deref().is_some_and(has_calls) || inner();
        self.traces = true;
        self.sink.trace(line, trace)
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

/// Reads a record, and warns if it has members that are named like calls and none was read.
///
/// # Errors
/// Those of `read`.
pub(crate) fn checked(
    sink: &mut dyn Sink,
    at: At,
    record: &Json,
    read: impl FnOnce(&mut dyn Sink, At, &Json) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut holding = HoldingSink { sink, held: Vec::new() };
    let mut counting = CountingSink::new(&mut holding);
    read(&mut counting, at, record)?;
    let message = if counting.lacks_calls() { message(&named_like_calls(record)) } else { None };
    let HoldingSink { sink, held } = holding;
    match message {
        Some(message) => {
            let item = at.index.filter(|_| at.line.is_none()).map(|index| format!("item {index}: "));
            sink.lost(at.line, &format!("{}{message}; it is left out", item.unwrap_or_default()));
            Ok(())
        }
        None => held.into_iter().try_for_each(|(line, trace)| sink.trace(line, trace)),
    }
}

/// Holds the traces of a record until it is known whether they have calls.
struct HoldingSink<'s> {
    sink: &'s mut dyn Sink,
    held: Vec<(Option<u64>, Trace)>,
}

impl Sink for HoldingSink<'_> {
    fn trace(&mut self, line: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        self.held.push((line, trace));
        Ok(())
    }

    fn tool(&mut self, server: Option<&str>, tool: Json) {
        self.sink.tool(server, tool);
    }

    fn warn(&mut self, line: Option<u64>, message: &str) {
        self.sink.warn(line, message);
    }

    fn lost(&mut self, line: Option<u64>, message: &str) {
        self.sink.lost(line, message);
    }

    fn progress(&mut self, done: u64, total: u64) -> Result<(), ReadError> {
        self.sink.progress(done, total)
    }
}

/// What is said of such names; `None` if there are none.
pub(crate) fn message(names: &BTreeMap<String, u64>) -> Option<String> {
    let shown = |(name, number): (&String, &u64)| {
        let times = if *number == 1 { "once".to_owned() } else { format!("{number} times") };
        format!("`{}` {times}", shortened(name, LONGEST_NAME))
    };
    let list: Vec<String> = names.iter().take(NAMES).map(shown).collect();
    let list = list.join(", ");
    (!names.is_empty())
        .then(|| format!("no call was read, although members are named like calls or results: {list}"))
}
