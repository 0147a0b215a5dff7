//! Audits: a score together with its origin, call by call.
//!
//! [`TrajectoryAudit`] shows one trajectory: both sides, which calls were matched and at which similarity, and how
//! arguments and steps compare. [`Gathering`] makes the overview of a set.

mod arguments;
mod cost;
mod document;
mod flow;
mod flow_model;
mod flow_words;
mod limits;
mod model;
mod overview;
mod picture;
mod set_document;
pub(crate) mod structure;
mod terminal;
pub(crate) mod text;
pub(crate) mod words;

pub use cost::costs;
pub use document::{
    ArgumentDocument, ArgumentsDocument, AuditDocument, BucketDocument, CellDocument, MatrixDocument,
};
pub use flow_model::{
    ArtifactAudit, ArtifactPair, CallFlow, FlowAudit, LeftAudit, PictureDifference, PicturePair, ReadAudit,
    ResultPair,
};
pub use flow_words::FlowLine;
use m3_score::{BucketSimilarities, Profile, TrajectoryScore};
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, Trajectory};
pub use model::{
    AUDIT_SCHEMA, ArgumentAudit, AuditReport, BucketAudit, CallAudit, ConfusedTools, InvertedPair,
    MatchArguments, MergedStep, Overview, ReasonCount, SideAudit, SimilarityBin, SplitStep, StepAudit,
    StepWeight, Structure, TrajectoryAudit, VerdictCounts,
};
pub use overview::Gathering;
pub(super) use overview::{BINS, bin};
pub use picture::{Picture, Pictures};
pub use set_document::{MetricIntervals, SetDocument};
pub use terminal::AuditTerminal;
pub use text::wrapped;

use crate::{ResultPictures, TrajectoryReport};

impl TrajectoryAudit {
    /// The audit of a trajectory from its score, its reference and its prediction (without steps if it is missing).
    /// `cost` is how much the trajectory lowers the set's average: without it the average would be higher by this.
    /// `pictures` opens the pictures of results; without it no results are shown.
    #[must_use]
    pub fn new<'a>(
        scored: TrajectoryScore,
        reference: &'a Trajectory,
        prediction: &'a Trajectory,
        (profile, cost): (Profile, f64),
        pictures: Option<&ResultPictures>,
    ) -> Self {
        let buckets = scored.matching.similarities.iter().map(bucket).collect();
        let values = |trajectory: &'a Trajectory| -> Vec<Option<&'a Json>> {
            trajectory.calls().map(|(_, call)| call.arguments.as_ref()).collect()
        };
        let (expected, made) = (values(reference), values(prediction));
        let arguments = scored.compared.iter().map(|pair| {
            MatchArguments::new(&pair.fidelity, expected[pair.reference.index], made[pair.predicted.index])
        });
        let arguments = arguments.collect();
        let score = TrajectoryReport::new(scored, profile);
        let flow = FlowAudit::new(reference, prediction, &flow::compared_calls(&score), pictures);
        Self {
            cost,
            question: reference.question.clone().or_else(|| prediction.question.clone()),
            // The prediction's image is never taken: it could choose which of the reader's files to show.
            image: reference.image.clone(),
            reference: SideAudit::new(reference),
            prediction: SideAudit::new(prediction),
            arguments,
            flow,
            structure: structure::structure(&score.matches),
            buckets,
            score,
        }
    }
}

impl SideAudit {
    fn new(trajectory: &Trajectory) -> Self {
        let call = |call: &Call| CallAudit {
            tool: call.tool.clone(),
            arguments: call.arguments.as_ref().map(|arguments: &Json| arguments.to_text(Keys::AsRead)),
        };
        let steps = trajectory.steps.iter();
        Self {
            steps: steps.map(|step| StepAudit { calls: step.calls.iter().map(call).collect() }).collect(),
            final_reply: trajectory.final_reply.clone(),
        }
    }
}

/// The matrix with its rows and columns in the order of the calls.
fn bucket(bucket: &BucketSimilarities) -> BucketAudit {
    let order = |calls: &[usize]| {
        let mut order: Vec<usize> = (0..calls.len()).collect();
        order.sort_by_key(|&position| calls[position]);
        order.truncate(limits::BUCKET_CALLS);
        order
    };
    let (rows, columns) = (order(&bucket.references), order(&bucket.predictions));
    BucketAudit {
        tool: bucket.tool.clone(),
        references: rows.iter().map(|&row| bucket.references[row]).collect(),
        predictions: columns.iter().map(|&column| bucket.predictions[column]).collect(),
        similarity: rows
            .iter()
            .map(|&row| columns.iter().map(|&column| bucket.between(row, column)).collect())
            .collect(),
        reference_calls: bucket.references.len(),
        predicted_calls: bucket.predictions.len(),
    }
}
