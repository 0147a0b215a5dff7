//! Observations as programs keep them beside or instead of OpenTelemetry: Langfuse, Braintrust, Weave and Opik, in exports and
//! answers of their APIs. They become the attributes that Langfuse's own SDK writes on spans, for the others without its
//! name; `metadata.attributes` has what is left of the attributes of other instrumentations.

use m3_trajectory::json::Json;

use super::span_json::{hex, time, whole};
use super::{Attributes, Span, Status};
use crate::fields::{Fields, members, number};
use crate::values::opened;

/// The types of Langfuse's observations.
const TYPES: &str = "AGENT CHAIN EMBEDDING EVALUATOR EVENT GENERATION GUARDRAIL RETRIEVER SPAN TOOL";

/// Members that Braintrust, Opik and Weave have, also if they are null. Spans of OpenTelemetry, which other readers take first, may
/// have a `parent_span_id`, too.
const OTHERS: [&str; 3] = ["span_attributes", "parent_span_id", "op_name"];

/// The names of the members. Where a member holds a list, its first item counts.
const TRACE: [&str; 3] = ["traceId", "trace_id", "root_span_id"];
const ID: [&str; 2] = ["span_id", "id"];
const PARENT: [&str; 5] =
    ["parentObservationId", "parent_observation_id", "parent_span_id", "parent_id", "span_parents"];
const NAME: [&str; 2] = ["name", "op_name"];
const START: [&str; 3] = ["startTime", "start_time", "started_at"];
const END: [&str; 3] = ["endTime", "end_time", "ended_at"];
const ERROR: [&str; 5] = ["statusMessage", "status_message", "error", "exception", "error_info"];

/// Members that become attributes.
const ATTRIBUTES: [(&[&str], &str); 4] = [
    (&["input", "inputs"], "input"),
    (&["output"], "output"),
    (&["usageDetails", "usage_details", "usage", "metrics"], "usage_details"),
    (&["model", "providedModelName", "provided_model_name", "internalModel"], "model.name"),
];

/// The span, if the value is an observation.
pub(super) fn span(value: &Json) -> Option<Span> {
    let (trace, id) = (value.first(&TRACE)?, value.first(&ID)?);
    let is_langfuse = !OTHERS.iter().any(|key| value.get(key).is_some());
    let own = value.member("span_attributes").unwrap_or(value);
    let kind = if value.has("op_name") { operation(value) } else { own.text("type").unwrap_or("SPAN") };
    let at = |names: &[&str], metric| {
        let seconds = || value.below(&["metrics", metric]).and_then(number);
        time(value, names).or_else(|| whole(seconds()? * 1e9))
    };
    let start = at(&START, "start");
    if start.is_none()
        || is_langfuse
            && !(value.has("type") && TYPES.split(' ').any(|name| name == kind.to_ascii_uppercase()))
    {
        return None;
    }
    let mut attributes = Attributes::default();
    let prefix = if is_langfuse { "langfuse.observation" } else { "observation" };
    attributes.insert(&format!("{prefix}.type"), Json::String(kind.to_owned()));
    for (keys, name) in ATTRIBUTES {
        if let Some(value) = value.first(keys) {
            attributes.insert(&format!("{prefix}.{name}"), value.clone());
        }
    }
    let metadata = opened(value.member("metadata").unwrap_or(&Json::Null));
    let others = opened(metadata.member("attributes").unwrap_or(&Json::Null));
    for (key, value) in members(&others) {
        attributes.insert(key, value.clone());
    }
    let scope = opened(metadata.member("scope").unwrap_or(&Json::Null));
    let parent = value.first(&PARENT).map(|parent| parent.items().first().unwrap_or(parent));
    let error = value.first(&ERROR);
    let is_failed = value.says("level", "ERROR") || !is_langfuse && error.is_some();
    Some(Span {
        trace: hex(Some(trace), 16),
        id: hex(Some(id), 8),
        parent: Some(hex(parent, 8)).filter(|parent| !parent.is_empty()),
        name: own.first_text(&NAME).unwrap_or_default().to_owned(),
        scope: scope.text("name").unwrap_or_default().to_owned(),
        start,
        end: at(&END, "end"),
        status: if is_failed { Status::Failed } else { Status::Unset },
        message: error.map(Json::to_plain_text).filter(|message| !message.is_empty()),
        attributes,
        events: Vec::new(),
    })
}

/// The type of an operation of Weave, which has none itself: one with a model and its input asks that model.
fn operation(value: &Json) -> &'static str {
    let inputs = opened(value.member("inputs").unwrap_or(&Json::Null));
    let is_request = inputs.has("model") && inputs.first(&["messages", "input", "contents"]).is_some();
    if is_request { "LLM" } else { "SPAN" }
}
