//! Messages and replies of a dialect that is known only from themselves: programs that watch others keep the requests and
//! replies as those wrote them.

use m3_trajectory::json::Keys;

use super::otel_messages;
use crate::formats::prelude::*;
use crate::formats::{anthropic, chat, dialects, gemini, langchain, responses, vercel};
use crate::head::Head;

/// How a message, or a whole reply, is added.
type AddOne = fn(&mut Conversation, &Json);

/// How messages are added.
enum AddMessages {
    Each(AddOne),
    All(fn(&mut Conversation, &[Json])),
}

/// The dialects of messages, in the order of [`FORMATS`](crate::formats::FORMATS); the last one takes any.
const MESSAGES: [(Format, AddMessages); 8] = [
    (
        langchain::MESSAGES,
        AddMessages::All(|conversation, list| langchain::message::add_all(conversation, list.iter())),
    ),
    (chat::MESSAGES, AddMessages::Each(chat::message)),
    (responses::ITEMS, AddMessages::Each(responses::item)),
    (gemini::CONTENTS, AddMessages::Each(gemini::content)),
    (otel_messages::MESSAGES, AddMessages::All(otel_messages::add_messages)),
    (vercel::MESSAGES, AddMessages::All(vercel::add_messages)),
    (anthropic::MESSAGES, AddMessages::Each(anthropic::message)),
    (dialects::MESSAGES, AddMessages::Each(dialects::message)),
];

/// The dialects of whole replies.
const REPLIES: [(Format, AddOne); 4] = [
    (chat::REPLIES, chat::reply),
    (responses::REPLIES, responses::reply),
    (anthropic::REPLIES, anthropic::reply),
    (gemini::REPLIES, gemini::reply),
];

/// Members around the messages of a request, beside those of [`messages`].
const AROUND: [&str; 9] =
    ["kwargs", "input", "inputs", "new_message", "prompt", "question", "query", "task", "args"];

/// Members around a reply.
const AROUND_REPLY: [&str; 2] = ["generations", "result"];

/// The deepest member that is looked into.
const DEEPEST: usize = 6;

/// The conversation of a request, with a record of its messages.
pub(super) fn request(value: &Json) -> Conversation {
    let mut conversation = recorded();
    let opened = opened(value);
    let value = opened.as_ref().unwrap_or(value);
    conversation.model = value.text("model").map(str::to_owned);
    add(&mut conversation, &list(value, 0));
    conversation
}

/// The conversation of a reply, with a record of its parts. A value that is no message is the text of the reply.
pub(super) fn reply(value: &Json) -> Conversation {
    let mut conversation = recorded();
    if !add_reply(&mut conversation, value, 0) {
        conversation.reply(None);
        conversation.say(&match value {
            Json::String(text) => text.clone(),
            other => other.to_text(Keys::AsRead),
        });
    }
    conversation
}

fn recorded() -> Conversation {
    let mut conversation = Conversation::default();
    conversation.record = Some(Vec::new());
    conversation
}

fn add(conversation: &mut Conversation, list: &[Json]) {
    let head = Head::from_values(vec![Json::Array(list.to_vec())], true);
    let known = MESSAGES.iter().find(|(format, _)| (format.recognizes)(&head)).or(MESSAGES.last());
    match known {
        Some((_, AddMessages::Each(add))) => {
            for message in list {
                add(conversation, message);
            }
        }
        Some((_, AddMessages::All(add))) => add(conversation, list),
        None => {}
    }
}

/// Adds a reply, and returns whether the value is one.
fn add_reply(conversation: &mut Conversation, value: &Json, depth: usize) -> bool {
    if depth > DEEPEST {
        return false;
    }
    if let Some(value) = opened(value) {
        return add_reply(conversation, &value, depth + 1);
    }
    let own = Head::from_values(vec![value.clone()], true);
    if let Some((_, add)) = REPLIES.iter().find(|(format, _)| (format.recognizes)(&own)) {
        add(conversation, value);
        return true;
    }
    // LangChain divides the replies of a batch into lists.
    if let [first @ Json::Array(_), ..] = value.items() {
        return add_reply(conversation, first, depth + 1);
    }
    if let Some(inner) = AROUND_REPLY.iter().find_map(|key| value.member(key)) {
        return add_reply(conversation, inner, depth + 1);
    }
    if let [one] = value.items()
        && let Some(message) = one.member("message").filter(|_| !is_message(one))
    {
        return add_reply(conversation, message, depth + 1);
    }
    let list = if value.as_str().is_some() { Vec::new() } else { list(value, 0) };
    if list.iter().any(is_message) {
        add(conversation, &list);
        return true;
    }
    dialects::reply(conversation, value)
}

/// The messages in a value: a list, a message, an object around either, JSON of them, or the text of a question.
fn list(value: &Json, depth: usize) -> Vec<Json> {
    if depth > DEEPEST {
        return Vec::new();
    }
    let inner = |value: &Json| list(value, depth + 1);
    match value {
        Json::String(text) => match opened(value) {
            Some(value) => inner(&value),
            None if text.trim().is_empty() => Vec::new(),
            None => vec![object([("role", string("user")), ("content", value.clone())])],
        },
        Json::Array(items) => match items.first() {
            Some(first @ Json::Array(_)) => inner(first),
            Some(Json::String(_)) => items.iter().flat_map(inner).collect(),
            _ => items.iter().filter(|item| !is_definition(item)).cloned().collect(),
        },
        Json::Object(_) if is_message(value) => vec![value.clone()],
        Json::Object(_) => {
            if let Some(list) = messages(value).filter(|list| !list.is_empty()) {
                return inner(&Json::Array(list.to_vec()));
            }
            // A function with one argument asks with that.
            let only = members(value).iter().filter(|_| members(value).len() == 1).map(|(_, inner)| inner);
            let mut lists = AROUND.iter().filter_map(|key| value.member(key)).chain(only).map(inner);
            lists.find(|list| !list.is_empty()).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// Whether a value is a message, or an item as in the Responses API.
fn is_message(value: &Json) -> bool {
    let head = || Head::from_values(vec![Json::Array(vec![value.clone()])], true);
    matches!(value, Json::Object(_))
        && (role(value).is_some()
            || langchain::is_message(value)
            || value.has("type") && (responses::ITEMS.recognizes)(&head()))
}

/// Whether a message is the definition of a tool: Langfuse's handler for `LangChain` puts those among the messages.
fn is_definition(message: &Json) -> bool {
    let function = message.below(&["content", "function"]);
    message.says("role", "tool")
        && !message.has("tool_call_id")
        && function.is_some_and(|function| function.has("name") && function.has("parameters"))
}

/// The object or the list in a text of JSON, or the text that was written as JSON once more.
fn opened(value: &Json) -> Option<Json> {
    let text = value.as_str().filter(|text| text.trim_start().starts_with(['{', '[', '"']))?;
    let (value, _) = parse(text.as_bytes()).ok()?;
    matches!(value, Json::Object(_) | Json::Array(_) | Json::String(_)).then_some(value)
}
