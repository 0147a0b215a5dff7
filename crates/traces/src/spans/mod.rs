//! Spans and log records of OpenTelemetry, whatever program wrote them: read one by one, gathered by trace, put into a tree.
//!
//! Gathering the spans of a trace ([`Traces`]) and making a trajectory of them are apart, so that a large file need not be
//! held to be read: all that a trajectory needs are the spans of its own trace.

mod attributes;
mod read;
mod tree;

use std::collections::{HashMap, HashSet};

use m3_trajectory::json::Json;

pub(crate) use attributes::Attributes;
pub(crate) use read::{is_otlp, is_phoenix, read};
pub(crate) use tree::parents_first;

/// A span.
#[derive(Debug, Clone, Default)]
pub(crate) struct Span {
    /// The trace that it is of, in lower-case hex.
    pub(crate) trace: String,
    /// Its own id, in lower-case hex; empty if it has none.
    pub(crate) id: String,
    /// The span that it is below.
    pub(crate) parent: Option<String>,
    /// Its name.
    pub(crate) name: String,
    /// The library that wrote it.
    pub(crate) scope: String,
    /// Nanoseconds since 1970.
    pub(crate) start: Option<u64>,
    /// Nanoseconds since 1970.
    pub(crate) end: Option<u64>,
    /// What its status says.
    pub(crate) status: Status,
    /// The text beside the status.
    pub(crate) message: Option<String>,
    /// Its attributes.
    pub(crate) attributes: Attributes,
    /// What happened within it; also the log records that belong to it.
    pub(crate) events: Vec<Event>,
}

/// What the status of a span says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Status {
    /// Nothing.
    #[default]
    Unset,
    /// It went well, whatever happened within.
    Fine,
    /// It failed.
    Failed,
}

/// An event of a span, or a log record.
#[derive(Debug, Clone, Default)]
pub(crate) struct Event {
    /// Its name.
    pub(crate) name: String,
    /// Nanoseconds since 1970.
    pub(crate) time: Option<u64>,
    /// Its attributes.
    pub(crate) attributes: Attributes,
    /// What a log record holds.
    pub(crate) body: Option<Json>,
}

/// What a file of spans holds, one by one.
#[derive(Debug)]
pub(crate) enum Item {
    /// A span.
    Span(Span),
    /// A log record, with the trace and the span that it belongs to.
    Record(String, String, Event),
}

impl Span {
    /// Whether it failed: by its status, or if that is not set, by an exception.
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

    /// What the failure says.
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

/// The spans and records of a file by their traces, in the order in which these begin in the file.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    places: HashMap<String, usize>,
    traces: Vec<Gathered>,
}

/// What belongs to a trace.
#[derive(Debug, Default)]
struct Gathered {
    spans: Vec<Span>,
    records: Vec<(String, Event)>,
}

impl Traces {
    /// Adds what a line or a document holds.
    pub(crate) fn add(&mut self, value: &Json) {
        read(value, &mut |item| match item {
            Item::Span(span) => self.of(&span.trace).spans.push(span),
            Item::Record(trace, span, event) => self.of(&trace).records.push((span, event)),
        });
    }

    fn of(&mut self, trace: &str) -> &mut Gathered {
        let place = self.places.get(trace).copied().unwrap_or_else(|| {
            self.places.insert(trace.to_owned(), self.traces.len());
            self.traces.push(Gathered::default());
            self.traces.len() - 1
        });
        &mut self.traces[place]
    }

    /// The spans of each trace, by time.
    pub(crate) fn into_traces(self) -> impl Iterator<Item = Vec<Span>> {
        let mut ids = vec![String::new(); self.traces.len()];
        for (id, place) in self.places {
            ids[place] = id;
        }
        ids.into_iter().zip(self.traces).map(|(id, gathered)| gathered.into_spans(&id))
    }
}

impl Gathered {
    /// The spans by time, each once, with the records that belong to them. A record whose span is elsewhere gets one that
    /// has nothing else; one that names no span belongs with those before it, up to the reply's own record.
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

/// Whether a record of this name ends those of a reply.
fn is_last_of_reply(name: &str) -> bool {
    matches!(name, "gen_ai.choice" | "gen_ai.client.inference.operation.details")
}

#[cfg(test)]
mod tests;
