//! The telemetry of the Vercel AI SDK: `ai.generateText` and others, their requests (`.doGenerate`) and `ai.toolCall`.

use super::cut;
use super::roles::{Agent, AssistantMessage, MessagePart, Reply, Role, ToolRun, Turn};
use crate::content::result_of;
use crate::formats::prelude::*;
use crate::spans::{Attributes, Span};

/// The attribute with the operation of a span.
pub(super) const OPERATION: &str = "ai.operationId";

/// Whether a span is one of the AI SDK.
pub(super) fn is_own(span: &Span) -> bool {
    span.attributes.get(OPERATION).is_some()
}

/// The id of the task of a span, if the program gave one.
pub(super) fn task(span: &Span) -> Option<String> {
    let named = span.attributes.keys().find(|key| {
        let name = key.strip_prefix("ai.telemetry.metadata.").map(str::to_ascii_lowercase);
        name.is_some_and(|name| {
            matches!(name.as_str(), "id" | "taskid" | "task_id" | "task" | "testid" | "caseid")
        })
    });
    span.attributes.id(named?)
}

/// The role of a span.
pub(super) fn role(span: &Span, notes: &mut Notes) -> Role {
    let Some(operation) = span.attributes.text(OPERATION) else { return super::otel::role(span, notes) };
    match operation {
        "ai.toolCall" => Role::Call(ran(&span.attributes, span, notes)),
        _ if operation.contains(".do") && !operation.contains("mbed") => {
            Role::Reply(reply(&span.attributes, span, notes))
        }
        "ai.generateText" | "ai.streamText" | "ai.generateObject" | "ai.streamObject" => {
            Role::Agent(agent(&span.attributes, notes))
        }
        _ => Role::Other,
    }
}

fn reply(attributes: &Attributes, span: &Span, notes: &mut Notes) -> Reply {
    let mut assistant = AssistantMessage::new();
    let text = ["ai.response.text", "ai.response.object"].iter().find_map(|key| attributes.text(key));
    assistant.extend(text.filter(|text| !text.is_empty()).map(|text| MessagePart::Text(text.to_owned())));
    let calls = cut::value(attributes.get("ai.response.toolCalls"), notes);
    assistant
        .extend(calls.iter().flat_map(Json::items).map(|call| MessagePart::Call(traced_call(call, notes))));
    let input = cut::value(attributes.get("ai.prompt.messages"), notes).map(|list| turns(&list, notes));
    let outputs: Vec<AssistantMessage> = if assistant.is_empty() { Vec::new() } else { vec![assistant] };
    let model = ["ai.response.model", "gen_ai.response.model", "ai.model.id"];
    Reply {
        input,
        is_failed: span.is_failed() && outputs.is_empty(),
        outputs,
        usage: usage(attributes),
        model: model.iter().find_map(|key| attributes.id(key)),
    }
}

fn usage(attributes: &Attributes) -> Usage {
    Usage {
        input: attributes.count(&[
            "ai.usage.inputTokens",
            "ai.usage.promptTokens",
            "gen_ai.usage.input_tokens",
        ]),
        cached: attributes
            .count(&["ai.usage.cachedInputTokens", "ai.usage.inputTokenDetails.cacheReadTokens"]),
        output: attributes.count(&[
            "ai.usage.outputTokens",
            "ai.usage.completionTokens",
            "gen_ai.usage.output_tokens",
        ]),
        reasoning: attributes
            .count(&["ai.usage.reasoningTokens", "ai.usage.outputTokenDetails.reasoningTokens"]),
    }
}

/// A call of a reply or of a message.
fn traced_call(call: &Json, notes: &mut Notes) -> TracedCall {
    let id = call_id(call.member("toolCallId"));
    TracedCall::new(id, named_tool(call, "toolName"), cut::arguments(call.first(&["input", "args"]), notes))
}

/// A tool that was run. Its arguments and its result are JSON; a text is in quotes.
fn ran(attributes: &Attributes, span: &Span, notes: &mut Notes) -> ToolRun {
    let result = cut::value(attributes.get("ai.toolCall.result"), notes).map(|value| result_of(&value));
    let name = tool(None, attributes.text("ai.toolCall.name").unwrap_or_default());
    let arguments = cut::arguments(attributes.get("ai.toolCall.args"), notes);
    let call = TracedCall { result, ..TracedCall::new(attributes.id("ai.toolCall.id"), name, arguments) };
    ToolRun::new(span, call)
}

fn agent(attributes: &Attributes, notes: &mut Notes) -> Agent {
    let prompt = cut::value(attributes.get("ai.prompt"), notes);
    let asked = prompt.as_ref().and_then(|prompt| match prompt.member("prompt") {
        Some(Json::String(text)) => Some(Content::of_text(text)),
        list => {
            let turns = turns(list.or_else(|| prompt.member("messages"))?, notes);
            turns.iter().find_map(Turn::user).cloned()
        }
    });
    Agent {
        name: attributes.id("ai.telemetry.functionId"),
        question: asked,
        answer: attributes.text("ai.response.text").filter(|text| !text.is_empty()).map(str::to_owned),
        ..Agent::default()
    }
}

/// The messages of a request.
fn turns(list: &Json, notes: &mut Notes) -> Vec<Turn> {
    let mut turns = Vec::new();
    for message in list.items() {
        let content = message.member("content");
        let parts = content.map(Json::items).unwrap_or_default();
        match message.text("role") {
            Some("user") => turns.push(Turn::User(content.map(Content::from_json).unwrap_or_default())),
            Some("assistant") => {
                let text = content.map(Content::from_json).unwrap_or_default().text();
                let mut assistant: AssistantMessage = Vec::new();
                if !text.is_empty() {
                    assistant.push(MessagePart::Text(text));
                }
                assistant.extend(parts.iter().filter_map(|part| match part.text("type") {
                    Some("tool-call") => Some(MessagePart::Call(traced_call(part, notes))),
                    Some("tool-result") => Some(MessagePart::Result(outcome(part))),
                    _ => None,
                }));
                turns.push(Turn::Assistant(assistant));
            }
            Some("tool") => {
                let results = parts.iter().filter(|part| part.says("type", "tool-result"));
                turns.extend(results.map(|part| Turn::Result(outcome(part))));
            }
            _ => {}
        }
    }
    turns
}

/// The result of a call in a message; in version 4 a bare value.
fn outcome(part: &Json) -> Outcome {
    let output = part.member("output");
    let kind = output.and_then(|output| output.text("type")).unwrap_or_default();
    let value = output.and_then(|output| output.member("value"));
    let result = match kind {
        "execution-denied" => output.and_then(|output| output.text("reason")).map(string),
        "content" => value.map(|value| Content::from_json(value).to_json()),
        _ => value.or(output).or_else(|| part.member("result")).map(result_of),
    };
    Outcome {
        tool: part.text("toolName").map(|name| tool(None, name)),
        is_error: kind.starts_with("error-") || part.is("isError"),
        ..Outcome::new(call_id(part.member("toolCallId")), result)
    }
}
