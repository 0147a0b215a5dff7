//! The decision of a comparison, and why two results cannot be compared.

use m3_score::Metric;
use m3_stats::DifferentLengths;
use schemars::JsonSchema;
use serde::Serialize;

/// The largest change that may come from the order in which numbers are added.
const NO_CHANGE: f64 = 1e-9;

/// The difference of two models in one metric.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DifferenceReport {
    /// The metric.
    pub metric: String,
    /// The first model's value, in [0, 1].
    pub first: f64,
    /// The second model's value.
    pub second: f64,
    /// The second less the first, in [-1, 1].
    pub difference: f64,
    /// The lower end of the difference's paired interval; null with fewer than two tasks.
    pub low: Option<f64>,
    /// The upper end of the difference's paired interval; null with fewer than two tasks.
    pub high: Option<f64>,
    /// Whether all resamples had the same difference, so that the interval is the difference alone. This is no
    /// certainty: resampling only saw no other value.
    pub has_no_spread: bool,
    /// The p-value of a paired permutation test, two-sided; null with fewer than two tasks.
    pub p_value: Option<f64>,
    /// The p-value after Holm's correction for the number of metrics compared; the paper's metrics and the others are
    /// corrected separately. Null without a p-value, and for the average and the deciding metric, which are no further
    /// comparisons.
    pub corrected_p_value: Option<f64>,
    /// The smallest true difference that would be found with a probability of 80 %.
    pub smallest_detectable: Option<f64>,
}

/// A trajectory that changed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangedTrajectory {
    /// The task's id.
    pub id: String,
    /// The task's type.
    #[serde(rename = "type")]
    pub task_type: Option<String>,
    /// The first model's value of the metric that decides, on this task alone.
    pub first: f64,
    /// The second model's value on this task.
    pub second: f64,
    /// The second value less the first.
    pub change: f64,
    /// The number of calls in the reference: a trajectory with more calls counts more in the set.
    pub reference_calls: u64,
}

impl ChangedTrajectory {
    /// Whether the value changed; differences in the last digits do not count.
    pub(super) fn is_changed(&self) -> bool {
        self.change.abs() > NO_CHANGE
    }

    /// Whether the second model does the task worse; differences in the last digits do not count.
    #[must_use]
    pub fn is_lower(&self) -> bool {
        self.change < -NO_CHANGE
    }

    /// The change in a sentence; `metric` is the deciding metric.
    pub(crate) fn words(&self, metric: &str) -> String {
        let Self { first, second, change, .. } = self;
        if change.abs() <= NO_CHANGE {
            return format!("{metric} {second:.4}, as before");
        }
        format!("{metric} {second:.4}, before {first:.4} ({change:+.4})")
    }
}

/// The fewest tasks with which a difference can be significant at 5 %: five signs agree by chance in 2 of 2^5 cases.
pub(super) const LEAST_TASKS: usize = 6;

/// The decision of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The second model is not worse by more than the margin.
    Pass,
    /// The second model is worse by more than the margin.
    Regress,
    /// The tasks do not show whether the second model is worse.
    Inconclusive,
}

impl Decision {
    /// The decision's name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Regress => "regress",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// Decides by the difference in the deciding metric; the second model may be lower by `margin`.
    pub(super) fn of(
        difference: Option<&DifferenceReport>,
        tasks: &[ChangedTrajectory],
        margin: f64,
    ) -> Self {
        match difference.and_then(|found| found.low.zip(found.high)) {
            Some(_) if are_too_few(tasks) => Self::Inconclusive,
            Some((low, _)) if low >= -margin => Self::Pass,
            Some((_, high)) if high < -margin => Self::Regress,
            _ => Self::Inconclusive,
        }
    }
}

/// Whether the tasks are too few to distinguish a change from chance, and some changed.
pub(super) fn are_too_few(tasks: &[ChangedTrajectory]) -> bool {
    tasks.len() < LEAST_TASKS && tasks.iter().any(ChangedTrajectory::is_changed)
}

/// Why two models are not compared.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// The models do not have the same trajectories.
    #[error(transparent)]
    DifferentLengths(#[from] DifferentLengths),
    /// The deciding metric is not known for both models.
    #[error("`{}` is not known of both results, so it cannot decide", .0.name())]
    NotKnown(Metric),
}
