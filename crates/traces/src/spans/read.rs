//! Where spans stand: documents of OTLP/JSON in both spellings, pages of spans, and spans alone, in whatever envelope.

use m3_trajectory::json::Json;

use super::span_json::{nested_span, span};
use super::{Span, flat, jaeger, observations};
use crate::fields::{Fields, names};

/// The members that hold spans or records, outermost first.
pub(super) const RESOURCES: [&str; 5] =
    ["resourceSpans", "resource_spans", "resourceLogs", "resource_logs", TEMPO];

/// Grafana Tempo's name for `resourceSpans`.
const TEMPO: &str = "batches";

/// The members that hold spans or records of one instrumentation; the last two are the names before 2022.
pub(super) const SCOPES: &[&str] = names![
    scopeSpans scope_spans scopeLogs scope_logs instrumentationLibrarySpans instrumentation_library_spans
];

/// Whether a value is a document or a line of OTLP.
pub(crate) fn is_otlp(value: &Json) -> bool {
    let is_resource = |resource: &Json| SCOPES.iter().any(|key| resource.has(key));
    RESOURCES.iter().any(|key| match value.member(key) {
        // Other programs have batches, too.
        Some(Json::Array(items)) => *key != TEMPO || items.first().is_some_and(is_resource),
        _ => false,
    })
}

/// Members of a page that hold spans, or further pages.
pub(super) const PAGES: [&str; 3] = ["data", "spans", "observations"];

/// How deep pages of spans may be in one another.
pub(super) const DEEPEST: usize = 8;

/// Whether a value is a span without OTLP around it, or a page of such spans.
pub(crate) fn is_page(value: &Json) -> bool {
    let mut is_page = false;
    each_bare(value, 0, &mut |_| is_page = true);
    is_page
}

/// Whether a value is a span with the names of OTLP, but without OTLP around it.
fn is_bare_span(value: &Json) -> bool {
    let ids = value.member("context").unwrap_or(value);
    ids.first(&["trace_id", "traceId"]).is_some()
        && ids.first(&["span_id", "spanId"]).is_some()
        && value.first(&["attributes", "span_kind", "start_time_unix_nano", "startTimeUnixNano"]).is_some()
}

/// Whether a value is a log record without OTLP around it.
pub(super) fn is_bare_record(value: &Json) -> bool {
    value.has("body") && !value.has("name") && value.first(&["spanId", "span_id"]).is_some()
}

/// The span that a value is, if it is one without OTLP around it.
pub(super) fn bare_span(value: &Json) -> Option<Span> {
    if is_bare_span(value) {
        return Some(nested_span(value));
    }
    jaeger::span(value).or_else(|| observations::span(value)).or_else(|| flat::span(value))
}

/// Calls `take` with every span of a page.
fn each_bare(value: &Json, depth: usize, take: &mut impl FnMut(Span)) {
    if let Some(span) = bare_span(value) {
        return take(span);
    }
    if depth < DEEPEST {
        value.items().iter().for_each(|item| each_bare(item, depth + 1, take));
    }
    for inner in PAGES.iter().filter(|_| depth < DEEPEST).filter_map(|key| value.member(key)) {
        each_bare(inner, depth, take);
    }
}

/// Calls `take` with every span of the beginning of a file.
pub(crate) fn read(value: &Json, take: &mut impl FnMut(Span)) {
    for scope in RESOURCES.iter().flat_map(|key| value.list(key)) {
        let spans = SCOPES.iter().flat_map(|key| scope.list(key)).flat_map(|scope| scope.list("spans"));
        spans.map(span).for_each(&mut *take);
    }
    each_bare(value, 0, take);
    for document in value.list("data").iter().filter(|value| is_otlp(value)) {
        read(document, take);
    }
}
