//! Observations of Langfuse, in exports and answers of its API. They become the attributes that its own SDK writes on
//! spans; `metadata.attributes` has what is left of the attributes of other instrumentations.

use m3_trajectory::json::{Json, parse};

use super::span_json::{hex, time};
use super::{Attributes, Span, Status};
use crate::fields::{Fields, members};

/// The types of observations.
const TYPES: [&str; 10] = [
    "AGENT",
    "CHAIN",
    "EMBEDDING",
    "EVALUATOR",
    "EVENT",
    "GENERATION",
    "GUARDRAIL",
    "RETRIEVER",
    "SPAN",
    "TOOL",
];

/// Members that become attributes.
const ATTRIBUTES: [(&[&str], &str); 5] = [
    (&["type"], "langfuse.observation.type"),
    (&["input"], "langfuse.observation.input"),
    (&["output"], "langfuse.observation.output"),
    (&["usageDetails", "usage_details", "usage"], "langfuse.observation.usage_details"),
    (
        &["model", "providedModelName", "provided_model_name", "internalModel"],
        "langfuse.observation.model.name",
    ),
];

/// The span, if the value is an observation.
pub(super) fn span(value: &Json) -> Option<Span> {
    let (trace, id) = (value.first(&["traceId", "trace_id"])?, value.member("id")?);
    let kind = value.text("type")?.to_ascii_uppercase();
    let start = time(value, &["startTime", "start_time"]);
    if start.is_none() || !TYPES.contains(&kind.as_str()) {
        return None;
    }
    let mut attributes = Attributes::default();
    for (keys, name) in ATTRIBUTES {
        if let Some(value) = value.first(keys) {
            attributes.insert(name, value.clone());
        }
    }
    let metadata = value.member("metadata").map_or(Json::Null, opened);
    let others = metadata.member("attributes").map_or(Json::Null, opened);
    for (key, value) in members(&others) {
        attributes.insert(key, value.clone());
    }
    let scope = metadata.member("scope").map_or(Json::Null, opened);
    let message = value.first(&["statusMessage", "status_message"]).and_then(Json::as_str);
    let parent = hex(value.first(&["parentObservationId", "parent_observation_id"]), 8);
    Some(Span {
        trace: hex(Some(trace), 16),
        id: hex(Some(id), 8),
        parent: Some(parent).filter(|parent| !parent.is_empty()),
        name: value.text("name").unwrap_or_default().to_owned(),
        scope: scope.text("name").unwrap_or_default().to_owned(),
        start,
        end: time(value, &["endTime", "end_time"]),
        status: if value.says("level", "ERROR") { Status::Failed } else { Status::Unset },
        message: message.filter(|message| !message.is_empty()).map(str::to_owned),
        attributes,
        events: Vec::new(),
    })
}

/// A value that may be written as a text of JSON.
fn opened(value: &Json) -> Json {
    let parsed = value.as_str().and_then(|text| parse(text.as_bytes()).ok());
    parsed.map_or_else(|| value.clone(), |(value, _)| value)
}
