//! The types of a leaderboard, `m3.leaderboard/1`: they are written as JSON, and tables and pictures are made from
//! them.

use std::collections::BTreeMap;

use m3_score::Metric;
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
    /// The profile of the scores: how the metrics are defined. Null if all models come from CSV tables.
    pub profile: Option<String>,
    /// The similarity by which calls were aligned, `cosine` or `typed`. Null if all models come from CSV tables.
    pub similarity: Option<String>,
    /// The number of tasks on which the models are compared. Null if all models come from CSV tables.
    pub tasks: Option<usize>,
    /// The part that the signatures of all scores share, without the predictions. Null if a score has no signature.
    pub signature: Option<String>,
    /// The level of the intervals.
    pub level: f64,
    /// The number of resamples that the intervals are made from; 0 if all models come from CSV tables.
    pub resamples: usize,
    /// The seed of the resamples: the same seed gives the same intervals.
    pub seed: u64,
    /// What the average of `models` is taken over.
    pub average: AverageReport,
    /// The metric by which models are ranked and put into groups.
    pub ranked_by: String,
    /// The metrics that any model has, in the order of the columns; the average comes last.
    pub columns: Vec<String>,
    /// The models, sorted by the metric `ranked_by`, the highest first.
    pub models: Vec<ModelReport>,
    /// Warnings for the reader: scores whose failures or references differ, missing grades, averages in a CSV table
    /// that are not the mean of the table's columns, and tests that cannot find any difference.
    pub notes: Vec<String>,
    /// The smallest true difference of two models in the metric `ranked_by` that a test on these tasks, corrected for
    /// the number of pairs, finds with a probability of 80 %: the median over the pairs of models that were tested.
    /// Null with fewer than two models or tasks, and if no pair of models differs.
    pub smallest_detectable_difference: Option<f64>,
    /// Which pairs of models were tested for their groups; null for tables of finished numbers alone.
    pub tests: Option<TestsReport>,
    /// The models by type of task, in the order of the types' names.
    pub types: Vec<TypeReport>,
    /// The trials and the criterion behind the rates of success; left out if no result has repetitions, or if the
    /// results use different criteria.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passing: Option<PassingReport>,
    /// The metrics of other benchmarks, for scores that were made with `--suite`.
    pub suites: Vec<SuiteBoardReport>,
}

/// Which pairs of models were tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestsReport {
    /// The method of the tests.
    pub method: TestMethod,
    /// The number of pairs that were tested.
    pub tested: usize,
    /// How many pairs there are, which is what the p-values are corrected for.
    pub pairs: usize,
}

/// How pairs of models are tested. Each test is of the difference in the metric that ranks the models, and flips the
/// signs of what the tasks contribute to this difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestMethod {
    /// All pairs, by permutations, with Holm's correction.
    Permutations,
    /// The best model of each group is tested against every model below it that is in no better group. The p-value is
    /// an upper bound, with Bonferroni's correction for all pairs, because the same data show which model is the best.
    Bound,
}

/// What an average is taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AverageReport {
    /// A description in words.
    pub description: String,
    /// The metrics.
    pub metrics: Vec<String>,
}

/// A model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ModelReport {
    /// The model's name.
    pub model: String,
    /// The publication that the numbers come from; null for numbers of your own.
    pub published: Option<String>,
    /// The metrics that the model has, by name.
    pub metrics: BTreeMap<String, EstimateReport>,
    /// The rank by the metric `ranked_by`, 1 for the highest, and the interval of likely ranks.
    pub rank: RankReport,
    /// The group. No model of a group differs significantly from the best model of the group, by tests at 0.05 that are
    /// corrected for all pairs (see `tests`). Null for a row of a CSV table, which cannot be tested.
    pub group: Option<usize>,
    /// The number of the model's tasks that were left out because another model lacks them.
    pub left_out: usize,
    /// The number of failed tasks, by reason; null if it is not known.
    pub failures: Option<FailuresReport>,
    /// The signature of the score: one line with everything that decides its numbers. Null for scores of earlier
    /// versions and for CSV tables.
    pub signature: Option<String>,
    /// The steps and calls that the model makes for a task; null for a row of a CSV table.
    pub calls: Option<CallsReport>,
    /// The tokens that a task costs; null if they are not known.
    pub tokens: Option<TokensReport>,
    /// The outcomes of the model's calls; null if they are not known.
    pub outcomes: Option<OutcomesReport>,
    /// How often it passes; left out where it has no repetitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passing: Option<ModelPassReport>,
}

/// A rank and its interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// The mean number of predicted steps of a task.
    pub average_steps: f64,
    /// The mean number of predicted calls of a task.
    pub average_calls: f64,
}

/// Tokens, means over the tasks whose usage is known (the paper's table 3).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TokensReport {
    /// The number of tasks whose usage is known.
    pub tasks: usize,
    /// Whether the usage of some tasks is unknown: then the tokens of the whole set are unknown, too.
    pub is_partial: bool,
    /// Tokens read by the model for a task.
    pub input: f64,
    /// Tokens written by the model for a task.
    pub output: f64,
}

/// The number of calls for each outcome (the paper's figure 6).
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
    /// The number of tasks of this type.
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
