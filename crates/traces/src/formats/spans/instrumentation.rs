//! Content in attributes of an instrumentation's own, as the program wrote it: requests and replies in the dialect of the
//! model's provider, arguments and results as values. It fills what the attributes of the conventions do not hold.

use m3_trajectory::json::Keys;

use super::any_dialect;
use super::roles::{Agent, AssistantMessage, MessagePart, Reply, Role, ToolRun, Turn, calls};
use super::{cut, tool_values};
use crate::conversation::Entry;
use crate::formats::prelude::*;
use crate::spans::{Attributes, Span};

/// The attributes of an instrumentation: the one with the kind of a span, or the kind of all spans that have the content
/// if only the content tells it; the one with the input; the one with the output.
type Instrumentation = (Result<&'static str, Option<Kind>>, &'static str, &'static str);

/// The kind of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Model,
    Tool,
    Agent,
    /// A judge or a guard, which asks models of its own.
    Aside,
}

/// The instrumentations, the surest first.
const ALL: [Instrumentation; 8] = [
    (Ok("langfuse.observation.type"), "langfuse.observation.input", "langfuse.observation.output"),
    (Ok("observation.type"), "observation.input", "observation.output"),
    (Ok("mlflow.spanType"), "mlflow.spanInputs", "mlflow.spanOutputs"),
    // OpenInference, whose kinds have a reader of their own.
    (Err(None), "input.value", "output.value"),
    (Ok("traceloop.span.kind"), "traceloop.entity.input", "traceloop.entity.output"),
    // The Agent Development Kit. A tool's span has both; the values for the model are empty there.
    (Err(Some(Kind::Tool)), "gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.tool_response"),
    (Err(Some(Kind::Model)), "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"),
    // Logfire.
    (Err(Some(Kind::Model)), "request_data", "response_data"),
];

/// Attributes with the name of the model.
const MODELS: [&str; 4] = [
    "langfuse.observation.model.name",
    "observation.model.name",
    "gen_ai.response.model",
    "gen_ai.request.model",
];

/// Attributes with the name of a tool, and texts that programs put before it in the name of its span.
const NAMES: [&str; 4] =
    ["gen_ai.tool.name", "tool.name", "traceloop.entity.name", "mlflow.spanFunctionName"];
const BEFORE_NAME: [&str; 2] = ["execute_tool ", "running tool: "];

/// The content of a span.
struct Observation<'s> {
    kind: Option<Kind>,
    input: Option<Cow<'s, Json>>,
    output: Option<Cow<'s, Json>>,
}

impl<'s> Observation<'s> {
    fn new(attributes: &'s Attributes) -> Option<Self> {
        let has_any = |(kind, input, output): &&Instrumentation| {
            [kind.unwrap_or(input), input, output].iter().any(|key| attributes.get(key).is_some())
        };
        let (own_kind, input, output) = ALL.iter().find(has_any)?;
        Some(Self {
            kind: own_kind.map_or_else(|kind| kind, |key| attributes.text(key).and_then(kind)),
            input: attributes.get(input).map(unquoted),
            output: attributes.get(output).map(unquoted),
        })
    }
}

/// A text that may be written as JSON, as `MLflow` does.
fn unquoted(value: &Json) -> Cow<'_, Json> {
    let text = value.as_str().filter(|text| text.starts_with('"'));
    match text.map(|text| parse(text.as_bytes())) {
        Some(Ok((inner @ Json::String(_), _))) => Cow::Owned(inner),
        _ => Cow::Borrowed(value),
    }
}

/// The kind that a word means; `MLflow` writes it as JSON.
fn kind(word: &str) -> Option<Kind> {
    match &*word.trim_matches('"').to_ascii_lowercase() {
        "llm" | "chat_model" | "generation" => Some(Kind::Model),
        "tool" => Some(Kind::Tool),
        "agent" => Some(Kind::Agent),
        "evaluator" | "guardrail" | "score" => Some(Kind::Aside),
        _ => None,
    }
}

/// Completes the role of a span with its content.
pub(super) fn complete(span: &Span, role: Role, notes: &mut Notes) -> Role {
    let Some(own) = Observation::new(&span.attributes) else { return role };
    match (role, own.kind) {
        (Role::Reply(reply), _) => Role::Reply(complete_reply(span, reply, &own, notes)),
        (Role::Call(ran), _) => Role::Call(complete_call(ran, &own, notes)),
        (Role::Agent(agent), _) => Role::Agent(complete_agent(agent, &own, notes)),
        (Role::Other, Some(Kind::Model)) => Role::Reply(complete_reply(span, Reply::default(), &own, notes)),
        (Role::Other, Some(Kind::Tool)) if !span.attributes.has_below("gen_ai.operation") => {
            Role::Call(complete_call(new_run(span), &own, notes))
        }
        (Role::Other, Some(Kind::Agent)) => {
            let name = Some(span.name.clone()).filter(|name| !name.is_empty());
            Role::Agent(complete_agent(Agent { name, ..Agent::default() }, &own, notes))
        }
        (Role::Other, Some(Kind::Aside)) => Role::Aside,
        (role, _) => role,
    }
}

fn complete_reply(span: &Span, mut reply: Reply, own: &Observation<'_>, notes: &mut Notes) -> Reply {
    let mut requested = None;
    if reply.input.is_none()
        && let Some(input) = own.input.as_deref().filter(|input| !is_empty(input))
    {
        let conversation = any_dialect::request(input);
        let turns = turns(conversation.record);
        reply.input = (!turns.is_empty()).then_some(turns);
        requested = conversation.model;
    }
    if reply.outputs.is_empty()
        && let Some(output) = own.output.as_deref().filter(|output| !is_empty(output))
    {
        let conversation = any_dialect::reply(output);
        notes.extend(&conversation.notes);
        let turns = turns(conversation.record);
        // A state has the messages before the reply, too.
        let last = turns.iter().rposition(|turn| !matches!(turn, Turn::Assistant(_))).map_or(0, |at| at + 1);
        let assistant: AssistantMessage =
            turns.into_iter().skip(last).filter_map(Turn::assistant).flatten().collect();
        reply.outputs.extend((!assistant.is_empty()).then_some(assistant));
        reply.model = reply.model.or(conversation.model);
        reply.usage = if reply.usage.is_empty() { conversation.usage } else { reply.usage };
    }
    let attributes = &span.attributes;
    let model = MODELS.iter().find_map(|key| attributes.id(key));
    reply.model = reply.model.or(model).or(requested);
    if reply.usage.is_empty() {
        let keys = ["langfuse.observation.usage_details", "observation.usage_details"];
        let usage = cut::value(attributes.first(&keys), notes);
        reply.usage = usage.as_ref().map(usage_details).unwrap_or_default();
    }
    if reply.usage.is_empty() {
        reply.usage = super::otel::usage(attributes, notes);
    }
    reply.is_failed = span.is_failed() && reply.outputs.is_empty();
    reply
}

/// Langfuse's names for tokens; those of providers stay as they are.
fn usage_details(usage: &Json) -> Usage {
    let count = |keys: &[&str]| keys.iter().find_map(|key| usage.count(key));
    let known = Usage::of_openai(usage);
    Usage {
        input: known.input.or_else(|| count(&["input"])),
        output: known.output.or_else(|| count(&["output"])),
        cached: known
            .cached
            .or_else(|| count(&["input_cached_tokens", "input_cache_read", "prompt_details.cache_read"])),
        reasoning: known.reasoning.or_else(|| {
            count(&["output_reasoning_tokens", "output_reasoning", "completion_details.reasoning"])
        }),
    }
}

fn new_run(span: &Span) -> ToolRun {
    let own = NAMES.iter().find_map(|key| span.attributes.text(key)).map(|name| name.trim_matches('"'));
    let before = BEFORE_NAME.iter().find_map(|before| span.name.strip_prefix(before));
    let name = own.filter(|name| !name.is_empty()).or(before).unwrap_or(&span.name);
    let id = span.attributes.id("gen_ai.tool.call.id");
    ToolRun { is_second: true, ..ToolRun::new(span, TracedCall::new(id, tool(None, name), None)) }
}

fn complete_call(mut ran: ToolRun, own: &Observation<'_>, notes: &mut Notes) -> ToolRun {
    let call = &mut ran.call;
    if call.arguments.is_none() {
        call.arguments = tool_values::arguments(own.input.as_deref(), None, notes);
    }
    if call.result.is_none() {
        tool_values::outcome(call, own.output.as_deref(), notes);
    }
    ran
}

fn complete_agent(mut agent: Agent, own: &Observation<'_>, notes: &mut Notes) -> Agent {
    let read = |value: Option<&Json>| value.map(|value| turns(any_dialect::request(value).record));
    let input = read(own.input.as_deref()).unwrap_or_default();
    agent.question = agent.question.or_else(|| input.iter().rev().find_map(Turn::user).cloned());
    let output = own.output.as_deref().map(|output| {
        let conversation = any_dialect::reply(output);
        notes.extend(&conversation.notes);
        turns(conversation.record)
    });
    let output = output.unwrap_or_default();
    let text = output.last().and_then(|turn| match turn {
        Turn::Assistant(assistant) if calls(assistant).next().is_none() => super::roles::text(assistant),
        _ => None,
    });
    agent.answer = agent.answer.or(text);
    if agent.turns.is_empty() {
        // A state repeats the messages that it began with.
        let is_state = output.iter().any(|turn| turn.user().is_some());
        agent.turns = if is_state { output } else { input.into_iter().chain(output).collect() };
    }
    agent
}

/// Whether a value, or the JSON in a text, holds nothing.
fn is_empty(value: &Json) -> bool {
    match value {
        Json::String(text) => {
            matches!(parse(text.as_bytes()), Ok((Json::Null, _))) || matches!(text.trim(), "" | "{}" | "[]")
        }
        other => matches!(&*other.to_text(Keys::AsRead), "{}" | "[]" | "null"),
    }
}

/// The turns of a record.
fn turns(record: Option<Vec<Entry>>) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for entry in record.into_iter().flatten() {
        let part = match entry {
            Entry::User(content) => {
                turns.push(Turn::User(content));
                continue;
            }
            Entry::Result(outcome) => {
                turns.push(Turn::Result(outcome));
                continue;
            }
            Entry::Text(text) => MessagePart::Text(text),
            Entry::Call(call) => MessagePart::Call(call),
        };
        match turns.last_mut() {
            Some(Turn::Assistant(assistant)) => assistant.push(part),
            _ => turns.push(Turn::Assistant(vec![part])),
        }
    }
    turns
}
