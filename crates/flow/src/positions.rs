//! Uses of places in lists: `open(index: 1)` after a call that returned a list.

use std::collections::HashSet;

use m3_trajectory::json::{Json, Keys};

use super::leaves::{argument_leaves, walk_result};
use super::names::names_position;
use super::value_use::Use;
use crate::{CallStatus, Chain, ChainCall};

/// The most earlier lists that are looked at.
const MAX_LISTS: usize = 1000;

/// The most text of a result that is read, in bytes.
const MAX_RESULT: usize = 4 << 20;

/// Uses of items by their place in a list. A whole number that is in no result, in an argument whose name means a
/// place, counts as a use of the last list that the same server returned before, if the list is long enough.
pub(crate) fn position_uses(chain: &Chain, known_uses: &[Use]) -> Vec<Use> {
    let known: HashSet<(usize, &str)> =
        known_uses.iter().map(|known| (known.to, known.in_arguments.as_str())).collect();
    let mut lists: Vec<(usize, &str, u64)> = Vec::new();
    let (mut pending, mut step) = (Vec::new(), 0);
    let mut made = HashSet::new();
    let mut uses = Vec::new();
    let is_wanted = chain.calls.iter().flat_map(|call| argument_leaves(call.arguments.as_ref()));
    if !is_wanted.into_iter().any(|leaf| names_position(&leaf.name)) {
        return uses;
    }
    for (to, call) in chain.calls.iter().enumerate() {
        if call.place.step != step {
            step = call.place.step;
            lists.append(&mut pending);
        }
        for leaf in argument_leaves(call.arguments.as_ref()) {
            let Json::Integer(place) = leaf.value else { continue };
            if !names_position(&leaf.name) || known.contains(&(to, leaf.pointer.as_str())) {
                continue;
            }
            let is_in = |(_, server, length): &&(usize, &str, u64)| {
                *server == server_of(call) && place.unsigned_abs() <= *length
            };
            let Some(&(from, ..)) = lists.iter().rev().take(MAX_LISTS).find(is_in) else { continue };
            uses.push(Use {
                from,
                to,
                value: place.to_string(),
                in_result: String::new(),
                in_arguments: leaf.pointer,
                sources: std::sync::Arc::from([from]),
                times: 1,
            });
        }
        if call.standing != CallStatus::Succeeded {
            continue;
        }
        // Only the first of equal calls counts: the others may be needless.
        let arguments = call.arguments.as_ref().map(|arguments| arguments.to_text(Keys::Sorted));
        let is_first = made.insert((call.tool.as_str(), arguments.unwrap_or_else(|| "{}".to_owned())));
        if is_first && let Some(length) = call.result.as_ref().and_then(longest_list) {
            pending.push((to, server_of(call), length));
        }
    }
    uses
}

fn server_of(call: &ChainCall) -> &str {
    call.tool.split_once('/').map_or("", |(server, _)| server)
}

/// The number of items of a result's longest list, or of lines of a text; `None` if it has neither.
fn longest_list(result: &Json) -> Option<u64> {
    let (mut budget, mut longest) = (MAX_RESULT, 0);
    walk_result(result, &mut budget, &mut |value, path| {
        let lines = value.as_str().map_or(0, |text| text.lines().count().saturating_sub(1));
        let items = path.iter().filter_map(|segment| match segment {
            super::leaves::Segment::Item(item) => Some(*item),
            super::leaves::Segment::Member(_) => None,
        });
        longest = longest.max(lines).max(items.max().unwrap_or(0));
    });
    (longest > 0).then(|| u64::try_from(longest + 1).unwrap_or(u64::MAX))
}
