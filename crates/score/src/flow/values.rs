//! Replaces ids and names that a prediction uses by those that the reference's matched call returned or gave.

use std::collections::{BTreeMap, HashMap, HashSet};

use m3_flow::{
    AskedNames, CallPlace, CallStatus, Chain, ChainCall, Origin, ValueUse, counterpart, creates, given_names,
    numbered_names, plain_value, thing_named, value_uses, whole_words,
};
use m3_trajectory::Trajectory;
use m3_trajectory::json::Json;

use super::Counterparts;
use super::rewrite::{Change, at_mut, replaced};

/// The most bytes of recorded text that are searched; larger trajectories are compared by their arguments alone.
const LARGEST: usize = 16 << 20;

/// The least bytes of a value that is looked for within texts.
const SHORTEST_WITHIN: usize = 3;

/// The most calls of a trajectory that is searched for values.
const MOST_CALLS: usize = 500;

/// The values that calls of a prediction use and other calls of it make.
#[derive(Default)]
pub(super) struct Values {
    /// The uses, by the call that uses the value.
    uses: BTreeMap<usize, Vec<PredictedUse>>,
    /// The names that the reference's calls give.
    reference_names: HashSet<String>,
}

struct PredictedUse {
    used: ValueUse,
    /// The values of reference calls that may be the maker's counterpart, by call, where they differ.
    others: HashMap<usize, Json>,
}

impl Values {
    /// Finds the values of both trajectories; without results on both sides, only the names that calls give.
    pub(super) fn new(reference: &Trajectory, prediction: &Trajectory, are_recorded: bool) -> Self {
        if !are_recorded && !prediction.calls().any(|(_, call)| creates(&call.tool)) {
            return Self::default();
        }
        if !are_small([reference, prediction]) {
            return Self::default();
        }
        let given = super::texts_of_task([reference, prediction]);
        let asked = super::asked_names([reference, prediction]);
        let (reference, prediction) =
            (chain(reference, are_recorded, &given), chain(prediction, are_recorded, &given));
        let mut uses: BTreeMap<usize, Vec<PredictedUse>> = BTreeMap::new();
        let values =
            if are_recorded { value_uses(&prediction, &asked) } else { given_names(&prediction, &asked) };
        let given = if values.iter().any(is_name) { given_names(&reference, &asked) } else { Vec::new() };
        let reference_names = given.iter().map(|used| plain_value(&used.value)).collect();
        for used in values {
            let tool = &prediction.calls[used.from].tool;
            let makers = reference.calls.iter().enumerate().filter(|(_, call)| call.tool == *tool);
            let thing = thing_named(&prediction.calls[used.from], &used.origin);
            let other = |(index, call): (usize, &ChainCall)| {
                let value = counterpart(thing.as_deref(), &used.origin, &used.value, call)?;
                let (own, others) = (plain_value(&used.value), plain_value(&value));
                let is_asked = is_name(&used) && asked.name(&others);
                (own != others && !is_asked).then_some((index, value))
            };
            let others: HashMap<usize, Json> = makers.filter_map(other).collect();
            if !others.is_empty() {
                uses.entry(used.to).or_default().push(PredictedUse { used, others });
            }
        }
        Self { uses, reference_names }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// Whether a predicted call uses such values.
    pub(super) fn are_used_by(&self, predicted: usize) -> bool {
        self.uses.contains_key(&predicted)
    }

    /// Puts the reference's values into the arguments of a predicted call that is compared with a reference call;
    /// returns pointers to the changes.
    pub(super) fn put(
        &self,
        (reference, predicted): (usize, usize),
        pairing: Counterparts<'_>,
        (own, arguments): (&Json, &mut Json),
    ) -> Vec<String> {
        let (mut places, mut changes) = (Vec::new(), Vec::new());
        for PredictedUse { used, others } in self.uses.get(&predicted).into_iter().flatten() {
            let maker = match pairing {
                _ if used.from == predicted => Some(reference),
                Counterparts::Known { calls, .. } => calls.get(used.from).copied().flatten(),
                Counterparts::Unknown => None,
            };
            let Some(value) = maker.and_then(|maker| others.get(&maker)) else { continue };
            let Some(place) = at_mut(arguments, &used.pointer) else { continue };
            let value_used = plain_value(&used.value);
            // The same word in another sense: a title, not the name of what a call made.
            let is_content = is_name(used)
                && own.pointer(&used.pointer) == Some(&*place)
                && !self.reference_names.contains(&value_used);
            if is_content {
                continue;
            }
            if plain_value(place) == value_used {
                *place =
                    if place.as_str().is_some() { Json::String(plain_value(value)) } else { value.clone() };
                places.push(used.pointer.clone());
            } else if let Json::String(text) = place
                && value_used.len() >= SHORTEST_WITHIN
            {
                let spans = whole_words(text, &value_used);
                changes.extend(spans.map(|span| (used.pointer.clone(), span, plain_value(value))));
            }
        }
        // Spans within a text that was replaced as a whole are no longer valid.
        changes.retain(|change: &Change| !places.contains(&change.0));
        // All words are replaced at once: the value that stands for one may be another's own.
        changes.sort_by(|a, b| (&a.0, a.1.start).cmp(&(&b.0, b.1.start)));
        changes.dedup_by(|later, earlier| later.0 == earlier.0 && later.1.start < earlier.1.end);
        places.extend(changes.iter().map(|change| change.0.clone()));
        places.sort();
        places.dedup();
        *arguments = replaced(arguments, changes);
        places
    }
}

/// Whether a value is a name that a call gives.
fn is_name(used: &ValueUse) -> bool {
    matches!(used.origin, Origin::Name(_))
}

/// Whether trajectories are small enough for a search of their values.
pub(super) fn are_small(both: [&Trajectory; 2]) -> bool {
    both.into_iter().all(|trajectory| {
        let sizes =
            trajectory.calls().map(|(_, call)| call.result.as_ref().map_or(0, |result| size(result, 0)));
        trajectory.call_count() <= MOST_CALLS && sizes.sum::<usize>() <= LARGEST
    })
}

/// The names that a trajectory gives to things other than files, if other calls use them, each with its number; `asked`
/// are the names that the task asks for.
pub(crate) fn given_names_of(trajectory: &Trajectory, asked: &AskedNames) -> HashMap<String, usize> {
    if !trajectory.calls().any(|(_, call)| creates(&call.tool)) || trajectory.call_count() > MOST_CALLS {
        return HashMap::new();
    }
    numbered_names(&chain(trajectory, false, &[]), asked)
}

/// The approximate number of bytes of text in a value.
fn size(value: &Json, depth: usize) -> usize {
    match value {
        _ if depth > 64 => 0,
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(|item| size(item, depth + 1)).sum(),
        Json::Object(members) => members.iter().map(|(key, value)| key.len() + size(value, depth + 1)).sum(),
        _ => 8,
    }
}

/// A trajectory in the form that is searched for values; `given` are the texts of the task.
pub(super) fn chain(trajectory: &Trajectory, with_results: bool, given: &[String]) -> Chain {
    let mut calls = Vec::with_capacity(trajectory.call_count());
    for (step, of_step) in trajectory.steps.iter().enumerate() {
        for (index, call) in of_step.calls.iter().enumerate() {
            let standing = match &call.result {
                _ if call.has_failed() => CallStatus::Failed("error".to_owned()),
                Some(_) => CallStatus::Succeeded,
                None => CallStatus::NotRecorded,
            };
            calls.push(ChainCall {
                place: CallPlace { step, call: index },
                tool: call.tool.clone(),
                arguments: call.arguments.clone(),
                result: call.result.as_ref().filter(|_| with_results).map(without_pictures),
                standing,
                read_only: None,
            });
        }
    }
    Chain { calls, given: given.to_vec() }
}

/// A result without the bytes of its pictures, in which no value is looked for.
fn without_pictures(result: &Json) -> Json {
    let parts = |items: &[Json]| {
        let is_other = |part: &&Json| m3_trajectory::sent_base64(part).is_none();
        Json::Array(items.iter().filter(is_other).cloned().collect())
    };
    match result {
        Json::Array(items) => parts(items),
        Json::Object(members) => {
            let member = |(key, value): &(String, Json)| match value {
                Json::Array(items) if key == "content" => (key.clone(), parts(items)),
                value => (key.clone(), value.clone()),
            };
            Json::Object(members.iter().map(member).collect())
        }
        other => other.clone(),
    }
}
