//! What `m3 agree --format json` writes.

use schemars::JsonSchema;
use serde::Serialize;

use super::success_report::SuccessReport;
use crate::{EstimateReport, Named};

/// The version of this format.
pub(super) const AGREE_SCHEMA: &str = "m3.agree/1";

/// How far suites agree about models and tasks (`m3.agree/1`).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "m3.agree/1")]
pub struct AgreeReport {
    /// Always `m3.agree/1`.
    pub schema: String,
    /// The metrics that are compared.
    pub views: Vec<ViewReport>,
    /// How many tasks all models have.
    pub tasks: usize,
    /// The number of tasks that only some models have; they are left out.
    pub left_out: usize,
    /// Suites that only some results have; they are left out unless one is named.
    pub not_in_all: Vec<String>,
    /// Trials of all tasks and models.
    pub trials: usize,
    /// The number of resamples of tasks behind each interval.
    pub resamples: usize,
    /// The share of resamples within an interval.
    pub level: f64,
    /// The models with their scores, the greatest share of success first; without labels, the best by the first view.
    pub models: Vec<RankedModel>,
    /// Which metric predicts success, where models have labels (`--labels`); null without labels.
    pub success: Option<SuccessReport>,
    /// How far each two views agree about the order of the models.
    pub correlations: Vec<CorrelationReport>,
    /// How far each two views agree about which trials are right.
    pub verdicts: Vec<VerdictsReport>,
    /// How far each view agrees with graders and with labels, where there are any.
    pub yardsticks: Vec<YardstickReport>,
    /// All tasks, those that views disagree about most first.
    pub by_task: Vec<TaskVerdicts>,
}

/// A metric that is compared.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ViewReport {
    /// `SUITE.METRIC`.
    pub name: String,
    /// The criterion by which a trial is right, in words.
    pub right: String,
}

/// A model with its score by each view.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RankedModel {
    /// The model.
    pub model: String,
    /// The file of the model's score.
    pub file: String,
    /// The share of its labelled trials that did the job, in [0, 1]; null without labels.
    pub success: Option<f64>,
    /// The mean over tasks by each view, weighted as the suite does; in [0, 1], null where a view has no value.
    pub scores: Named<Option<f64>>,
    /// The model's place by each view, from 1; equal scores share the mean of their places. Null without a score.
    pub ranks: Named<Option<f64>>,
}

/// How far two views agree about the order of models.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CorrelationReport {
    /// The first view.
    pub first: String,
    /// The second view.
    pub second: String,
    /// Kendall's tau-b with its interval over resampled tasks; null if it is not defined.
    pub tau: Option<EstimateReport>,
}

/// How far two views agree about which trials are right.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VerdictsReport {
    /// The first view.
    pub first: String,
    /// The second view.
    pub second: String,
    /// Trials that both call right.
    pub both: u64,
    /// Trials that only the first calls right.
    pub only_first: u64,
    /// Trials that only the second calls right.
    pub only_second: u64,
    /// Trials that neither calls right.
    pub neither: u64,
    /// The share of trials with the same verdict; null without trials.
    pub agreement: Option<f64>,
    /// Cohen's kappa; null if it is not defined.
    pub kappa: Option<f64>,
}

/// The source of the verdicts that views are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Yardstick {
    /// Verdicts of `m3 grade`, from results of `m3 score --grades`.
    Graders,
    /// Labels of `m3 agree --labels`, by people or by what happened.
    People,
}

/// How far a view agrees with graders or labels.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct YardstickReport {
    /// The source of the verdicts.
    pub yardstick: Yardstick,
    /// The view.
    pub view: String,
    /// Trials that both the view and the yardstick judge.
    pub trials: u64,
    /// Trials that both call right.
    pub both: u64,
    /// Trials that only the view calls right.
    pub only_view: u64,
    /// Trials that only the yardstick calls right.
    pub only_yardstick: u64,
    /// Trials that neither calls right.
    pub neither: u64,
    /// The share with the same verdict; null without trials.
    pub agreement: Option<f64>,
    /// Cohen's kappa with its interval over resampled tasks; null if it is not defined.
    pub kappa: Option<EstimateReport>,
}

/// The verdicts of views on a task.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TaskVerdicts {
    /// The task.
    pub id: String,
    /// The share of all models' trials that each view calls right, among those that it judges; null if it judges none.
    pub right: Named<Option<f64>>,
    /// The share of trials that views do not agree about.
    pub disagreement: f64,
}
