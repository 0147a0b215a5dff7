//! OpenInference's attributes, flat as OTLP has them or nested as older dumps have them.

use super::roles::{Agent, AssistantMessage, MessagePart, Reply, Role, ToolRun, Turn};
use super::{cut, tool_values};
use crate::content::{Media, Part, of_text_or_parts};
use crate::formats::prelude::*;
use crate::spans::{Attributes, Span};

/// The attribute with the kind of a span.
const KIND: &str = "openinference.span.kind";

/// Whether a span is one of OpenInference's.
pub(super) fn is_own(span: &Span) -> bool {
    span.attributes.get(KIND).is_some()
}

/// The role of a span.
pub(super) fn role(span: &Span, notes: &mut Notes) -> Role {
    let kind = span.attributes.text(KIND).map(str::to_ascii_uppercase);
    match kind.as_deref() {
        Some("LLM") => Role::Reply(reply(span, notes)),
        // The Agents SDK's spans of hand-overs are of this kind, too, but hold nothing: the reply has the call.
        Some("TOOL") if is_run(span) => Role::Call(ran(span, notes)),
        Some("AGENT") => Role::Agent(agent(span, notes)),
        // Judges and guards of an agent ask models of their own.
        Some("EVALUATOR" | "GUARDRAIL") => Role::Aside,
        // Libraries of MCP know nothing of OpenInference.
        None if span.attributes.text("mcp.method.name").is_some() => super::otel::role(span, notes),
        _ => Role::Other,
    }
}

/// Whether the span of a tool records a call.
fn is_run(span: &Span) -> bool {
    ["tool.name", "input.value", "output.value"].iter().any(|key| span.attributes.get(key).is_some())
        || !span.name.starts_with("handoff")
}

fn reply(span: &Span, notes: &mut Notes) -> Reply {
    let attributes = &span.attributes;
    let mut outputs: Vec<AssistantMessage> = messages(attributes, "llm.output_messages", "assistant", notes)
        .into_iter()
        .filter_map(Turn::assistant)
        .collect();
    // The calls of one reply may be in several messages; alternatives look the same.
    if outputs.len() > 1 && !has_choices(attributes) {
        outputs = vec![outputs.into_iter().flatten().collect()];
    }
    let input = messages(attributes, "llm.input_messages", "", notes);
    Reply {
        input: (!input.is_empty()).then_some(input),
        is_failed: span.is_failed() && outputs.is_empty(),
        outputs,
        usage: Usage {
            input: attributes.count(&["llm.token_count.prompt"]),
            output: attributes.count(&["llm.token_count.completion"]),
            cached: attributes.count(&["llm.token_count.prompt_details.cache_read"]),
            reasoning: attributes.count(&["llm.token_count.completion_details.reasoning"]),
        },
        model: attributes.id("llm.model_name"),
    }
}

/// Whether the raw reply of the model's server has several choices.
fn has_choices(attributes: &Attributes) -> bool {
    let value = attributes.text("output.value").and_then(|text| parse(text.as_bytes()).ok());
    value.is_some_and(|(value, _)| value.list("choices").len() > 1)
}

/// The messages below an attribute.
fn messages(attributes: &Attributes, key: &str, role: &str, notes: &mut Notes) -> Vec<Turn> {
    let Some(mut list) = attributes.tree(key) else { return Vec::new() };
    if let Json::String(_) = list {
        list = cut::value(Some(&list), notes).unwrap_or(Json::Null);
    }
    list.items().iter().filter_map(|one| message(one.member("message").unwrap_or(one), role, notes)).collect()
}

/// The member `a.b` of a value, or the member `b` of its member `a`, into which flat names may have been divided.
fn member<'j>(value: &'j Json, name: &str) -> Option<&'j Json> {
    value.member(name).or_else(|| name.split('.').try_fold(value, |value, key| value.member(key)))
}

fn message(message: &Json, role: &str, notes: &mut Notes) -> Option<Turn> {
    let message = if message.has("role") || message.has("content") { message } else { &undotted(message) };
    match message.text("role").unwrap_or(role) {
        "user" | "human" => Some(Turn::User(content(message, notes).unwrap_or_default())),
        "assistant" | "model" | "ai" => {
            let assistant = assistant_message(message, notes);
            (!assistant.is_empty()).then_some(Turn::Assistant(assistant))
        }
        "tool" | "function" => Some(Turn::Result(Outcome {
            tool: message.text("name").map(|name| tool(None, name)),
            ..Outcome::new(call_id(message.member("tool_call_id")), result(message, notes))
        })),
        "" | "system" | "developer" => None,
        _ => Some(Turn::Unknown),
    }
}

/// A message whose members have names such as `message.role`, as examples of the specification write them.
fn undotted(message: &Json) -> Json {
    let name = |key: &str| key.strip_prefix("message.").unwrap_or(key).to_owned();
    Json::Object(members(message).iter().map(|(key, value)| (name(key), value.clone())).collect())
}

fn assistant_message(message: &Json, notes: &mut Notes) -> AssistantMessage {
    let mut assistant = AssistantMessage::new();
    let text = content(message, notes).unwrap_or_default().text();
    if !text.is_empty() {
        assistant.push(MessagePart::Text(text));
    }
    for one in message.list("tool_calls") {
        let call = one.member("tool_call").unwrap_or(one);
        let name = member(call, "function.name").or_else(|| member(one, "tool_call.function.name"));
        let arguments =
            member(call, "function.arguments").or_else(|| member(one, "tool_call.function.arguments"));
        let id = call.member("id").or_else(|| member(one, "tool_call.id"));
        assistant.push(MessagePart::Call(traced_call(id, name, arguments, notes)));
    }
    if let Some(name) = message.member("function_call_name") {
        assistant.push(MessagePart::Call(traced_call(
            None,
            Some(name),
            message.member("function_call_arguments_json"),
            notes,
        )));
    }
    assistant
}

/// Makes a call; it has no arguments, an empty object, if there is no attribute for them.
fn traced_call(
    id: Option<&Json>,
    name: Option<&Json>,
    arguments: Option<&Json>,
    notes: &mut Notes,
) -> TracedCall {
    let none = Json::Object(Vec::new());
    let id = call_id(id);
    TracedCall::new(
        id,
        tool(None, name.and_then(Json::as_str).unwrap_or_default()),
        cut::arguments(Some(arguments.unwrap_or(&none)), notes),
    )
}

/// The content of a message; `None` if it is hidden.
fn content(message: &Json, notes: &mut Notes) -> Option<Content> {
    let mut content = Content::default();
    for one in message.list("contents") {
        let one = one.member("message_content").unwrap_or(one);
        let text = member(one, "text").or_else(|| member(one, "message_content.text")).and_then(Json::as_str);
        let image =
            ["image.image.url", "image.url", "message_content.image.image.url", "message_content.image"]
                .iter()
                .find_map(|path| member(one, path)?.as_str());
        if let Some(address) = image {
            content.parts.push(Part::Media(Media::of_address("image", address, None)));
        } else if let Some(text) = text.and_then(|text| cut::shown(text, notes)) {
            content.parts.push(Part::Text(text.to_owned()));
        }
    }
    if !content.is_empty() {
        return Some(content);
    }
    match message.member("content") {
        Some(Json::String(text)) => cut::shown(text, notes).map(of_text_or_parts),
        Some(other) => Some(Content::from_json(other)),
        None => Some(content),
    }
}

/// The result in a message. Langfuse keeps texts of JSON as values.
fn result(message: &Json, notes: &mut Notes) -> Option<Json> {
    match (content(message, notes), message.member("content")) {
        (Some(content), Some(value)) if content.is_empty() && value.as_str().is_none() => Some(value.clone()),
        (content, _) => content.map(|content| content.to_json()),
    }
}

/// A tool that was run.
fn ran(span: &Span, notes: &mut Notes) -> ToolRun {
    let attributes = &span.attributes;
    // The Agents SDK names the span of the call `transfer_to_weather_agent` so.
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
    let handed = span.name.strip_prefix("handoff to ");
    let handed = handed.map(|agent| format!("transfer_to_{}", agent.chars().map(plain).collect::<String>()));
    let own = attributes.text("tool.name").filter(|name| !name.is_empty());
    let name = own.or(handed.as_deref()).unwrap_or(&span.name);
    let id = attributes.first(&["tool.id", "tool_call.id"]).and_then(|id| call_id(Some(id)));
    let parameters = attributes.tree("tool.parameters");
    let arguments = tool_values::arguments(attributes.get("input.value"), parameters.as_ref(), notes);
    let call = TracedCall::new(id, tool(None, name), arguments);
    let mut ran = ToolRun { is_second: true, ..ToolRun::new(span, call) };
    tool_values::outcome(&mut ran.call, attributes.get("output.value"), notes);
    ran
}

fn agent(span: &Span, notes: &mut Notes) -> Agent {
    let attributes = &span.attributes;
    let mut turns = messages(attributes, "llm.input_messages", "", notes);
    let question = turns.iter().find_map(Turn::user).cloned();
    turns.extend(messages(attributes, "llm.output_messages", "assistant", notes));
    // A JSON value is the whole state of the program, neither a question nor an answer.
    let plain = |key: &str| {
        let text = attributes.text(key)?;
        (parse(text.as_bytes()).is_err() && !cut::is_cut(text) && !text.is_empty()).then_some(text)
    };
    let name = attributes.id("agent.name").or_else(|| attributes.id("graph.node.id"));
    Agent {
        name: name.or_else(|| Some(span.name.clone()).filter(|name| !name.is_empty())),
        question: question.or_else(|| plain("input.value").map(Content::of_text)),
        answer: plain("output.value").map(str::to_owned),
        turns,
        returns: false,
    }
}
