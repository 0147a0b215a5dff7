//! The alignment of one predicted trajectory with its reference: which calls are matched, and why the others are not.

use m3_embedding::{Embedder, InputKey, cosine};

use super::assign::{Side, assign, check_size};
use super::bucket::{Bucket, buckets};
use super::calls::{CallPlace, Calls};
use super::matrix::Matrix;
use super::profile::{Thresholds, is_strong};
use super::transport::TooLarge;

/// A reference call and the predicted call that is matched with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The tool that both call.
    pub tool: String,
    /// The similarity S, in [tau_weak, 1].
    pub similarity: f64,
    /// Whether S is tau_strong or more.
    pub is_strong: bool,
    /// The reference call.
    pub reference: CallPlace,
    /// The predicted call.
    pub predicted: CallPlace,
}

/// Why a call is unmatched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A predicted call of a tool that the reference does not use.
    ToolNotInReference,
    /// A reference call of a tool that the prediction does not use.
    ToolNotInPrediction,
    /// No call of the tool on the other side is similar enough.
    BelowThreshold,
    /// All calls that are similar enough were matched with other calls.
    AssignedElsewhere,
    /// The trajectory has too many different calls of one tool to be aligned.
    TooLarge,
}

impl Reason {
    /// The reason's name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Reason::ToolNotInReference => "tool_not_in_reference",
            Reason::ToolNotInPrediction => "tool_not_in_prediction",
            Reason::BelowThreshold => "below_threshold",
            Reason::AssignedElsewhere => "assigned_elsewhere",
            Reason::TooLarge => "too_large",
        }
    }
}

/// An unmatched call.
#[derive(Debug, Clone, PartialEq)]
pub struct UnmatchedCall {
    /// The tool of the call.
    pub tool: String,
    /// The place of the call.
    pub place: CallPlace,
    /// Why it is unmatched.
    pub reason: Reason,
    /// The most similar call of the same tool on the other side: its index in the trajectory, and S. If there are
    /// several, the first.
    pub best: Option<(usize, f64)>,
}

/// An alignment. Every call of both sides is in exactly one of the lists; each is in the order of its calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matching {
    /// The pairs, by reference call.
    pub matches: Vec<Match>,
    /// Unmatched reference calls.
    pub unmatched_references: Vec<UnmatchedCall>,
    /// Unmatched predicted calls.
    pub unmatched_predictions: Vec<UnmatchedCall>,
    /// The similarities behind the alignment, by tool; only with
    /// [`ScoreOptions::keeps_similarities`](super::ScoreOptions).
    pub similarities: Vec<BucketSimilarities>,
}

/// How similar the calls of one tool are.
#[derive(Debug, Clone, PartialEq)]
pub struct BucketSimilarities {
    /// The tool.
    pub tool: String,
    /// The reference calls of the rows, as indices into the trajectory, in no particular order.
    pub references: Vec<usize>,
    /// The predicted calls of the columns, as indices into the trajectory, in no particular order.
    pub predictions: Vec<usize>,
    /// The classes of equal calls that rows and columns belong to.
    classes: (Vec<usize>, Vec<usize>),
    /// S of each pair of classes.
    similarity: Matrix<f64>,
}

impl BucketSimilarities {
    /// S of a row and a column, in [-1, 1].
    #[must_use]
    pub fn between(&self, row: usize, column: usize) -> f64 {
        self.similarity[(self.classes.0[row], self.classes.1[column])]
    }
}

/// True if the bucket's alignment is known without embeddings: if all its calls look the same to the encoder, or if
/// both sides have the same calls. In the latter case pairing equal calls costs nothing, every other pair costs
/// something, and no call stays unmatched.
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

/// Fails if a bucket has too many different calls to be assigned, before they are compared.
///
/// # Errors
/// [`TooLarge`].
pub(super) fn check_sizes(references: &Calls, predictions: &Calls) -> Result<(), TooLarge> {
    buckets(references.tools(), predictions.tools()).iter().try_for_each(|bucket| {
        let different = |calls: &Calls, indices: &[usize]| calls.classes(indices).first.len();
        check_size(different(references, &bucket.references), different(predictions, &bucket.predictions))
    })
}

/// The calls whose embeddings the alignment needs: indices of reference and of predicted calls. With
/// `keeps_similarities`, those of every bucket. Empty if a bucket is too large to be assigned.
pub(super) fn calls_to_embed(
    references: &Calls,
    predictions: &Calls,
    keeps_similarities: bool,
) -> (Vec<usize>, Vec<usize>) {
    let mut wanted = (Vec::new(), Vec::new());
    if check_sizes(references, predictions).is_err() {
        return wanted;
    }
    for bucket in buckets(references.tools(), predictions.tools()) {
        if keeps_similarities || !is_settled(&bucket, references, predictions) {
            wanted.0.extend(bucket.references);
            wanted.1.extend(bucket.predictions);
        }
    }
    wanted
}

/// Similarity bucketed Hungarian alignment (M³-Bench, section 4.1). `similarity` is S of a reference call and a
/// predicted call of one tool, by their indices, in [-1, 1]; it is called once for all equal calls.
///
/// # Errors
/// [`TooLarge`] if a bucket has too many different calls.
pub(super) fn align(
    references: &Calls,
    predictions: &Calls,
    thresholds: Thresholds,
    keeps_similarities: bool,
    similarity: &dyn Fn(usize, usize) -> f64,
) -> Result<Matching, TooLarge> {
    check_sizes(references, predictions)?;
    let mut matching = Matching::default();
    let mut reference_fates = vec![Fate::Alone(Reason::ToolNotInPrediction, None); references.len()];
    let mut predicted_fates = vec![Fate::Alone(Reason::ToolNotInReference, None); predictions.len()];
    for mut bucket in buckets(references.tools(), predictions.tools()) {
        references.sort(&mut bucket.references);
        predictions.sort(&mut bucket.predictions);
        let rows = references.classes(&bucket.references);
        let columns = predictions.classes(&bucket.predictions);
        let similarity = Matrix::from_fn(rows.first.len(), columns.first.len(), |row, column| {
            similarity(rows.first[row], columns.first[column])
        });
        let pairs = assign(
            &similarity,
            thresholds.weak(),
            Side { classes: &rows.of, steps: &references.steps_of(&bucket.references) },
            Side { classes: &columns.of, steps: &predictions.steps_of(&bucket.predictions) },
        )?;
        let fates_of_rows =
            fates((0..similarity.rows()).map(|row| similarity.row(row)), &columns.first, thresholds);
        for (&index, &class) in bucket.references.iter().zip(&rows.of) {
            reference_fates[index] = fates_of_rows[class];
        }
        let fates_of_columns =
            fates((0..similarity.columns()).map(|column| similarity.column(column)), &rows.first, thresholds);
        for (&index, &class) in bucket.predictions.iter().zip(&columns.of) {
            predicted_fates[index] = fates_of_columns[class];
        }
        for (row, column) in pairs {
            let (reference, predicted) = (bucket.references[row], bucket.predictions[column]);
            reference_fates[reference] = Fate::Matched;
            predicted_fates[predicted] = Fate::Matched;
            let pair_similarity = similarity[(rows.of[row], columns.of[column])];
            matching.matches.push(Match {
                tool: bucket.tool.to_owned(),
                similarity: pair_similarity,
                is_strong: is_strong(pair_similarity, thresholds.strong()),
                reference: references.places[reference],
                predicted: predictions.places[predicted],
            });
        }
        if keeps_similarities {
            let Bucket { tool, references, predictions } = bucket;
            let (tool, classes) = (tool.to_owned(), (rows.of, columns.of));
            let kept = BucketSimilarities { tool, references, predictions, classes, similarity };
            matching.similarities.push(kept);
        }
    }
    matching.matches.sort_by_key(|pair| pair.reference.index);
    matching.unmatched_references = unmatched(references, reference_fates);
    matching.unmatched_predictions = unmatched(predictions, predicted_fates);
    Ok(matching)
}

impl Matching {
    /// The result without any match, for a trajectory that is too large to be aligned.
    pub(super) fn too_large(references: &Calls, predictions: &Calls) -> Self {
        let alone = |calls: &Calls| unmatched(calls, vec![Fate::Alone(Reason::TooLarge, None); calls.len()]);
        Self {
            unmatched_references: alone(references),
            unmatched_predictions: alone(predictions),
            ..Self::default()
        }
    }
}

/// S of a reference call and a predicted call: exactly 1 if they look the same to the encoder, less otherwise. If
/// [`calls_to_embed`] returns them, their embeddings must be in `embedder`.
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

/// For the calls of each class, why they would stay unmatched, and their best candidate; `others` are the first calls of
/// the other side's classes.
fn fates<S: Iterator<Item = f64>>(
    classes: impl Iterator<Item = S>,
    others: &[usize],
    thresholds: Thresholds,
) -> Vec<Fate> {
    let fate = |similarities: S| {
        let best = others.iter().copied().zip(similarities).reduce(|best, next| {
            let is_better = next.1 > best.1 || (next.1 >= best.1 && next.0 < best.0);
            if is_better { next } else { best }
        });
        let is_similar = best.is_some_and(|(_, similarity)| similarity >= thresholds.weak());
        Fate::Alone(if is_similar { Reason::AssignedElsewhere } else { Reason::BelowThreshold }, best)
    };
    classes.map(fate).collect()
}

fn unmatched(calls: &Calls, fates: Vec<Fate>) -> Vec<UnmatchedCall> {
    let alone = |(index, fate): (usize, Fate)| match fate {
        Fate::Matched => None,
        Fate::Alone(reason, best) => {
            let (tool, place) = (calls.tool(index).to_owned(), calls.places[index]);
            Some(UnmatchedCall { tool, place, reason, best })
        }
    };
    fates.into_iter().enumerate().filter_map(alone).collect()
}
