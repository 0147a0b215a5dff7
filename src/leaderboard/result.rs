//! What is known of one model: its numbers trajectory by trajectory, or only as a row of finished numbers.

use std::collections::BTreeMap;

use super::Metric;
use crate::score::{Profile, Similarity, Sums};

/// The result of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelResult {
    /// What the model is called.
    pub name: String,
    /// The file it was read from, as the user named it.
    pub file: String,
    /// What is known.
    pub numbers: Numbers,
}

/// What is known of a model.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// A score: every trajectory, and what it was made with.
    Trajectories {
        /// The definitions.
        profile: Profile,
        /// What calls were aligned by.
        similarity: Similarity,
        /// Everything that has to be the same for numbers to be compared, but for the profile: encoder, similarity and
        /// thresholds.
        conditions: String,
        /// tau_weak and tau_strong, for pictures.
        thresholds: (f64, f64),
        /// The trajectories by id.
        trajectories: BTreeMap<String, TrajectoryResult>,
    },
    /// A row of a table: metrics that cannot be resampled, by their place in [`Metric::ALL`].
    Row([Option<f64>; Metric::COUNT]),
}

/// One trajectory of a score.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrajectoryResult {
    /// The task's type.
    pub task_type: Option<String>,
    /// The sums behind its metrics.
    pub sums: Sums,
    /// Whether the fidelity of its matches is known.
    pub has_fidelity: bool,
    /// Predicted steps.
    pub steps: f64,
    /// The similarities of its matched pairs.
    pub similarities: Vec<f64>,
    /// The similarities of its unmatched reference calls to their best candidates.
    pub candidates: Vec<f64>,
    /// What judges say of it.
    pub grades: Grades,
    /// The tokens it took.
    pub usage: Option<Usage>,
    /// What became of its calls.
    pub outcomes: Option<Outcomes>,
}

/// What judges say of a trajectory, each in [0, 1]; `None` where they said nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Grades {
    /// Was the task done?
    pub task_completion: Option<f64>,
    /// Does the answer rest on what the tools gave?
    pub information_grounding: Option<f64>,
}

/// The tokens of one task.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Read by the model.
    pub input_tokens: f64,
    /// Written by it.
    pub output_tokens: f64,
}

/// How many calls ended how (M³-Bench, section 5.4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Counts in the order of [`Outcomes::NAMES`].
    pub counts: [u64; 5],
}

impl Outcomes {
    /// The five outcomes, as results name them.
    pub const NAMES: [&'static str; 5] =
        ["illegal_format", "unknown_tool", "invalid_arguments", "resource_not_found", "success"];
}
