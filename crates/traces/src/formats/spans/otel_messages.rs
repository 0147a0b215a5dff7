//! Messages of OpenTelemetry's conventions: parts with types, or bodies as in Chat Completions.

use super::cut;
use super::roles::{AssistantMessage, MessagePart, Turn};
use crate::arguments::unwrapped;
use crate::call_shapes::{self, CallShape, shape_of_member};
use crate::content::{of_text_or_parts, result_of};
use crate::formats::prelude::*;

/// Lists of messages outside of spans.
pub(in crate::formats) const MESSAGES: Format = Format {
    name: "otel-genai-messages",
    title: "OpenTelemetry's messages of generative AI",
    recognizes: |head| head.any_message(is_own),
    read: |input, sink| {
        input.conversations(sink, |sink, at, value| {
            let mut conversation = Conversation::default();
            conversation.id = at.id(None);
            add_messages(&mut conversation, messages(value).unwrap_or(std::slice::from_ref(value)));
            sink.trace(at.line, conversation.finish())
        })
    },
};

/// Adds messages to a conversation.
pub(in crate::formats) fn add_messages(conversation: &mut Conversation, list: &[Json]) {
    let mut notes = Notes::default();
    for turn in list.iter().flat_map(|one| message(one, None, &mut notes)).collect::<Vec<_>>() {
        match turn {
            Turn::User(content) => conversation.user(content),
            Turn::Result(outcome) => conversation.result(outcome),
            Turn::Assistant(assistant) => {
                conversation.reply(None);
                for spoken in assistant {
                    match spoken {
                        MessagePart::Text(text) => conversation.say(&text),
                        MessagePart::Call(call) => conversation.call(call),
                        MessagePart::Result(outcome) => conversation.result(outcome),
                    }
                }
            }
            Turn::Unknown => {}
        }
    }
    conversation.notes.extend(&notes);
}

/// Whether a message has parts that only these conventions have.
fn is_own(message: &Json) -> bool {
    message.has("role")
        && message.list("parts").iter().any(|part| match part.text("type") {
            Some("tool_call" | "tool_call_response" | "server_tool_call" | "server_tool_call_response") => {
                true
            }
            Some("text" | "reasoning") => part.has("content"),
            _ => false,
        })
}

/// The messages of a list.
pub(super) fn turns(value: &Json, notes: &mut Notes) -> Vec<Turn> {
    let list = messages(value).unwrap_or(std::slice::from_ref(value));
    list.iter().flat_map(|one| message(one, None, notes)).collect()
}

/// The model's message; several messages are alternatives.
pub(super) fn choices(value: &Json, notes: &mut Notes) -> Vec<AssistantMessage> {
    let list = messages(value).unwrap_or(std::slice::from_ref(value));
    let mut choice = |one| message(one, Some("assistant"), notes).into_iter().filter_map(Turn::assistant);
    list.iter().map(|one| choice(one).flatten().collect()).collect()
}

/// A message; `role` is used where it does not name one.
pub(super) fn message(message: &Json, role: Option<&str>, notes: &mut Notes) -> Vec<Turn> {
    let role = message.text("role").or(role).unwrap_or_default();
    match message.member("parts") {
        Some(parts) => {
            let mut turns = of_parts(parts.items(), role, notes);
            // A result whose parts are only texts: the message itself names the call.
            if turns.is_empty() && role == "tool" && message.has("tool_call_id") {
                let id = call_id(message.member("tool_call_id"));
                turns.push(Turn::Result(Outcome::new(id, Some(Content::from_json(parts).to_json()))));
            }
            turns
        }
        None => event_turn(message, role, notes),
    }
}

/// The turns of a message that consists of parts.
fn of_parts(parts: &[Json], role: &str, notes: &mut Notes) -> Vec<Turn> {
    let is_said = matches!(role, "assistant" | "model" | "ai");
    let mut turns = Vec::new();
    let (mut assistant, mut content) = (AssistantMessage::new(), Content::default());
    for part in parts {
        match part.text("type") {
            Some("tool_call") => assistant.push(MessagePart::Call(call(part, notes))),
            Some("server_tool_call") => assistant.push(MessagePart::Call(server_call(part, notes))),
            Some("tool_call_response") => {
                let outcome = response(part, notes);
                if is_said {
                    assistant.push(MessagePart::Result(outcome));
                } else {
                    turns.push(Turn::Result(outcome));
                }
            }
            Some("server_tool_call_response") => assistant.push(MessagePart::Result(server_response(part))),
            Some("reasoning" | "thinking" | "compaction") => {}
            _ => {
                let piece = Content::from_json(part);
                if piece.is_empty() && !matches!(part, Json::String(_)) {
                    notes.add("a part of an unknown type is left out");
                } else if is_said {
                    assistant.push(MessagePart::Text(piece.text()));
                } else {
                    content.parts.extend(piece.parts);
                }
            }
        }
    }
    if !assistant.is_empty() {
        turns.push(Turn::Assistant(assistant));
    }
    if !content.is_empty() && matches!(role, "user" | "human") {
        turns.push(Turn::User(content));
    }
    turns
}

fn call(part: &Json, notes: &mut Notes) -> TracedCall {
    let id = call_id(part.member("id"));
    TracedCall::new(
        id,
        named_tool(part, "name"),
        cut::arguments(part.member("arguments"), notes).map(unwrapped),
    )
}

fn response(part: &Json, notes: &mut Notes) -> Outcome {
    Outcome {
        tool: part.text("name").map(|name| tool(None, name)),
        ..Outcome::new(call_id(part.member("id")), returned(part.first(&["response", "result"]), notes))
    }
}

/// A call that the provider ran; its members depend on its type.
fn server_call(part: &Json, notes: &mut Notes) -> TracedCall {
    let held = part.member("server_tool_call");
    let inner = held.and_then(|held| held.first(&["arguments", "input"]));
    let arguments = inner.cloned().or_else(|| held.map(without_type));
    let server = held.and_then(|held| held.first(&["server_label", "server_name"])).and_then(Json::as_str);
    let id = call_id(part.member("id"));
    TracedCall::new(
        id,
        tool(server, part.text("name").or_else(|| held?.text("type")).unwrap_or_default()),
        cut::arguments(arguments.as_ref(), notes),
    )
}

fn server_response(part: &Json) -> Outcome {
    let held = part.member("server_tool_call_response");
    let inner = held.and_then(|held| held.first(&["response", "output", "result", "content"]));
    let error = held.and_then(|held| held.member("error"));
    let result = inner.or(error).cloned().or_else(|| held.map(without_type));
    Outcome {
        is_error: error.is_some(),
        ..Outcome::new(call_id(part.member("id")), result.map(|result| result_of(&result)))
    }
}

/// An object without its type.
fn without_type(value: &Json) -> Json {
    match value {
        Json::Object(members) => {
            Json::Object(members.iter().filter(|(key, _)| key != "type").cloned().collect())
        }
        other => other.clone(),
    }
}

/// A message as in Chat Completions. A result names its call by `tool_call_id`, or `id` in events.
pub(super) fn event_turn(body: &Json, role: &str, notes: &mut Notes) -> Vec<Turn> {
    let role = body.text("role").unwrap_or(role);
    let content = if matches!(body, Json::Object(_)) { body.member("content") } else { Some(body) };
    if let Some(list) = content.and_then(blocks) {
        return block_turns(&list, role, body);
    }
    match role {
        "user" | "human" => vec![Turn::User(content.map(user_content).unwrap_or_default())],
        "tool" | "function" => {
            let result = returned(body.member("content"), notes);
            let result = match body.member("content") {
                Some(content @ Json::Array(_)) => Some(Content::from_json(content).to_json()),
                _ => result,
            };
            let outcome = Outcome {
                tool: body.text("name").map(|name| tool(None, name)),
                ..Outcome::new(call_id(body.first(&["tool_call_id", "id"])), result)
            };
            vec![Turn::Result(outcome)]
        }
        "" | "system" | "developer" => Vec::new(),
        "assistant" | "model" | "ai" => {
            let text = content.map(user_content).unwrap_or_default().text();
            let mut assistant: AssistantMessage = Vec::new();
            if !text.is_empty() {
                assistant.push(MessagePart::Text(text));
            }
            for one in body.list("tool_calls").iter().chain(body.member("function_call")) {
                assistant.push(MessagePart::Call(chat_call(one, notes)));
            }
            if assistant.is_empty() { Vec::new() } else { vec![Turn::Assistant(assistant)] }
        }
        _ => vec![Turn::Unknown],
    }
}

/// The blocks of a content, or of its JSON, that have no types: their members say what they are, as in Bedrock's Converse.
pub(super) fn blocks(content: &Json) -> Option<Vec<Json>> {
    let list = match content {
        Json::Array(list) => list.clone(),
        Json::String(text) if text.trim_start().starts_with('[') => match parse(text.as_bytes()) {
            Ok((Json::Array(list), _)) => list,
            _ => return None,
        },
        _ => return None,
    };
    let is_block = |block: &Json| {
        let is_known = |(key, _): &(String, Json)| key == "text" || shape_of_member(key).is_some();
        !block.has("type") && members(block).iter().any(is_known)
    };
    (!list.is_empty() && list.iter().all(is_block)).then_some(list)
}

/// The result of a call: that of blocks is their content.
pub(super) fn returned(value: Option<&Json>, notes: &mut Notes) -> Option<Json> {
    match value.and_then(blocks) {
        Some(list) => Some(Content::from_json(&Json::Array(list)).to_json()),
        None => cut::result(value, notes),
    }
}

/// The turns of such blocks. `body` may name the call that a result is of.
fn block_turns(list: &[Json], role: &str, body: &Json) -> Vec<Turn> {
    let (mut turns, mut assistant, mut own) = (Vec::new(), AssistantMessage::new(), Content::default());
    for block in list {
        let shape = members(block).iter().find_map(|(key, inner)| Some((shape_of_member(key)?, inner)));
        match shape {
            Some((CallShape::Call, inner)) => {
                let calls = call_shapes::objects(inner);
                assistant.extend(calls.iter().filter_map(call_shapes::call).map(MessagePart::Call));
            }
            Some((CallShape::Outcome, _)) if matches!(role, "assistant" | "model" | "ai") => {
                assistant.push(MessagePart::Result(call_shapes::outcome(block)));
            }
            Some((CallShape::Outcome, _)) => turns.push(Turn::Result(call_shapes::outcome(block))),
            None => own.add(block),
        }
    }
    match role {
        "user" | "human" if !own.is_empty() => turns.push(Turn::User(own)),
        "assistant" | "model" | "ai" => {
            let text = own.joined_text();
            if !text.is_empty() {
                assistant.insert(0, MessagePart::Text(text));
            }
            turns.extend((!assistant.is_empty()).then_some(Turn::Assistant(assistant)));
        }
        "tool" | "function" if !own.is_empty() => {
            let id = call_id(body.first(&["tool_call_id", "id"]));
            turns.push(Turn::Result(Outcome::new(id, Some(own.to_json()))));
        }
        _ => {}
    }
    turns
}

/// A call as in Chat Completions, or with its members flat.
fn chat_call(value: &Json, notes: &mut Notes) -> TracedCall {
    let function = value.member("function").unwrap_or(value);
    let id = call_id(value.member("id"));
    TracedCall::new(id, named_tool(function, "name"), cut::arguments(function.member("arguments"), notes))
}

/// The content of a message of the user or the model: a list of parts may be written as a text.
fn user_content(value: &Json) -> Content {
    let Some(text) = value.as_str() else { return Content::from_json(value) };
    if text.starts_with('[')
        && let Ok((list, _)) = parse(text.as_bytes())
        && !list.items().is_empty()
        && list.items().iter().all(|part| part.text("type").is_some())
    {
        return Content::from_json(&list);
    }
    of_text_or_parts(text)
}
