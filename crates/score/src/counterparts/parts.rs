//! Lists that a prediction gives in several calls: one `scan` per picture instead of one `scan` of both.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use m3_embedding::EncoderError;
use m3_flow::{CallRole, creates, is_file_path, words_of_name};
use m3_support::pointer::segments;
use m3_trajectory::json::{Json, is_same, pointer_to};

use super::{ComparedCalls, Comparer, PairedCalls, compare_all};
use crate::fidelity::constants::{EQUIVALENT, SAME_OTHERWISE, THRESHOLD};
use crate::fidelity::{ArgumentComparison, CallFidelity, Kind, Verdict, may_be_split};
use crate::flow::{Counterparts, RewrittenPair, at_mut, words_of_place};

/// The most extra calls of a tool that are searched for the rest of a list, and the most members of their arguments.
const MOST_PARTS: usize = 64;

/// The most items of a list that is joined.
const MOST_ITEMS: usize = 256;

/// A pair of calls whose predicted call asks for only a part of a list; `place` is its index among all pairs.
struct PartialPair {
    place: usize,
    /// The argument that holds the list in all of these calls.
    key: String,
    /// The extra calls that ask for the rest, in their order.
    rest: Vec<usize>,
}

/// The extra calls of a trajectory that can still be joined, and its paired files.
struct FreeCalls {
    item: usize,
    /// The extra calls that did not fail and are not joined yet, by tool.
    by_tool: HashMap<String, Vec<usize>>,
    /// For files that are changed in place: the reference's file for each file of the prediction, by their versions.
    files: HashMap<usize, usize>,
}

impl Comparer<'_, '_> {
    /// Compares a reference call whose partner asks for only a part of a list with all calls that ask for parts of it.
    /// The new comparison replaces the old one where these calls together ask for the same.
    pub(super) fn join_parts(&mut self, paired: &mut PairedCalls) -> Result<(), EncoderError> {
        let mut free: Option<FreeCalls> = None;
        for place in 0..paired.calls.len() {
            let pair = paired.calls[place];
            if paired.fidelities[place].score >= EQUIVALENT {
                continue;
            }
            if free.as_ref().is_none_or(|free| free.item != pair.0) {
                free = Some(self.free_calls(pair.0, paired));
            }
            let Some(free) = free.as_mut() else { continue };
            let Some(one) = self.partial_pair(place, pair, free) else { continue };
            let joined = [self.joined(&one, paired, free)];
            let mut together = compare_all(self.fidelity, (self.chunk, &[pair], &joined), self.embedder)?;
            let Some(found) = together.pop() else { continue };
            let fidelity = &mut paired.fidelities[place];
            if found.score >= THRESHOLD && found.score > fidelity.score {
                for calls in free.by_tool.values_mut() {
                    calls.retain(|call| !one.rest.contains(call));
                }
                *fidelity = self.explained(&one, found, pair.0);
                paired.joined[place] = one.rest;
            }
        }
        Ok(())
    }

    fn free_calls(&self, item: usize, paired: &PairedCalls) -> FreeCalls {
        let prepared = &self.chunk.items[item];
        let calls = &prepared.predictions.calls;
        let has_failed = |call: usize| {
            prepared.results.as_ref().is_some_and(|results| results.has_prediction_failed(call))
        };
        let mut by_tool: HashMap<String, Vec<usize>> = HashMap::new();
        for call in
            (0..calls.len()).filter(|&call| paired.pairings[item][call].is_none() && !has_failed(call))
        {
            by_tool.entry(calls.tool(call).to_owned()).or_default().push(call);
        }
        let files = prepared.flow.as_ref().map(|flow| flow.pair_files(&paired.pairings[item]));
        FreeCalls { item, by_tool, files: files.unwrap_or_default() }
    }

    /// A pair whose predicted call asks for a part of a list that may be given in parts, with the calls that may have the rest.
    fn partial_pair(
        &self,
        place: usize,
        (item, reference, predicted): ComparedCalls,
        free: &FreeCalls,
    ) -> Option<PartialPair> {
        let prepared = &self.chunk.items[item];
        let tool = prepared.references.calls.tool(reference);
        let free = free.by_tool.get(tool)?;
        let arguments = &prepared.predictions.arguments;
        let (own, part) =
            (prepared.references.arguments[reference].as_ref()?, arguments[predicted].as_ref()?);
        let key = shorter_list(own, part)?;
        let all = items(own, key)?;
        let makes_files = prepared.flow.as_ref().is_some_and(|flow| flow.reference_makes_files(reference));
        let makes_pictures =
            prepared.results.as_ref().is_some_and(|results| results.has_reference_pictures(reference));
        // Two kinds of lists may be given one by one: things that the tool creates and is named after, and files to
        // look at.
        let are_things = all.iter().all(|item| matches!(item, Json::Object(_))) && creates_each(tool, key);
        let is_path = |item: &Json| item.as_str().is_some_and(is_file_path);
        let are_files = self.options.role(tool) != CallRole::Changes && all.iter().all(is_path);
        let is_split = all.len() <= MOST_ITEMS && may_be_split(tool, key) && (are_things || are_files);
        if makes_files || makes_pictures || !is_split {
            return None;
        }
        let parts: Vec<(usize, &[Json])> = free
            .iter()
            .take(MOST_PARTS)
            .filter_map(|&call| Some((call, rest_of_list(part, arguments[call].as_ref()?, key)?)))
            .collect();
        let rest = chosen(&parts, all, items(part, key)?)?;
        Some(PartialPair { place, key: key.to_owned(), rest })
    }

    /// The arguments of the reference call, and those of all parts as one call, as they are compared.
    fn joined(&self, one: &PartialPair, paired: &PairedCalls, free: &FreeCalls) -> Option<RewrittenPair> {
        let (item, reference, predicted) = paired.calls[one.place];
        let prepared = &self.chunk.items[item];
        let own = prepared.references.arguments[reference].as_ref()?;
        let pairing = Counterparts::Known { calls: &paired.pairings[item], files: &free.files };
        let list = pointer_to("", &one.key);
        let mut whole: Option<RewrittenPair> = None;
        // In the order of the calls, which is also the order of the items, if they have one.
        let all: BTreeSet<usize> = one.rest.iter().copied().chain([predicted]).collect();
        for call in all {
            let part = self.rewrite((item, reference, call), pairing).unwrap_or_else(|| RewrittenPair {
                reference: own.clone(),
                predicted: prepared.predictions.arguments[call].clone().unwrap_or(Json::Null),
                changes: Vec::new(),
            });
            match &mut whole {
                None => whole = Some(part),
                Some(whole) => {
                    restore(&mut whole.reference, &part.reference, own);
                    if let (Some(Json::Array(items)), Some(Json::Array(more))) =
                        (at_mut(&mut whole.predicted, &list), part.predicted.get(&one.key))
                    {
                        items.extend(more.iter().cloned());
                    }
                }
            }
        }
        // Pointers into the list are wrong after joining, so their changes are dropped.
        let is_elsewhere = |pointer: &str| segments(pointer).next().is_none_or(|key| key != one.key);
        whole.map(|mut whole| {
            whole.changes.retain(|change| is_elsewhere(&change.pointer));
            whole
        })
    }

    /// The comparison of all parts together, with the list as one argument.
    fn explained(&self, one: &PartialPair, found: CallFidelity, item: usize) -> CallFidelity {
        let is_of_list =
            |argument: &ArgumentComparison| segments(&argument.path).next().is_some_and(|key| key == one.key);
        let (of_list, mut arguments): (Vec<_>, Vec<_>) = found.arguments.into_iter().partition(is_of_list);
        let score = of_list.iter().map(|argument| argument.score).fold(SAME_OTHERWISE, f64::min);
        let calls = &self.chunk.items[item].predictions.calls;
        let others: Vec<String> = one.rest.iter().map(|&call| words_of_place(calls, call)).collect();
        arguments.push(ArgumentComparison {
            path: pointer_to("", &one.key),
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

/// Whether a tool's name says that it creates each item of a list: `create_entities` creates the items of `entities`,
/// but `create_event` does not create its `attendees`.
fn creates_each(tool: &str, list: &str) -> bool {
    let tool_words = words_of_name(tool.rsplit('/').next().unwrap_or_default());
    let adds = |word: &String| ["add", "insert"].contains(&word.as_str());
    (creates(tool) || tool_words.iter().any(adds))
        && words_of_name(list).last().is_some_and(|last| tool_words.contains(last))
}

/// The only argument that is a list in both calls and shorter in the prediction's.
fn shorter_list<'k>(own: &'k Json, part: &Json) -> Option<&'k str> {
    let Json::Object(members) = own else { return None };
    let is_shorter = |(key, _): &&(String, Json)| {
        items(own, key).zip(items(part, key)).is_some_and(|(all, some)| some.len() < all.len())
    };
    let mut shorter = members.iter().take(MOST_PARTS).filter(is_shorter);
    let (key, _) = shorter.next()?;
    shorter.next().is_none().then_some(key)
}

fn items<'j>(arguments: &'j Json, key: &str) -> Option<&'j [Json]> {
    match arguments.get(key) {
        Some(Json::Array(items)) => Some(items),
        _ => None,
    }
}

/// The items of the list in another call, if all other arguments of that call are the same.
fn rest_of_list<'j>(part: &Json, other: &'j Json, key: &str) -> Option<&'j [Json]> {
    let (Json::Object(members), Json::Object(others)) = (part, other) else { return None };
    let is_alike = |(name, value): &(String, Json)| {
        name == key || other.get(name).is_some_and(|other| is_same(value, other))
    };
    let is_rest =
        members.len() == others.len() && members.len() <= MOST_PARTS && members.iter().all(is_alike);
    is_rest.then(|| items(other, key)).flatten()
}

/// Chooses calls that together have as many items as are missing: first calls with exactly the missing items, then
/// others in their order, which may name them differently.
fn chosen(parts: &[(usize, &[Json])], all: &[Json], part: &[Json]) -> Option<Vec<usize>> {
    let mut count = all.len().checked_sub(part.len())?;
    let mut missing: Vec<&Json> = all.iter().collect();
    let take = |missing: &mut Vec<&Json>, item: &Json| {
        let place = missing.iter().position(|other| is_same(other, item));
        place.map(|place| missing.swap_remove(place)).is_some()
    };
    for item in part {
        take(&mut missing, item);
    }
    let mut rest = BTreeSet::new();
    for &(call, items) in parts {
        let mut left = missing.clone();
        if (1..=count).contains(&items.len()) && items.iter().all(|item| take(&mut left, item)) {
            (missing, count) = (left, count - items.len());
            rest.insert(call);
        }
    }
    for &(call, items) in parts {
        if (1..=count).contains(&items.len()) && rest.insert(call) {
            count -= items.len();
        }
    }
    (count == 0).then(|| rest.into_iter().collect())
}

/// Restores the reference's own text wherever it was not replaced for one of the parts. A text stays replaced by the
/// words for a missing file only where it was replaced for every part.
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
