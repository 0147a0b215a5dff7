//! Which calls were unnecessary repeats: those with the tool and the arguments of an earlier call.

use std::collections::HashMap;

use m3_support::canonical::canonical;
use m3_trajectory::json::{Json, Keys};

use crate::ChainCall;
use m3_flow::{Effects, PathOverlaps, Use};

/// A text that is the same for equal arguments: the order of members does not matter, 5 equals 5.0, and missing
/// arguments equal an empty object.
pub(super) fn argument_key(arguments: Option<&Json>) -> String {
    let Some(arguments) = arguments else { return "{}".to_owned() };
    // Converted to doubles, integers of more than 64 bits would be equal to their neighbours.
    let value = (!has_long_integer(arguments)).then(|| arguments.to_value()).flatten();
    value.map_or_else(|| arguments.to_text(Keys::Sorted), |value| canonical(&value))
}

fn has_long_integer(value: &Json) -> bool {
    match value {
        Json::LongInteger(_) => true,
        Json::Array(items) => items.iter().any(has_long_integer),
        Json::Object(members) => members.iter().any(|(_, item)| has_long_integer(item)),
        _ => false,
    }
}

/// A call that was an unnecessary repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeat {
    /// The equal call before it.
    pub(super) of: usize,
    /// Whether both calls returned the same result.
    pub(super) is_same_result: bool,
}

/// Unnecessary repeats, and repeats that stay.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// For each call, whether it is a repeat to be left out.
    pub(super) found: Vec<Option<Repeat>>,
    /// Repeats that stay because a later call uses the value as often as it was returned: pairs of repeat and later
    /// call.
    pub(super) counted: Vec<(usize, usize)>,
    /// Equal calls that both stay, in order.
    pub(super) equal: Vec<(usize, usize)>,
}

/// Finds the repeats among the calls for which `stays` is true.
pub(super) fn find_repeats(
    calls: &[ChainCall],
    stays: &[bool],
    (effects, overlaps): (&[Effects], &PathOverlaps),
    uses: &[Use],
) -> Repeats {
    let groups = equal_calls(calls, stays);
    let mut before: Vec<Option<(usize, usize)>> = vec![None; calls.len()];
    for group in groups.values() {
        for (rank, pair) in group.windows(2).enumerate() {
            before[pair[1]] = Some((pair[0], rank + 1));
        }
    }
    let mut uses_of: HashMap<usize, Vec<&Use>> = HashMap::new();
    for found in uses {
        for &source in found.sources.iter() {
            if before.get(source).is_some_and(Option::is_some) {
                uses_of.entry(source).or_default().push(found);
            }
        }
    }
    let mut repeats = Repeats { found: vec![None; calls.len()], ..Repeats::default() };
    // Backwards: a call whose result only a left-out repeat uses is not needed either.
    for index in (0..calls.len()).rev() {
        let Some((of, rank)) = before[index] else { continue };
        let is_same_result = calls[of].result == calls[index].result;
        let is_kept = |call: usize| stays[call] && repeats.found[call].is_none();
        let later = || uses_of.get(&index).into_iter().flatten().filter(|found| is_kept(found.to));
        let is_source = later().any(|found| found.from == index);
        let counted: Vec<usize> = later()
            .filter(|found| found.times > rank && calls[found.to].place.step > calls[index].place.step)
            .map(|found| found.to)
            .collect();
        let is_changed = || {
            let meets = overlaps.with(index);
            let span = calls[of].place.step..=calls[index].place.step;
            (0..calls.len()).any(|other| {
                other != of
                    && other != index
                    && stays[other]
                    && span.contains(&calls[other].place.step)
                    && effects[other].changes_what_is_seen_by(&effects[index], meets[other])
            })
        };
        if effects[index].changes_state || is_source || (!is_same_result && is_changed()) {
            continue;
        }
        if counted.is_empty() {
            repeats.found[index] = Some(Repeat { of, is_same_result });
        }
        repeats.counted.extend(counted.into_iter().map(|to| (index, to)));
    }
    for group in groups.values() {
        let kept: Vec<usize> = group.iter().copied().filter(|&call| repeats.found[call].is_none()).collect();
        repeats.equal.extend(kept.windows(2).map(|pair| (pair[0], pair[1])));
    }
    repeats
}

/// Calls of the same tool with the same arguments, in the order of the run.
fn equal_calls<'a>(calls: &'a [ChainCall], stays: &[bool]) -> HashMap<(&'a str, String), Vec<usize>> {
    let mut groups: HashMap<(&str, String), Vec<usize>> = HashMap::new();
    for (index, call) in calls.iter().enumerate().filter(|(index, _)| stays[*index]) {
        groups.entry((&call.tool, argument_key(call.arguments.as_ref()))).or_default().push(index);
    }
    groups
}
