//! OpenTelemetry's conventions for generative AI, also as OpenLLMetry, Pydantic AI and libraries of MCP write them.

use super::cut;
use super::otel_messages::{choices, event_turn, message, returned, turns};
use super::roles::{Agent, AssistantMessage, Reply, Role, ToolRun, Turn};
use crate::arguments::unwrapped;
use crate::content::result_of;
use crate::formats::prelude::*;
use crate::spans::{Attributes, Event, Span};
use crate::values::opened;

/// The event with the messages of a request and its reply.
const DETAILS: &str = "gen_ai.client.inference.operation.details";

/// The role of a span.
pub(super) fn role(span: &Span, notes: &mut Notes) -> Role {
    let attributes = &span.attributes;
    if let Some(method) = attributes.text("mcp.method.name") {
        return if method == "tools/call" { Role::Call(ran(span, notes)) } else { Role::Other };
    }
    match operation(span) {
        Some("chat" | "text_completion" | "generate_content") => Role::Reply(reply(span, notes)),
        // The Agent Development Kit writes a span for the results of a reply's calls, which have spans of their own.
        Some("execute_tool") if attributes.text("gen_ai.tool.name") == Some("(merged tools)") => Role::Other,
        Some("execute_tool") => Role::Call(ran(span, notes)),
        Some("invoke_agent" | "invoke_workflow") => Role::Agent(agent(span, notes)),
        None if is_reply(span) => Role::Reply(reply(span, notes)),
        _ => Role::Other,
    }
}

/// The operation of a span, or that of a record that belongs to it.
fn operation(span: &Span) -> Option<&str> {
    let own = span.attributes.text("gen_ai.operation.name");
    own.or_else(|| span.events.iter().find_map(|event| event.attributes.text("gen_ai.operation.name")))
}

/// Whether a span without an operation is a reply: a span of OpenLLMetry, or one of which only log records exist.
fn is_reply(span: &Span) -> bool {
    let attributes = &span.attributes;
    attributes.text("llm.request.type").is_some_and(|kind| kind == "chat" || kind == "completion")
        || span.name.rsplit_once('.').is_some_and(|(_, name)| name == "chat")
            && attributes.has_below("gen_ai")
        || attributes.has_below("gen_ai.completion")
        || attributes.get("gen_ai.output.messages").is_some()
        || span.events.iter().any(|event| {
            event.name == DETAILS
                || event.name == "gen_ai.choice"
                || event.name.starts_with("gen_ai.user.message")
        })
}

/// The attributes of a span, then those of its events with messages, the last first: some programs write an event for the
/// request and one for the reply.
fn sources(span: &Span) -> impl Iterator<Item = &Attributes> {
    let details = span.events.iter().rev().filter(|event| event.name == DETAILS);
    std::iter::once(&span.attributes).chain(details.map(|event| &event.attributes))
}

/// The messages that an attribute of these sources holds.
fn messages_of(span: &Span, key: &str, notes: &mut Notes) -> Option<Vec<Turn>> {
    let value = sources(span).find_map(|source| cut::value(source.get(key), notes))?;
    Some(turns(&value, notes))
}

fn reply(span: &Span, notes: &mut Notes) -> Reply {
    let sources = || sources(span);
    let mut outputs: Vec<AssistantMessage> = Vec::new();
    let mut input = None;
    for source in sources() {
        if outputs.is_empty()
            && let Some(value) = cut::value(source.get("gen_ai.output.messages"), notes)
        {
            outputs = choices(&value, notes);
        }
        if input.is_none()
            && let Some(value) = cut::value(source.get("gen_ai.input.messages"), notes)
        {
            input = Some(turns(&value, notes));
        }
    }
    if outputs.is_empty() || input.is_none() {
        let (user_content, assistant) = of_events(&span.events, notes);
        input = input.or(Some(user_content).filter(|user_content| !user_content.is_empty()));
        if outputs.is_empty() {
            outputs = assistant;
        }
    }
    flat(&span.attributes, &mut input, &mut outputs, notes);
    outputs.retain(|assistant| !assistant.is_empty());
    let text = |key| sources().find_map(|source| source.text(key));
    Reply {
        input,
        is_failed: span.is_failed() && outputs.is_empty(),
        outputs,
        usage: sources()
            .map(|source| usage(source, notes))
            .find(|usage| !usage.is_empty())
            .unwrap_or_default(),
        model: text("gen_ai.response.model").or_else(|| text("gen_ai.request.model")).map(str::to_owned),
    }
}

/// Messages in attributes of their own, `gen_ai.prompt.N.role`, as OpenLLMetry wrote them before 2026.
fn flat(
    attributes: &Attributes,
    input: &mut Option<Vec<Turn>>,
    outputs: &mut Vec<AssistantMessage>,
    notes: &mut Notes,
) {
    if input.is_none()
        && let Some(prompt) = attributes.tree("gen_ai.prompt")
        && !prompt.items().is_empty()
    {
        *input = Some(prompt.items().iter().flat_map(|one| message(one, None, notes)).collect());
    }
    if outputs.is_empty()
        && let Some(completion) = attributes.tree("gen_ai.completion")
    {
        let as_assistant =
            |one: &Json| message(one, Some("assistant"), notes).into_iter().find_map(Turn::assistant);
        *outputs = completion.items().iter().filter_map(as_assistant).collect();
    }
}

/// Messages in events or records of their own, as in the conventions up to 1.36.
fn of_events(events: &[Event], notes: &mut Notes) -> (Vec<Turn>, Vec<AssistantMessage>) {
    let (mut input, mut outputs) = (Vec::new(), Vec::new());
    for event in events {
        let Some(kind) = event.name.strip_prefix("gen_ai.") else { continue };
        match (kind, kind.strip_suffix(".message")) {
            ("choice", _) => {
                let choice = body(event);
                let body =
                    choice.member("message").map_or_else(|| choice.clone(), |it| opened(it).into_owned());
                outputs.extend(event_turn(&body, "assistant", notes).into_iter().find_map(Turn::assistant));
            }
            (_, Some(role)) => input.extend(event_turn(&body(event), role, notes)),
            _ => {}
        }
    }
    (input, outputs)
}

/// The content of an event: the body of a record, else the attributes of an event.
fn body(event: &Event) -> Json {
    if let Some(body) = &event.body {
        return opened(body).into_owned();
    }
    if let Some(content) = event.attributes.get("gen_ai.event.content") {
        return opened(content).into_owned();
    }
    let members = event.attributes.iter().map(|(key, value)| {
        // Attributes of events are texts of JSON, except for `content`, which is plain text.
        (key.to_owned(), if key == "content" { value.clone() } else { opened(value).into_owned() })
    });
    Json::Object(members.collect())
}

pub(super) fn usage(attributes: &Attributes, notes: &mut Notes) -> Usage {
    let cached = attributes.count(&[
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.details.cache_read_tokens",
    ]);
    let mut usage = Usage {
        input: attributes.count(&["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"]),
        output: attributes.count(&["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"]),
        cached,
        reasoning: attributes.count(&[
            "gen_ai.usage.reasoning.output_tokens",
            "gen_ai.usage.reasoning_tokens",
            "gen_ai.usage.details.reasoning_tokens",
        ]),
    };
    let provider = attributes.first(&["gen_ai.provider.name", "gen_ai.system"]).and_then(Json::as_str);
    if provider.is_some_and(|provider| provider.to_ascii_lowercase().contains("anthropic"))
        && cached > Some(0)
    {
        if usage.input < cached {
            usage.input = usage.input.zip(cached).map(|(input, cached)| input.saturating_add(cached));
        } else {
            notes.add("whether the input tokens include cached ones is not known");
        }
    }
    usage
}

/// A tool that was run: by a host, or by a client or a server of MCP.
fn ran(span: &Span, notes: &mut Notes) -> ToolRun {
    let attributes = &span.attributes;
    let method = attributes.text("mcp.method.name");
    let named = span.name.split_once(method.unwrap_or("execute_tool")).map(|(_, name)| name.trim());
    let name = attributes.text("gen_ai.tool.name").or(named).unwrap_or_default();
    let given = attributes.get("gen_ai.tool.call.result");
    let mut result = match given {
        Some(given) if crate::export::otel::is_own(span) => Some(crate::export::otel::result_of(given)),
        given => returned(given, notes),
    };
    if is_ai_sdk(span)
        && let Some(Json::String(text)) = &result
        && let Ok((value, _)) = parse(text.as_bytes())
    {
        result = Some(result_of(&value));
    }
    let is_told = given.is_some() && attributes.get("gen_ai.tool.call.arguments").is_some();
    let (written, returned) = if is_told { (None, None) } else { told_by_events(span, notes) };
    let is_error = span.is_failed() || attributes.text("error.type").is_some_and(|kind| !kind.is_empty());
    let server = ["mcp.server.name", "fastmcp.server.name"].iter().find_map(|key| attributes.id(key));
    ToolRun {
        call: TracedCall {
            id: attributes.id("gen_ai.tool.call.id"),
            tool: tool(None, name),
            arguments: arguments(attributes.get("gen_ai.tool.call.arguments"), notes).or(written),
            result: result.or(returned),
            is_error,
            // `_OTHER` is the conventions' word for an unknown kind.
            error_type: is_error.then(|| span.error_type()).flatten().filter(|kind| kind != "_OTHER"),
            ..TracedCall::default()
        },
        server,
        is_mcp: method.is_some(),
        passes_control: attributes.text("gen_ai.transfer.mode") == Some("pass_control"),
        is_second: false,
        message: span.error_message().map(str::to_owned),
    }
}

/// The arguments and the result of a tool in events, where programs do not write them as attributes of the span.
fn told_by_events(span: &Span, notes: &mut Notes) -> (Option<Json>, Option<Json>) {
    let turns = ["gen_ai.input.messages", "gen_ai.output.messages"]
        .into_iter()
        .filter_map(|key| messages_of(span, key, notes))
        .flatten()
        .collect::<Vec<_>>();
    // The messages may hold the whole conversation: the call of this span is the last one with its id, or its name.
    let (id, name) = (span.attributes.id("gen_ai.tool.call.id"), span.attributes.text("gen_ai.tool.name"));
    let is_own = |call: &&TracedCall| match &id {
        Some(_) => call.id == id,
        None => name.is_none_or(|name| call.tool == tool(None, name)),
    };
    let mut calls = turns.iter().filter_map(|turn| match turn {
        Turn::Assistant(parts) => super::roles::calls(parts).filter(is_own).last(),
        _ => None,
    });
    let call = calls.next_back();
    let mut outcomes = turns.iter().filter_map(|turn| match turn {
        Turn::Result(outcome) if outcome.id.is_none() || id.is_none() || outcome.id == id => {
            outcome.result.clone()
        }
        _ => None,
    });
    let outcome = outcomes.next_back();
    let of_event = |name: &str, key: &str| {
        let event = span.events.iter().find(|event| event.name == name)?;
        body(event).member(key).cloned()
    };
    let written = call.and_then(|call| call.arguments.clone());
    let written = written.or_else(|| arguments(of_event("gen_ai.tool.message", "content").as_ref(), notes));
    let returned = outcome.or_else(|| {
        let message = of_event("gen_ai.choice", "message")?;
        returned(Some(&message), notes)
    });
    (written, returned)
}

/// Whether the AI SDK wrote a span: it writes results as JSON, so a text is in quotes.
fn is_ai_sdk(span: &Span) -> bool {
    span.scope == "ai" || span.scope.starts_with("@ai-sdk/")
}

/// The arguments of a call. Pydantic AI wraps text that is not JSON in an object; the text is taken out of it.
fn arguments(value: Option<&Json>, notes: &mut Notes) -> Option<Json> {
    cut::arguments(value, notes).map(unwrapped)
}

fn agent(span: &Span, notes: &mut Notes) -> Agent {
    let attributes = &span.attributes;
    let mut all = cut::value(attributes.get("pydantic_ai.all_messages"), notes)
        .map(|value| turns(&value, notes))
        .unwrap_or_default();
    let (asked, answered) = of_events(&span.events, notes);
    let user_content =
        messages_of(span, "gen_ai.input.messages", notes).or(Some(asked).filter(|turns| !turns.is_empty()));
    let question = user_content.iter().flatten().chain(&all).find_map(Turn::user).cloned();
    if all.is_empty() {
        let outputs = messages_of(span, "gen_ai.output.messages", notes)
            .or_else(|| Some(answered.into_iter().map(Turn::Assistant).collect()));
        all = user_content.into_iter().chain(outputs).flatten().collect();
    }
    let answer = attributes.get("final_result").map(|answer| match answer {
        Json::String(text) => text.clone(),
        other => other.to_plain_text(),
    });
    Agent {
        name: attributes.id("gen_ai.agent.name"),
        answer: answer.filter(|answer| !answer.is_empty()).or_else(|| last_text(&all)),
        turns: all,
        question: question.filter(|content| !content.is_empty()),
        returns: attributes.text("gen_ai.transfer.mode") == Some("return_to_caller"),
    }
}

/// The text of the last message, if it is the model's and has no calls.
fn last_text(turns: &[Turn]) -> Option<String> {
    let Turn::Assistant(assistant) = turns.last()? else { return None };
    if super::roles::calls(assistant).next().is_some() {
        return None;
    }
    super::roles::text(assistant)
}
