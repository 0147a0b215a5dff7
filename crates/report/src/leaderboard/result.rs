//! The result of one model: its numbers by trajectory, or only a row of finished numbers.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use m3_score::{Metric, Profile, Similarity, WeightedSums};
use m3_stats::Trials;

use crate::{AskedReport, FidelityModelReport, InputReport, Named, SuiteReport, TaskOutcomes};

/// The result of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelResult {
    /// The model's name.
    pub name: String,
    /// The file of the result, as the user named it.
    pub file: String,
    /// Where the numbers were published, if they are a row of a table that comes with m3.
    pub published: Option<&'static str>,
    /// The model's numbers.
    pub numbers: Numbers,
}

/// The numbers of a model.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// A score: every trajectory, and how it was scored.
    Trajectories {
        /// The definitions that were used.
        profile: Profile,
        /// The similarity that calls were aligned by.
        similarity: Similarity,
        /// Whether the model was shown no images.
        no_images: bool,
        /// All other conditions that must be equal for numbers to be comparable, such as encoder and thresholds.
        conditions: String,
        /// tau_weak and tau_strong, for pictures.
        thresholds: (f64, f64),
        /// The trajectories by id, the repetitions of a task as one.
        trajectories: BTreeMap<String, TrajectoryResult>,
        /// The files behind the score.
        origin: Origin,
    },
    /// A row of a table: metrics that cannot be resampled, by their place in [`Metric::ALL`].
    Row([Option<f64>; Metric::COUNT]),
}

/// The files and the model behind a score, if the score names them; scores of earlier versions do not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Origin {
    /// One line with everything that decides the numbers; parts are separated by `|`.
    pub signature: Option<String>,
    /// The model that argument fidelity comes from.
    pub fidelity_model: Option<FidelityModelReport>,
    /// The language model that was asked about pairs whose fidelity is uncertain, if any.
    pub asked: Option<Box<AskedReport>>,
    /// Whether recorded results are evidence for argument fidelity and passes.
    pub are_results_evidence: bool,
    /// The file of the references.
    pub references: Option<InputReport>,
    /// The file of the catalog of tools.
    pub tools: Option<InputReport>,
    /// Failed tasks by class, whether they were left out or not, and the number of all tasks; each counts in every
    /// repetition.
    pub failures: Option<(BTreeMap<String, usize>, usize)>,
    /// The repetitions; `None` if trials were not counted.
    pub repeats: Option<Repeats>,
    /// The values by suites.
    pub suites: Named<SuiteReport>,
}

/// One task of a score: its trajectory, or all its repetitions together.
#[derive(Debug, Clone, PartialEq)]
pub struct TrajectoryResult {
    /// The task's type.
    pub task_type: Option<String>,
    /// The number of trajectories that are combined in it.
    pub repetitions: u32,
    /// How many of its trials passed; empty if trials were not counted.
    pub trials: Trials,
    /// The sums behind its metrics.
    pub sums: WeightedSums,
    /// The calls of its reference.
    pub reference: ReferenceCalls,
    /// Classes of failures and how often each occurred; empty if no failure is known.
    pub failures: BTreeMap<String, usize>,
    /// Metrics of its alignment that are unknown: scores of earlier versions do not have all.
    pub not_known: Vec<Metric>,
    /// The number of predicted steps.
    pub steps: f64,
    /// The similarities of its matched pairs.
    pub similarities: Vec<f64>,
    /// The similarities of its unmatched reference calls to their best candidates.
    pub candidates: Vec<f64>,
    /// The grades, each in [0, 1].
    pub grades: BTreeMap<Metric, f64>,
    /// The tokens that the model read and wrote.
    pub usage: Option<Usage>,
    /// The outcomes of the calls (M³-Bench, section 5.4).
    pub outcomes: Option<TaskOutcomes>,
}

/// The tokens of one task.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Tokens that the model read.
    pub input_tokens: f64,
    /// Tokens that the model wrote.
    pub output_tokens: f64,
}

/// The repetitions of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeats {
    /// The number of repetitions.
    pub count: u32,
    /// The criterion for passing: metrics and their least values.
    pub pass: BTreeMap<String, f64>,
}

/// The calls of a reference, used to distinguish references.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReferenceCalls {
    pub(super) count: u64,
    /// A digest of steps and tools, if they are known.
    digest: Option<u64>,
}

impl ReferenceCalls {
    /// Makes a value from the number of calls, and the step and tool of each if they are known.
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
