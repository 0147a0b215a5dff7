//! The part of `m3 agree --format json` about labels of success.

use schemars::JsonSchema;
use serde::Serialize;

use crate::EstimateReport;

/// How well metrics distinguish trials that did their job from others, by labels of success (`m3 agree --labels`).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SuccessReport {
    /// Counts of the labels that were read and of those that were not used.
    pub labels: LabelsReport,
    /// Trials with a label, of tasks whose reference has a call: metrics are compared over these trials.
    pub trials: usize,
    /// The number of these trials that did the job.
    pub succeeded: usize,
    /// The number of models with such trials.
    pub models: usize,
    /// Trials without a label; they are left out.
    pub without_label: usize,
    /// Trials of tasks whose reference has no call, with and without label; they are left out, since no call is compared.
    pub without_calls: usize,
    /// All metrics of m3, and the metrics of suites that are shares and in all results. The greatest area is first,
    /// unknown areas are last.
    pub metrics: Vec<MetricSuccess>,
    /// How well the verdict matches the share that did the job; null if no trial has a verdict.
    pub reliability: Option<ReliabilityReport>,
}

/// Counts of the rows of `m3 agree --labels`, and of labels that were not used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabelsReport {
    /// Rows that were read.
    pub rows: usize,
    /// Rows without pass or fail, or that cannot be read, and trajectories on which people's votes are tied.
    pub unclear: usize,
    /// Rows of runs that broke: `broken` or `infra_error` is true.
    pub broken: usize,
    /// Labelled trajectories of runs without a result.
    pub unknown_runs: usize,
    /// Labelled trajectories of ids that their model does not have.
    pub unknown_ids: usize,
}

/// How well a metric distinguishes trials that did their job from others. An area is the share of pairs of a trial that
/// did and one that did not in which the metric is higher for the one that did (a tie counts half), in [0, 1]; 0.5 is
/// chance. Intervals resample tasks.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MetricSuccess {
    /// `SUITE.METRIC`.
    pub name: String,
    /// Trials that have a value of the metric.
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

/// How well a probability matches the share of trials that did the job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReliabilityReport {
    /// The probability: `m3.verdict`.
    pub metric: String,
    /// Trials that have this probability.
    pub trials: usize,
    /// The expected share of success: the mean probability, in [0, 1].
    pub expected: f64,
    /// The share that did the job, in [0, 1].
    pub succeeded: f64,
    /// The mean distance of the expected and the actual share over the bins, weighted by their trials, in [0, 1]; 0 is
    /// best.
    pub calibration_error: f64,
    /// The share of trials that are decided, with a probability of at least 0.8 or less than 0.2, in [0, 1].
    pub decided: f64,
    /// The share of the decided trials whose probability is on the right side, in [0, 1]; null if no trial is decided.
    pub right: Option<f64>,
    /// Bins of equal width, the lowest first.
    pub bins: Vec<ReliabilityBin>,
}

/// Trials of similar probability.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReliabilityBin {
    /// The lower end, which belongs to the bin.
    pub from: f64,
    /// The upper end, which belongs to the next bin, or to this bin if it is 1.
    pub to: f64,
    /// The number of trials in the bin.
    pub trials: usize,
    /// The share to be expected: the mean probability; null without trials.
    pub expected: Option<f64>,
    /// The share that did the job; null without trials.
    pub succeeded: Option<f64>,
}
