//! Spans as rows of a table, whose columns have names such as `context.span_id` and `attributes.llm.model_name`: what
//! pandas writes of Phoenix's data frame of spans.

use m3_trajectory::json::Json;

use super::Span;
use super::span_json::nested_span;
use crate::content::object;
use crate::fields::{Fields, members};

/// Whether a value is such a row.
pub(super) fn is_row(value: &Json) -> bool {
    value.text("context.trace_id").is_some()
        && members(value).iter().any(|(key, _)| key.starts_with("attributes."))
}

/// The span, if the value is such a row.
pub(super) fn span(value: &Json) -> Option<Span> {
    if !is_row(value) {
        return None;
    }
    let (mut context, mut attributes, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for (key, value) in members(value) {
        if let Some(key) = key.strip_prefix("context.") {
            context.push((key.to_owned(), value.clone()));
        } else if let Some(key) = key.strip_prefix("attributes.") {
            attributes.push((key.to_owned(), value.clone()));
        } else if matches!(key.as_str(), "start_time" | "end_time") {
            others.push((key.clone(), date(value)));
        } else {
            others.push((key.clone(), value.clone()));
        }
    }
    let row = object([("context", Json::Object(context)), ("attributes", Json::Object(attributes))]);
    others.extend(members(&row).iter().cloned());
    Some(nested_span(&Json::Object(others)))
}

/// A time in nanoseconds: pandas writes dates as milliseconds unless it is asked for texts.
fn date(value: &Json) -> Json {
    match value {
        Json::Integer(time) if *time < 100_000_000_000_000 => Json::Integer(time.saturating_mul(1_000_000)),
        other => other.clone(),
    }
}
