//! Spans and log records of OpenTelemetry, whatever program wrote them: found, read by trace, put into a tree.
//!
//! A first pass finds their places ([`find()`]); then the spans of one trace at a time are parsed
//! ([`SpanIndex::each`]), so that a large file need not be in memory.

mod attributes;
mod find;
mod flat;
mod jaeger;
mod observations;
mod read;
mod span_json;
mod tree;

use std::collections::{HashMap, HashSet};

use m3_trajectory::json::Json;

use crate::groups::{Group, Place, each_group};
use crate::input::{Input, ReadError, Sink};
use crate::label::Label;
use crate::values::value;
pub(crate) use attributes::Attributes;
use find::{Kind, marked};
pub(crate) use find::{SpanIndex, find};
pub(crate) use read::{is_otlp, is_page, read};
pub(crate) use span_json::WITHOUT_DURATION;
pub(crate) use tree::parents_first;

/// A span.
#[derive(Debug, Clone, Default)]
pub(crate) struct Span {
    /// The id of the trace, in lower-case hex.
    pub(crate) trace: String,
    /// The id of the span, in lower-case hex; empty if it has none.
    pub(crate) id: String,
    /// The id of the span above this one.
    pub(crate) parent: Option<String>,
    /// The name of the span.
    pub(crate) name: String,
    /// The library that wrote it.
    pub(crate) scope: String,
    /// The start in nanoseconds since 1970.
    pub(crate) start: Option<u64>,
    /// The end in nanoseconds since 1970.
    pub(crate) end: Option<u64>,
    /// The status of the span.
    pub(crate) status: Status,
    /// The text beside the status.
    pub(crate) message: Option<String>,
    /// The attributes of the span.
    pub(crate) attributes: Attributes,
    /// The events within the span; also the log records that belong to it.
    pub(crate) events: Vec<Event>,
}

/// The status of a span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Status {
    /// The status was not set.
    #[default]
    Unset,
    /// The span succeeded, whatever happened within.
    Fine,
    /// The span failed.
    Failed,
}

/// An event of a span, or a log record.
#[derive(Debug, Clone, Default)]
pub(crate) struct Event {
    /// The name of the event.
    pub(crate) name: String,
    /// The time in nanoseconds since 1970.
    pub(crate) time: Option<u64>,
    /// The attributes of the event.
    pub(crate) attributes: Attributes,
    /// The body of a log record.
    pub(crate) body: Option<Json>,
}

impl Span {
    /// Whether the span failed: by its status, or if that is not set, by an exception.
    pub(crate) fn is_failed(&self) -> bool {
        match self.status {
            Status::Failed => true,
            Status::Fine => false,
            Status::Unset => self.exception().is_some(),
        }
    }

    /// The last exception.
    fn exception(&self) -> Option<&Attributes> {
        self.events.iter().rev().find(|event| event.name == "exception").map(|event| &event.attributes)
    }

    /// The kind of failure, in the program's words.
    pub(crate) fn error_type(&self) -> Option<String> {
        let of_exception = || self.exception()?.text("exception.type");
        self.attributes.text("error.type").or_else(of_exception).map(str::to_owned)
    }

    /// The message of the failure.
    pub(crate) fn error_message(&self) -> Option<&str> {
        let of_exception = || self.exception()?.text("exception.message");
        self.message.as_deref().or_else(of_exception)
    }
}

/// Nanoseconds as seconds.
pub(crate) fn seconds(nanoseconds: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "times to a microsecond")]
    let seconds = nanoseconds as f64 / 1e9;
    seconds
}

/// The spans and log records of a trace.
#[derive(Debug, Default)]
struct TraceContent {
    spans: Vec<Span>,
    records: Vec<(String, Event)>,
    /// The places of text that is not JSON, with the reasons.
    wrong: Vec<(u64, String)>,
}

/// The parent of a span, in another trace.
#[derive(Debug, Clone)]
pub(crate) struct NewParent {
    /// The place of the parent.
    pub(crate) place: Place,
    /// The trace of the parent.
    pub(crate) trace: String,
    /// The id of the parent.
    pub(crate) id: String,
}

/// The most places of text that is not JSON that are reported.
const MAX_REPORTED: usize = 10;

impl SpanIndex {
    /// What the file says of the success of each trace, by its id.
    pub(crate) fn labels(&self) -> HashMap<String, Label> {
        let of_trace = |(number, label): (&u32, &Option<Label>)| {
            Some((self.traces.name(*number).to_owned(), label.clone()?))
        };
        self.labels.iter().filter_map(of_trace).collect()
    }

    /// Calls `work` with the spans of each trace, by time, on any core, and `give` with the results in the order in
    /// which the traces begin in the file. `adopted` has the spans, by offset, that are put below spans of other
    /// traces.
    pub(crate) fn each<T: Send>(
        mut self,
        input: &Input<'_>,
        sink: &mut dyn Sink,
        adopted: &HashMap<u64, NewParent>,
        work: impl Fn(Vec<Span>) -> T + Sync,
        mut give: impl FnMut(&mut dyn Sink, T) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let mut places = std::mem::take(&mut self.places);
        for place in places.iter_mut().filter(|_| !adopted.is_empty()) {
            place.group = adopted.get(&place.offset).map_or(place.group, |by| by.place.group);
        }
        let mut wrong = Vec::new();
        let work = |group: &Group<'_>| {
            let mut gathered = self.gathered(group, adopted);
            let wrong = std::mem::take(&mut gathered.wrong);
            let spans = gathered.into_spans(self.traces.name(group.number));
            (wrong, (!spans.is_empty()).then(|| work(spans)))
        };
        each_group(input, sink, places, work, |sink, (here, done)| {
            wrong.extend(here);
            done.map_or(Ok(()), |done| give(sink, done))
        })?;
        wrong.sort_unstable();
        for (offset, message) in wrong.iter().take(MAX_REPORTED) {
            let (line, column) = input.source.position(*offset);
            sink.warn(Some(line), &format!("column {column}: not JSON, left out: {message}"));
        }
        if wrong.len() > MAX_REPORTED {
            sink.warn(None, &format!("spans or records that are no JSON, left out: {}", wrong.len()));
        }
        Ok(())
    }

    /// Calls `work` with the spans that are alone in their traces and whose texts contain `sign`.
    pub(crate) fn each_alone<T: Send>(
        &self,
        input: &Input<'_>,
        sink: &mut dyn Sink,
        sign: &str,
        work: impl Fn(Place, Span) -> Option<T> + Sync,
        mut give: impl FnMut(&mut dyn Sink, T) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let mut counts: HashMap<u32, u32> = HashMap::new();
        self.places.iter().for_each(|place| *counts.entry(place.group).or_default() += 1);
        let is_alone =
            |place: &&Place| counts.get(&place.group) == Some(&1) && !matches!(marked(place).0, Kind::Record);
        let alone: Vec<Place> = self.places.iter().filter(is_alone).copied().collect();
        let none = HashMap::new();
        let work = |group: &Group<'_>| {
            let is_signed =
                |(_, text): (Place, &[u8])| std::str::from_utf8(text).is_ok_and(|text| text.contains(sign));
            if !group.members().any(is_signed) {
                return None;
            }
            let (place, _) = group.members().next()?;
            work(place, self.gathered(group, &none).spans.pop()?)
        };
        each_group(input, sink, alone, work, |sink, found| found.map_or(Ok(()), |found| give(sink, found)))
    }

    /// Parses the spans and log records of a trace.
    fn gathered(&self, group: &Group<'_>, adopted: &HashMap<u64, NewParent>) -> TraceContent {
        let mut gathered = TraceContent::default();
        for (place, text) in group.members() {
            let value = match value(text) {
                Ok(value) => value,
                Err(error) => {
                    gathered.wrong.push((place.offset + error.offset as u64, error.message));
                    continue;
                }
            };
            let (kind, scope) = marked(&place);
            if kind == Kind::Record || kind == Kind::Bare && read::is_bare_record(&value) {
                gathered.records.extend(span_json::records(&value));
                continue;
            }
            let span = match kind {
                Kind::Bare => read::bare_span(&value),
                _ => Some(Span { scope: self.scopes.name(scope).to_owned(), ..span_json::span(&value) }),
            };
            if let Some(mut span) = span {
                if let Some(by) = adopted.get(&place.offset) {
                    (span.parent, span.trace) = (Some(by.id.clone()), by.trace.clone());
                }
                gathered.spans.push(span);
            }
        }
        gathered
    }
}

impl TraceContent {
    /// The spans by time, each once, with the records that belong to them. Records whose span is missing get a new,
    /// empty span. Records that name no span get one for each reply, which ends with the reply's own record.
    fn into_spans(self, trace: &str) -> Vec<Span> {
        let mut spans = self.spans;
        let mut seen = HashSet::new();
        spans.retain(|span| span.id.is_empty() || seen.insert(span.id.clone()));
        let mut places: HashMap<String, usize> =
            spans.iter().enumerate().map(|(place, span)| (span.id.clone(), place)).collect();
        let mut unnamed = 0_usize;
        for (id, event) in self.records {
            let is_last = id.is_empty() && is_last_of_reply(&event.name);
            let id = if id.is_empty() { format!("record-{unnamed}") } else { id };
            let place = *places.entry(id.clone()).or_insert(spans.len());
            if place == spans.len() {
                spans.push(Span { trace: trace.to_owned(), id, start: event.time, ..Span::default() });
            }
            let span = &mut spans[place];
            span.end = span.end.max(event.time);
            span.events.push(event);
            unnamed += usize::from(is_last);
        }
        for span in &mut spans {
            span.events.sort_by_key(|event| event.time);
        }
        spans.sort_by_key(|span| (span.start, span.end));
        spans
    }
}

/// Whether a record with this name is the last one of a reply.
fn is_last_of_reply(name: &str) -> bool {
    matches!(name, "gen_ai.choice" | "gen_ai.client.inference.operation.details")
}

#[cfg(test)]
mod tests;
