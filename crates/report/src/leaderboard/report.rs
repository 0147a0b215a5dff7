//! The types of a leaderboard, `m3.leaderboard/1`: they are written as JSON, and tables and pictures are made from
//! them.

use std::collections::BTreeMap;

use m3_score::Metric;
use m3_stats::RankInterval;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Average, FailuresReport, ModelPassReport, PassingReport, SuiteBoardReport};
use crate::estimate::EstimateReport;

/// The version of this format.
pub const LEADERBOARD_SCHEMA: &str = "m3.leaderboard/1";

/// What `m3 leaderboard --format json` writes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "m3.leaderboard/1")]
pub struct Leaderboard {
    /// Always `m3.leaderboard/1`.
    pub schema: String,
    /// The definitions; null for tables of finished numbers alone.
    pub profile: Option<String>,
    /// What calls were aligned by, `cosine` or `typed`; null likewise.
    pub similarity: Option<String>,
    /// How many tasks the models are compared on; null likewise.
    pub tasks: Option<usize>,
    /// What the signatures of all scores have in common, without the predictions; null where a score has none.
    pub signature: Option<String>,
    /// The level of the intervals.
    pub level: f64,
    /// How many resamples they are made of; 0 for tables of finished numbers alone.
    pub resamples: usize,
    /// The seed of the resamples: the same seed gives the same intervals.
    pub seed: u64,
    /// What the average of `models` is taken over.
    pub average: AverageReport,
    /// The metric by which models are ranked and told apart.
    pub ranked_by: String,
    /// The metrics that any model has, in the order of the columns; the average comes last.
    pub columns: Vec<String>,
    /// The models, the highest of that metric first.
    pub models: Vec<ModelReport>,
    /// What a reader should know: failures that differ, references that do, grades that are missing, averages that a table
    /// gives and that are not the mean of its columns, tests that cannot find anything.
    pub notes: Vec<String>,
    /// The smallest true difference of two models in that metric that a test on these tasks, corrected for the number of
    /// pairs, finds with a probability of 80 %: the median over the pairs of models that were tested. Null with fewer
    /// than two models or tasks, and where no pair differs.
    pub smallest_detectable_difference: Option<f64>,
    /// Which pairs of models were tested for their groups; null for tables of finished numbers alone.
    pub tests: Option<TestsReport>,
    /// The models by type of task, in the order of the types' names.
    pub types: Vec<TypeReport>,
    /// What the rates of success are of; left out where no result has repetitions, or they do not agree on what passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passing: Option<PassingReport>,
    /// What other benchmarks say of the models, where they were scored with `--suite`.
    pub suites: Vec<SuiteBoardReport>,
}

/// Which pairs of models were tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestsReport {
    /// How.
    pub method: TestMethod,
    /// How many pairs.
    pub tested: usize,
    /// How many pairs there are, which is what the p-values are corrected for.
    pub pairs: usize,
}

/// How pairs of models are tested: by their difference in the metric that ranks them, with the signs of what each task contributes to it
/// flipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestMethod {
    /// All pairs, by permutations, with Holm's correction.
    Permutations,
    /// The best of each group against every model below it that is in no better group, by an upper bound of the p-value, with
    /// Bonferroni's correction for all pairs: which model is the best is seen in the same data.
    Bound,
}

/// What an average is taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AverageReport {
    /// In words.
    pub description: String,
    /// The metrics.
    pub metrics: Vec<String>,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ModelReport {
    /// What it is called.
    pub model: String,
    /// Where its numbers were published; null for one's own.
    pub published: Option<String>,
    /// Its metrics by name, those that it has.
    pub metrics: BTreeMap<String, EstimateReport>,
    /// Its place by the metric that ranks, 1 for the highest, and the places that it may well have.
    pub rank: RankReport,
    /// Its group: models of one group are not told apart from the best of it, by tests at 0.05 that are corrected for all
    /// pairs (see `tests`). Null for a row of a table, which cannot be tested.
    pub group: Option<usize>,
    /// How many of its tasks were left out because another model has none of that id.
    pub left_out: usize,
    /// How many tasks came to nothing, and why; null where it is not known.
    pub failures: Option<FailuresReport>,
    /// The signature of its score, one line that says what decides its numbers; null for earlier scores and tables.
    pub signature: Option<String>,
    /// How much it does for a task; null for a row of a table.
    pub calls: Option<CallsReport>,
    /// What a task costs; null where it is not known.
    pub tokens: Option<TokensReport>,
    /// What became of its calls; null where it is not known.
    pub outcomes: Option<OutcomesReport>,
    /// How often it passes; left out where it has no repetitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passing: Option<ModelPassReport>,
}

/// A rank and its interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RankReport {
    /// The place in this set.
    pub rank: usize,
    /// The best place that is likely.
    pub best: usize,
    /// The worst place that is likely.
    pub worst: usize,
}

/// Steps and calls, means over tasks (the paper's table 4).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct CallsReport {
    /// Predicted steps a task.
    pub average_steps: f64,
    /// Predicted calls a task.
    pub average_calls: f64,
}

/// Tokens, means over the tasks whose usage is known (the paper's table 3).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TokensReport {
    /// How many tasks these are.
    pub tasks: usize,
    /// Whether that is fewer than all, so that the tokens of the whole set are not known.
    pub is_partial: bool,
    /// Tokens read by the model for a task.
    pub input: f64,
    /// Tokens written by it for a task.
    pub output: f64,
}

/// How many calls ended how (the paper's figure 6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutcomesReport {
    /// Counts by name: the five outcomes, and `not_executed` if there are calls that fit their schema and were not
    /// executed.
    pub counts: BTreeMap<String, u64>,
}

/// The models on tasks of one type.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TypeReport {
    /// The type.
    #[serde(rename = "type")]
    pub task_type: String,
    /// How many tasks are of it.
    pub tasks: usize,
    /// What the average is taken over.
    pub average: AverageReport,
    /// The models, the highest average first.
    pub models: Vec<TypeRowReport>,
}

/// A model on tasks of one type.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TypeRowReport {
    /// What it is called.
    pub model: String,
    /// Its metrics by name, the average among them, each in [0, 1].
    pub metrics: BTreeMap<String, f64>,
}

impl From<Average> for AverageReport {
    fn from(average: Average) -> Self {
        Self {
            description: average.description().to_owned(),
            metrics: average.metrics().map(|metric| metric.name().to_owned()).collect(),
        }
    }
}

impl From<RankInterval> for RankReport {
    fn from(RankInterval { rank, best, worst }: RankInterval) -> Self {
        Self { rank, best, worst }
    }
}

impl Leaderboard {
    /// The metric by which models are ranked.
    #[must_use]
    pub fn ranking(&self) -> Metric {
        Metric::from_name(&self.ranked_by).unwrap_or(Metric::Average)
    }
}

impl ModelReport {
    /// A metric; `None` where it is not known, such as the average of a row of a table that lacks one of its metrics.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<EstimateReport> {
        self.metrics.get(name).copied()
    }
}

impl TypeRowReport {
    /// The average on tasks of this type.
    #[must_use]
    pub fn average(&self) -> Option<f64> {
        self.metrics.get(Metric::Average.name()).copied()
    }
}
