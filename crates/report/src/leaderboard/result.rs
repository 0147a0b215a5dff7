//! What is known of one model: its numbers trajectory by trajectory, or only as a row of finished numbers.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use m3_score::{Metric, Profile, Similarity, WeightedSums};
use m3_stats::Trials;

use crate::{InputReport, TaskOutcomes};

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
    pub references: Option<InputReport>,
    /// The file of the catalog of tools.
    pub tools: Option<InputReport>,
    /// Tasks that failed, by class, whether they were left out or not, and how many tasks there were; each counts in every
    /// repetition.
    pub failures: Option<(BTreeMap<String, usize>, usize)>,
    /// Its repetitions; `None` where trials were not counted.
    pub repeats: Option<Repeats>,
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
    pub sums: WeightedSums,
    /// The calls of its reference.
    pub reference: ReferenceCalls,
    /// Why it came to nothing: classes of failures and how often; empty if it did not, as far as is known.
    pub failures: BTreeMap<String, usize>,
    /// Metrics of its alignment that are not known: scores of earlier versions do not have all.
    pub not_known: Vec<Metric>,
    /// Predicted steps.
    pub steps: f64,
    /// The similarities of its matched pairs.
    pub similarities: Vec<f64>,
    /// The similarities of its unmatched reference calls to their best candidates.
    pub candidates: Vec<f64>,
    /// What graders say of it, each in [0, 1].
    pub grades: BTreeMap<Metric, f64>,
    /// The tokens it took.
    pub usage: Option<Usage>,
    /// What became of its calls (M³-Bench, section 5.4).
    pub outcomes: Option<TaskOutcomes>,
}

/// The tokens of one task.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Read by the model.
    pub input_tokens: f64,
    /// Written by it.
    pub output_tokens: f64,
}

/// What a result says of its repetitions.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeats {
    /// How many there are.
    pub count: u32,
    /// What passes: metrics and their least values.
    pub pass: BTreeMap<String, f64>,
}

/// What a score shows of a reference, to tell it from another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReferenceCalls {
    pub(super) count: u64,
    /// A digest of steps and tools, where they are known.
    digest: Option<u64>,
}

impl ReferenceCalls {
    /// Of so many calls, with step and tool of each where they are known.
    #[must_use]
    pub fn new(count: u64, calls: Option<Vec<(usize, &str)>>) -> Self {
        let digest = calls.map(|mut calls| {
            calls.sort_unstable();
            let mut hasher = DefaultHasher::new();
            calls.hash(&mut hasher);
            hasher.finish()
        });
        Self { count, digest }
    }

    pub(super) fn differs(self, other: Self) -> bool {
        let digests = self.digest.zip(other.digest);
        self.count != other.count || digests.is_some_and(|(first, second)| first != second)
    }
}
