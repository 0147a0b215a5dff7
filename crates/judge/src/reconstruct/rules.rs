//! Computes the optimal trajectory by rules alone.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use m3_support::text::shortened;

use super::order::{Bond, Rule, Why, bonds_of_effects, earliest_steps};
use super::repeats::{Repeat, find_repeats};
use super::{MergedCall, Reconstruction, RemovalReason, RemovedCall};
use crate::{CallPlace, CallStatus, Chain, ChainCall};
use m3_flow::{Dependency, Effects, PathOverlaps, Uses, find_uses};

/// The optimal trajectory that rules alone can find. Applied to its own result, the function changes nothing. It never
/// adds a call, breaks a dependency or gives more steps than the run has. A chain without recorded results, such as
/// that of a reference, stays as it is, because it is unknown which results its calls use.
///
/// `dependencies` has at least the dependencies that [`dependencies`](m3_flow::dependencies) finds in the chain.
#[must_use]
pub fn by_rules(chain: &Chain, dependencies: &[Dependency]) -> Reconstruction {
    let calls = chain.calls.as_slice();
    if calls.iter().all(|call| call.standing == CallStatus::NotRecorded) {
        let steps = grouped(calls, &vec![true; calls.len()], |call| calls[call].place.step);
        return Reconstruction { steps, dependencies: dependencies.to_vec(), ..Reconstruction::default() };
    }
    let findings = Findings::new(chain);
    let stays = findings.stays(calls);
    let bonds = bonds(calls, &stays, &findings, dependencies);
    let (steps, deciding) = earliest_steps(calls, &stays, &bonds);
    let is_kept = place_filter(calls, &stays);
    Reconstruction {
        merged: merged(calls, &stays, &steps, |call| {
            reason_of(calls, &bonds, &deciding, &steps, &findings.effects, call)
        }),
        steps: grouped(calls, &stays, |call| steps[call]),
        removed: findings.removed(calls, &stays),
        dependencies: dependencies
            .iter()
            .filter(|dependency| is_kept(dependency.from) && is_kept(dependency.to))
            .cloned()
            .collect(),
    }
}

/// Everything that is found in a chain before calls are moved.
pub(super) struct Findings {
    /// The effects of each call on files and state.
    pub(super) effects: Vec<Effects>,
    /// Which calls name the same files.
    pub(super) overlaps: PathOverlaps,
    /// Which call uses the values of which other call.
    pub(super) uses: Uses,
    /// Unnecessary repeats, and equal calls that stay.
    pub(super) repeats: super::repeats::Repeats,
}

impl Findings {
    pub(super) fn new(chain: &Chain) -> Self {
        let effects: Vec<Effects> = chain.calls.iter().map(Effects::from_call).collect();
        let overlaps = PathOverlaps::new(&effects);
        let uses = find_uses(chain);
        let succeeded: Vec<bool> =
            chain.calls.iter().map(|call| call.standing == CallStatus::Succeeded).collect();
        let repeats = find_repeats(&chain.calls, &succeeded, (&effects, &overlaps), &uses.found);
        Self { effects, overlaps, uses, repeats }
    }

    /// Whether each call stays: it succeeded and is not an unnecessary repeat.
    fn stays(&self, calls: &[ChainCall]) -> Vec<bool> {
        let repeats = self.repeats.found.iter();
        calls
            .iter()
            .zip(repeats)
            .map(|(call, repeat)| call.standing == CallStatus::Succeeded && repeat.is_none())
            .collect()
    }

    fn removed(&self, calls: &[ChainCall], stays: &[bool]) -> Vec<RemovedCall> {
        (0..calls.len())
            .filter(|&call| !stays[call])
            .filter_map(|call| self.removal(calls, stays, call))
            .collect()
    }

    /// Why the rules leave a call out.
    pub(super) fn removal(&self, calls: &[ChainCall], stays: &[bool], call: usize) -> Option<RemovedCall> {
        let (reason, evidence) = match (&calls[call].standing, self.repeats.found[call]) {
            (CallStatus::Failed(why), _) => (RemovalReason::Failed, self.failure(calls, stays, call, why)),
            (CallStatus::NotRecorded, _) => {
                (RemovalReason::NotRecorded, "the run has no result of it".to_owned())
            }
            (CallStatus::Succeeded, Some(repeat)) => (RemovalReason::Repeated, repetition(calls, repeat)),
            (CallStatus::Succeeded, None) => return None,
        };
        Some(RemovedCall::new(&calls[call], reason, evidence))
    }

    fn failure(&self, calls: &[ChainCall], stays: &[bool], call: usize, why: &str) -> String {
        let mut evidence = format!("it failed: {}", shortened(why, 100));
        let lost = self.uses.lost.iter().find(|lost| lost.sources.contains(&call) && stays[lost.to]);
        if let Some(lost) = lost {
            let (user, value) = (named(calls, lost.to), &lost.value);
            evidence =
                format!("{evidence}; {user} uses `{value}`, which only the answer to a failed call has");
        }
        evidence
    }
}

fn repetition(calls: &[ChainCall], repeat: Repeat) -> String {
    let step = calls[repeat.of].place.step + 1;
    if repeat.is_same_result {
        format!("the same call in step {step} gave the same")
    } else {
        format!(
            "the same call was made in step {step}; this one gave something else, which no remaining call uses"
        )
    }
}

/// The call in the form that messages use.
fn named(calls: &[ChainCall], call: usize) -> String {
    format!("`{}` in step {}", shortened(&calls[call].tool, 80), calls[call].place.step + 1)
}

/// Everything that restricts the order of calls.
fn bonds(calls: &[ChainCall], stays: &[bool], findings: &Findings, dependencies: &[Dependency]) -> Vec<Bond> {
    let mut bonds = Vec::new();
    let indices: HashMap<CallPlace, usize> =
        calls.iter().enumerate().map(|(index, call)| (call.place, index)).collect();
    for dependency in dependencies {
        let (Some(&first), Some(&second)) = (indices.get(&dependency.from), indices.get(&dependency.to))
        else {
            continue;
        };
        let value = dependency.values.first().map_or("a value", |value| value.value.as_str());
        let reason = format!("it uses `{value}`, which {} returned", named(calls, first));
        bonds.push(Bond { first, second, rule: Rule::After, why: Why::Said(reason) });
    }
    bonds.extend(bonds_of_effects(calls, stays, &findings.effects, &findings.overlaps));
    let mut seen = HashSet::new();
    for found in findings.uses.found.iter().filter(|found| stays[found.to]) {
        // The first call that returned a value has to stay the first: otherwise the value would have another source.
        for &second in found.sources.iter().filter(|&&second| second > found.from) {
            if seen.insert((found.from, second)) {
                let reason = format!("{} returned `{}` before it", named(calls, found.from), found.value);
                bonds.push(Bond { first: found.from, second, rule: Rule::NotBefore, why: Why::Said(reason) });
            }
        }
    }
    for &(first, second) in &findings.repeats.equal {
        let reason = format!("{} is the same call", named(calls, first));
        bonds.push(Bond { first, second, rule: Rule::NotBefore, why: Why::Said(reason) });
    }
    for &(first, second) in &findings.repeats.counted {
        let reason = format!(
            "it uses the value as many times as it was returned, by {} among others",
            named(calls, first)
        );
        bonds.push(Bond { first, second, rule: Rule::After, why: Why::Said(reason) });
    }
    bonds
}

fn reason_of(
    calls: &[ChainCall],
    bonds: &[Bond],
    deciding: &[Option<usize>],
    steps: &[usize],
    effects: &[Effects],
    call: usize,
) -> String {
    let Some(bond) = deciding[call].and_then(|bond| bonds.get(bond)) else {
        return "nothing in its arguments comes from a result".to_owned();
    };
    let other = named(calls, if bond.second == call { bond.first } else { bond.second });
    let reason = bond.reason(effects);
    match bond.rule {
        Rule::After => format!("the last thing that it waits for is {other}: {reason}"),
        Rule::NotBefore => format!("it comes no earlier than {other}: {reason}"),
        Rule::Together => format!("it stays with {other}, now in step {}: {reason}", steps[call] + 1),
    }
}

/// The calls that now share a step with calls of earlier steps.
pub(super) fn merged(
    calls: &[ChainCall],
    stays: &[bool],
    steps: &[usize],
    evidence: impl Fn(usize) -> String,
) -> Vec<MergedCall> {
    let steps = compressed(stays, steps);
    let mut earliest: HashMap<usize, usize> = HashMap::new();
    for call in (0..calls.len()).filter(|&call| stays[call]) {
        let first = earliest.entry(steps[call]).or_insert(usize::MAX);
        *first = calls[call].place.step.min(*first);
    }
    (0..calls.len())
        .filter(|&call| {
            stays[call] && earliest.get(&steps[call]).is_some_and(|&first| first < calls[call].place.step)
        })
        .map(|call| {
            let ChainCall { place, tool, .. } = &calls[call];
            MergedCall { place: *place, tool: tool.clone(), step: steps[call], evidence: evidence(call) }
        })
        .collect()
}

/// The steps renumbered without gaps.
fn compressed(stays: &[bool], steps: &[usize]) -> Vec<usize> {
    let kept = steps.iter().zip(stays).filter(|(_, stays)| **stays);
    let used: BTreeSet<usize> = kept.map(|(step, _)| *step).collect();
    let numbers: HashMap<usize, usize> =
        used.into_iter().enumerate().map(|(number, step)| (step, number)).collect();
    steps.iter().map(|step| numbers.get(step).copied().unwrap_or(0)).collect()
}

/// The calls that stay, by step, in the order of the run.
pub(super) fn grouped(
    calls: &[ChainCall],
    stays: &[bool],
    step: impl Fn(usize) -> usize,
) -> Vec<Vec<CallPlace>> {
    let mut groups: BTreeMap<usize, Vec<CallPlace>> = BTreeMap::new();
    for call in (0..calls.len()).filter(|&call| stays[call]) {
        groups.entry(step(call)).or_default().push(calls[call].place);
    }
    groups.into_values().collect()
}

/// Tests whether a place is that of a call that stays.
fn place_filter(calls: &[ChainCall], stays: &[bool]) -> impl Fn(CallPlace) -> bool + use<> {
    let kept: HashSet<CallPlace> =
        calls.iter().zip(stays).filter(|(_, stays)| **stays).map(|(call, _)| call.place).collect();
    move |place| kept.contains(&place)
}
