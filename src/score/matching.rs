//! The alignment of one predicted trajectory with its reference: who met whom, and why the others met nobody.

use ndarray::Array2;

use super::assign::{TooLarge, assign, check_size};
use super::bucket::{Bucket, buckets};
use super::{ScoreError, Thresholds};
use crate::encoder::cosine;
use crate::encoder::{Embedder, InputKey};

/// Where a call stands in its trajectory; all counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPlace {
    /// The step.
    pub step: usize,
    /// The call within the step.
    pub call: usize,
    /// The call within the trajectory.
    pub index: usize,
}

/// A reference call and the predicted call that met it.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// Both called this tool.
    pub tool: String,
    /// S, in [tau_weak, 1].
    pub similarity: f64,
    /// Whether S is tau_strong or more.
    pub is_strong: bool,
    /// The reference call.
    pub reference: CallPlace,
    /// The predicted call.
    pub predicted: CallPlace,
}

/// Why a call met nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A predicted call of a tool that the reference does not use.
    ToolNotInReference,
    /// A reference call of a tool that the prediction does not use.
    ToolNotInPrediction,
    /// No call of the tool on the other side is similar enough.
    BelowThreshold,
    /// Those that are similar enough went to other calls.
    AssignedElsewhere,
}

impl Reason {
    /// The name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Reason::ToolNotInReference => "tool_not_in_reference",
            Reason::ToolNotInPrediction => "tool_not_in_prediction",
            Reason::BelowThreshold => "below_threshold",
            Reason::AssignedElsewhere => "assigned_elsewhere",
        }
    }
}

/// A call that met nobody.
#[derive(Debug, Clone, PartialEq)]
pub struct Unmatched {
    /// Its tool.
    pub tool: String,
    /// Where it stands.
    pub place: CallPlace,
    /// Why.
    pub reason: Reason,
    /// The most similar call of the same tool on the other side: its index in the trajectory, and S. The
    /// first of several.
    pub best: Option<(usize, f64)>,
}

/// An alignment. Every call of both sides is in exactly one of the lists; each is in the order of its calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matching {
    /// The pairs, by reference call.
    pub matches: Vec<Match>,
    /// Reference calls without a partner.
    pub unmatched_references: Vec<Unmatched>,
    /// Predicted calls without a partner.
    pub unmatched_predictions: Vec<Unmatched>,
    /// The similarities it was made from, by tool; only with
    /// [`ScoreOptions::keeps_similarities`](super::ScoreOptions).
    pub similarities: Vec<BucketSimilarities>,
}

/// How similar the calls of one tool are.
#[derive(Debug, Clone, PartialEq)]
pub struct BucketSimilarities {
    /// The tool.
    pub tool: String,
    /// The reference calls of the rows, as indices into the trajectory, in an order without meaning.
    pub references: Vec<usize>,
    /// The predicted calls of the columns, likewise.
    pub predictions: Vec<usize>,
    /// S, [references, predictions], in [-1, 1].
    pub similarity: Array2<f64>,
}

/// The calls of a trajectory, as the alignment needs them.
#[derive(Debug, Clone)]
pub struct Calls {
    tools: Vec<String>,
    places: Vec<CallPlace>,
    /// What the encoder sees of each call's arguments.
    inputs: Vec<InputKey>,
    steps: usize,
}

impl Calls {
    /// No calls yet, in a trajectory of `steps` steps.
    pub(super) fn new(steps: usize) -> Self {
        Self { tools: Vec::new(), places: Vec::new(), inputs: Vec::new(), steps }
    }

    /// Adds the next call; steps rise.
    pub(super) fn push(&mut self, step: usize, tool: &str) {
        let call = match self.places.last() {
            Some(last) if last.step == step => last.call + 1,
            _ => 0,
        };
        self.places.push(CallPlace { step, call, index: self.places.len() });
        self.tools.push(tool.to_owned());
        self.inputs.push(InputKey::default());
    }

    /// Sets what the encoder sees of the arguments of call `index`.
    pub(super) fn know(&mut self, index: usize, input: InputKey) {
        self.inputs[index] = input;
    }

    /// The tool of call `index`.
    pub(super) fn tool(&self, index: usize) -> &str {
        &self.tools[index]
    }

    /// The number of calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// True without calls.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The number of steps, those without calls included.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The number of calls of each step.
    pub(super) fn calls_of_steps(&self) -> Vec<u64> {
        let mut counts = vec![0; self.steps];
        for place in &self.places {
            counts[place.step] += 1;
        }
        counts
    }

    /// The tool of each call.
    pub(super) fn tools(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(String::as_str)
    }

    /// Puts indices of calls into an order that does not depend on the order within steps: by step, then by
    /// what the encoder sees. Calls that are equal in both are interchangeable.
    fn sort(&self, indices: &mut [usize]) {
        indices.sort_by_key(|&index| (self.places[index].step, self.inputs[index], index));
    }
}

/// True if the bucket's alignment is known without embeddings: when all its calls look the same to the
/// encoder, and when the two sides hold the same calls. In the latter case pairing each call with its like
/// costs nothing, every other pair costs something, and no call stays alone.
fn is_settled(bucket: &Bucket<'_>, references: &Calls, predictions: &Calls) -> bool {
    let inputs = |calls: &Calls, indices: &[usize]| {
        let mut inputs: Vec<InputKey> = indices.iter().map(|&index| calls.inputs[index]).collect();
        inputs.sort_unstable();
        inputs
    };
    let (mut reference, mut predicted) =
        (inputs(references, &bucket.references), inputs(predictions, &bucket.predictions));
    if reference == predicted {
        return true;
    }
    reference.dedup();
    predicted.dedup();
    reference.len() == 1 && reference == predicted
}

/// Fails for the first bucket that is too large to be assigned: better said before its calls are compared.
///
/// # Errors
/// That bucket.
pub(super) fn check_sizes(references: &Calls, predictions: &Calls) -> Result<(), BucketTooLarge> {
    buckets(references.tools(), predictions.tools()).iter().try_for_each(|bucket| {
        check_size(bucket.references.len(), bucket.predictions.len())
            .map_err(|TooLarge| BucketTooLarge::from(bucket))
    })
}

/// The calls whose embeddings the alignment needs: indices of reference and of predicted calls. With
/// `keeps_similarities`, those of every bucket.
///
/// # Errors
/// The first bucket that is too large to be assigned.
pub(super) fn calls_to_embed(
    references: &Calls,
    predictions: &Calls,
    keeps_similarities: bool,
) -> Result<(Vec<usize>, Vec<usize>), BucketTooLarge> {
    check_sizes(references, predictions)?;
    let mut wanted = (Vec::new(), Vec::new());
    for bucket in buckets(references.tools(), predictions.tools()) {
        if keeps_similarities || !is_settled(&bucket, references, predictions) {
            wanted.0.extend(bucket.references);
            wanted.1.extend(bucket.predictions);
        }
    }
    Ok(wanted)
}

/// Similarity bucketed Hungarian alignment (M³-Bench, section 4.1). `similarity` is S of a reference call and a
/// predicted call of one tool, by their indices, in [-1, 1].
///
/// # Errors
/// The tool whose bucket is too large.
pub(super) fn align(
    references: &Calls,
    predictions: &Calls,
    thresholds: Thresholds,
    keeps_similarities: bool,
    similarity: &dyn Fn(usize, usize) -> f64,
) -> Result<Matching, BucketTooLarge> {
    let mut matching = Matching::default();
    let mut reference_fates = vec![Fate::Alone(Reason::ToolNotInPrediction, None); references.len()];
    let mut predicted_fates = vec![Fate::Alone(Reason::ToolNotInReference, None); predictions.len()];
    for mut bucket in buckets(references.tools(), predictions.tools()) {
        references.sort(&mut bucket.references);
        predictions.sort(&mut bucket.predictions);
        let shape = (bucket.references.len(), bucket.predictions.len());
        let similarity = Array2::from_shape_fn(shape, |(row, column)| {
            similarity(bucket.references[row], bucket.predictions[column])
        });
        let steps = |calls: &Calls, indices: &[usize]| -> Vec<usize> {
            indices.iter().map(|&index| calls.places[index].step).collect()
        };
        let reference_steps = steps(references, &bucket.references);
        let predicted_steps = steps(predictions, &bucket.predictions);
        let pairs = assign(&similarity, thresholds.weak(), &reference_steps, &predicted_steps)
            .map_err(|TooLarge| BucketTooLarge::from(&bucket))?;
        for (row, &index) in bucket.references.iter().enumerate() {
            let scores = similarity.row(row).into_iter().copied();
            reference_fates[index] = Fate::alone(scores, &bucket.predictions, thresholds);
        }
        for (column, &index) in bucket.predictions.iter().enumerate() {
            let scores = similarity.column(column).into_iter().copied();
            predicted_fates[index] = Fate::alone(scores, &bucket.references, thresholds);
        }
        for (row, column) in pairs {
            let (reference, predicted) = (bucket.references[row], bucket.predictions[column]);
            reference_fates[reference] = Fate::Matched;
            predicted_fates[predicted] = Fate::Matched;
            let found = similarity[[row, column]];
            matching.matches.push(Match {
                tool: bucket.tool.to_owned(),
                similarity: found,
                is_strong: found >= thresholds.strong(),
                reference: references.places[reference],
                predicted: predictions.places[predicted],
            });
        }
        if keeps_similarities {
            let Bucket { tool, references, predictions } = bucket;
            let tool = tool.to_owned();
            matching.similarities.push(BucketSimilarities { tool, references, predictions, similarity });
        }
    }
    matching.matches.sort_by_key(|pair| pair.reference.index);
    matching.unmatched_references = unmatched(references, reference_fates);
    matching.unmatched_predictions = unmatched(predictions, predicted_fates);
    Ok(matching)
}

/// A bucket has too many calls to be assigned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BucketTooLarge {
    pub(super) tool: String,
    pub(super) references: usize,
    pub(super) predictions: usize,
}

impl BucketTooLarge {
    /// The error that names the trajectory too.
    pub(super) fn of(self, id: &str) -> ScoreError {
        let Self { tool, references, predictions } = self;
        ScoreError::TooLarge { id: id.to_owned(), tool, references, predictions }
    }
}

impl From<&Bucket<'_>> for BucketTooLarge {
    fn from(bucket: &Bucket<'_>) -> Self {
        Self {
            tool: bucket.tool.to_owned(),
            references: bucket.references.len(),
            predictions: bucket.predictions.len(),
        }
    }
}

/// S of a reference call and a predicted call: 1 exactly where they look the same to the encoder, less for all others.
/// Their embeddings should be in `embedder` where [`calls_to_embed`] asks for them.
pub(super) fn cosine_of_calls(
    references: &Calls,
    predictions: &Calls,
    embedder: &Embedder,
    (reference, predicted): (usize, usize),
) -> f64 {
    const BELOW_ONE: f64 = 1.0 - f64::EPSILON;
    let (a, b) = (references.inputs[reference], predictions.inputs[predicted]);
    if a == b { 1.0 } else { cosine(embedder.vector(&a), embedder.vector(&b)).min(BELOW_ONE) }
}

#[derive(Debug, Clone, Copy)]
enum Fate {
    Matched,
    Alone(Reason, Option<(usize, f64)>),
}

impl Fate {
    /// What to say of a call if it stays alone: `scores` are its similarities to the calls `others`.
    fn alone(scores: impl Iterator<Item = f64>, others: &[usize], thresholds: Thresholds) -> Self {
        let best = others.iter().copied().zip(scores).reduce(|best, next| {
            let is_better = next.1 > best.1 || (next.1 >= best.1 && next.0 < best.0);
            if is_better { next } else { best }
        });
        let is_similar = best.is_some_and(|(_, similarity)| similarity >= thresholds.weak());
        Fate::Alone(if is_similar { Reason::AssignedElsewhere } else { Reason::BelowThreshold }, best)
    }
}

fn unmatched(calls: &Calls, fates: Vec<Fate>) -> Vec<Unmatched> {
    let alone = fates.into_iter().enumerate().filter_map(|(index, fate)| match fate {
        Fate::Matched => None,
        Fate::Alone(reason, best) => Some((index, reason, best)),
    });
    alone
        .map(|(index, reason, best)| Unmatched {
            tool: calls.tools[index].clone(),
            place: calls.places[index],
            reason,
            best,
        })
        .collect()
}
