//! Spans in the JSON of Jaeger and of Zipkin: `tags` are the attributes, `logs` the events, times are in microseconds.

use m3_trajectory::json::Json;

use super::span_json::hex;
use super::{Attributes, Event, Span, Status};
use crate::fields::{Fields, members};

/// The tags with the name of the library that wrote a span.
const SCOPE: [&str; 2] = ["otel.scope.name", "otel.library.name"];

/// The span, if the value is one of Jaeger's, or of Zipkin's, whose tags are an object.
pub(super) fn span(value: &Json) -> Option<Span> {
    let is_zipkin = matches!(value.member("tags"), Some(Json::Object(_)));
    let names = if is_zipkin {
        ["traceId", "id", "name", "timestamp"]
    } else {
        ["traceID", "spanID", "operationName", "startTime"]
    };
    let [trace, id, name, start] = names;
    let (trace, id, name) = (value.member(trace)?, value.member(id)?, value.text(name)?);
    let attributes = tags(value.member("tags").unwrap_or(&Json::Null));
    let start = nanoseconds(value.count(start));
    let length = nanoseconds(value.count("duration"));
    let scope = SCOPE.iter().find_map(|key| attributes.text(key)).unwrap_or_default().to_owned();
    let message = attributes.text("otel.status_description").map(str::to_owned);
    Some(Span {
        trace: hex(Some(trace), 16),
        id: hex(Some(id), 8),
        parent: parent(value),
        name: name.to_owned(),
        scope,
        start,
        end: start.and_then(|start| start.checked_add(length?)),
        status: status(&attributes),
        message,
        events: value.list("logs").iter().map(event).collect(),
        attributes,
    })
}

/// The span that this one is a child of. Without one, the span that it follows.
fn parent(value: &Json) -> Option<String> {
    let references = value.list("references");
    let reference = references.iter().find(|it| it.says("refType", "CHILD_OF")).or(references.first());
    let id =
        reference.and_then(|it| it.member("spanID")).or_else(|| value.first(&["parentSpanID", "parentId"]));
    Some(hex(id, 8)).filter(|id| !id.is_empty())
}

fn status(attributes: &Attributes) -> Status {
    match attributes.text("otel.status_code") {
        Some("ERROR") => Status::Failed,
        Some("OK") => Status::Fine,
        // Zipkin's tag has a text: `true`, or the message.
        _ if attributes.get("error").is_some_and(|error| !matches!(error, Json::Bool(false))) => {
            Status::Failed
        }
        _ => Status::Unset,
    }
}

/// An event: a field has its name.
fn event(log: &Json) -> Event {
    let attributes = tags(log.member("fields").unwrap_or(&Json::Null));
    Event {
        name: attributes.text("event").unwrap_or_default().to_owned(),
        time: nanoseconds(log.count("timestamp")),
        attributes,
        body: None,
    }
}

fn tags(all: &Json) -> Attributes {
    let mut attributes = Attributes::default();
    for (key, value) in members(all) {
        attributes.insert(key, value.clone());
    }
    for tag in all.items() {
        if let (Some(key), Some(value)) = (tag.text("key"), tag.member("value")) {
            attributes.insert(key, value.clone());
        }
    }
    attributes
}

fn nanoseconds(microseconds: Option<u64>) -> Option<u64> {
    microseconds.and_then(|time| time.checked_mul(1000))
}
