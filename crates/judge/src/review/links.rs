//! Which calls use results of others, and the objections to an arrangement that follow from it.
//!
//! There are three sources: what `m3 judge` recorded of the run, the values in known results, and the files that
//! calls write and read by their arguments.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use m3_outcomes::KnownTools;
use m3_support::text::shortened;
use m3_trajectory::{Call, Step, Trajectory};

use super::arrangement::{Arrangement, EditProblem, PlacedCall, Revision, Rules};
use super::origin::{Link, Subject};
use crate::reconstruct::Violation;
use crate::{CallPlace, CallStatus, chain_of_run};
use m3_flow::{Dependency, SharedValue, dependencies};

/// Which calls use results of others.
#[derive(Debug, Clone, PartialEq)]
pub struct CallLinks {
    /// The links in the order of the file, with the arguments of the arrangement. Added calls come after those of the
    /// file, to find what they use; the calls that use them are found in the order of the arrangement.
    pub links: Vec<Link>,
    /// The links in the order of the arrangement.
    now: Vec<Link>,
}

impl CallLinks {
    /// The dependencies of an arrangement.
    #[must_use]
    pub fn of(subject: Subject<'_>, arrangement: &Arrangement) -> Self {
        let now = links_in(subject, arrangement);
        let order = order_of_file(subject, arrangement);
        let in_order = if order == *arrangement { now.clone() } else { links_in(subject, &order) };
        let mut links = recorded(subject, &order);
        let mut places = HashMap::new();
        for (place, link) in links.iter().enumerate() {
            places.entry((link.from, link.to)).or_insert(place);
        }
        let of_file = subject.reference.call_count();
        let of_added = now.iter().filter(|link| link.from >= of_file).cloned();
        for found in in_order.into_iter().chain(of_added) {
            match places.entry((found.from, found.to)) {
                Entry::Vacant(place) => {
                    place.insert(links.len());
                    links.push(found);
                }
                Entry::Occupied(place) => {
                    let values = &mut links[*place.get()].values;
                    let is_known = |value: &SharedValue| {
                        values.iter().any(|known| known.in_arguments == value.in_arguments)
                    };
                    let more: Vec<SharedValue> =
                        found.values.into_iter().filter(|value| !is_known(value)).collect();
                    values.extend(more);
                }
            }
        }
        links.sort_by_key(|link| (link.to, link.from));
        Self { links, now }
    }
}

/// The calls in the order of the file with the arguments of an arrangement, then those that were added.
fn order_of_file(subject: Subject<'_>, arrangement: &Arrangement) -> Arrangement {
    let mut order = Revision::of(subject.reference).steps;
    let placed: HashMap<usize, &PlacedCall> =
        arrangement.iter().flatten().map(|placed| (placed.call, placed)).collect();
    for call in order.iter_mut().flatten() {
        if let Some(placed) = placed.get(&call.call) {
            call.arguments.clone_from(&placed.arguments);
        }
    }
    let of_file = subject.reference.call_count();
    let added = arrangement.iter().flatten().filter(|placed| placed.call >= of_file);
    order.extend(added.map(|placed| vec![placed.clone()]));
    order
}

/// The links that `m3 judge` recorded, without values that are no longer in the arguments of the arrangement.
fn recorded(subject: Subject<'_>, order: &Arrangement) -> Vec<Link> {
    let calls = subject.calls();
    let edited: HashMap<usize, &PlacedCall> = order
        .iter()
        .flatten()
        .filter(|placed| placed.arguments.is_some())
        .map(|placed| (placed.call, placed))
        .collect();
    let stands = |call: usize, pointer: &str| {
        let (Some(placed), Some(of)) = (edited.get(&call), calls.get(call)) else { return true };
        let now = placed.as_it_stands(&calls);
        let before = of.arguments.as_ref().and_then(|arguments| arguments.pointer(pointer));
        before.is_some() && before == now.as_ref().and_then(|now| now.arguments.as_ref()?.pointer(pointer))
    };
    let kept = |link: &Link| {
        let is_kept = |value: &&SharedValue| {
            let wrote = value.in_result.strip_prefix("arguments").filter(|rest| rest.starts_with('/'));
            stands(link.to, &value.in_arguments) && wrote.is_none_or(|pointer| stands(link.from, pointer))
        };
        let values: Vec<SharedValue> = link.values.iter().filter(is_kept).cloned().collect();
        (!values.is_empty()).then_some(Link { from: link.from, to: link.to, values })
    };
    subject.origin.links().iter().filter_map(kept).collect()
}

/// Which calls use results of others in the order of an arrangement, each with its known result.
fn links_in(subject: Subject<'_>, order: &Arrangement) -> Vec<Link> {
    let calls = subject.calls();
    let with_result = |placed: &PlacedCall| {
        let of_file = calls.get(placed.call).copied();
        let Call { tool, arguments, .. } = placed.as_it_stands(&calls)?.into_owned();
        let extra = of_file.map(|call| call.extra.clone()).unwrap_or_default();
        Some((
            placed.call,
            Call { tool, arguments, result: subject.result(&calls, placed.call).cloned(), extra },
        ))
    };
    let step = |step: &Vec<PlacedCall>| -> (Vec<usize>, Step) {
        let (numbers, calls) = step.iter().filter_map(with_result).unzip();
        (numbers, Step { calls, ..Step::default() })
    };
    let (numbers, steps): (Vec<Vec<usize>>, Vec<Step>) = order.iter().map(step).unzip();
    let trajectory = Trajectory { steps, ..subject.reference.clone() };
    let number = |place: CallPlace| numbers.get(place.step)?.get(place.call).copied();
    let link = |found: Dependency| {
        let (from, to) = (number(found.from)?, number(found.to)?);
        Some(Link { from, to, values: found.values })
    };
    // Without a catalog every call with a result counts as executed: a call whose tool is missing from the catalog
    // may still have been executed in the run.
    let mut chain = chain_of_run(&trajectory, &KnownTools::default());
    // All calls of a reference are meant to succeed: files that one writes exist for the calls after it.
    for call in &mut chain.calls {
        if call.standing == CallStatus::NotRecorded {
            call.standing = CallStatus::Succeeded;
        }
    }
    dependencies(&chain).into_iter().filter_map(link).collect()
}

/// All objections to a [`normal`](super::arrangement::normal) arrangement: added calls of unknown tools, changed
/// arguments that do not fit their schema, calls that do not come after the calls whose results they use, and calls
/// that use results of removed calls.
#[must_use]
pub fn problems(subject: Subject<'_>, arrangement: &Arrangement, rules: &Rules) -> Vec<EditProblem> {
    let calls = subject.calls();
    let mut problems = Vec::new();
    for placed in arrangement.iter().flatten().filter(|placed| placed.arguments.is_some()) {
        problems.extend(rules.unknown(placed));
        let call = placed.as_it_stands(&calls);
        if let Some((tool, arguments)) =
            call.as_ref().and_then(|call| Some((&call.tool, call.arguments.as_ref()?)))
        {
            problems.extend(rules.problems(placed.call, tool, arguments));
        }
    }
    problems.extend(misplaced_calls(subject, arrangement, &CallLinks::of(subject, arrangement)));
    problems
}

/// The objections to the order of an arrangement: calls that do not come after the calls whose results they use, and
/// calls that use results of removed calls. `linked` are the dependencies of the arrangement.
#[must_use]
pub fn misplaced_calls(
    subject: Subject<'_>,
    arrangement: &Arrangement,
    linked: &CallLinks,
) -> Vec<EditProblem> {
    let added =
        arrangement.iter().flatten().filter_map(|placed| Some((placed.call, placed.tool.as_deref()?)));
    let of_file = subject.reference.calls().map(|(_, call)| call.tool.as_str()).enumerate();
    let names: HashMap<usize, &str> = of_file.chain(added).collect();
    misplaced(&names, arrangement, linked)
}

/// Calls that do not come after all values they use. A value in several results may come from any of them, also in the
/// order of the arrangement.
fn misplaced(
    tools: &HashMap<usize, &str>,
    arrangement: &Arrangement,
    CallLinks { links, now }: &CallLinks,
) -> Vec<EditProblem> {
    let steps: HashMap<usize, usize> = arrangement
        .iter()
        .enumerate()
        .flat_map(|(step, calls)| calls.iter().map(move |placed| (placed.call, step)))
        .collect();
    let name = |call: usize| shortened(tools.get(&call).copied().unwrap_or_default(), 100);
    let mut by_user: HashMap<usize, Vec<&Link>> = HashMap::new();
    for link in links.iter().chain(now) {
        by_user.entry(link.to).or_default().push(link);
    }
    let mut problems = Vec::new();
    for link in links {
        let Some(&to_step) = steps.get(&link.to) else { continue };
        let comes_before = |from: usize| steps.get(&from).is_some_and(|step| *step < to_step);
        if comes_before(link.from) {
            continue;
        }
        let comes_elsewhere = |value: &SharedValue| {
            let of_user = by_user.get(&link.to).into_iter().flatten();
            of_user
                .filter(|other| comes_before(other.from))
                .flat_map(|other| &other.values)
                .any(|other| other.in_arguments == value.in_arguments && other.value == value.value)
        };
        let Some(value) = link.values.iter().find(|value| !comes_elsewhere(value)) else { continue };
        let (from, to, value) = (name(link.from), name(link.to), format!("`{}`", value.value));
        let violation = match steps.get(&link.from) {
            Some(&from_step) => Violation::Order { from, from_step, to, to_step, value },
            None => Violation::MissingSource { from, to, to_step, value },
        };
        let message = violation.to_string();
        problems.push(EditProblem { call: Some(link.to), pointer: String::new(), message });
    }
    problems
}

#[cfg(test)]
mod tests;
