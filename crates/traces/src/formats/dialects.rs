//! Messages of a dialect that no other format knows. Calls and results are found by the names of members and types,
//! which most dialects share ([`call_shapes`](crate::call_shapes)).

mod reading;
mod reply;
mod speakers;
mod text_calls;

use self::reading::MessageReading;
pub(super) use self::reading::calls_in_parts;
pub(super) use self::reply::reply;
use self::reply::reply_beside;
use self::speakers::Speakers;
use crate::call_shapes::{CallShape, objects, outcome, shape_of_member};
use crate::call_signs::named_like_calls;
use crate::conversation::NextMessage;
use crate::export::restore;
use crate::formats::prelude::*;
use crate::logs::{Exchange, each_chain, is_exchange};
use crate::message_events::{
    EventKind, as_message, is_conversation_event, kind as event_kind, last_versions, reply_id,
};

/// The name of the format.
pub(crate) const TEXTS: &str = "messages";

/// Lists of messages, by their roles.
pub(super) const MESSAGES: Format = Format {
    name: TEXTS,
    title: "messages of any other dialect",
    recognizes: |head| {
        let is_list = head.any_message(|message| {
            let is_known = matches!(author(message), Author::User | Author::Model);
            is_known && (content(message).is_some() || holds_calls(message)) || is_conversation_event(message)
        });
        is_list || head.any(is_log)
    },
    read,
};

/// Members with the id of a conversation.
const IDS: [&str; 7] =
    ["id", "sessionId", "session_id", "conversation_id", "conversationId", "instance_id", "task_id"];

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

/// Members with the content of a message. An empty one does not hide the next.
const CONTENTS: [&str; 9] =
    ["content", "contents", "parts", "text", "message", "value", "blocks", "items", "Items"];

fn content(message: &Json) -> Option<&Json> {
    let is_empty = |value: &Json| match value {
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        _ => false,
    };
    let parts = |value| {
        if message.text("role").is_some() { Fields::member(value, "parts").unwrap_or(value) } else { value }
    };
    let all = || CONTENTS.iter().filter_map(|key| message.member(key)).map(parts);
    all().find(|value| !is_empty(value)).or_else(|| all().next())
}

/// The members of a message that may hold calls and results: its own, and those that a library keeps apart.
fn all_members(message: &Json) -> impl Iterator<Item = &(String, Json)> {
    let apart = message.member("additional_kwargs").map(members).unwrap_or_default();
    members(message).iter().chain(apart)
}

fn holds_calls(message: &Json) -> bool {
    let mut all = all_members(message);
    all.any(|(key, value)| shape_of_member(key).is_some() && !objects(value).is_empty())
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

/// Adds messages of any dialect to a conversation.
pub(super) fn add_messages(conversation: &mut Conversation, messages: &[Json]) {
    for item in last_versions(messages) {
        message(conversation, item);
    }
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
        let list = messages(value).unwrap_or(std::slice::from_ref(value));
        let speakers = Speakers::new(value, list);
        let mut items = speakers.in_order(last_versions(list)).into_iter().peekable();
        while let Some(item) = items.next() {
            conversation.in_texts.next = match items.peek() {
                None => NextMessage::Nothing,
                Some(next) if author(&as_message(next)) == Author::Tool => NextMessage::Result,
                Some(_) => NextMessage::Other,
            };
            conversation.in_texts.answered = items.peek().and_then(|next| text_calls::answered(next));
            message(&mut conversation, &speakers.message(item));
        }
        reply_beside(&mut conversation, value);
        restore(&mut conversation, value);
        let id = value.first(&IDS).or_else(|| value.below(&["info", "id"])).and_then(crate::fields::id);
        conversation.id = at.id(id);
        sink.trace(at.line, conversation.finish())
    })
}

/// One message, or an event that is like one.
pub(super) fn message(conversation: &mut Conversation, record: &Json) {
    if record.text("role").is_none() && event_kind(record) == Some(EventKind::Summary) {
        return;
    }
    let message = as_message(record);
    // A message with a reason to stop beside it is a whole reply.
    let is_whole = |key: &str| !matches!(message, Cow::Owned(_)) && record.has("message") && record.has(key);
    if ["finish_reason", "finishReason", "stop_reason"].iter().any(|key| is_whole(key)) {
        conversation.end_reply();
    }
    match author(&message) {
        // Results of some programs come from the system.
        Author::System if message.first(&["call_id", "tool_call_id"]).is_some() => {
            message_of(conversation, &message, Author::Tool, None, false);
        }
        Author::System => {}
        Author::Unknown if !holds_calls(&message) => unknown(conversation, record),
        author => {
            let is_event = matches!(message, Cow::Owned(_));
            message_of(conversation, &message, author, reply_id(record).filter(|_| is_event), is_event);
        }
    }
}

/// A record that is no message: an event that ends a reply, one that needs no word, or a loss.
fn unknown(conversation: &mut Conversation, record: &Json) {
    match (event_kind(record), role(record)) {
        (Some(EventKind::Border), _) => conversation.end_reply(),
        (_, Some(role)) => conversation.note_named("a message of role", role, "is left out"),
        (_, None) if members(record).is_empty() || !named_like_calls(record).is_empty() => {
            conversation.note("a message without a role is left out");
        }
        _ => {}
    }
}

fn message_of(
    conversation: &mut Conversation,
    message: &Json,
    author: Author,
    reply_id: Option<&str>,
    is_event: bool,
) {
    let content = content(message).unwrap_or(&Json::Null);
    let mut reading = MessageReading::new(is_event, holds_calls(message));
    if author == Author::Calls {
        conversation.reply(None);
        for value in objects(content) {
            reading.call(conversation, &value);
        }
        return reading.give_results(conversation);
    }
    if author == Author::Model {
        // A piece of a streamed text.
        if message.is("delta") && conversation.ends_with_reply() {
            conversation.reply_goes_on();
        } else {
            conversation.reply(reply_id);
        }
        let model = message.first_text(&["model", "model_name", "modelID"]);
        conversation.model = model.map(str::to_owned).or(conversation.model.take());
    }
    reading.parts(conversation, content, author);
    reading.members(conversation, author, all_members(message));
    if author == Author::Model
        && !reading.has_calls()
        && !conversation.in_texts.awaits_observation
        && message.has("thought")
        && let Some(command) = message.text("action").filter(|command| !command.trim().is_empty())
    {
        text_calls::command(conversation, command);
    }
    if author == Author::Tool && !reading.has_results() {
        let mut own = outcome(message);
        // A plain `id` may be that of the message.
        let is_known = |id: &String| conversation.has_call(id);
        own.id = own.id.filter(|id| is_known(id) || !message.says("id", id));
        own.result = own.result.or_else(|| {
            let parts = Content::from_json(content);
            (!parts.is_empty()).then(|| parts.to_json())
        });
        reading.add_outcome(own);
    }
    reading.give_results(conversation);
}

#[cfg(test)]
mod tests;
