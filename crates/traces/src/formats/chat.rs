//! OpenAI's Chat Completions: lists of messages, requests, replies, logs and streams. Also messages for chat templates,
//! whose arguments are objects.

use std::collections::BTreeMap;

use m3_trajectory::json::Json;

use super::Format;
use crate::arguments::{arguments, call_id, input, tool};
use crate::content::{Content, string};
use crate::conversation::{Conversation, Outcome};
use crate::events::events;
use crate::export::restore;
use crate::fields::Fields;
use crate::head::{Shape, messages};
use crate::input::{Input, ReadError, Sink};
use crate::logs::{Exchange, each_chain, is_exchange};
use crate::trace::TracedCall;
use crate::usage::Usage;

/// Replies, logs of requests and replies, and streams, by what only they have.
pub(super) const REPLIES: Format = Format {
    name: "openai-chat",
    title: "OpenAI Chat Completions: replies, logs and streams",
    recognizes: |head| match head.shape {
        Shape::Events => head.text.contains("chat.completion.chunk"),
        _ => head.any(|value| {
            is_reply(value) || is_exchange(value) && value.member("response").is_some_and(is_reply)
        }),
    },
    read,
};

/// Lists of messages, by their calls.
pub(super) const MESSAGES: Format = Format {
    name: "openai-chat-messages",
    title: "OpenAI Chat Completions: messages",
    recognizes: |head| {
        head.any_message(|message| {
            message.has("role")
                && (message.list("tool_calls").iter().any(|call| call.has("function") || call.has("custom"))
                    || message.member("function_call").is_some_and(|call| call.has("name")))
        })
    },
    read,
};

/// Lists of messages without calls, which are the same in most dialects.
pub(super) const TEXTS: Format = Format {
    name: "messages",
    title: "messages without calls",
    recognizes: |head| {
        head.any_message(|message| {
            ["user", "assistant", "model"].iter().any(|role| message.says("role", role))
                && message.first(&["content", "parts"]).is_some()
        })
    },
    read,
};

fn is_reply(value: &Json) -> bool {
    value.text("object").is_some_and(|object| object.starts_with("chat.completion"))
        || value.list("choices").iter().any(|choice| choice.has("message") || choice.has("delta"))
}

fn is_chunk(value: &Json) -> bool {
    value.says("object", "chat.completion.chunk")
        || value.list("choices").iter().any(|choice| choice.has("delta"))
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let first = input.head.records().next();
    if input.head.shape == Shape::Events {
        let chunks: Vec<Json> = events(input, sink)?.into_iter().map(|event| event.data).collect();
        return sink.trace(None, stream(&chunks).finish());
    }
    if first.is_some_and(is_chunk) {
        let chunks = input.list(sink)?;
        return sink.trace(None, stream(&chunks).finish());
    }
    if first.is_some_and(is_exchange) {
        return each_chain(input, sink, |request| request.list("messages"), logged);
    }
    if first.is_some_and(is_reply) {
        return input.records(sink, |sink, at, value| {
            let mut conversation = Conversation::default();
            reply(&mut conversation, value);
            sink.trace(at.line, conversation.finish())
        });
    }
    input.conversations(sink, |sink, at, value| {
        let mut conversation = Conversation::default();
        conversation.model = value.text("model").map(str::to_owned);
        for message in messages(value).unwrap_or_default() {
            self::message(&mut conversation, message);
        }
        restore(&mut conversation, value);
        conversation.id = at.id(value.id("id"));
        sink.trace(at.line, conversation.finish())
    })
}

/// The whole of a log's conversation: what the last request repeats, and the last reply.
fn logged(chain: &[Exchange<'_>]) -> Conversation {
    let mut conversation = Conversation::default();
    let Some(last) = chain.last() else { return conversation };
    conversation.model = last.request.text("model").map(str::to_owned);
    for message in last.request.list("messages") {
        self::message(&mut conversation, message);
    }
    for exchange in &chain[..chain.len() - 1] {
        conversation.usage.add(exchange.response.member("usage").map(Usage::of_openai).unwrap_or_default());
        conversation.at(exchange.response.number("created"));
    }
    conversation.end_reply();
    reply(&mut conversation, last.response);
    conversation
}

/// A whole reply; of several choices, which are alternatives, the first.
fn reply(conversation: &mut Conversation, response: &Json) {
    conversation.at(response.number("created"));
    if let Some(model) = response.text("model") {
        conversation.model = Some(model.to_owned());
    }
    conversation.usage.add(response.member("usage").map(Usage::of_openai).unwrap_or_default());
    let choices = response.list("choices");
    let first = choices.iter().min_by_key(|choice| choice.count("index").unwrap_or_default());
    if let Some(message) = first.and_then(|choice| choice.member("message")) {
        self::message(conversation, message);
    }
    for _ in choices.iter().skip(1) {
        conversation.note("another choice of the same reply is left out");
    }
}

/// One message.
pub(super) fn message(conversation: &mut Conversation, message: &Json) {
    let content = message.first(&["content", "parts"]).map(Content::of).unwrap_or_default();
    match message.text("role") {
        // Messages of tools hold texts alone: a message of the user that has a call's name brings its pictures.
        Some("user") if message.text("name").is_some_and(|name| conversation.has_result(name)) => {
            conversation.add_to_result(message.text("name").unwrap_or_default(), &content);
        }
        Some("user" | "human") => conversation.user(content),
        Some("assistant" | "model" | "ai") => {
            reply_message(conversation, message, None);
        }
        Some("tool" | "function") => {
            let outcome = Outcome::new(call_id(message.member("tool_call_id")), &content);
            conversation.result(Outcome { tool: message.text("name").map(str::to_owned), ..outcome });
        }
        Some("system" | "developer") => {}
        role => conversation.note_named("a message of role", role.unwrap_or("none"), "is left out"),
    }
}

/// The message of a reply, which may have an id of its own.
pub(super) fn reply_message(conversation: &mut Conversation, message: &Json, id: Option<&str>) {
    conversation.reply(id);
    let text = message.first(&["content", "parts"]).map(Content::of).unwrap_or_default().text();
    conversation.say(if text.is_empty() { message.text("refusal").unwrap_or_default() } else { &text });
    let legacy = message.member("function_call").into_iter();
    let calls = message.list("tool_calls").iter().map(call);
    legacy.map(function).chain(calls).for_each(|call| conversation.call(call));
}

/// A call with an id.
pub(super) fn call(call: &Json) -> TracedCall {
    let id = call_id(call.member("id"));
    if let Some(custom) = call.member("custom") {
        let written = custom.member("input").cloned().unwrap_or_else(|| string(""));
        let name = custom.text("name").unwrap_or_default();
        return TracedCall {
            id,
            tool: tool(None, name),
            arguments: Some(input(&written)),
            ..TracedCall::default()
        };
    }
    TracedCall { id, ..function(call.member("function").unwrap_or(call)) }
}

/// A function with its arguments.
fn function(function: &Json) -> TracedCall {
    TracedCall {
        tool: tool(function.text("namespace"), function.text("name").unwrap_or_default()),
        arguments: arguments(function.member("arguments")),
        ..TracedCall::default()
    }
}

/// The pieces of a call in a stream.
#[derive(Debug, Default)]
struct Pieces {
    id: Option<String>,
    name: String,
    arguments: String,
    is_custom: bool,
}

/// A streamed reply, put together; of several choices the first.
fn stream(chunks: &[Json]) -> Conversation {
    let mut conversation = Conversation::default();
    let mut calls: BTreeMap<u64, Pieces> = BTreeMap::new();
    let mut others = std::collections::BTreeSet::new();
    conversation.reply(None);
    for chunk in chunks {
        conversation.at(chunk.number("created"));
        if let Some(model) = chunk.text("model") {
            conversation.model = Some(model.to_owned());
        }
        if let Some(usage) = chunk.member("usage") {
            conversation.usage = Usage::of_openai(usage);
        }
        for choice in chunk.list("choices") {
            match choice.count("index").unwrap_or_default() {
                0 => {}
                other => {
                    others.insert(other);
                    continue;
                }
            }
            let Some(delta) = choice.member("delta") else { continue };
            conversation.say(delta.text("content").or_else(|| delta.text("refusal")).unwrap_or_default());
            for piece in delta.list("tool_calls") {
                let pieces = calls.entry(piece.count("index").unwrap_or_default()).or_default();
                pieces.id = pieces.id.take().or_else(|| call_id(piece.member("id")));
                let (body, key) = match piece.member("custom") {
                    Some(custom) => (Some(custom), "input"),
                    None => (piece.member("function"), "arguments"),
                };
                pieces.is_custom |= key == "input";
                pieces.name.push_str(body.and_then(|body| body.text("name")).unwrap_or_default());
                pieces.arguments.push_str(body.and_then(|body| body.text(key)).unwrap_or_default());
            }
        }
    }
    for (_, pieces) in calls {
        let arguments = if pieces.is_custom {
            Some(input(&string(&pieces.arguments)))
        } else {
            arguments(Some(&string(&pieces.arguments)))
        };
        conversation.call(TracedCall {
            id: pieces.id,
            tool: tool(None, &pieces.name),
            arguments,
            ..TracedCall::default()
        });
    }
    for _ in others {
        conversation.note("another choice of the same reply is left out");
    }
    conversation
}
