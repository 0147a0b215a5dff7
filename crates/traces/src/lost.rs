//! Refuses what has calls of which none was read: who scores it would take a model that was right for one that did nothing.

use std::collections::{BTreeMap, HashSet};

use m3_support::text::shortened;
use m3_trajectory::json::{Json, Keys};

use crate::call_signs::{count_signs, named_like_calls, written_calls};
use crate::content::Content;
use crate::fields::Fields as _;
use crate::label::Label;
use crate::sink::{At, ReadError, Sink, TakingSink};
use crate::trace::{Trace, TraceKind, TracedCall};

/// The most names that a message tells.
const NAMES: usize = 5;

/// The most characters of such a name.
const LONGEST_NAME: usize = 40;

/// Whether a trace has calls, of its own or of agents, or is a task, which needs none.
pub(crate) fn has_calls(trace: &Trace) -> bool {
    let own = |trace: &Trace| trace.call_count() > 0 || trace.kind == TraceKind::Task;
    own(trace)
        || trace.reference.as_deref().is_some_and(own)
        || trace.nested.iter().any(|(_, inner)| own(inner))
}

/// Refuses a file of which records are left out because their calls could not be read.
///
/// # Errors
/// [`ReadError::Refused`] with their number.
pub(crate) fn refuse_lost_records(lost: u64) -> Result<(), ReadError> {
    match lost {
        0 => Ok(()),
        1 => Err(ReadError::refused("a record is left out, because none of its calls could be read")),
        lost => Err(ReadError::refused(format!(
            "{lost} records are left out, because none of their calls could be read"
        ))),
    }
}

/// Reads a record. If it has members that are named like calls and none was read, it is left out and reported.
///
/// # Errors
/// Those of `read`.
pub(crate) fn checked(
    sink: &mut dyn Sink,
    at: At,
    record: &Json,
    read: impl FnOnce(&mut dyn Sink, At, &Json) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut held: Vec<(Option<u64>, Trace)> = Vec::new();
    let wait = |_: &mut dyn Sink, line, trace| {
        held.push((line, trace));
        Ok(())
    };
    read(&mut TakingSink::new(&mut *sink, wait), at, record)?;
    let lacks_calls = !held.is_empty() && !held.iter().any(|(_, trace)| has_calls(trace));
    let mut signs = BTreeMap::new();
    if lacks_calls {
        count_signs(record, &mut signs);
    }
    if let Some(message) = message(&signs) {
        let item = at.index.filter(|_| at.line.is_none()).map(|index| format!("item {index}: "));
        sink.lost(at.line, &format!("{}{message}; it is left out", item.unwrap_or_default()));
        return Ok(());
    }
    note_unread(record, &mut held);
    // Of several trajectories, nothing says whose success it is.
    if let [(_, trace)] = &mut held[..] {
        // A dataset keeps the question apart from what the model made of it.
        let beside = ["question", "prompt", "query", "input"].iter().find_map(|key| record.text(key));
        let is_missing = trace.question.is_none() && trace.kind != TraceKind::Task && !record.has("role");
        trace.question =
            trace.question.take().or_else(|| beside.filter(|_| is_missing).map(Content::of_text));
        trace.label = trace.label.take().or_else(|| Label::find(record));
    }
    held.into_iter().try_for_each(|(line, trace)| sink.trace(line, trace))
}

/// Notes the calls of a record that none of its traces has, with the members that hold them: a format may know some of
/// the members that hold calls, and not others.
fn note_unread(record: &Json, held: &mut [(Option<u64>, Trace)]) {
    if !held.iter().any(|(_, trace)| trace.call_count() > 0) {
        return;
    }
    let mut read = ReadCalls::default();
    for (_, trace) in held.iter() {
        read.add(trace);
    }
    let unread = written_calls(record).into_iter().filter(|(_, call)| !read.has(call));
    let names: Vec<String> = unread.map(|(member, _)| member).collect();
    if let Some((_, trace)) = held.first_mut() {
        for name in names {
            trace.notes.add_named("a call in the member", &name, "is not read");
        }
    }
}

/// What is known of the calls that were read.
#[derive(Default)]
struct ReadCalls {
    ids: HashSet<String>,
    /// Names without the server, and arguments.
    contents: HashSet<(String, String)>,
    /// Names of calls whose arguments are not known, or are not as in the file.
    names: HashSet<String>,
}

impl ReadCalls {
    fn add(&mut self, trace: &Trace) {
        for call in trace.steps.iter().flatten() {
            self.ids.extend(call.id.clone());
            let contents = content_of(call);
            match call.arguments {
                Some(Json::Object(_)) => self.contents.extend([contents]),
                _ => self.names.extend([contents.0]),
            }
        }
        let inner = trace.nested.iter().map(|(_, inner)| inner);
        inner.chain(trace.reference.as_deref()).for_each(|inner| self.add(inner));
    }

    fn has(&self, call: &TracedCall) -> bool {
        let content = content_of(call);
        call.id.as_ref().is_some_and(|id| self.ids.contains(id))
            || self.names.contains(&content.0)
            || self.contents.contains(&content)
    }
}

/// The name of a call's tool, without its server in any writing, and its arguments.
fn content_of(call: &TracedCall) -> (String, String) {
    let name = call.tool.rsplit(['/', '.', ':']).next().unwrap_or_default();
    let arguments = call.arguments.as_ref().map_or_else(String::new, |it| it.to_text(Keys::Sorted));
    (name.to_owned(), arguments)
}

/// Leaves a record out that its format cannot read: lost if it has members named like calls, else with a warning.
pub(crate) fn leave_out(
    sink: &mut dyn Sink,
    line: Option<u64>,
    record: &Json,
    why: &str,
) -> Result<(), ReadError> {
    match message(&named_like_calls(record)) {
        Some(message) => {
            sink.lost(line, &format!("{why}: {message}"));
            Ok(())
        }
        None => sink.skip(line, why),
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
