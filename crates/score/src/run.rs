//! Scores chunks of prepared trajectories, in one direction: serialize -> embed -> bucket -> assign -> match -> compare
//! arguments -> measure -> add up.

use std::collections::BTreeMap;
use std::sync::Arc;

use m3_embedding::{Embedder, InputKey};
use m3_trajectory::{FailureClass, Trajectory};

use super::answer::{AnswerAgreement, answer_agreement};
use super::chunk::{Chunk, PreparedPair};
use super::counterparts::{Comparer, PairedCalls, pair_of};
use super::fidelity::{DoubtfulPairs, Fidelity};
use super::job::JobCalls;
use super::matching::{Matching, align, calls_to_embed, cosine_of_calls};
use super::results::ResultEvidence;
use super::results::survey::Survey;
use super::scored::{Progress, ScoreError, Summary, TrajectoryScore};
use super::transport::TooLarge;
use super::typed::align_by_fidelity;
use super::{CallPlace, ComparedPair, ExactSums, Job, Profile, ScoreOptions, Serializer, Similarity};

/// The state of scoring, and its results so far.
pub(super) struct Run<'a> {
    options: ScoreOptions<'a>,
    serializer: Serializer<'a>,
    fidelity: Fidelity<'a>,
    /// The comparison by spelling alone, which pairs calls that compete for a partner: it tries many pairs that are not
    /// compared in the end.
    spelling: Fidelity<'a>,
    /// Takes the matched pairs that are in doubt, if they are wanted.
    pub(super) doubtful: Option<&'a mut DoubtfulPairs>,
    pub(super) summary: Summary,
    /// The survey of the files' tools.
    pub(super) survey: Survey,
    done: usize,
    /// The number of trajectories that will be scored.
    pub(super) total: usize,
}

impl<'a> Run<'a> {
    pub(super) fn new(options: ScoreOptions<'a>) -> Self {
        let fidelity = || Fidelity::new(options.catalog).by_model(options.model.map(Arc::clone));
        let serializer = Serializer::new(options.profile, options.catalog);
        Self {
            options,
            serializer,
            fidelity: fidelity(),
            spelling: fidelity().by_spelling(),
            doubtful: None,
            summary: Summary::default(),
            survey: Survey::default(),
            done: 0,
            total: 0,
        }
    }

    /// Adds a reference and its prediction to the chunk, and returns whether it did: with the published program's
    /// profile, failed tasks are left out.
    pub(super) fn prepare(
        &mut self,
        reference: &Trajectory,
        prediction: &Trajectory,
        failure: Option<FailureClass>,
        chunk: &mut Chunk,
    ) -> bool {
        let ledger = &mut self.summary.ledger;
        if let Some(failure) = failure {
            ledger.fail(&reference.id, failure);
            if self.options.profile == Profile::OpenM3Bench {
                return false;
            }
        }
        ledger.scored += 1;
        ledger.malformed_calls += prediction.calls().filter(|(_, call)| call.is_malformed()).count();
        let answer = self.answer(reference, prediction, failure.is_some());
        chunk.prepare((reference, prediction), failure, answer, &self.serializer, &self.options);
        true
    }

    /// The agreement of the final replies. The reply of a failed task is not an answer. Only the records of m3's own
    /// runs show that a prediction without a reply gave none.
    fn answer(
        &self,
        reference: &Trajectory,
        prediction: &Trajectory,
        has_failed: bool,
    ) -> Option<AnswerAgreement> {
        let wanted = reference.reply().filter(|_| self.options.profile == Profile::Paper)?;
        let is_empty = prediction.final_reply.as_deref().is_some_and(|reply| reply.trim().is_empty());
        let reply = prediction.reply().filter(|_| !has_failed);
        let is_known = reply.is_some() || has_failed || is_empty || prediction.is_run_record();
        is_known.then(|| answer_agreement(reply, wanted, reference.question.as_deref()))
    }

    /// Scores the trajectories of a chunk.
    pub(super) fn score(
        &mut self,
        mut chunk: Chunk,
        embedder: &mut Embedder,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<TrajectoryScore>, ScoreError> {
        let (done, total, size) = (self.done, self.total, chunk.items.len());
        // Words of arguments are few compared to calls: most of the time has passed when the calls are embedded.
        let mut half = |part: usize, of: usize| progress(done + size * part / of.max(1), total);
        let aligned = match self.options.similarity {
            Similarity::Cosine => {
                self.embed(&mut chunk, embedder, &mut half)?;
                self.align_by_cosine(&chunk, embedder)
            }
            Similarity::Typed => {
                align_by_fidelity(&mut chunk, &mut self.fidelity, &self.options, embedder, &mut half)?
            }
        };
        let ledger = &mut self.summary.ledger;
        let matchings = aligned.into_iter().zip(&mut chunk.items).map(|(aligned, prepared)| {
            aligned.unwrap_or_else(|TooLarge| {
                match prepared.failure {
                    // The task is counted as failed already.
                    Some(_) => ledger.too_large.push(prepared.id.clone()),
                    None => ledger.fail(&prepared.id, FailureClass::TooLarge),
                }
                prepared.failure.get_or_insert(FailureClass::TooLarge);
                Matching::too_large(&prepared.references.calls, &prepared.predictions.calls)
            })
        });
        let matchings: Vec<Matching> = matchings.collect();
        let compared = self.compare(&chunk, &matchings, embedder)?;
        let scored = chunk.items.into_iter().zip(matchings).zip(compared);
        let mut trajectories = Vec::with_capacity(size);
        for ((prepared, matching), mut compared) in scored {
            let role = |tool: &str| self.options.role(tool);
            let (mut reached_without, mut artifact_agreement, mut artifacts) = (Vec::new(), None, None);
            if let Some(results) = prepared.results.as_deref() {
                let mut evidence =
                    ResultEvidence::new(results, &compared, &self.survey, self.options.pictures, &role);
                for pair in &mut compared {
                    evidence.lay_over(pair);
                }
                artifact_agreement = evidence.artifact_agreement();
                artifacts = evidence.agreement_beyond_receipts();
                let is_compared = |call: usize| compared.iter().any(|pair| pair.reference.index == call);
                let alone = matching.unmatched_references.iter().map(|alone| alone.place);
                let reached =
                    |place: &CallPlace| !is_compared(place.index) && evidence.is_reached_without(place.index);
                reached_without.extend(alone.filter(reached));
            }
            let calls = JobCalls {
                references: &prepared.references.calls,
                predictions: &prepared.predictions.calls,
                arguments: &prepared.predictions.arguments,
                compared: &compared,
                reached_without: &reached_without,
                results: prepared.results.as_deref(),
                role: &role,
                matches: &matching.matches,
                artifacts,
                has_pictures: prepared.has_pictures,
                answer: prepared.answer.as_ref(),
            };
            let is_aligned = prepared.failure != Some(FailureClass::TooLarge);
            let has_verdict = self.options.profile == Profile::Paper && is_aligned;
            let answer_agreement = calls.answer.and_then(|answer| answer.score);
            let job = has_verdict.then(|| Job::new(&calls)).flatten();
            let mut sums = ExactSums::of(
                prepared.failure.is_some(),
                &matching,
                (&compared, reached_without.len()),
                ([artifact_agreement, answer_agreement], job.as_ref()),
                calls.references,
                calls.predictions,
                self.options.profile,
            );
            sums.passed = u64::from(prepared.verdict == Some(Ok(())));
            self.summary.aggregate += sums;
            self.summary.findings.add(&prepared, &matching.matches, &compared);
            self.summary.by_tool.add(prepared.failure, &matching, &compared, &role);
            let PreparedPair { id, task_type, failure, verdict, answer: prepared_answer, .. } = prepared;
            if let Some(task_type) = &task_type {
                *self.summary.by_type.entry(task_type.clone()).or_default() += sums;
            }
            trajectories.push(TrajectoryScore {
                id,
                task_type,
                failure,
                verdict,
                sums,
                matching,
                compared,
                reached_without,
                job,
                artifact_agreement,
                answer: prepared_answer,
            });
            self.done += 1;
        }
        progress(self.done, total);
        Ok(trajectories)
    }

    /// Embeds the calls whose alignment needs it.
    fn embed(
        &self,
        chunk: &mut Chunk,
        embedder: &mut Embedder,
        progress: &mut Progress<'_>,
    ) -> Result<(), ScoreError> {
        let texts: Vec<&str> = chunk.texts.iter().map(String::as_str).collect();
        let inputs = embedder.inputs(&texts)?;
        let mut wanted: BTreeMap<InputKey, &str> = BTreeMap::new();
        for PreparedPair { references, predictions, .. } in &mut chunk.items {
            references.know(&inputs);
            predictions.know(&inputs);
            let (of_references, of_predictions) =
                calls_to_embed(&references.calls, &predictions.calls, self.options.keeps_similarities);
            let of_references = of_references.into_iter().filter_map(|index| references.texts[index]);
            let of_predictions = of_predictions.into_iter().filter_map(|index| predictions.texts[index]);
            wanted.extend(of_references.chain(of_predictions).map(|text| (inputs[text], texts[text])));
        }
        let wanted: Vec<(InputKey, &str)> = wanted.into_iter().collect();
        Ok(embedder.embed(&wanted, progress)?)
    }

    fn align_by_cosine(&self, chunk: &Chunk, embedder: &Embedder) -> Vec<Result<Matching, TooLarge>> {
        let ScoreOptions { thresholds, keeps_similarities, .. } = self.options;
        let aligned = chunk.items.iter().map(|prepared| {
            let (references, predictions) = (&prepared.references.calls, &prepared.predictions.calls);
            align(references, predictions, thresholds, keeps_similarities, &|reference, predicted| {
                cosine_of_calls(references, predictions, embedder, (reference, predicted))
            })
        });
        aligned.collect()
    }

    /// Compares the arguments of calls: for each trajectory, the pairs and how far they ask for the same.
    fn compare(
        &mut self,
        chunk: &Chunk,
        matchings: &[Matching],
        embedder: &mut Embedder,
    ) -> Result<Vec<Vec<ComparedPair>>, ScoreError> {
        let (fidelity, spelling) = (&mut self.fidelity, &mut self.spelling);
        let mut pairing = Comparer { chunk, fidelity, spelling, options: &self.options, embedder };
        let PairedCalls { calls, fidelities, joined, pairings } = pairing.pair(matchings)?;
        let (answers, mut doubtful) = (self.options.answers, self.doubtful.as_deref_mut());
        let answers = answers.filter(|answers| !answers.is_empty());
        let is_asked = answers.is_some() || doubtful.is_some();
        let mut compared: Vec<Vec<ComparedPair>> = vec![Vec::new(); chunk.items.len()];
        for ((calls, mut fidelity), joined) in calls.into_iter().zip(fidelities).zip(joined) {
            // A judge sees one call of each side, so joined calls are left out.
            if is_asked && joined.is_empty() {
                let rewritten = pairing.rewrite_under(calls, &pairings);
                let pair = pair_of(&chunk.items, calls, rewritten.as_ref());
                if let Some(doubtful) = &mut doubtful {
                    doubtful.add(pair, &fidelity);
                }
                if let Some(answers) = answers {
                    fidelity = answers.laid_over(pair, fidelity);
                }
            }
            let (item, reference, predicted) = calls;
            let prepared = &chunk.items[item];
            let (reference, predicted) =
                (prepared.references.calls.places[reference], prepared.predictions.calls.places[predicted]);
            let joined = joined.into_iter().map(|call| prepared.predictions.calls.places[call]).collect();
            compared[item].push(ComparedPair { reference, predicted, joined, fidelity });
        }
        Ok(compared)
    }
}
