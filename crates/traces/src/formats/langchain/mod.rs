//! `LangChain`: lists of messages as its functions write them.

pub(super) mod graph;
pub(super) mod message;
#[cfg(test)]
mod tests;

use crate::formats::prelude::*;
use crate::head::is_conversation;
use message::{Kind, Message, add_all};

/// Messages by their types, which are not OpenAI's roles.
pub(super) const MESSAGES: Format = Format {
    name: "langchain",
    title: "LangChain: messages",
    recognizes: |head| head.any_message(is_message),
    read,
};

/// Whether a value is a message in a shape of `LangChain` itself. Other programs write lines of type `system`, too.
pub(super) fn is_message(value: &Json) -> bool {
    Message::parse(value)
        .is_some_and(|message| message.kind != Kind::Program || value.has("lc") || value.has("data"))
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let is_lines = input.head.shape == Shape::Lines;
    if is_lines
        && input.head.values.first().is_some_and(|first| is_streamed(first) || !is_conversation(first))
    {
        // Each line is a message, or a piece of one with the stream's metadata.
        let values = input.all(sink)?;
        let values =
            values.iter().map(|value| value.items().first().filter(|_| is_streamed(value)).unwrap_or(value));
        return give(sink, At::default(), values, None);
    }
    if is_lines {
        return growing(input, sink);
    }
    input.conversations(sink, |sink, at, value| {
        give(sink, at, messages(value).unwrap_or_default().iter(), value.id("id"))
    })
}

/// The id of a message in any shape.
fn id(message: &Json) -> Option<&str> {
    message.first(&["data", "kwargs"]).unwrap_or(message).text("id")
}

/// Whether a value is a streamed message: the message and its metadata.
fn is_streamed(value: &Json) -> bool {
    matches!(value.items(), [message, about] if is_message(message) && about.has("langgraph_node"))
}

/// Reads lines of conversations. If each line is a later state of one conversation, with all messages before, only the
/// last is read, or the one with the most messages if some were taken out.
fn growing(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut last: Option<(At, Json)> = None;
    input.values(sink, |sink, record| {
        let at = At { index: Some(record.index), line: record.line };
        let Some((first, before)) = last.take() else {
            last = Some((at, record.value));
            return Ok(());
        };
        let (old, new) = (messages(&before).unwrap_or_default(), messages(&record.value).unwrap_or_default());
        if goes_on(old, new) {
            let is_cut = new.len() < old.len();
            last = Some((first, if is_cut { before } else { record.value }));
            return Ok(());
        }
        last = Some((at, record.value));
        give(sink, first, old.iter(), before.id("id"))
    })?;
    match last {
        Some((at, value)) => {
            // A stream of one state is the whole file.
            let at = if at.index == Some(0) { At::default() } else { at };
            give(sink, at, messages(&value).unwrap_or_default().iter(), value.id("id"))
        }
        None => Ok(()),
    }
}

/// Whether new messages are of the same conversation: they begin with the old ones, or share a reply or a result with
/// them. Questions do not count, because other conversations repeat them.
fn goes_on(old: &[Json], new: &[Json]) -> bool {
    let id = |message| id(message).filter(|_| Message::parse(message).is_some_and(|it| !it.is_human()));
    let known: HashSet<&str> = old.iter().filter_map(id).collect();
    new.starts_with(old) && new.len() > old.len() || new.iter().filter_map(id).any(|id| known.contains(id))
}

fn give<'j>(
    sink: &mut dyn Sink,
    at: At,
    messages: impl Iterator<Item = &'j Json>,
    id: Option<String>,
) -> Result<(), ReadError> {
    let mut conversation = Conversation::default();
    add_all(&mut conversation, messages);
    conversation.id = at.id(id);
    sink.trace(at.line, conversation.finish())
}
