//! Writes OpenTelemetry's conventions for generative AI: one document of OTLP/JSON on each line, with the spans of one
//! trajectory. Also has what the importer reads only from spans that m3 wrote.
//!
//! Below a span `invoke_agent` stand a span `chat` for each reply and a span `execute_tool` for each call. A reply's
//! input has only the messages since the reply before, because repeating all of them would take quadratic space.
//! Trajectories do not record when things happened, so the times begin at a given one, and spans whose duration is
//! unknown are marked.

use m3_trajectory::json::{Json, Keys};

use super::Target;
use super::exact::{as_object, read_of_text};
use super::span_ids::{span_id, trace_id};
use super::trajectory::{ExportCall, ExportResult, ExportTrajectory};
use crate::arguments::tool;
use crate::content::{Content, Media, MediaPlace, Part, counts, object, standard, string};
use crate::conversation::Conversation;
use crate::fields::Fields;
use crate::spans::{Span, WITHOUT_DURATION, seconds};
use crate::trace::Notes;
use crate::usage::Usage;

/// Spans, a document a line.
pub(super) const TARGET: Target = Target {
    name: "otel",
    title: "OpenTelemetry spans of generative AI: OTLP/JSON, a trajectory a line",
    is_lines: true,
    needs_files: false,
    write,
};

/// The scope of the spans.
const SCOPE: &str = "m3";

/// The attribute of the root span with the trajectory's own id. The id of a trace cannot be that: its form is
/// prescribed.
const ID: &str = "m3.trajectory.id";

/// The most levels of a result that is written as a value of OTLP; deeper ones become a text. Each level takes four
/// levels of JSON.
const DEEPEST: usize = 40;

/// The duration that is written for a span whose duration is unknown, in nanoseconds.
const MOMENT: u64 = 1_000_000;

/// Whether m3 wrote a span.
pub(crate) fn is_own(span: &Span) -> bool {
    span.scope == SCOPE
}

/// The span of a trajectory that m3 wrote.
pub(crate) fn root(spans: &[Span]) -> Option<&Span> {
    spans.iter().find(|span| is_own_root(span))
}

fn is_own_root(span: &Span) -> bool {
    span.attributes.get(ID).is_some()
}

/// Gives a trajectory its own id and time if m3 wrote its spans. Returns whether m3 did.
pub(crate) fn restore(conversation: &mut Conversation, spans: &[Span]) -> bool {
    let Some(root) = root(spans) else { return false };
    let trace = conversation.id.take();
    conversation.origin.extend(trace.map(|trace| ("trace", trace)));
    conversation.id = root.attributes.text(ID).map(str::to_owned);
    let time = root.end.zip(root.start).and_then(|(end, start)| end.checked_sub(start));
    conversation.seconds = time.map(seconds);
    true
}

/// A result in the form that it had before the export: a list of parts with media, or any value.
pub(crate) fn result_of(result: &Json) -> Json {
    let is_part = |part: &Json| match part.text("type") {
        Some("text") => part.text("content").is_some(),
        Some("blob" | "uri") => part.has("modality"),
        _ => false,
    };
    let parts = result.items();
    if !parts.is_empty() && parts.iter().all(is_part) && parts.iter().any(|part| part.has("modality")) {
        return Content::from_json(result).to_json();
    }
    result.clone()
}

/// Collects the spans of a trajectory; `now` is the time at which the next span begins.
struct Writer<'t> {
    trajectory: &'t ExportTrajectory<'t>,
    spans: Vec<Json>,
    now: u64,
    /// The duration of each reply, in nanoseconds.
    thought: u64,
}

/// The attributes of a span besides its name, its times and its place.
struct Facts {
    name: String,
    /// OTLP's kind of span: 1 (internal) within the program, 3 (client) for a request of the program.
    kind: i64,
    attributes: Vec<(&'static str, Json)>,
    is_error: bool,
}

fn write(trajectory: &ExportTrajectory<'_>, notes: &mut Notes) -> Json {
    let start = trajectory.started.saturating_mul(1_000_000_000);
    let mut it = Writer { trajectory, spans: Vec::new(), now: start, thought: thought(trajectory) };
    let mut input: Vec<Json> =
        trajectory.question.iter().map(|asked| message("user", content(asked))).collect();
    for step in &trajectory.steps {
        let calls = step.iter().map(called).collect();
        let is_last =
            std::ptr::eq(step, trajectory.steps.last().unwrap_or(step)) && trajectory.answer.is_none();
        it.chat(std::mem::take(&mut input), Some((Json::Array(calls), "tool_call")), is_last);
        it.tools(step, notes);
        let responses: Vec<Json> = step.iter().filter_map(response).collect();
        if !responses.is_empty() {
            input.push(message("tool", Json::Array(responses)));
        }
    }
    if let Some(answer) = trajectory.answer {
        it.chat(input, Some((content(&Content::of_text(answer)), "stop")), true);
    } else if trajectory.steps.is_empty() {
        it.chat(input, None, true);
    }
    it.into_document(start)
}

/// The duration of each reply, in nanoseconds: an equal share of the time that no call took, but at least `MOMENT`.
fn thought(trajectory: &ExportTrajectory<'_>) -> u64 {
    let longest = |step: &Vec<ExportCall<'_>>| {
        step.iter().filter_map(|call| call.milliseconds).max().unwrap_or_default()
    };
    let calls: u64 = trajectory.steps.iter().map(longest).sum();
    let left = trajectory.milliseconds.unwrap_or_default().saturating_sub(calls);
    let replies = u64::try_from(trajectory.steps.len() + 1).unwrap_or(u64::MAX);
    (left.saturating_mul(1_000_000) / replies).max(MOMENT)
}

impl Writer<'_> {
    /// Adds the span of a reply, with the messages that are new in its request.
    fn chat(&mut self, input: Vec<Json>, output: Option<(Json, &str)>, has_usage: bool) {
        let mut attributes = vec![("gen_ai.operation.name", string("chat"))];
        attributes.extend(self.trajectory.provider.map(|it| ("gen_ai.provider.name", string(provider(it)))));
        attributes.extend(self.trajectory.model.map(|it| ("gen_ai.request.model", string(it))));
        if !input.is_empty() {
            attributes.push(("gen_ai.input.messages", json_text(&Json::Array(input))));
        }
        if let Some((parts, reason)) = output {
            let output =
                object([("role", string("assistant")), ("parts", parts), ("finish_reason", string(reason))]);
            attributes.push(("gen_ai.output.messages", json_text(&Json::Array(vec![output]))));
            attributes.push(("gen_ai.response.finish_reasons", Json::Array(vec![string(reason)])));
        }
        // The tokens of each reply are not known, so the last reply gets all of them.
        if has_usage {
            attributes.extend(usage(self.trajectory.usage));
        }
        attributes.push((WITHOUT_DURATION, Json::Bool(true)));
        let name = self.trajectory.model.map_or_else(|| "chat".to_owned(), |model| format!("chat {model}"));
        let end = self.now.saturating_add(self.thought);
        self.add((self.now, end), Facts { name, kind: 3, attributes, is_error: false });
        self.now = end;
    }

    /// Adds the spans of the calls of a step, which all begin at the same time.
    fn tools(&mut self, step: &[ExportCall<'_>], notes: &mut Notes) {
        let start = self.now;
        for call in step {
            if tool(None, call.tool) != call.tool {
                notes.add("a tool's name is read as that of a server's tool");
            }
            let took =
                call.milliseconds.map_or(MOMENT, |milliseconds| milliseconds.saturating_mul(1_000_000));
            let end = start.saturating_add(took);
            self.now = self.now.max(end);
            let facts = Facts {
                name: format!("execute_tool {}", call.tool),
                kind: 1,
                attributes: executed(call, notes),
                is_error: call.is_error,
            };
            self.add((start, end), facts);
        }
    }

    fn add(&mut self, (start, end): (u64, u64), facts: Facts) {
        let number = self.spans.len() + 1;
        let root = self.span_id(0);
        let id = self.span_id(number);
        self.spans.push(self.span(&id, Some(&root), (start, end), facts));
    }

    fn span_id(&self, number: usize) -> String {
        span_id(&self.trajectory.key, number)
    }

    fn span(&self, id: &str, parent: Option<&str>, (start, end): (u64, u64), facts: Facts) -> Json {
        let mut members = vec![("traceId", string(trace_id(&self.trajectory.key))), ("spanId", string(id))];
        members.extend(parent.map(|parent| ("parentSpanId", string(parent))));
        members.extend([
            ("name", string(&facts.name)),
            ("kind", Json::Integer(facts.kind)),
            ("startTimeUnixNano", string(&start.to_string())),
            ("endTimeUnixNano", string(&end.to_string())),
            ("attributes", attributes(facts.attributes)),
            ("status", if facts.is_error { object([("code", Json::Integer(2))]) } else { object([]) }),
        ]);
        object(members)
    }

    fn into_document(mut self, start: u64) -> Json {
        let trajectory = self.trajectory;
        let mut facts = vec![
            ("gen_ai.operation.name", string("invoke_agent")),
            ("gen_ai.conversation.id", string(trajectory.id)),
            (ID, string(trajectory.id)),
        ];
        facts.extend(trajectory.provider.map(|it| ("gen_ai.provider.name", string(provider(it)))));
        facts.extend(trajectory.model.map(|it| ("gen_ai.request.model", string(it))));
        if trajectory.milliseconds.is_none() {
            facts.push((WITHOUT_DURATION, Json::Bool(true)));
        }
        let end = trajectory.milliseconds.map(|it| start.saturating_add(it.saturating_mul(1_000_000)));
        let times = (start, end.unwrap_or(self.now));
        let facts = Facts { name: "invoke_agent".to_owned(), kind: 1, attributes: facts, is_error: false };
        let root = self.span(&self.span_id(0), None, times, facts);
        let mut spans = vec![root];
        spans.append(&mut self.spans);
        let scope = object([("name", string(SCOPE)), ("version", string(env!("CARGO_PKG_VERSION")))]);
        let scoped = object([("scope", scope), ("spans", Json::Array(spans))]);
        let resource = object([("attributes", attributes(vec![("service.name", string("m3"))]))]);
        let resource = object([("resource", resource), ("scopeSpans", Json::Array(vec![scoped]))]);
        object([("resourceSpans", Json::Array(vec![resource]))])
    }
}

/// A provider in the words of the conventions.
fn provider(name: &str) -> &str {
    if name == "gemini" { "gcp.gemini" } else { name }
}

fn usage(usage: Usage) -> impl Iterator<Item = (&'static str, Json)> {
    counts([
        ("gen_ai.usage.input_tokens", usage.input),
        ("gen_ai.usage.output_tokens", usage.output),
        ("gen_ai.usage.cache_read.input_tokens", usage.cached),
        ("gen_ai.usage.reasoning.output_tokens", usage.reasoning),
    ])
}

/// The attributes of the span in which a tool executes a call.
fn executed(call: &ExportCall<'_>, notes: &mut Notes) -> Vec<(&'static str, Json)> {
    let mut attributes = vec![
        ("gen_ai.operation.name", string("execute_tool")),
        ("gen_ai.tool.name", string(call.tool)),
        ("gen_ai.tool.type", string("function")),
        ("gen_ai.tool.call.id", string(&call.id)),
    ];
    if call.arguments.is_some() {
        attributes.push(("gen_ai.tool.call.arguments", json_text(&as_object(call.arguments))));
    }
    if let Some(result) = &call.result {
        attributes.push(("gen_ai.tool.call.result", result_value(result, notes)));
    }
    if call.is_error {
        attributes.push(("error.type", string(call.error_type.unwrap_or("_OTHER"))));
    }
    if call.milliseconds.is_none() {
        attributes.push((WITHOUT_DURATION, Json::Bool(true)));
    }
    attributes
}

fn result_value(result: &ExportResult<'_>, notes: &mut Notes) -> Json {
    match result {
        ExportResult::Text(text) => string(text),
        ExportResult::Parts(parts) => content(parts),
        ExportResult::Value(value) if depth_exceeds(value, DEEPEST) => {
            notes.add("a result that is too deep for OTLP becomes a text of JSON");
            json_text(value)
        }
        ExportResult::Value(value) => (*value).clone(),
    }
}

fn depth_exceeds(value: &Json, most: usize) -> bool {
    let Some(most) = most.checked_sub(1) else { return true };
    match value {
        Json::Array(items) => items.iter().any(|item| depth_exceeds(item, most)),
        Json::Object(members) => members.iter().any(|(_, value)| depth_exceeds(value, most)),
        _ => false,
    }
}

fn json_text(value: &Json) -> Json {
    string(&value.to_text(Keys::AsRead))
}

fn message(role: &str, parts: Json) -> Json {
    object([("role", string(role)), ("parts", parts)])
}

/// A call as part of a model's reply.
fn called(call: &ExportCall<'_>) -> Json {
    let mut members =
        vec![("type", string("tool_call")), ("id", string(&call.id)), ("name", string(call.tool))];
    let arguments = call.arguments.map(|arguments| match arguments {
        // The importer would read some texts as another value: these are wrapped in an object that marks them.
        Json::String(text) if read_of_text(text).as_ref() != Some(arguments) => as_object(Some(arguments)),
        _ => arguments.clone(),
    });
    members.extend(arguments.map(|arguments| ("arguments", arguments)));
    object(members)
}

/// A result as part of the message that a model reads; `None` for a call without a result.
fn response(call: &ExportCall<'_>) -> Option<Json> {
    let response = match call.result.as_ref()? {
        ExportResult::Text(text) => string(text),
        ExportResult::Parts(parts) => content(parts),
        ExportResult::Value(value) => (*value).clone(),
    };
    Some(object([("type", string("tool_call_response")), ("id", string(&call.id)), ("response", response)]))
}

fn content(content: &Content) -> Json {
    let part = |part: &Part| match part {
        Part::Text(text) => object([("type", string("text")), ("content", string(text))]),
        Part::Media(media) => self::media(media),
    };
    Json::Array(content.parts.iter().map(part).collect())
}

fn media(media: &Media) -> Json {
    let (kind, key, value) = match &media.place {
        MediaPlace::Data(data) => ("blob", "content", standard(data)),
        MediaPlace::Reference(at) => ("uri", "uri", at.clone()),
        MediaPlace::Missing => ("blob", "content", String::new()),
    };
    let mut members = vec![("type", string(kind)), ("modality", string(media.kind))];
    members.extend(media.media_type.as_deref().map(|it| ("mime_type", string(it))));
    members.push((key, string(&value)));
    object(members)
}

fn attributes(attributes: Vec<(&'static str, Json)>) -> Json {
    let entry = |(key, value): (&str, Json)| object([("key", string(key)), ("value", any_value(&value))]);
    Json::Array(attributes.into_iter().map(entry).collect())
}

/// Converts a value to OTLP's `AnyValue`.
fn any_value(value: &Json) -> Json {
    let (kind, inner) = match value {
        Json::Null => return object([]),
        Json::Bool(is) => ("boolValue", Json::Bool(*is)),
        Json::Integer(number) => ("intValue", string(&number.to_string())),
        Json::Float(number) if number.is_finite() => ("doubleValue", value.clone()),
        Json::Float(number) if number.is_nan() => ("doubleValue", string("NaN")),
        Json::Float(number) => ("doubleValue", string(if *number > 0.0 { "Infinity" } else { "-Infinity" })),
        Json::String(text) | Json::LongInteger(text) => ("stringValue", string(text)),
        Json::Array(list) => {
            let values = Json::Array(list.iter().map(any_value).collect());
            ("arrayValue", object([("values", values)]))
        }
        Json::Object(members) => {
            let entry =
                |(key, value): &(String, Json)| object([("key", string(key)), ("value", any_value(value))]);
            let values = Json::Array(members.iter().map(entry).collect());
            ("kvlistValue", object([("values", values)]))
        }
    };
    object([(kind, inner)])
}
