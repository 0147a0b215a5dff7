//! The results of repeated tasks.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LedgerReport;
use crate::estimate::EstimateReport;

/// Repetitions of the same tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct RepeatsReport {
    /// How many repetitions were scored, K.
    pub count: usize,
    /// The criterion for passing: metrics and their least values. `lowest_argument_fidelity` is the lowest fidelity of
    /// a trajectory's matched calls. A trajectory that is missing, failed or did not finish never passes; the profile
    /// open-m3-bench leaves it out.
    pub pass: BTreeMap<String, f64>,
    /// How `pass_at` and `pass_all` are estimated from n trials of a task, c of which passed.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub estimators: BTreeMap<String, String>,
    /// pass@k, the chance that at least one of k trials passes, for k = 1 to K: the mean over tasks.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub pass_at: Vec<PassRateReport>,
    /// pass^k, the chance that all of k trials pass, for k = 1 to K: the mean over tasks.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub pass_all: Vec<PassRateReport>,
    /// Tasks that have fewer than K trials, and so are not in the rates of a larger k.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub fewer_trials: Vec<String>,
    /// The level of the intervals.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub level: f64,
    /// The number of resamples of tasks behind the intervals; all trials of a task are drawn together.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub resamples: usize,
    /// The seed of the resamples.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub seed: u64,
    /// How each metric of the whole set spreads over the repetitions that have a value of it.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub spread: BTreeMap<String, SpreadReport>,
    /// The repetitions, in the order of the files in `inputs`.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub repetitions: Vec<RepetitionReport>,
    /// The trials of each task, in the order of the references.
    pub tasks: Vec<TaskTrialsReport>,
}

/// A rate of success and its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PassRateReport {
    /// The number of trials k.
    pub k: u32,
    /// The number of tasks with at least k trials; the rate is their mean.
    pub tasks: usize,
    /// The rate.
    #[serde(flatten)]
    pub rate: EstimateReport,
}

/// How a metric of the whole set spreads over the repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct SpreadReport {
    /// The mean over repetitions. The aggregate is a ratio of sums over all of them, and may differ a little.
    pub mean: f64,
    /// The sample standard deviation; null for one repetition.
    pub sd: Option<f64>,
    /// The lowest value.
    pub min: f64,
    /// The highest value.
    pub max: f64,
}

/// One repetition.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RepetitionReport {
    /// The number of the repetition, from 1, which its trajectories have as `repeat`.
    pub repeat: usize,
    /// What was counted in the repetition and what was not.
    pub ledger: LedgerReport,
    /// The metrics of the whole set in this repetition, by name; null where it has no value.
    pub metrics: BTreeMap<String, Option<f64>>,
}

/// The trials of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct TaskTrialsReport {
    /// The task's id.
    pub id: String,
    /// The number of trials; fewer than K only where the profile leaves out missing predictions.
    pub trials: u32,
    /// The number of trials that passed.
    pub passes: u32,
    /// The repetitions in which the task passed, from 1.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub passed: Vec<usize>,
}
