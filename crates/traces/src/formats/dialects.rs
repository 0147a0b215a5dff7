//! Messages of a dialect that no other format knows. Calls and results are found by the names of members and types,
//! which most dialects share ([`call_shapes`](crate::call_shapes)).

use std::collections::HashSet;

use m3_trajectory::json::{Json, Keys};

use super::{Format, training};
use crate::call_shapes::{CallShape, call, objects, outcome, shape_of_member, shape_of_type};
use crate::content::{Content, string};
use crate::conversation::Conversation;
use crate::export::restore;
use crate::fields::{Fields, members};
use crate::head::{messages, role};
use crate::input::{Input, ReadError, Sink};
use crate::logs::{Exchange, each_chain, is_exchange};
use crate::outcome::Outcome;
use crate::trace::TracedCall;

/// The name of the format.
pub(crate) const TEXTS: &str = "messages";

/// Lists of messages, by their roles.
pub(super) const MESSAGES: Format = Format {
    name: TEXTS,
    title: "messages of any other dialect",
    recognizes: |head| {
        let is_list = head.any_message(|message| {
            let is_known = matches!(author(message), Author::User | Author::Model);
            is_known && (content(message).is_some() || holds_calls(message))
        });
        is_list || head.any(is_log)
    },
    read,
};

/// Types of parts that hold neither content nor calls.
const SILENT: [&str; 5] = ["reasoning", "redacted_thinking", "snapshot", "thinking", "thought"];

/// Members beside the messages that hold the reply to them.
const REPLIES: [&str; 9] = [
    "response",
    "output",
    "outputs",
    "completion",
    "choices",
    "reply",
    "generation",
    "generations",
    "candidates",
];

/// Whose message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Author {
    User,
    Model,
    /// The calls of a reply, as a message of their own.
    Calls,
    Tool,
    System,
    Unknown,
}

fn author(message: &Json) -> Author {
    match &*role(message).unwrap_or_default().to_ascii_lowercase() {
        "user" | "human" => Author::User,
        "assistant" | "model" | "ai" | "agent" | "bot" | "chatbot" | "gpt" => Author::Model,
        "tool" | "function" | "observation" | "tool_response" | "tool_result" | "ipython" => Author::Tool,
        "system" | "developer" => Author::System,
        role => match shape_of_member(role) {
            Some(CallShape::Call) => Author::Calls,
            Some(CallShape::Outcome) => Author::Tool,
            None => Author::Unknown,
        },
    }
}

fn content(message: &Json) -> Option<&Json> {
    message.first(&["content", "parts", "text", "message", "value"])
}

fn holds_calls(message: &Json) -> bool {
    members(message).iter().any(|(key, value)| shape_of_member(key).is_some() && !objects(value).is_empty())
}

/// Whether a record is a request with messages, and its reply.
fn is_log(record: &Json) -> bool {
    let has_roles =
        |request: &Json| messages(request).unwrap_or_default().iter().any(|item| role(item).is_some());
    is_exchange(record) && record.member("request").is_some_and(has_roles)
}

/// The whole conversation of a log: the messages of the last request, and the last reply.
fn logged(chain: &[Exchange<'_>]) -> Conversation {
    let mut conversation = Conversation::default();
    let Some(last) = chain.last() else { return conversation };
    conversation.model = last.request.text("model").map(str::to_owned);
    for message in messages(last.request).unwrap_or_default() {
        self::message(&mut conversation, message);
    }
    conversation.end_reply();
    reply(&mut conversation, last.response);
    conversation
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    if input.head.any(is_log) {
        return each_chain(input, sink, |request| messages(request).unwrap_or_default(), logged);
    }
    each_conversation(input, sink, message)
}

/// Reads lists of messages, each of which `message` adds to its conversation.
pub(super) fn each_conversation(
    input: &Input<'_>,
    sink: &mut dyn Sink,
    message: impl Fn(&mut Conversation, &Json) + Sync,
) -> Result<(), ReadError> {
    input.conversations(sink, |sink, at, value| {
        let mut conversation = Conversation::default();
        conversation.model = value.text("model").map(str::to_owned);
        // A message may stand alone.
        for item in messages(value).unwrap_or(std::slice::from_ref(value)) {
            message(&mut conversation, item);
        }
        reply_beside(&mut conversation, value);
        restore(&mut conversation, value);
        let id = value.id("id").or_else(|| value.below(&["info", "id"]).and_then(crate::fields::id));
        conversation.id = at.id(id);
        sink.trace(at.line, conversation.finish())
    })
}

/// Adds the reply that stands beside the messages, if these do not end with one: logs keep it in a member of its own.
fn reply_beside(conversation: &mut Conversation, record: &Json) {
    if !matches!(record, Json::Object(_)) || conversation.ends_with_reply() {
        return;
    }
    let read = messages(record).unwrap_or_default();
    for key in REPLIES {
        let Some(value) = record.member(key) else { continue };
        let is_read = matches!(value, Json::Array(items) if std::ptr::eq(items.as_slice(), read));
        // Some logs repeat the messages before the reply.
        let value = match value {
            Json::Array(items) if !read.is_empty() && items.len() > read.len() && items.starts_with(read) => {
                Json::Array(items[read.len()..].to_vec())
            }
            other => other.clone(),
        };
        if !is_read && reply(conversation, &value) {
            return;
        }
    }
}

/// A reply in any form: a text, a message, parts, or an object with one of them; whether it was one.
pub(super) fn reply(conversation: &mut Conversation, value: &Json) -> bool {
    match value {
        Json::String(text) if !text.trim().is_empty() => {
            conversation.reply(None);
            conversation.say(text);
            true
        }
        // Of several choices, which are alternatives, the first.
        Json::Array(items) if items.first().is_some_and(|item| item.has("message")) => {
            items
                .iter()
                .skip(1)
                .for_each(|_| conversation.note("another choice of the same reply is left out"));
            items
                .first()
                .and_then(|item| item.member("message"))
                .is_some_and(|inner| reply(conversation, inner))
        }
        Json::Array(items)
            if !items.is_empty() && items.iter().all(|item| matches!(item, Json::Object(_))) =>
        {
            if items.iter().any(|item| role(item).is_some()) {
                for item in items {
                    message(conversation, item);
                }
            } else {
                conversation.reply(None);
                let mut reading = MessageReading::default();
                reading.parts(conversation, value, Author::Model);
                reading.give_results(conversation);
            }
            true
        }
        Json::Object(_) if role(value).is_some() || holds_calls(value) => {
            conversation.reply(None);
            message_of(conversation, value, Author::Model);
            true
        }
        Json::Object(_) => {
            let inner = REPLIES.iter().chain(&["message", "content", "parts", "text"]);
            let mut inner = inner.filter_map(|key| value.member(key));
            inner.any(|inner| reply(conversation, inner))
        }
        _ => false,
    }
}

/// One message.
pub(super) fn message(conversation: &mut Conversation, message: &Json) {
    match author(message) {
        Author::System => {}
        Author::Unknown if !holds_calls(message) => {
            let role = role(message).unwrap_or("none");
            conversation.note_named("a message of role", role, "is left out");
        }
        author => message_of(conversation, message, author),
    }
}

fn message_of(conversation: &mut Conversation, message: &Json, author: Author) {
    let content = content(message).unwrap_or(&Json::Null);
    let mut reading = MessageReading::default();
    if author == Author::Calls {
        conversation.reply(None);
        for value in objects(content) {
            reading.call(conversation, &value);
        }
        return reading.give_results(conversation);
    }
    if author == Author::Model {
        conversation.reply(None);
    }
    reading.parts(conversation, content, author);
    reading.is_member = true;
    for (key, value) in members(message) {
        match shape_of_member(key) {
            Some(CallShape::Call) => {
                for value in objects(value) {
                    reading.call(conversation, &value);
                }
            }
            Some(CallShape::Outcome) => reading.outcomes.extend(objects(value).iter().map(outcome)),
            None => {}
        }
    }
    if author == Author::Tool && !reading.has_results && reading.outcomes.is_empty() {
        let mut own = outcome(message);
        // A plain `id` may be that of the message.
        let is_known = |id: &String| conversation.has_call(id);
        own.id = own.id.filter(|id| is_known(id) || !message.says("id", id));
        reading.outcomes.push(own);
    }
    reading.give_results(conversation);
}

/// A message that is being read.
#[derive(Default)]
struct MessageReading {
    /// Its calls by ids, tools and arguments: some programs write a call as a part and as a member.
    known: HashSet<String>,
    /// Whether members of the message are read, after its parts.
    is_member: bool,
    /// Results that wait until all calls that were made together are there.
    outcomes: Vec<Outcome>,
    /// Whether it holds results.
    has_results: bool,
    /// Whether calls have their results beside them: then the next message is another reply.
    is_closed: bool,
}

impl MessageReading {
    /// Reads the parts of a message, or its text.
    fn parts(&mut self, conversation: &mut Conversation, content: &Json, author: Author) {
        let mut own = Content::default();
        let list = match content {
            Json::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        for part in list {
            let shapes = shapes_of_part(part);
            if shapes.is_empty() {
                self.other(conversation, &mut own, part, author);
            }
            for (shape, value) in shapes {
                if shape == CallShape::Call {
                    self.say(conversation, &mut own, author);
                    self.call(conversation, &value);
                } else {
                    // The id of a result may stand outside of the member that holds it.
                    let (outer, inner) = (outcome(part), outcome(&value));
                    let is_error = inner.is_error || outer.is_error;
                    self.outcomes.push(Outcome { id: inner.id.or(outer.id), is_error, ..inner });
                }
            }
        }
        match author {
            Author::Model => self.say(conversation, &mut own, author),
            Author::User if !own.is_empty() => {
                // Results belong to the calls before what the user says next.
                self.give_results(conversation);
                asked(conversation, own);
            }
            _ => {}
        }
    }

    /// Gives what the model says, in its place among the calls. A text after results begins another reply.
    fn say(&mut self, conversation: &mut Conversation, own: &mut Content, author: Author) {
        let text = std::mem::take(own).joined_text();
        if author != Author::Model || text.is_empty() {
            return;
        }
        if !self.outcomes.is_empty() {
            self.give_results(conversation);
            conversation.end_reply();
            conversation.reply(None);
        }
        written(conversation, &text);
    }

    /// Reads a part that is neither a call nor a result: content, the end of a reply, or an unknown one.
    fn other(&mut self, conversation: &mut Conversation, own: &mut Content, part: &Json, author: Author) {
        let before = own.parts.len();
        own.add(part);
        let kind = part.first(&["type", "kind"]).and_then(Json::as_str);
        let kind = kind.or_else(|| members(part).first().map(|(key, _)| key.as_str()));
        match kind {
            Some("step-start" | "step-finish" | "step_start" | "step_finish") => {
                self.say(conversation, own, author);
                self.give_results(conversation);
                conversation.end_reply();
            }
            Some(kind) if own.parts.len() == before && !SILENT.contains(&kind) => {
                conversation.note_named("a block of type", kind, "is left out");
            }
            _ => {}
        }
    }

    fn call(&mut self, conversation: &mut Conversation, value: &Json) {
        let Some(call) = call(value) else {
            return conversation.note("a call that names no tool is left out");
        };
        let arguments = call.arguments.as_ref().map(|arguments| arguments.to_text(Keys::AsRead));
        let is_new = self.known.insert(format!("{:?} {} {arguments:?}", call.id, call.tool));
        // Two equal calls without ids are two, unless one of them is a part and the other a member.
        if !is_new && (call.id.is_some() || self.is_member) {
            return;
        }
        if call.arguments.is_none() {
            conversation.note("a call has no arguments in the file");
        }
        self.is_closed |= call.result.is_some();
        conversation.call(call);
    }

    fn give_results(&mut self, conversation: &mut Conversation) {
        self.has_results |= !self.outcomes.is_empty();
        for outcome in self.outcomes.drain(..) {
            conversation.result(outcome);
        }
        if std::mem::take(&mut self.is_closed) {
            conversation.end_reply();
        }
    }
}

/// The calls among the parts of a content.
pub(super) fn calls_in_parts(parts: &[Json]) -> impl Iterator<Item = TracedCall> {
    let calls = parts.iter().flat_map(shapes_of_part).filter(|(shape, _)| *shape == CallShape::Call);
    calls.filter_map(|(_, value)| call(&value))
}

/// The calls and results in a part, by its type or by its members.
fn shapes_of_part(part: &Json) -> Vec<(CallShape, Json)> {
    let kind = part.text("type").or_else(|| part.text("kind"));
    match kind.and_then(shape_of_type) {
        Some(CallShape::Call) if call(part).is_some() => return vec![(CallShape::Call, part.clone())],
        Some(CallShape::Outcome) => return vec![(CallShape::Outcome, part.clone())],
        _ => {}
    }
    let held = |(key, value): &(String, Json)| {
        let shape = shape_of_member(key);
        shape.map(|shape| objects(value).into_iter().map(move |value| (shape, value)))
    };
    members(part).iter().filter_map(held).flatten().collect()
}

/// A text of the model, whose calls may stand between tags, as in the templates of many open models.
fn written(conversation: &mut Conversation, text: &str) {
    if text.contains("<tool_call>") {
        training::tagged_reply(conversation, text);
    } else {
        conversation.say(text);
    }
}

/// A text of the user, in which results may stand between tags.
fn asked(conversation: &mut Conversation, content: Content) {
    let text = content.text();
    if !text.trim_start().starts_with("<tool_response>") {
        return conversation.user(content);
    }
    for result in text.split("<tool_response>").skip(1) {
        let result = result.split("</tool_response>").next().unwrap_or_default().trim();
        conversation.result(Outcome { result: Some(string(result)), ..Outcome::default() });
    }
}

#[cfg(test)]
mod tests;
