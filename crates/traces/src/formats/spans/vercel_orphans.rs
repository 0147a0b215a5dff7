//! Spans of the AI SDK that a program without a context manager wrote: each is a trace of its own, and only times and
//! names tell which belong together.

use super::vercel::{OPERATION, is_own};
use crate::formats::prelude::*;
use crate::groups::Place;
use crate::spans::{NewParent, Span, SpanIndex};

/// The facts about a span that is alone in its trace.
struct Alone {
    place: Place,
    start: Option<u64>,
    end: Option<u64>,
    /// The program's name for its call of the SDK.
    name: Option<String>,
    /// Whether the span is a request or a tool, and not a whole call of the SDK.
    is_request: bool,
    id: String,
    trace: String,
}

/// The most spans that are put together: the facts about all of them are in memory.
const MOST: usize = 500_000;

/// Finds new parents for the spans that are alone in their traces and ran during a call of the SDK, by the offsets of
/// the spans in the file. `None` if nothing needs to be put together.
pub(super) fn join(
    input: &Input<'_>,
    sink: &mut dyn Sink,
    found: &SpanIndex,
) -> Result<Option<HashMap<u64, NewParent>>, ReadError> {
    let (mut alone, mut others) = (Vec::new(), 0_u64);
    found.each_alone(input, sink, OPERATION, of_span, |_, span| {
        if alone.len() < MOST {
            alone.push(span);
        } else {
            others += 1;
        }
        Ok(())
    })?;
    if others > 0 {
        let message =
            format!("spans without a trace that are too many to be put together by their times: {others}");
        sink.warn(None, &message);
    }
    let (orphans, mut roots): (Vec<Alone>, Vec<Alone>) = alone.into_iter().partition(|span| span.is_request);
    if orphans.is_empty() || roots.is_empty() {
        return Ok(None);
    }
    roots.sort_by_key(|root| root.start);
    let mut adopted = HashMap::new();
    for span in orphans {
        // The latest call of the SDK that began before the span and ended after it.
        let before = roots.partition_point(|root| root.start <= span.start);
        let holds = |root: &&Alone| root.end >= span.end && root.name == span.name;
        if let Some(root) = roots[..before].iter().rev().take(NEAREST).find(holds) {
            let by = NewParent { place: root.place, id: root.id.clone(), trace: root.trace.clone() };
            adopted.insert(span.place.offset, by);
        }
    }
    Ok(Some(adopted))
}

/// The facts about a span of the SDK that has no parent.
fn of_span(place: Place, span: Span) -> Option<Alone> {
    (is_own(&span) && span.parent.is_none()).then(|| Alone {
        place,
        start: span.start,
        end: span.end,
        name: span.attributes.text("ai.telemetry.functionId").map(str::to_owned),
        is_request: is_request(&span),
        id: span.id,
        trace: span.trace,
    })
}

/// The most calls of the SDK that are tried as the parent of a span.
const NEAREST: usize = 256;

/// Whether a span is a request or a tool, and not a whole call of the SDK.
fn is_request(span: &Span) -> bool {
    span.attributes
        .text(OPERATION)
        .is_some_and(|operation| operation == "ai.toolCall" || operation.contains(".do"))
}
