//! Refuses files of which no call was read although they have some: who scores such a file would take a model that was
//! right for one that did nothing.

use std::collections::BTreeMap;

use m3_support::text::shortened;
use m3_trajectory::json::Json;

use crate::call_shapes::{objects, shape_of_member};
use crate::fields::{Fields, members};
use crate::head::{Shape, each_line};
use crate::input::{At, Input, LONGEST, ReadError, Sink};
use crate::trace::{Trace, TraceKind};
use crate::values::value;

/// The deepest member that is looked at.
const DEPTH: usize = 64;

/// The most names that a message tells.
const NAMES: usize = 5;

/// The most characters of such a name.
const LONGEST_NAME: usize = 40;

/// Passes everything on, and remembers whether there were trajectories, and calls.
pub(crate) struct CountingSink<'s> {
    sink: &'s mut dyn Sink,
    traces: bool,
    calls: bool,
}

impl<'s> CountingSink<'s> {
    pub(crate) fn new(sink: &'s mut dyn Sink) -> Self {
        Self { sink, traces: false, calls: false }
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

    fn progress(&mut self, done: u64, total: u64) -> Result<(), ReadError> {
        self.sink.progress(done, total)
    }
}

/// Refuses a file without calls that has members named like calls or results.
///
/// # Errors
/// [`ReadError::Refused`], with these names; [`ReadError::Source`] if the file cannot be read again.
pub(crate) fn check(input: &Input<'_>) -> Result<(), ReadError> {
    let mut names = BTreeMap::new();
    match input.head.shape {
        Shape::Lines => each_line::<ReadError>(input.source, LONGEST, |_, line| {
            value(line).iter().for_each(|value| count(value, 0, &mut names));
            Ok(())
        })?,
        Shape::Document => count(&input.document()?, 0, &mut names),
        Shape::Events | Shape::Zip | Shape::Text => {
            input.head.values.iter().for_each(|value| count(value, 0, &mut names))
        }
    }
    match message(&names) {
        Some(message) => {
            Err(ReadError::refused(format!("{message} (docs/import.md has the dialects that are known)")))
        }
        None => Ok(()),
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
    let mut counting = CountingSink::new(sink);
    read(&mut counting, at, record)?;
    if counting.lacks_calls() {
        let mut names = BTreeMap::new();
        count(record, 0, &mut names);
        if let Some(message) = message(&names) {
            let item = at.index.filter(|_| at.line.is_none()).map(|index| format!("item {index}: "));
            sink.warn(at.line, &format!("{}{message}", item.unwrap_or_default()));
        }
    }
    Ok(())
}

/// What is said of such names; `None` if there are none.
fn message(names: &BTreeMap<String, u64>) -> Option<String> {
    let shown = |(name, number): (&String, &u64)| {
        let times = if *number == 1 { "once".to_owned() } else { format!("{number} times") };
        format!("`{}` {times}", shortened(name, LONGEST_NAME))
    };
    let list: Vec<String> = names.iter().take(NAMES).map(shown).collect();
    let list = list.join(", ");
    (!names.is_empty())
        .then(|| format!("no call was read, although members are named like calls or results: {list}"))
}

/// Counts members and types that are named like calls or results and hold something.
fn count(value: &Json, depth: usize, names: &mut BTreeMap<String, u64>) {
    if depth > DEPTH {
        return;
    }
    if let Json::Array(items) = value {
        return items.iter().for_each(|item| count(item, depth + 1, names));
    }
    let mut add = |name: &str| *names.entry(name.to_owned()).or_default() += 1;
    if let Some(kind) = value.text("type").filter(|kind| shape_of_member(kind).is_some()) {
        add(kind);
    }
    for (key, inner) in members(value) {
        if shape_of_member(key).is_some() && !objects(inner).is_empty() {
            add(key);
        }
    }
    members(value).iter().for_each(|(_, inner)| count(inner, depth + 1, names));
}
