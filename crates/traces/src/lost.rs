//! Refuses what has calls of which none was read: who scores it would take a model that was right for one that did nothing.

use std::collections::BTreeMap;

use m3_support::text::shortened;
use m3_trajectory::json::Json;

use crate::call_shapes::named_like_calls;
use crate::sink::{At, ReadError, Sink, TakingSink};
use crate::trace::{Trace, TraceKind};

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
    match message(&if lacks_calls { named_like_calls(record) } else { BTreeMap::new() }) {
        Some(message) => {
            let item = at.index.filter(|_| at.line.is_none()).map(|index| format!("item {index}: "));
            sink.lost(at.line, &format!("{}{message}; it is left out", item.unwrap_or_default()));
            Ok(())
        }
        None => held.into_iter().try_for_each(|(line, trace)| sink.trace(line, trace)),
    }
}

/// Leaves a record out that its format cannot read: lost if it has members named like calls, else with a warning.
pub(crate) fn leave_out(sink: &mut dyn Sink, line: Option<u64>, record: &Json, why: &str) {
    match message(&named_like_calls(record)) {
        Some(message) => sink.lost(line, &format!("{why}: {message}")),
        None => sink.warn(line, why),
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
