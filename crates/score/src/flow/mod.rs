//! Compares calls by what they do with files: a prediction may name its files otherwise than the reference does.
//!
//! Names of files that a trajectory makes are bound variables. Under an alignment of calls the prediction's names
//! become the reference's wherever both mean what matched calls made. Where they do not, both become words by which the
//! comparison explains the difference. Everything else stays as it is, so that calls without such names are compared as
//! they stand.
//! `docs/flow.md` has the rules.

mod rewrite;
mod shown;
mod side;
#[cfg(test)]
mod tests;
mod tokens;
mod values;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use m3_flow::{AskedNames, CallView, Lineage, Mention, Role};
use m3_trajectory::Trajectory;
use m3_trajectory::json::Json;

pub(super) use rewrite::{RewriteContext, RewrittenPair, at_mut, replaced};
pub use shown::{SideFlow, flow_of};
use side::Side;
use values::Values;
pub(super) use values::given_names_of;

use super::calls::Calls;

/// The files and values of a reference and of its prediction.
pub(super) struct PairFlow {
    references: Side,
    predictions: Side,
    values: Values,
    asked: AskedNames,
}

/// The pairing of predicted calls with reference calls.
#[derive(Clone, Copy)]
pub(super) enum Counterparts<'a> {
    /// The pairing is not known yet: everything that any call made counts as the same.
    Unknown,
    /// The pairing of calls is known, and with it that of files.
    Known {
        /// For each predicted call the reference call it is paired with.
        calls: &'a [Option<usize>],
        /// For files that are changed in place: the reference's file for each file of the prediction, by their
        /// versions.
        files: &'a HashMap<usize, usize>,
    },
}

impl PairFlow {
    /// Finds what both trajectories do with files and values; `None` where neither names a file that it makes or is
    /// given, and the prediction uses no value that differs from the reference's.
    pub(super) fn new(reference: &Trajectory, prediction: &Trajectory) -> Option<Box<Self>> {
        let are_recorded = [reference, prediction].into_iter().all(has_results);
        let facts = PairFacts::new(reference, prediction, are_recorded);
        let side = |trajectory: &Trajectory| {
            let (calls, lineage) = lineage(trajectory, facts);
            Side::new(&calls, lineage)
        };
        let (references, predictions) = (side(reference), side(prediction));
        let values = Values::new(reference, prediction, are_recorded);
        if references.lineage.is_empty() && predictions.lineage.is_empty() && values.is_empty() {
            return None;
        }
        let asked = asked_names([reference, prediction]);
        Some(Box::new(Self { references, predictions, values, asked }))
    }

    /// Whether a reference call or a predicted call names files, or uses values, that calls make or the task gives.
    pub(super) fn names_files(&self, calls: [Option<usize>; 2]) -> bool {
        self.mentions(calls).next().is_some() || calls[1].is_some_and(|call| self.values.are_used_by(call))
    }

    /// Whether a reference call or a predicted call names files, or uses values, that calls make.
    pub(super) fn names_made_files(&self, calls: [Option<usize>; 2]) -> bool {
        self.mentions(calls).any(|mention| mention.role != Role::ReadsTaskImage)
            || calls[1].is_some_and(|call| self.values.are_used_by(call))
    }

    /// Whether a reference call makes or changes files.
    pub(super) fn reference_makes_files(&self, call: usize) -> bool {
        let mut mentions = self.mentions([Some(call), None]);
        mentions.any(|mention| matches!(mention.role, Role::Writes(_) | Role::Changes(_)))
    }

    /// A key of a reference call that does not depend on names of files; 0 where no files are made.
    pub(super) fn reference_key(&self, call: usize) -> u64 {
        self.references.key(call)
    }

    /// A key of a predicted call that does not depend on names of files; 0 where no files are made.
    pub(super) fn predicted_key(&self, call: usize) -> u64 {
        self.predictions.key(call)
    }

    fn mentions(&self, calls: [Option<usize>; 2]) -> impl Iterator<Item = &Mention> {
        let sides = [&self.references, &self.predictions].into_iter().zip(calls);
        sides.filter_map(|(side, call)| side.lineage.mentions.get(call?)).flatten()
    }

    /// Pairs each file that the prediction changes in place with one of the reference's files: the one that paired
    /// calls name most often at the same place. Calls that create the file count half as much again.
    pub(super) fn pair_files(&self, calls: &[Option<usize>]) -> HashMap<usize, usize> {
        let file = |lineage: &Lineage, mention: &Mention| {
            mention.role.used_version().filter(|&version| lineage.versions[version].is_changed_in_place)
        };
        let (references, predictions) = (&self.references.lineage, &self.predictions.lineage);
        let mut votes: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        for (call, mentions) in predictions.mentions.iter().enumerate() {
            let Some(reference) = calls.get(call).copied().flatten() else { continue };
            for mention in mentions {
                let own = references.mentions.get(reference).into_iter().flatten();
                let mut at_place = own.filter(|other| other.pointer == mention.pointer);
                let Some(own) = at_place.find_map(|other| file(references, other)) else {
                    continue;
                };
                let Some(given) = file(predictions, mention) else { continue };
                let creates =
                    references.versions[own].call == reference && predictions.versions[given].call == call;
                *votes.entry((own, given)).or_default() += if creates { 3 } else { 2 };
            }
        }
        let mut votes: Vec<((usize, usize), u32)> = votes.into_iter().collect();
        votes.sort_by_key(|(pair, votes)| (Reverse(*votes), *pair));
        let (mut paired, mut taken) = (HashMap::new(), HashSet::new());
        for ((own, given), _) in votes {
            if !paired.contains_key(&given) && taken.insert(own) {
                paired.insert(given, own);
            }
        }
        paired
    }
}

/// The names that a task asks for.
pub(super) fn asked_names(both: [&Trajectory; 2]) -> AskedNames {
    AskedNames::new(&first_texts(both, &[question, Trajectory::prompt]).join("\n"))
}

/// The texts of a task, each from the first trajectory that has it: its question, its prompt, the path of its image.
pub(super) fn texts_of_task(both: [&Trajectory; 2]) -> Vec<String> {
    first_texts(both, &[question, Trajectory::prompt, |side| side.image.as_deref()])
}

/// Some texts of a task, each from the first trajectory that has it.
fn first_texts(both: [&Trajectory; 2], texts: &[fn(&Trajectory) -> Option<&str>]) -> Vec<String> {
    texts.iter().filter_map(|text| both.into_iter().find_map(text)).map(str::to_owned).collect()
}

fn question(side: &Trajectory) -> Option<&str> {
    side.question.as_deref()
}

/// Whether any call of a trajectory has a recorded result.
pub(super) fn has_results(trajectory: &Trajectory) -> bool {
    trajectory.calls().any(|(_, call)| call.result.as_ref().is_some_and(|result| *result != Json::Null))
}

/// Facts that hold for a reference and its prediction alike.
#[derive(Clone, Copy)]
pub(super) struct PairFacts<'t> {
    /// The path of the task's image.
    pub(super) image: Option<&'t str>,
    /// Whether results are used as evidence.
    pub(super) are_recorded: bool,
    /// Whether a failed call makes nothing. Not so if a call of the reference failed: then its recording is at fault.
    failures_count: bool,
}

impl<'t> PairFacts<'t> {
    pub(super) fn new(reference: &'t Trajectory, prediction: &'t Trajectory, are_recorded: bool) -> Self {
        let image = [reference, prediction].into_iter().find_map(|side| side.image.as_deref());
        let failures_count = !reference.calls().any(|(_, call)| call.has_failed());
        Self { image, are_recorded, failures_count }
    }
}

/// The files that a trajectory makes and uses. Results, where they are used, give names that are in no argument.
pub(super) fn lineage<'t>(trajectory: &'t Trajectory, facts: PairFacts<'_>) -> (Vec<CallView<'t>>, Lineage) {
    let view = |(step, call)| {
        let call: &m3_trajectory::Call = call;
        CallView {
            step,
            tool: &call.tool,
            arguments: call.arguments.as_ref(),
            result: call.result.as_ref().filter(|_| facts.are_recorded),
            has_failed: facts.failures_count && call.has_failed(),
        }
    };
    let views: Vec<CallView<'_>> = trajectory.calls().map(view).collect();
    let lineage = Lineage::new(&views, facts.image);
    (views, lineage)
}

/// The place of a call as a text: `2.1` is the first call of the second step.
pub(super) fn words_of_place(calls: &Calls, call: usize) -> String {
    calls.places.get(call).map(ToString::to_string).unwrap_or_default()
}

/// The part of a text that a span names; empty where the span is not within the text.
fn part<'t>(text: &'t str, span: &Range<usize>) -> &'t str {
    text.get(span.clone()).unwrap_or_default()
}
