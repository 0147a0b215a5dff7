//! Reads spans and log records as JSON has them: OTLP/JSON in both spellings, and spans without OTLP around them (Phoenix,
//! Python's console exporter, `MLflow`, Logfire's rows).

use m3_trajectory::json::Json;

use super::{Attributes, Event, Span, Status};
use crate::content::decode;
use crate::fields::{Fields, members};
use crate::time::rfc3339;

/// The attribute that m3 sets on exported spans whose duration is not known, because their end is invented.
pub(crate) const WITHOUT_DURATION: &str = "m3.duration.unknown";

/// Reads a span without OTLP around it, which may name its scope itself.
pub(super) fn nested_span(value: &Json) -> Span {
    let scope = value.first(&["scope", "instrumentation_scope"]).and_then(|scope| scope.text("name"));
    let scope = scope.or_else(|| value.text("otel_scope_name")).unwrap_or_default().to_owned();
    Span { scope, ..span(value) }
}

/// Reads a span of OTLP or of Phoenix.
pub(super) fn span(value: &Json) -> Span {
    let ids = value.member("context").unwrap_or(value);
    let status = value.member("status");
    let code = status.and_then(|status| status.first(&["code", "status_code"]));
    let code = code.or_else(|| value.first(&["status_code", "otel_status_code"]));
    let message = status.and_then(|status| status.first(&["message", "description"])?.as_str());
    let message = message.or_else(|| value.first(&["status_message", "otel_status_message"])?.as_str());
    let mut span = Span {
        trace: hex(ids.first(&["traceId", "trace_id"]), 16),
        id: hex(ids.first(&["spanId", "span_id"]), 8),
        parent: Some(hex(value.first(&["parentSpanId", "parent_span_id", "parent_id"]), 8)),
        name: value.first_text(&["name", "span_name"]).unwrap_or_default().to_owned(),
        scope: String::new(),
        start: time(value, &["startTimeUnixNano", "start_time_unix_nano", "start_time", "start_timestamp"]),
        end: time(value, &["endTimeUnixNano", "end_time_unix_nano", "end_time", "end_timestamp"]),
        status: code.map_or(Status::Unset, code_of),
        message: message.filter(|message| !message.is_empty()).map(str::to_owned),
        attributes: attributes(value),
        events: ["events", "span_events", "otel_events"]
            .iter()
            .flat_map(|key| value.list(key))
            .map(event)
            .collect(),
    };
    // m3 exports spans without a known duration with an invented end.
    if span.attributes.get(WITHOUT_DURATION) == Some(&Json::Bool(true)) {
        span.end = None;
    }
    span.parent = span.parent.filter(|parent| !parent.is_empty());
    // Phoenix's REST interface has the kind as a member beside `attributes`, not inside.
    if let Some(kind) = value.text("span_kind") {
        span.attributes.insert("openinference.span.kind", Json::String(kind.to_owned()));
    }
    span
}

fn event(value: &Json) -> Event {
    Event {
        name: value.text("name").unwrap_or_default().to_owned(),
        time: time(value, &["timeUnixNano", "time_unix_nano", "timestamp"]),
        attributes: attributes(value),
        body: None,
    }
}

/// A log record, with the span that it belongs to.
fn record(value: &Json) -> (String, Event) {
    let mut event = Event {
        time: time(value, &["timeUnixNano", "time_unix_nano"])
            .or_else(|| time(value, &["observedTimeUnixNano", "observed_time_unix_nano"])),
        body: value.member("body").map(any_value).filter(|body| *body != Json::Null),
        ..event(value)
    };
    let name = value.first_text(&["eventName", "event_name"]);
    let name = name.filter(|name| !name.is_empty()).or_else(|| event.attributes.text("event.name"));
    event.name = name.unwrap_or_default().to_owned();
    (hex(value.first(&["spanId", "span_id"]), 8), event)
}

/// The events in a log record: one, except in records of AWS, which hold all messages of a span in their body.
pub(super) fn records(value: &Json) -> Vec<(String, Event)> {
    let (span, record) = record(value);
    let messages = |key| value.list_below(&["body", key, "messages"]).iter();
    let event = |name: String, message: &Json| {
        let body = message.member("content").filter(|content| matches!(content, Json::Object(_)));
        (span.clone(), Event { name, body: Some(body.unwrap_or(message).clone()), ..record.clone() })
    };
    let name = |message: &Json| format!("gen_ai.{}.message", message.text("role").unwrap_or("user"));
    let inputs = messages("input").map(|message| event(name(message), message));
    let outputs = messages("output").map(|message| event("gen_ai.choice".to_owned(), message));
    let events: Vec<_> = inputs.chain(outputs).collect();
    if events.is_empty() { vec![(span, record)] } else { events }
}

/// Attributes as a list of keys and values, or as an object.
fn attributes(value: &Json) -> Attributes {
    let mut attributes = Attributes::default();
    match value.member("attributes") {
        Some(Json::Array(list)) => {
            for entry in list {
                if let (Some(key), Some(value)) = (entry.text("key"), entry.member("value")) {
                    attributes.insert(key, any_value(value));
                }
            }
        }
        Some(object) => {
            for (key, value) in members(object) {
                attributes.insert(key, value.clone());
            }
        }
        None => {}
    }
    attributes
}

/// A value of OTLP: an object with one member that names its type; further members may be null. An object without
/// such a member is null, and a value that is not an object is taken as it is.
fn any_value(value: &Json) -> Json {
    let Json::Object(_) = value else { return value.clone() };
    if let Some(value) = value.first(&["stringValue", "string_value", "boolValue", "bool_value"]) {
        return value.clone();
    }
    if let Some(value) = value.first(&["intValue", "int_value"]) {
        return integer(value);
    }
    if let Some(value) = value.first(&["doubleValue", "double_value"]) {
        return double(value);
    }
    if let Some(value) = value.first(&["bytesValue", "bytes_value"]) {
        return value.clone();
    }
    if let Some(list) = value.first(&["arrayValue", "array_value"]) {
        return Json::Array(list.list("values").iter().map(any_value).collect());
    }
    if let Some(list) = value.first(&["kvlistValue", "kvlist_value"]) {
        let entry = |entry: &Json| {
            let value = entry.member("value").map_or(Json::Null, any_value);
            Some((entry.text("key")?.to_owned(), value))
        };
        return Json::Object(list.list("values").iter().filter_map(entry).collect());
    }
    Json::Null
}

/// A 64-bit integer, which may be written as a text.
fn integer(value: &Json) -> Json {
    match value {
        Json::String(text) => text.trim().parse().map_or_else(|_| value.clone(), Json::Integer),
        other => other.clone(),
    }
}

/// A floating-point number; numbers that JSON does not have, such as NaN, are written as texts.
fn double(value: &Json) -> Json {
    match value.as_str() {
        Some(text @ ("NaN" | "Infinity" | "-Infinity")) => Json::Float(text.parse().unwrap_or(f64::NAN)),
        _ => value.clone(),
    }
}

/// An id in lower-case hex, from hex of any case or from base64. Empty if all its digits are zero.
pub(super) fn hex(value: Option<&Json>, bytes: usize) -> String {
    let text = value.and_then(Json::as_str).unwrap_or_default();
    let text = text.strip_prefix("0x").unwrap_or(text);
    if text.len() == 2 * bytes && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Some(text.to_ascii_lowercase())
            .filter(|id| id.bytes().any(|byte| byte != b'0'))
            .unwrap_or_default();
    }
    match decode(text) {
        Some(decoded) if decoded.len() == bytes => {
            let text = decoded.iter().fold(String::new(), |mut text, byte| {
                text.extend(
                    [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap_or('0')),
                );
                text
            });
            Some(text).filter(|id| id.bytes().any(|byte| byte != b'0')).unwrap_or_default()
        }
        _ => text.to_owned(),
    }
}

/// A time in nanoseconds: a number, one written as a text, or a date.
pub(super) fn time(value: &Json, keys: &[&str]) -> Option<u64> {
    let time = match value.first(keys)? {
        Json::String(text) => text.parse().ok().or_else(|| whole(rfc3339(text)? * 1e9)),
        Json::Integer(number) => u64::try_from(*number).ok(),
        Json::Float(number) => whole(*number),
        _ => None,
    };
    time.filter(|time| *time > 0)
}

pub(super) fn whole(number: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
    (0.0..1e19).contains(&number).then_some(number as u64)
}

fn code_of(code: &Json) -> Status {
    match code {
        Json::Integer(2) => Status::Failed,
        Json::Integer(1) => Status::Fine,
        Json::String(name) => match name.strip_prefix("STATUS_CODE_").unwrap_or(name) {
            "ERROR" | "2" => Status::Failed,
            "OK" | "1" => Status::Fine,
            _ => Status::Unset,
        },
        _ => Status::Unset,
    }
}
