//! Spans of the AI SDK that a program without a context manager wrote: each is a trace of its own, and only times and
//! names tell which belong together.

use super::vercel::{OPERATION, is_own};
use crate::spans::Span;

/// Puts spans that are alone in their traces below the call of the SDK that was running when they began. Whether there were
/// any.
pub(super) fn join(traces: &mut Vec<Vec<Span>>) -> bool {
    let is_orphan = |trace: &Vec<Span>| matches!(&trace[..], [span] if is_own(span) && span.parent.is_none());
    let mut roots: Vec<(usize, Span)> = Vec::new();
    let mut orphans: Vec<(usize, Span)> = Vec::new();
    for (place, trace) in traces.iter_mut().enumerate().filter(|(_, trace)| is_orphan(trace)) {
        let Some(span) = trace.first() else { continue };
        let list = if is_request(span) { &mut orphans } else { &mut roots };
        list.extend(trace.pop().map(|span| (place, span)));
    }
    let is_any = !orphans.is_empty() && !roots.is_empty();
    roots.sort_by_key(|(_, span)| span.start);
    for (place, mut span) in orphans {
        // The latest one that began before it and ended after it.
        let before = roots.partition_point(|(_, root)| root.start <= span.start);
        let holds = |root: &&(usize, Span)| root.1.end >= span.end && name(&root.1) == name(&span);
        let root = roots[..before].iter().rev().take(NEAREST).find(holds);
        let place = root.map_or(place, |(place, root)| {
            (span.parent, span.trace) = (Some(root.id.clone()), root.trace.clone());
            *place
        });
        if let Some(trace) = traces.get_mut(place) {
            trace.push(span);
        }
    }
    for (place, root) in roots {
        if let Some(trace) = traces.get_mut(place) {
            trace.push(root);
        }
    }
    for trace in traces.iter_mut() {
        trace.sort_by_key(|span| (span.start, span.end));
    }
    traces.retain(|trace| !trace.is_empty());
    is_any
}

/// How many calls of the SDK that may be running at once are looked at.
const NEAREST: usize = 256;

/// Whether a span is a request or a tool, and not a whole call of the SDK.
fn is_request(span: &Span) -> bool {
    span.attributes
        .text(OPERATION)
        .is_some_and(|operation| operation == "ai.toolCall" || operation.contains(".do"))
}

/// What the program called its call of the SDK.
fn name(span: &Span) -> Option<&str> {
    span.attributes.text("ai.telemetry.functionId")
}
