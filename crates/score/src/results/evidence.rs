//! The evidence of results about compared calls.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use m3_flow::CallRole;

use super::artifacts::Agreement;
use super::left_behind::Artifact;
use super::recorded::RecordedResult;
use super::survey::Survey;
use super::{ComparePictures, PairResults};
use crate::ComparedPair;
use crate::fidelity::constants::{CLOSE, EQUIVALENT, SAME_OTHERWISE, THRESHOLD};
use crate::fidelity::{ArgumentComparison, CallFidelity, Kind, Verdict, is_of_loss};

/// The score of calls whose results differ although they read the same, if their tool gives equal answers to equal
/// calls.
const OTHER_RESULT: f64 = 0.3;

/// The results of a reference and its prediction, as evidence about compared calls.
pub(crate) struct ResultEvidence<'a> {
    results: &'a PairResults,
    survey: &'a Survey,
    pictures: Option<&'a dyn ComparePictures>,
    /// The role of a tool's calls.
    role: &'a dyn Fn(&str) -> CallRole,
    /// Whether the results of two calls are the same, for pairs that were looked up; `None` where that is not known.
    known: HashMap<(usize, usize), Option<bool>>,
    agreement: Agreement,
}

impl<'a> ResultEvidence<'a> {
    pub(crate) fn new(
        results: &'a PairResults,
        compared: &[ComparedPair],
        survey: &'a Survey,
        pictures: Option<&'a dyn ComparePictures>,
        role: &'a dyn Fn(&str) -> CallRole,
    ) -> Self {
        let paired: HashSet<usize> =
            compared.iter().flat_map(ComparedPair::predictions).map(|call| call.index).collect();
        let is_paired = |call: usize| paired.contains(&call);
        let agreement = Agreement::new(results, &is_paired, pictures);
        let mut evidence = Self { results, survey, pictures, role, known: HashMap::new(), agreement };
        let count = results.references.calls.len();
        let says_something: Vec<bool> = (0..count).map(|call| evidence.says_something(call)).collect();
        evidence.agreement.keep_telling(&says_something);
        evidence
    }

    /// The agreement of what both trajectories leave behind, in [0, 1]; `None` where nothing is left behind.
    pub(crate) fn artifact_agreement(&self) -> Option<f64> {
        self.agreement.value
    }

    /// The agreement of what both trajectories leave behind, in [0, 1]; `None` also where the reference leaves only
    /// receipts of changes, which do not tell what was changed.
    pub(crate) fn agreement_beyond_receipts(&self) -> Option<f64> {
        let is_more = |artifact: &Artifact| match *artifact {
            Artifact::File(_) => true,
            Artifact::Result(call) => self.says_something(call),
        };
        self.agreement.value.filter(|_| self.agreement.artifacts[0].iter().any(is_more))
    }

    /// Whether all that a reference call leads to is left behind by the prediction, too.
    pub(crate) fn is_reached_without(&self, reference: usize) -> bool {
        self.agreement.has_all_of(reference)
    }

    /// Changes a comparison by the results of both calls, where these tell something. Calls with the same telling
    /// result are right whatever their arguments say, as are calls that lead to the same artifacts. Calls with
    /// different results from the same inputs are wrong, if the tool gives equal answers to equal calls. Equal
    /// arguments stay equal.
    pub(crate) fn lay_over(&mut self, pair: &mut ComparedPair) {
        let calls = (pair.reference.index, pair.predicted.index);
        self.accept_same_pictures(pair);
        let is_as_written = pair.fidelity.arguments.iter().all(ArgumentComparison::is_as_written);
        if !is_as_written && self.results.has_only_prediction_failed(calls) && self.tells_against(calls) {
            lower(&mut pair.fidelity, "the call failed");
        }
        // The result of a part of a list says nothing of the whole.
        if pair.fidelity.score >= 1.0 || !pair.joined.is_empty() {
            return;
        }
        match self.are_same(calls) {
            // What the call made may be gone in the end.
            Some(true) if self.is_telling(calls.0) && !is_lost(&pair.fidelity) => {
                raise(&mut pair.fidelity, "the same result");
            }
            // Texts vary with every writing of a request, so they count only against calls that may ask for something
            // else.
            Some(false)
                if pair.fidelity.score >= THRESHOLD
                    && (pair.fidelity.score < EQUIVALENT || self.results.has_reference_pictures(calls.0))
                    && self.tells_against(calls) =>
            {
                lower(&mut pair.fidelity, "the result is another one");
            }
            _ => {}
        }
        if pair.fidelity.score < THRESHOLD && self.agreement.lead_to_same(calls.0, calls.1) {
            raise(&mut pair.fidelity, "leads to the same result");
        }
    }

    /// Accepts a picture with the same pixels as the same input, whichever calls made it.
    fn accept_same_pictures(&mut self, pair: &mut ComparedPair) {
        let calls = (pair.reference.index, pair.predicted.index);
        let fidelity = &mut pair.fidelity;
        let mut has_changed = false;
        for argument in &mut fidelity.arguments {
            if argument.kind != Kind::Made || argument.score >= CLOSE {
                continue;
            }
            let other_path = argument.other_path.as_deref().unwrap_or(&argument.path);
            let makers = self.results.references.picture_read_at(calls.0, &argument.path);
            let makers = makers.zip(self.results.predictions.picture_read_at(calls.1, other_path));
            if makers
                .is_some_and(|(own, given)| self.is_telling(own) && self.are_same((own, given)) == Some(true))
            {
                accept(argument, "another call made the same picture");
                has_changed = true;
            }
        }
        if has_changed {
            fidelity.score = fidelity.arguments.iter().map(|argument| argument.score).fold(1.0, f64::min);
        }
    }

    /// Whether the results of a reference call and of a predicted call are the same; `None` where that is not known.
    fn are_same(&mut self, calls: (usize, usize)) -> Option<bool> {
        let (results, pictures) = (self.results, self.pictures);
        *self.known.entry(calls).or_insert_with(|| Some(results.compare(calls, pictures)?.is_same))
    }

    /// Whether the result of a reference call says more than that the call was made.
    fn is_telling(&self, reference: usize) -> bool {
        let names_files = |result: &RecordedResult| result.pictures.is_empty() && result.names_files;
        let result = self.results.references.result(reference);
        self.says_something(reference) && !result.is_some_and(names_files)
    }

    /// Whether the result of a reference call says more than that the call was made, in itself or by the content of the
    /// files that it names. The result of a call that changes something is a receipt: `tx_1` may be that of any
    /// transfer, and a screenshot that of any form.
    fn says_something(&self, reference: usize) -> bool {
        let Some(call) = self.results.references.calls.get(reference) else { return false };
        let is_receipt = || (self.role)(&call.tool) == CallRole::Changes;
        let says =
            |result: &RecordedResult| (!result.pictures.is_empty() || !result.is_plain) && !is_receipt();
        call.result.as_ref().is_some_and(says) && !self.survey.always_answers_alike(&call.tool)
    }

    /// Whether a different result shows that something else was asked for: the tool gives equal answers to equal calls,
    /// and both calls read the same.
    fn tells_against(&mut self, (reference, predicted): (usize, usize)) -> bool {
        let results = self.results;
        let tool = results.references.calls.get(reference).map_or("", |call| &call.tool);
        if !self.survey.answers_same_to_same(tool) {
            return false;
        }
        let (own, given) = (&results.references.lineage, &results.predictions.lineage);
        let mentions = own.mentions.get(reference).into_iter().flatten();
        let mut makers = mentions
            .filter_map(|mention| Some((mention, own.versions.get(mention.role.used_version()?)?.call)));
        makers.all(|(mention, maker)| {
            let mut others = given.mentions.get(predicted).into_iter().flatten();
            let other = others.find(|other| other.pointer == mention.pointer);
            let other = other.and_then(|other| Some(given.versions.get(other.role.used_version()?)?.call));
            other.is_some_and(|other| self.are_same((maker, other)) == Some(true))
        })
    }
}

/// Whether what a call made is not left behind.
fn is_lost(fidelity: &CallFidelity) -> bool {
    let mut made = fidelity.arguments.iter().filter(|argument| argument.kind == Kind::Made);
    made.any(|argument| argument.score < CLOSE && is_of_loss(&argument.reason))
}

/// Accepts a call whatever its arguments say.
fn raise(fidelity: &mut CallFidelity, reason: &'static str) {
    // The same picture in the place of the task's own, or under another name than was asked for, is not what was asked for.
    if fidelity.arguments.iter().any(|argument| argument.kind == Kind::Written && argument.score < CLOSE) {
        return;
    }
    for argument in fidelity.arguments.iter_mut().filter(|argument| argument.score < SAME_OTHERWISE) {
        accept(argument, reason);
    }
    fidelity.score = fidelity.score.max(SAME_OTHERWISE);
}

/// Accepts an argument. One that only one call has stays missing or extra.
fn accept(argument: &mut ArgumentComparison, reason: &'static str) {
    argument.score = SAME_OTHERWISE;
    argument.reason = Cow::Borrowed(reason);
    if !matches!(argument.verdict, Verdict::Missing | Verdict::Extra) {
        argument.verdict = Verdict::Equivalent;
    }
}

/// Rejects a call for its worst argument.
fn lower(fidelity: &mut CallFidelity, why: &str) {
    let others = fidelity.arguments.iter_mut().filter(|argument| !argument.is_as_written());
    if let Some(argument) = others.min_by(|a, b| a.score.total_cmp(&b.score)) {
        argument.score = argument.score.min(OTHER_RESULT);
        argument.reason = format!("{}, and {why}", argument.reason).into();
        if matches!(argument.verdict, Verdict::Equal | Verdict::Equivalent | Verdict::Close) {
            argument.verdict = Verdict::Different;
        }
    }
    fidelity.score = fidelity.score.min(OTHER_RESULT);
}
