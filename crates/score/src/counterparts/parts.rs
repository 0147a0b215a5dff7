//! Lists that a prediction gives in several calls: `scan` of one picture after the other for `scan` of both.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use m3_embedding::EncoderError;
use m3_support::pointer::segments;
use m3_trajectory::json::{Json, is_same};

use super::{Comparer, PairedCalls, compare_all};
use crate::fidelity::constants::{EQUIVALENT, SAME_OTHERWISE, THRESHOLD};
use crate::fidelity::{ArgumentComparison, CallFidelity, Kind, Verdict};
use crate::flow::{Counterparts, Rewritten};

/// So many extra calls of a tool are looked at for the rest of a list.
const MOST_PARTS: usize = 64;

/// A pair of calls of which the predicted one asks only for a part, by its place among all pairs.
struct PartialPair {
    place: usize,
    /// The argument that is a list in all of them.
    key: String,
    /// The extra calls that ask for the rest, in their order.
    rest: Vec<usize>,
}

impl Comparer<'_, '_> {
    /// Compares reference calls whose partner asks only for a part of a list with all calls that ask for a part of it. They are the
    /// same where the calls together ask for the same, in any order of the items that the argument allows.
    pub(super) fn join_parts(&mut self, paired: &mut PairedCalls) -> Result<(), EncoderError> {
        let partial = self.partial_pairs(paired);
        let pairs: Vec<_> = partial.iter().map(|one| paired.calls[one.place]).collect();
        let joined: Vec<Option<Rewritten>> = partial.iter().map(|one| self.joined(one, paired)).collect();
        let together = compare_all(self.fidelity, (self.chunk, &pairs, &joined), self.embedder)?;
        for (one, found) in partial.into_iter().zip(together) {
            let fidelity = &mut paired.fidelities[one.place];
            if found.score >= THRESHOLD && found.score > fidelity.score {
                *fidelity = self.explained(&one, found, paired.calls[one.place].0);
                paired.joined[one.place] = one.rest;
            }
        }
        Ok(())
    }

    fn partial_pairs(&self, paired: &PairedCalls) -> Vec<PartialPair> {
        let mut taken: HashSet<(usize, usize)> = HashSet::new();
        let mut found = Vec::new();
        for (place, (&(item, reference, predicted), fidelity)) in
            paired.calls.iter().zip(&paired.fidelities).enumerate()
        {
            if fidelity.score >= EQUIVALENT {
                continue;
            }
            let prepared = &self.chunk.items[item];
            let (calls, arguments) = (&prepared.predictions.calls, &prepared.predictions.arguments);
            let own = prepared.references.arguments[reference].as_ref();
            let Some((own, part)) = own.zip(arguments[predicted].as_ref()) else { continue };
            let Some((key, missing)) = shorter_list(own, part) else { continue };
            let has_failed = |call: usize| {
                prepared.results.as_ref().is_some_and(|results| results.has_prediction_failed(call))
            };
            let is_free = |&call: &usize| {
                calls.tool(call) == calls.tool(predicted)
                    && paired.pairings[item][call].is_none()
                    && !taken.contains(&(item, call))
                    && !has_failed(call)
            };
            let extra = (0..calls.len()).filter(is_free).take(MOST_PARTS);
            let extra =
                extra.filter_map(|call| Some((call, rest_of_list(part, arguments[call].as_ref()?, key)?)));
            if let Some(rest) = chosen(extra, missing) {
                taken.extend(rest.iter().map(|&call| (item, call)));
                found.push(PartialPair { place, key: key.to_owned(), rest });
            }
        }
        found
    }

    /// The arguments of the reference call, and those of all parts as one call, as they are compared.
    fn joined(&self, one: &PartialPair, paired: &PairedCalls) -> Option<Rewritten> {
        let (item, reference, predicted) = paired.calls[one.place];
        let prepared = &self.chunk.items[item];
        let own = prepared.references.arguments[reference].as_ref()?;
        let calls = &paired.pairings[item];
        let files = prepared.flow.as_ref().map(|flow| flow.pair_files(calls)).unwrap_or_default();
        let mut whole: Option<Rewritten> = None;
        // In their order, which is that of items that have one.
        let all: BTreeSet<usize> = one.rest.iter().copied().chain([predicted]).collect();
        for call in all {
            let part = self.rewrite((item, reference, call), Counterparts::Known { calls, files: &files });
            let part = part.unwrap_or_else(|| Rewritten {
                reference: own.clone(),
                predicted: prepared.predictions.arguments[call].clone().unwrap_or(Json::Null),
                changes: Vec::new(),
            });
            match &mut whole {
                None => whole = Some(Rewritten { changes: Vec::new(), ..part }),
                Some(whole) => {
                    restore(&mut whole.reference, &part.reference, own);
                    if let (Some(items), Some(Json::Array(more))) =
                        (list_mut(&mut whole.predicted, &one.key), part.predicted.get(&one.key))
                    {
                        items.extend(more.iter().cloned());
                    }
                }
            }
        }
        whole
    }

    /// What was found of all parts, with the list as one argument.
    fn explained(&self, one: &PartialPair, found: CallFidelity, item: usize) -> CallFidelity {
        let is_of_list =
            |argument: &ArgumentComparison| segments(&argument.path).next().is_some_and(|key| key == one.key);
        let (of_list, mut arguments): (Vec<_>, Vec<_>) = found.arguments.into_iter().partition(is_of_list);
        let score = of_list.iter().map(|argument| argument.score).fold(SAME_OTHERWISE, f64::min);
        let places = &self.chunk.items[item].predictions.calls.places;
        let others: Vec<String> = one
            .rest
            .iter()
            .map(|&call| format!("{}.{}", places[call].step + 1, places[call].call + 1))
            .collect();
        arguments.push(ArgumentComparison {
            path: m3_trajectory::json::pointer_to("", &one.key),
            other_path: None,
            kind: Kind::List,
            score,
            verdict: if score >= EQUIVALENT { Verdict::Equivalent } else { Verdict::Close },
            reason: Cow::Owned(format!("the rest of the list is in {}", others.join(", "))),
        });
        let score = arguments.iter().map(|argument| argument.score).fold(1.0, f64::min);
        CallFidelity { score, arguments, ..found }
    }
}

/// The only argument that is a list in both calls and shorter in the prediction's, and how many items it lacks.
fn shorter_list<'k>(own: &'k Json, part: &Json) -> Option<(&'k str, usize)> {
    let Json::Object(members) = own else { return None };
    let mut shorter = members.iter().filter_map(|(key, value)| match (value, part.get(key)) {
        (Json::Array(items), Some(Json::Array(fewer))) if items.len() > fewer.len() => {
            Some((key.as_str(), items.len() - fewer.len()))
        }
        _ => None,
    });
    let found = shorter.next()?;
    shorter.next().is_none().then_some(found)
}

/// How many items another call has in the list, if all its other arguments are the same.
fn rest_of_list(part: &Json, other: &Json, key: &str) -> Option<usize> {
    let (Json::Object(members), Json::Object(others)) = (part, other) else { return None };
    let Some(Json::Array(items)) = other.get(key) else { return None };
    let is_alike = |(name, value): &(String, Json)| {
        name == key || other.get(name).is_some_and(|other| is_same(value, other))
    };
    (members.len() == others.len() && members.iter().all(is_alike)).then_some(items.len())
}

/// The first calls whose items are as many as are missing together.
fn chosen(extra: impl Iterator<Item = (usize, usize)>, mut missing: usize) -> Option<Vec<usize>> {
    let mut rest = Vec::new();
    for (call, items) in extra {
        if items > 0 && items <= missing {
            missing -= items;
            rest.push(call);
        }
    }
    (missing == 0).then_some(rest)
}

fn list_mut<'j>(arguments: &'j mut Json, key: &str) -> Option<&'j mut Vec<Json>> {
    let Json::Object(members) = arguments else { return None };
    members.iter_mut().find(|(name, _)| name == key).and_then(|(_, value)| match value {
        Json::Array(items) => Some(items),
        _ => None,
    })
}

/// Puts texts back as the reference has them where one part has its own name for what they mean: only where no part has one are they
/// words of what is missing.
fn restore(whole: &mut Json, part: &Json, own: &Json) {
    match (whole, part, own) {
        (Json::Array(items), Json::Array(parts), Json::Array(own)) => {
            for ((item, part), own) in items.iter_mut().zip(parts).zip(own) {
                restore(item, part, own);
            }
        }
        (Json::Object(members), part @ Json::Object(_), own @ Json::Object(_)) => {
            for (key, value) in members {
                if let Some((part, own)) = part.get(key).zip(own.get(key)) {
                    restore(value, part, own);
                }
            }
        }
        (whole, part, own) if part == own => own.clone_into(whole),
        _ => {}
    }
}
