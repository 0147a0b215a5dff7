//! The tree of the spans of a trace, whose parents may be missing, or in a circle.

use std::collections::HashMap;

use super::Span;

/// Each span after its parent, with the parent's place. A span whose parent is not there is a root of the trace, and so is
/// the first of spans that are in a circle.
pub(crate) fn parents_first(spans: &[Span]) -> Vec<(usize, Option<usize>)> {
    let places: HashMap<&str, usize> = spans
        .iter()
        .enumerate()
        .filter(|(_, span)| !span.id.is_empty())
        .map(|(at, span)| (&*span.id, at))
        .collect();
    let parents: Vec<Option<usize>> =
        spans.iter().map(|span| places.get(span.parent.as_deref()?).copied()).collect();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); spans.len()];
    for (child, parent) in parents.iter().enumerate() {
        if let Some(parent) = parent {
            children[*parent].push(child);
        }
    }
    let mut order = Vec::with_capacity(spans.len());
    let mut is_placed = vec![false; spans.len()];
    let roots = (0..spans.len()).filter(|span| parents[*span].is_none());
    // Roots first; spans that no root leads to are in a circle.
    for root in roots.chain(0..spans.len()) {
        if std::mem::replace(&mut is_placed[root], true) {
            continue;
        }
        let mut next = order.len();
        order.push((root, None));
        while let Some((parent, _)) = order.get(next).copied() {
            next += 1;
            for child in &children[parent] {
                if !std::mem::replace(&mut is_placed[*child], true) {
                    order.push((*child, Some(parent)));
                }
            }
        }
    }
    order
}
