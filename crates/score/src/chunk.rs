//! Chunks of trajectories that are scored together: large enough for batches of texts of similar length, small enough
//! that memory does not grow with the files.

use std::collections::{HashMap, HashSet};

use m3_embedding::InputKey;
use m3_support::text::head;
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{FailureClass, Trajectory, result_parts};

use super::answer::AnswerAgreement;
use super::calls::Calls;
use super::fidelity::{CallPair, without_signs};
use super::flow::PairFlow;
use super::results::PairResults;
use super::{Flow, Mismatch, Results, ScoreOptions, Serializer, Similarity, Verdict, matches};

/// The most calls in a chunk, both sides together.
const CALLS: usize = 4096;

/// The most trajectories in a chunk: they may have no calls at all.
const TRAJECTORIES: usize = 4096;

/// The longest part of a question that is read, in bytes.
const LONGEST_QUESTION: usize = 4096;

/// The most bytes of serialized arguments in a chunk.
const BYTES: usize = 16 << 20;

/// The parts of a pair of trajectories that scoring needs: nothing that grows with results or images.
pub(super) struct PreparedPair {
    pub(super) id: String,
    pub(super) task_type: Option<String>,
    pub(super) failure: Option<FailureClass>,
    pub(super) verdict: Option<Verdict>,
    /// The user's question, which shows which arguments matter; `None` where neither side has one.
    pub(super) question: Option<String>,
    pub(super) references: PreparedCalls,
    pub(super) predictions: PreparedCalls,
    /// The files and values that both trajectories make and use, where names of files matter.
    pub(super) flow: Option<Box<PairFlow>>,
    /// The results of both trajectories, where both recorded them.
    pub(super) results: Option<Box<PairResults>>,
    /// Whether the reference's calls returned pictures.
    pub(super) has_pictures: bool,
    /// How well the final replies agree.
    pub(super) answer: Option<AnswerAgreement>,
}

/// The calls of one side. Texts are indices into the chunk's texts. Calls of a tool that the other side does not use
/// have neither texts nor arguments, because they are compared with nothing.
pub(super) struct PreparedCalls {
    pub(super) calls: Calls,
    pub(super) texts: Vec<Option<usize>>,
    pub(super) arguments: Vec<Option<Json>>,
}

/// Trajectories that are scored together, and their distinct texts.
#[derive(Default)]
pub(super) struct Chunk {
    pub(super) items: Vec<PreparedPair>,
    pub(super) texts: Vec<String>,
    known: HashMap<String, usize>,
    calls: usize,
    bytes: usize,
}

impl Chunk {
    pub(super) fn is_full(&self) -> bool {
        self.calls >= CALLS || self.bytes >= BYTES || self.items.len() >= TRAJECTORIES
    }

    /// The index of a text among the distinct ones.
    fn intern(&mut self, text: String) -> usize {
        // Bytes are counted for each call, because equal arguments are kept for each call.
        self.bytes += text.len();
        if let Some(&known) = self.known.get(&text) {
            return known;
        }
        self.known.insert(text.clone(), self.texts.len());
        self.texts.push(text);
        self.texts.len() - 1
    }

    /// Reduces a pair of trajectories: serializes the calls that can be matched and drops everything else.
    pub(super) fn prepare(
        &mut self,
        (reference, prediction): (&Trajectory, &Trajectory),
        failure: Option<FailureClass>,
        answer: Option<AnswerAgreement>,
        serializer: &Serializer<'_>,
        options: &ScoreOptions<'_>,
    ) {
        let shared = &tools(reference, serializer) & &tools(prediction, serializer);
        self.bytes += reference.id.len();
        let mut side = |trajectory| self.prepare_calls(trajectory, &shared, serializer, options.similarity);
        let (references, predictions) = (side(reference), side(prediction));
        let verdict = options.verdicts.map(|options| match failure {
            Some(failure) => Err(Mismatch::Failed(failure)),
            None => matches(prediction, reference, options),
        });
        let (id, task_type) = (reference.id.clone(), reference.task_type.clone());
        let question = [reference, prediction].into_iter().find_map(|side| side.question.as_ref());
        let question = question.map(|text| head(text, LONGEST_QUESTION).to_owned());
        self.bytes += question.as_ref().map_or(0, String::len);
        let flow = (options.flow == Flow::On).then(|| PairFlow::new(reference, prediction)).flatten();
        let results =
            (options.results == Results::Auto).then(|| PairResults::new(reference, prediction)).flatten();
        self.bytes += results.as_ref().map_or(0, |results| results.bytes());
        self.items.push(PreparedPair {
            id,
            task_type,
            failure,
            verdict,
            question,
            references,
            predictions,
            flow,
            results,
            has_pictures: options.results == Results::Auto && returns_pictures(reference),
            answer,
        });
    }

    fn prepare_calls(
        &mut self,
        trajectory: &Trajectory,
        shared: &HashSet<&str>,
        serializer: &Serializer<'_>,
        similarity: Similarity,
    ) -> PreparedCalls {
        let mut calls = Calls::new(trajectory.steps.len());
        let (mut texts, mut arguments) = (Vec::new(), Vec::new());
        for (step, call) in trajectory.calls() {
            let tool = serializer.tool(&call.tool);
            calls.push(step, tool);
            self.calls += 1;
            self.bytes += tool.len();
            let is_shared = shared.contains(tool);
            let text = is_shared.then(|| match similarity {
                Similarity::Cosine => serializer.text(tool, call.arguments.as_ref()),
                // The plain arguments as JSON, not serialized for the encoder: the comparison decides which calls are
                // equal.
                Similarity::Typed => {
                    call.arguments.as_ref().map_or_else(String::new, |found| found.to_text(Keys::Sorted))
                }
            });
            texts.push(text.map(|text| self.intern(text)));
            let mut compared = call.arguments.as_ref().filter(|_| is_shared).cloned();
            compared.iter_mut().for_each(without_signs);
            arguments.push(compared);
        }
        PreparedCalls { calls, texts, arguments }
    }
}

/// The tools that a trajectory calls.
fn tools<'t>(trajectory: &'t Trajectory, serializer: &'t Serializer<'_>) -> HashSet<&'t str> {
    trajectory.calls().map(|(_, call)| serializer.tool(&call.tool)).collect()
}

/// Whether any call of a trajectory returned a picture.
fn returns_pictures(trajectory: &Trajectory) -> bool {
    let parts = trajectory.calls().filter_map(|(_, call)| result_parts(call.result.as_ref()?)).flatten();
    parts.into_iter().any(|part| part.get("type").and_then(Json::as_str) == Some("image"))
}

impl PreparedPair {
    /// A reference call and a predicted call of one tool, by index.
    pub(super) fn pair<'c>(&'c self, tool: &'c str, reference: usize, predicted: usize) -> CallPair<'c> {
        let (a, b) = (&self.references.arguments[reference], &self.predictions.arguments[predicted]);
        let question = self.question.as_deref();
        CallPair { tool, a: a.as_ref(), b: b.as_ref(), question, schema: None }
    }
}

impl PreparedCalls {
    /// Gives the arguments of each call their keys, from the keys of the chunk's texts.
    pub(super) fn know(&mut self, inputs: &[InputKey]) {
        for (index, text) in self.texts.iter().enumerate() {
            if let Some(text) = *text {
                self.calls.inputs[index] = inputs[text];
            }
        }
    }
}
