//! What `m3 agree --format json` says of labels of success.

use schemars::JsonSchema;
use serde::Serialize;

use crate::EstimateReport;

/// Which metric tells trials that did their job from those that did not, by labels of success (`m3 agree --labels`).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SuccessReport {
    /// What became of the labels.
    pub labels: LabelsReport,
    /// Trials with a label, of tasks whose reference has a call: all numbers here are of these.
    pub trials: usize,
    /// How many of them did the job.
    pub succeeded: usize,
    /// How many models have such trials.
    pub models: usize,
    /// Trials without a label; they are left out.
    pub without_label: usize,
    /// Trials of tasks whose reference has no call, with and without label; they are left out, since no call is compared.
    pub without_calls: usize,
    /// All metrics of m3, and all of suites that are shares and that all results have; the greatest area first, unknown ones last.
    pub metrics: Vec<MetricSuccess>,
    /// How far the verdict is the share that did the job; null where no trial has a verdict.
    pub reliability: Option<ReliabilityReport>,
}

/// What became of the rows of `m3 agree --labels`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabelsReport {
    /// Rows that were read.
    pub rows: usize,
    /// Rows without pass or fail, or that cannot be read, and trajectories about which people are even.
    pub unclear: usize,
    /// Rows of runs that broke: `broken` or `infra_error` is true.
    pub broken: usize,
    /// Labelled trajectories of runs without a result.
    pub unknown_runs: usize,
    /// Labelled trajectories of ids that their model does not have.
    pub unknown_ids: usize,
}

/// How well a metric tells trials that did their job from those that did not. Areas are shares of pairs of one that did and one that
/// did not, in which the metric is higher for the one that did (a tie counts half), in [0, 1]; 0.5 is chance. Intervals resample tasks.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MetricSuccess {
    /// `SUITE.METRIC`.
    pub name: String,
    /// Trials that it says something of.
    pub trials: usize,
    /// The area under the curve, over all pairs; null if all trials did the job, or none.
    pub area: Option<EstimateReport>,
    /// The area over pairs of the same task; null without any.
    pub within_tasks: Option<EstimateReport>,
    /// The area over pairs of the same model; null without any.
    pub within_models: Option<EstimateReport>,
    /// Kendall's tau-b of the models' means and the shares of their trials that did the job, in [-1, 1]; null if it is not defined.
    pub tau: Option<EstimateReport>,
}

/// How far a probability is the share that did the job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReliabilityReport {
    /// The probability: `m3.verdict`.
    pub metric: String,
    /// Trials that have it.
    pub trials: usize,
    /// The share to be expected: its mean, in [0, 1].
    pub expected: f64,
    /// The share that did the job, in [0, 1].
    pub succeeded: f64,
    /// The mean distance of both over the bins, weighted by their trials, in [0, 1]; 0 is best.
    pub calibration_error: f64,
    /// The share of trials with at least 0.8 or less than 0.2: decided, in [0, 1].
    pub decided: f64,
    /// The share of the decided ones where it is right, in [0, 1]; null if none is decided.
    pub right: Option<f64>,
    /// Bins of equal width, the lowest first.
    pub bins: Vec<ReliabilityBin>,
}

/// Trials of similar probability.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReliabilityBin {
    /// The lower end, which belongs to it.
    pub from: f64,
    /// The upper end, which belongs to the next bin; to this one if it is 1.
    pub to: f64,
    /// How many trials.
    pub trials: usize,
    /// The share to be expected: the mean probability; null without trials.
    pub expected: Option<f64>,
    /// The share that did the job; null without trials.
    pub succeeded: Option<f64>,
}
