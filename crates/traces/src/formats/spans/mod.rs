//! Everything that comes as spans and log records: OpenTelemetry's conventions for generative AI, OpenInference and
//! Phoenix's exports of it, and the telemetry of the Vercel AI SDK.
//!
//! A dialect tells what each span is ([`Role`]): a reply of a model, a call of a tool, an agent. The rest is the same
//! for all: which replies and calls belong to which agent (`scopes`), and which results to which calls (`join`).

mod any_dialect;
mod assemble;
mod cut;
mod dispatchers;
mod instrumentation;
mod join;
mod openinference;
mod otel;
mod otel_messages;
mod reply_span;
mod roles;
mod scopes;
mod tool_values;
mod vercel;
mod vercel_orphans;

use crate::export;
use crate::formats::prelude::*;
use crate::head::Head;
use crate::spans::{Span, find, is_otlp, is_page};
use roles::Role;

pub(super) use otel_messages::MESSAGES;

/// Observations of Langfuse, and spans of its SDK.
pub(super) const LANGFUSE: Format = Format {
    name: "langfuse",
    title: "Langfuse: observations of a trace, and spans of its SDK",
    recognizes: |head| has(head, |span| span.attributes.get("langfuse.observation.type").is_some()),
    read,
};

/// Observations of other programs.
pub(super) const OBSERVATIONS: Format = Format {
    name: "observations",
    title: "Braintrust, Opik and Weave: spans of their exports",
    recognizes: |head| has(head, |span| span.attributes.get("observation.type").is_some()),
    read,
};

/// Spans of `MLflow`.
pub(super) const MLFLOW: Format = Format {
    name: "mlflow",
    title: "MLflow: traces, and its spans as OTLP",
    recognizes: |head| has(head, |span| span.attributes.get("mlflow.spanType").is_some()),
    read,
};

/// Spans with OpenInference's attributes.
pub(super) const OPENINFERENCE: Format = Format {
    name: "openinference",
    title: "OpenInference spans, from OTLP or from Phoenix",
    recognizes: |head| has(head, openinference::is_own),
    read,
};

/// Spans of the Vercel AI SDK.
pub(super) const VERCEL: Format = Format {
    name: "vercel-ai-telemetry",
    title: "Vercel AI SDK: telemetry",
    recognizes: |head| has(head, vercel::is_own),
    read,
};

/// All other spans and log records.
pub(super) const OTEL: Format = Format {
    name: "otel-genai",
    title: "OpenTelemetry spans and log records of generative AI",
    recognizes: is_spans,
    read,
};

fn is_spans(head: &Head) -> bool {
    head.any(is_otlp) || head.any(is_page)
}

/// Whether the beginning of a file has a span like this.
fn has(head: &Head, is: fn(&Span) -> bool) -> bool {
    if !is_spans(head) {
        return false;
    }
    let mut has = false;
    for value in head.records() {
        crate::spans::read(value, &mut |span| has |= is(&span));
    }
    has
}

/// The result of reading a trace.
enum Outcome {
    /// A trajectory.
    Made(Box<Trace>),
    /// Spans of a model or a tool whose content was not recorded.
    Without,
    /// Spans that are not of a model or a tool.
    Other,
}

/// Reads spans and log records: each trace is a trajectory.
fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let index = find(input, sink)?;
    let adopted = vercel_orphans::join(input, sink, &index)?;
    let (is_guessed, labels) = (adopted.is_some(), index.labels());
    let (mut made, mut without, mut others) = (0_u64, 0_u64, 0_u64);
    let work = |spans: Vec<Span>| match conversation(&spans) {
        Some(mut conversation) if !conversation.is_empty() || export::otel::root(&spans).is_some() => {
            if is_guessed {
                conversation.note("spans of different traces are put together by their times");
            }
            let label = spans.first().and_then(|span| labels.get(&span.trace)).cloned();
            Outcome::Made(Box::new(Trace { label, ..conversation.finish() }))
        }
        Some(_) => Outcome::Without,
        None => Outcome::Other,
    };
    index.each(input, sink, &adopted.unwrap_or_default(), work, |sink, outcome| {
        match outcome {
            Outcome::Made(trace) => {
                made += 1;
                sink.trace(None, *trace)?;
            }
            Outcome::Without => without += 1,
            Outcome::Other => others += 1,
        }
        Ok(())
    })?;
    if made + without == 0 {
        return Err(ReadError::refused(
            "spans or log records without any of a model or a tool; export those of an instrumentation for generative AI",
        ));
    }
    if without > 0 {
        sink.warn(
            None,
            &format!(
                "traces without content, left out: {without}; switch the capture of content on, or add the file of the log \
                 records"
            ),
        );
    }
    if others > 0 {
        sink.warn(None, &format!("traces without spans of a model or a tool, left out: {others}"));
    }
    Ok(())
}

/// The trajectory of the spans of one trace; `None` if none of them is of a model or a tool.
fn conversation(spans: &[Span]) -> Option<Conversation> {
    let mut notes = Notes::default();
    let role = dialect(spans);
    let mut complete = |span| {
        let known = role(span, &mut notes);
        instrumentation::complete(span, known, &mut notes)
    };
    let roles: Vec<Role> = spans.iter().map(&mut complete).collect();
    if roles.iter().all(|role| matches!(role, Role::Other | Role::Aside)) {
        return None;
    }
    let mut conversation = assemble::conversation(spans, roles);
    conversation.notes.extend(&notes);
    conversation.id = spans.first().map(|span| span.trace.clone()).filter(|trace| !trace.is_empty());
    if !export::otel::restore(&mut conversation, spans) {
        for span in spans {
            conversation.at(span.start.map(crate::spans::seconds));
            conversation.at(span.end.map(crate::spans::seconds));
        }
    }
    origin(&mut conversation, spans);
    Some(conversation)
}

/// The function that reads the spans of a trace. OpenInference and the AI SDK are tried first, as their spans may also
/// carry OpenTelemetry's attributes.
fn dialect(spans: &[Span]) -> fn(&Span, &mut Notes) -> Role {
    if spans.iter().any(openinference::is_own) {
        openinference::role
    } else if spans.iter().any(vercel::is_own) {
        vercel::role
    } else {
        otel::role
    }
}

/// Adds further ids from the attributes of the spans to the conversation's origin.
fn origin(conversation: &mut Conversation, spans: &[Span]) {
    const IDS: [(&str, &str); 3] = [
        ("conversation", "gen_ai.conversation.id"),
        ("session", "session.id"),
        ("function", "ai.telemetry.functionId"),
    ];
    for (name, key) in IDS {
        let id = spans.iter().find_map(|span| span.attributes.id(key));
        conversation.origin.extend(id.map(|id| (name, id)));
    }
    let task = spans.iter().find_map(vercel::task);
    conversation.origin.extend(task.map(|id| ("task", id)));
}

#[cfg(test)]
mod tests;
