//! Checks whether a proposal keeps the rules.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use m3_support::text::{counted, shortened};

use super::repeats::argument_key;
use super::rules::{Findings, grouped, merged};
use super::{Proposal, ProposedCall, Reconstruction, RemovalReason, RemovedCall, Violation};
use crate::{CallPlace, CallStatus, Chain, ChainCall};
use m3_flow::{Dependency, Use, listed};

/// Checks a model's proposal: each call is a successful call of the run, no call occurs more often than in the run, the
/// values that a call uses are returned in an earlier step, calls that touch the same file or state keep their order,
/// and the proposal has no more calls or steps than the run. Steps without calls do not count.
///
/// # Errors
/// Every [`Violation`]: first calls that the run did not make, in the order of the proposal, then sources, conflicts,
/// length.
pub fn check(
    chain: &Chain,
    dependencies: &[Dependency],
    proposal: &Proposal,
) -> Result<Reconstruction, Vec<Violation>> {
    let calls = chain.calls.as_slice();
    let steps: Vec<&[ProposedCall]> =
        proposal.steps.iter().map(Vec::as_slice).filter(|step| !step.is_empty()).collect();
    if steps.is_empty() {
        return Err(vec![Violation::Empty]);
    }
    let findings = Findings::new(chain);
    let mut violations = Vec::new();
    let places = matched(calls, &findings, &steps, &mut violations);
    let sources = sources(calls, dependencies, &findings, &places, &mut violations);
    conflicts(calls, &findings, &places, &mut violations);
    violations.extend(length(calls, &steps));
    if !violations.is_empty() {
        return Err(violations);
    }
    let stays: Vec<bool> = places.iter().map(Option::is_some).collect();
    let new_steps: Vec<usize> = places.iter().map(|place| place.map_or(0, |place| place.step)).collect();
    Ok(Reconstruction {
        steps: grouped(calls, &stays, |call| new_steps[call]),
        removed: removed(calls, &findings, &stays),
        merged: merged(calls, &stays, &new_steps, |_| {
            "the proposal has it here, and all that it uses is returned before".to_owned()
        }),
        dependencies: listed(chain, &sources),
    })
}

/// The place of each call of the run in the proposal; `None` if it is left out.
fn matched(
    calls: &[ChainCall],
    findings: &Findings,
    steps: &[&[ProposedCall]],
    violations: &mut Vec<Violation>,
) -> Vec<Option<CallPlace>> {
    let mut proposed: HashMap<(&str, String), Vec<CallPlace>> = HashMap::new();
    let mut order = Vec::new();
    for (step, found) in steps.iter().enumerate() {
        for (call, found) in found.iter().enumerate() {
            let key = (found.name.as_str(), argument_key(found.arguments.as_ref()));
            let place = CallPlace { step, call };
            proposed.entry(key.clone()).or_default().push(place);
            order.push((place, key));
        }
    }
    let mut made: HashMap<(&str, String), Vec<usize>> = HashMap::new();
    for (index, call) in calls.iter().enumerate() {
        made.entry((&call.tool, argument_key(call.arguments.as_ref()))).or_default().push(index);
    }
    let mut places = vec![None; calls.len()];
    let mut is_matched = HashSet::new();
    for (key, wanted) in &proposed {
        let succeeded = |call: &&usize| calls[**call].standing == CallStatus::Succeeded;
        let mut candidates: Vec<usize> =
            made.get(key).into_iter().flatten().filter(succeeded).copied().collect();
        // Of equal calls, those that were needed come first.
        candidates.sort_by_key(|&call| (findings.repeats.found[call].is_some(), call));
        candidates.truncate(wanted.len());
        candidates.sort_unstable();
        for (&call, &place) in candidates.iter().zip(wanted) {
            places[call] = Some(place);
            is_matched.insert(place);
        }
    }
    for (place, key) in order.into_iter().filter(|(place, _)| !is_matched.contains(place)) {
        let more = nearest(calls, made.get(&key).map(Vec::as_slice).unwrap_or_default(), key.0);
        violations.push(Violation::Invented { place, name: shortened(key.0, 80), more });
    }
    places
}

/// A clause about a proposed call that the run did not make: what the run has instead.
fn nearest(calls: &[ChainCall], equal: &[usize], tool: &str) -> String {
    let succeeded = equal.iter().filter(|&&call| calls[call].standing == CallStatus::Succeeded).count();
    if succeeded > 0 {
        let times = counted(succeeded, "time");
        return format!(
            " (the run made this call {times}, and the proposal has it more often; leave out the rest)"
        );
    }
    if let Some(&call) = equal.first() {
        return match &calls[call].standing {
            CallStatus::Failed(why) => {
                format!(" (the run made this call and it failed: {}; leave it out)", shortened(why, 80))
            }
            _ => " (the run has this call and no result of it; leave it out)".to_owned(),
        };
    }
    let same_tool = |call: &&ChainCall| call.tool == tool && call.standing == CallStatus::Succeeded;
    let others: Vec<String> = calls
        .iter()
        .filter(same_tool)
        .take(3)
        .map(|call| format!("`{}`", shortened(&argument_key(call.arguments.as_ref()), 160)))
        .collect();
    if others.is_empty() {
        return " (the run has no successful call of this tool; leave it out)".to_owned();
    }
    format!(" (copy the arguments exactly; the run called it with {})", others.join(", "))
}

/// The uses of values by the calls of the proposal, each with the call that returns the value. A use without such a
/// call is a violation.
fn sources(
    calls: &[ChainCall],
    dependencies: &[Dependency],
    findings: &Findings,
    places: &[Option<CallPlace>],
    violations: &mut Vec<Violation>,
) -> Vec<Use> {
    let mut sources = Vec::new();
    for (from, to, uses) in used(calls, dependencies, &findings.uses.found) {
        let Some(user) = places[to] else { continue };
        let mut is_told = false;
        for found in uses {
            let kept =
                || found.sources.iter().filter_map(|&source| places[source].map(|place| (source, place)));
            if let Some((source, _)) = kept().find(|(_, place)| place.step < user.step) {
                sources.push(Use { from: source, ..found });
                continue;
            }
            if std::mem::replace(&mut is_told, true) {
                continue;
            }
            let (tool, value) =
                (|call: usize| shortened(&calls[call].tool, 80), format!("`{}`", found.value));
            violations.push(match kept().next() {
                Some((source, place)) => Violation::Order {
                    from: tool(source),
                    from_step: place.step,
                    to: tool(to),
                    to_step: user.step,
                    value,
                },
                None => {
                    Violation::MissingSource { from: tool(from), to: tool(to), to_step: user.step, value }
                }
            });
        }
    }
    sources.sort_by(|a, b| (a.to, a.from, &a.in_arguments).cmp(&(b.to, b.from, &b.in_arguments)));
    sources
}

/// The uses of values for each dependency: the detected ones, else one for each value that the dependency lists.
fn used(calls: &[ChainCall], dependencies: &[Dependency], found: &[Use]) -> Vec<(usize, usize, Vec<Use>)> {
    let indices: HashMap<CallPlace, usize> =
        calls.iter().enumerate().map(|(index, call)| (call.place, index)).collect();
    let mut pairs: HashMap<(usize, usize), Vec<Use>> = HashMap::new();
    for found in found {
        pairs.entry((found.from, found.to)).or_default().push(found.clone());
    }
    let uses_of = |from: usize, to: usize, dependency: &Dependency| {
        let values = dependency.values.iter().map(|value| Use {
            from,
            to,
            value: value.value.clone(),
            in_result: value.in_result.clone(),
            in_arguments: value.in_arguments.clone(),
            sources: Arc::from([from]),
            times: 1,
        });
        values.collect()
    };
    let all = dependencies.iter().filter_map(|dependency| {
        let (from, to) = (*indices.get(&dependency.from)?, *indices.get(&dependency.to)?);
        let uses = pairs.remove(&(from, to)).unwrap_or_else(|| uses_of(from, to, dependency));
        Some((from, to, uses))
    });
    all.collect()
}

/// Adds a violation for each pair of calls that touch the same file or state in another order than in the run. If the
/// conflict is only likely, both calls may stand in one step: the model that proposes this knows the tools.
fn conflicts(
    calls: &[ChainCall],
    findings: &Findings,
    places: &[Option<CallPlace>],
    violations: &mut Vec<Violation>,
) {
    let kept: Vec<(usize, CallPlace)> =
        places.iter().enumerate().filter_map(|(call, place)| place.map(|place| (call, place))).collect();
    for (position, &(first, first_place)) in kept.iter().enumerate() {
        let meets = findings.overlaps.with(first);
        for &(second, second_place) in &kept[position + 1..] {
            let is_later = calls[first].place.step < calls[second].place.step;
            if !is_later || first_place.step < second_place.step {
                continue;
            }
            let (one, other) = (&findings.effects[first], &findings.effects[second]);
            let Some(conflict) = one.conflict(other, meets[second]) else { continue };
            if !conflict.is_sure && first_place.step == second_place.step {
                continue;
            }
            let must =
                if conflict.is_sure { "has to come in a later step" } else { "has to come no earlier" };
            violations.push(Violation::Conflict {
                first: shortened(&calls[first].tool, 80),
                first_step: first_place.step,
                second: shortened(&calls[second].tool, 80),
                second_step: second_place.step,
                reason: one.reason(other, conflict),
                must: must.to_owned(),
            });
        }
    }
}

fn length(calls: &[ChainCall], steps: &[&[ProposedCall]]) -> Vec<Violation> {
    let proposed: usize = steps.iter().map(|step| step.len()).sum();
    let run_steps = calls.iter().map(|call| call.place.step).collect::<HashSet<_>>().len();
    let sizes = [(proposed, calls.len(), "call"), (steps.len(), run_steps, "step")];
    let longer = sizes.into_iter().filter(|(proposed, made, _)| proposed > made);
    let longer = longer.map(|(proposed, made, unit)| {
        Violation::Longer(format!("it has {}, the run {}", counted(proposed, unit), counted(made, unit)))
    });
    longer.collect()
}

fn removed(calls: &[ChainCall], findings: &Findings, stays: &[bool]) -> Vec<RemovedCall> {
    let proposed = "the proposal leaves it out, and no call that is left uses what only it returned";
    let removed = |call: usize| {
        findings
            .removal(calls, stays, call)
            .unwrap_or_else(|| RemovedCall::new(&calls[call], RemovalReason::Proposed, proposed.to_owned()))
    };
    (0..calls.len()).filter(|&call| !stays[call]).map(removed).collect()
}
