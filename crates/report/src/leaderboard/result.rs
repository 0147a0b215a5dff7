//! What is known of one model: its numbers trajectory by trajectory, or only as a row of finished numbers.

use std::collections::BTreeMap;

use m3_score::{Profile, Similarity, Sums};
use m3_stats::Trials;
use serde::Deserialize;

use super::{Metric, ReferenceCalls, Repeats};

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
        /// Whether the model was shown no image.
        no_images: bool,
        /// Everything that has to be the same for numbers to be compared, but for the profile: encoder, similarity and
        /// thresholds.
        conditions: String,
        /// tau_weak and tau_strong, for pictures.
        thresholds: (f64, f64),
        /// The trajectories by id, the repetitions of a task as one.
        trajectories: BTreeMap<String, TrajectoryResult>,
        /// What it was made of.
        origin: Origin,
    },
    /// A row of a table: metrics that cannot be resampled, by their place in [`Metric::ALL`].
    Row([Option<f64>; Metric::COUNT]),
}

/// What a score was made of, as far as its file says: earlier ones say nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Origin {
    /// One line that says what decides its numbers, parts divided by `|`.
    pub signature: Option<String>,
    /// The file of the references.
    pub references: Option<InputFile>,
    /// The file of the catalog of tools.
    pub tools: Option<InputFile>,
    /// Tasks that failed, by class, whether they were left out or not, and how many tasks there were; each counts in every
    /// repetition.
    pub failures: Option<(BTreeMap<String, usize>, usize)>,
    /// Its repetitions; `None` where trials were not counted.
    pub repeats: Option<Repeats>,
}

/// A file that a score was made of.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(expecting = "an object")]
pub struct InputFile {
    /// What it was called.
    pub name: String,
    /// The SHA-256 of what was read.
    pub sha256: String,
}

/// One task of a score: its trajectory, or all its repetitions together.
#[derive(Debug, Clone, PartialEq)]
pub struct TrajectoryResult {
    /// The task's type.
    pub task_type: Option<String>,
    /// How many trajectories it is made of.
    pub repetitions: u32,
    /// How many of its trials passed; none where trials were not counted.
    pub trials: Trials,
    /// The sums behind its metrics.
    pub sums: Sums,
    /// The calls of its reference.
    pub reference: ReferenceCalls,
    /// Why it came to nothing: classes of failures and how often; empty if it did not, as far as is known.
    pub failures: BTreeMap<String, usize>,
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(expecting = "an object")]
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
    pub counts: [u64; Outcomes::NAMES.len()],
}

impl Outcomes {
    /// The five outcomes, as results name them, and calls that fit their schema and were not executed.
    pub const NAMES: [&'static str; 6] = [
        "illegal_format",
        "unknown_tool",
        "invalid_arguments",
        "resource_not_found",
        "success",
        Self::NOT_EXECUTED,
    ];

    /// What is neither success nor failure.
    pub const NOT_EXECUTED: &'static str = "not_executed";
}

/// Outcomes as results have them.
// Counts by other names would be lost without a word.
#[derive(Deserialize)]
#[serde(expecting = "an object", deny_unknown_fields)]
pub(super) struct OutcomesPart {
    #[serde(default)]
    illegal_format: u64,
    #[serde(default)]
    unknown_tool: u64,
    #[serde(default)]
    invalid_arguments: u64,
    #[serde(default)]
    resource_not_found: u64,
    #[serde(default)]
    success: u64,
    #[serde(default)]
    not_executed: u64,
}

impl From<OutcomesPart> for Outcomes {
    fn from(part: OutcomesPart) -> Self {
        let OutcomesPart {
            illegal_format,
            unknown_tool,
            invalid_arguments,
            resource_not_found,
            success,
            not_executed,
        } = part;
        let counts =
            [illegal_format, unknown_tool, invalid_arguments, resource_not_found, success, not_executed];
        Self { counts }
    }
}
