//! The results, the errors and the progress of scoring.

use std::collections::BTreeMap;

use m3_embedding::EncoderError;
use m3_support::text::shortened;
use m3_trajectory::{FailureClass, SourceError};

use super::answer::AnswerAgreement;
use super::findings::Findings;
use super::matching::Matching;
use super::results::survey::Survey;
use super::{ByTool, CallPlace, ComparedPair, ExactSums, Job, Ledger, Verdict};

/// One trajectory, scored.
#[derive(Debug, Clone, PartialEq)]
pub struct TrajectoryScore {
    /// The task's id.
    pub id: String,
    /// The reference's type.
    pub task_type: Option<String>,
    /// Why the task failed, if it did.
    pub failure: Option<FailureClass>,
    /// Whether it passes, where that was asked for.
    pub verdict: Option<Verdict>,
    /// The sums of the trajectory; [`ExactSums::metrics`] gives the metrics.
    pub sums: ExactSums,
    /// The alignment of the calls.
    pub matching: Matching,
    /// The pairs of calls whose arguments were compared: one for each match, in their order, then those of reference
    /// calls that the alignment leaves unmatched, by reference call.
    pub compared: Vec<ComparedPair>,
    /// Reference calls that were compared with no call and yet are not missing: the prediction leaves behind
    /// all artifacts that they lead to, made in another way.
    pub reached_without: Vec<CallPlace>,
    /// The evidence whether the trajectory did its job; `None` where the reference has no call, and in the profile
    /// `open-m3-bench`.
    pub job: Option<Job>,
    /// The agreement of what both trajectories leave behind, in [0, 1]; `None` where nothing is recorded or left
    /// behind.
    pub artifact_agreement: Option<f64>,
    /// How well the final replies agree; `None` where the reference has none, where the prediction records none, and in the profile
    /// `open-m3-bench`.
    pub answer: Option<AnswerAgreement>,
}

/// A whole set, scored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// What was scored and what was not.
    pub ledger: Ledger,
    /// All trajectories together.
    pub aggregate: ExactSums,
    /// Trajectories of each type; those without a type are not in it.
    pub by_type: BTreeMap<String, ExactSums>,
    /// Which arguments are wrong.
    pub findings: Findings,
    /// The calls of each tool.
    pub by_tool: ByTool,
    /// What the recorded results show about each tool; empty where results are not used as evidence.
    pub survey: Survey,
}

/// Why scoring failed.
#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    /// A file could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The encoder failed.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    /// The files have no id in common.
    #[error(
        "no id of `{predictions}` is in `{references}` (the first are `{}` and `{}`)\n\
         hint: check that the files belong together, predictions first; ids are compared as they are",
        shortened(.prediction, 100), shortened(.reference, 100)
    )]
    NoOverlap {
        /// The file of predictions.
        predictions: String,
        /// The file of references.
        references: String,
        /// The first predicted id.
        prediction: String,
        /// The first reference id.
        reference: String,
    },
}

/// Receives the number of trajectories done and the number of all.
pub type Progress<'a> = dyn FnMut(usize, usize) + 'a;
