//! Tasks with the calls that should be made, as teams write them down: records or tables with a member such as
//! `expected_tool_calls`, `tool_calls`, `expected_tools`, `tools_called` or `steps`.

mod calls;
mod conversations;
mod members;
mod rows;
mod table;

use crate::call_shapes::call;
use crate::fields::{members as members_of, names};
use crate::formats::prelude::*;
use crate::head::{Head, is_report};
use crate::message_events::is_conversation_event;
pub(super) use conversations::CONVERSATIONS;
use members::CallsMember;
use rows::Rows;

/// The name of the format.
pub(crate) const NAME: &str = "expected-calls";

/// The format of records and tables, recognized by a member or a column of calls.
pub(super) const CALLS: Format = Format {
    name: NAME,
    title: "tasks with the calls that should be made, as JSON or as a table (CSV)",
    recognizes,
    read,
};

fn recognizes(head: &Head) -> bool {
    match head.shape {
        Shape::Text => table::has_calls(&head.text),
        _ => head.any(is_record),
    }
}

/// Whether a record has calls, and is not a message or what m3 writes.
fn is_record(value: &Json) -> bool {
    // The steps of m3's own trajectories have `calls`, or `tool_calls`, which m3 reads as such.
    let is_own = value.list("steps").iter().any(|step| step.has("calls") || step.has("tool_calls"));
    let is_event = is_conversation_event(value) && members::question(value).is_none();
    let is_other =
        is_own || is_event || is_report(value) || role(value).is_some() || !matches!(value, Json::Object(_));
    let value = flat(value);
    !is_other
        && conversation(&value).is_none()
        && CallsMember::find(&value).is_some_and(|member| member.is_sure(&value))
}

/// Members that hold what a task asks, what a model made of it, and what it should have made, as datasets of evaluation
/// programs keep them apart.
const APART: &[&str] = names![
    expectations expected expected_output expectedOutput inputs outputs reference_outputs vars referenceOutputs
];

/// A record with the members of those objects beside its own:
/// `{"inputs": {"question": ..}, "expectations": {"expected_tool_calls": ..}}`.
fn flat(record: &Json) -> Cow<'_, Json> {
    let is_apart = APART.iter().any(|key| !record.member(key).map(members_of).unwrap_or_default().is_empty());
    if !is_apart {
        return Cow::Borrowed(record);
    }
    // Beside calls of its own, a record has its question there.
    let has_calls = CallsMember::find(record).is_some();
    let is_wanted = |key: &&&str| !has_calls || matches!(**key, "inputs" | "vars");
    let inner =
        APART.iter().filter(is_wanted).filter_map(|key| record.member(key).map(|inner| (*key, inner)));
    let inner = inner.flat_map(|(key, inner)| {
        // What is expected is named so.
        let before = if matches!(key, "inputs" | "outputs" | "vars") { "" } else { "expected_" };
        let is_call = call(inner).is_some_and(|call| call.arguments.is_some());
        let whole = is_call.then(|| (format!("{before}tool_calls"), Json::Array(vec![inner.clone()])));
        let each = members_of(inner).iter().map(move |(key, value)| {
            (if key.starts_with("expected") { key.clone() } else { format!("{before}{key}") }, value.clone())
        });
        whole.into_iter().chain(each)
    });
    let own = members_of(record).iter().filter(|(key, _)| !APART.contains(&key.as_str())).cloned();
    Cow::Owned(Json::Object(own.chain(inner).collect()))
}

/// The deepest object within a record in which a conversation is looked for: `{"output": {"messages": [..]}}`.
const DEEPEST_CONVERSATION: usize = 3;

/// The conversation in a record, in which a model speaks: then the record is a trace, whatever stands beside it. The
/// outermost one counts.
fn conversation(record: &Json) -> Option<&[Json]> {
    let is_reply = |message: &Json| {
        let speaker = role(message).or_else(|| message.text("type"));
        speaker.is_some_and(|speaker| matches!(speaker, "assistant" | "ai" | "model"))
    };
    let mut records = vec![record];
    for _ in 0..DEEPEST_CONVERSATION {
        let inner: Vec<&Json> =
            records.iter().flat_map(|record| members_of(record)).map(|(_, inner)| inner).collect();
        let replies = inner.iter().map(|inner| inner.items()).find(|items| items.iter().any(is_reply));
        if replies.is_some() {
            return replies;
        }
        records = inner;
    }
    None
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    // Records are checked by their rows, which know the members with calls.
    input.set_checked();
    let mut rows = Rows::default();
    if input.head.shape == Shape::Text {
        table::read(input, sink, &mut rows)?;
    } else {
        let mut number = 0;
        input.values(sink, |sink, record| {
            let (items, is_list) = match &record.value {
                Json::Array(items) => (items.as_slice(), true),
                one => (std::slice::from_ref(one), record.line.is_some()),
            };
            items.iter().try_for_each(|item| {
                let at = At { index: is_list.then_some(number), line: record.line };
                number += 1;
                rows.add(sink, at, &flat(item))
            })
        })?;
    }
    rows.finish(sink)
}

#[cfg(test)]
mod tests;
