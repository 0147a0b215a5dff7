//! What a comparison decides, and why two results are not compared.

use m3_score::Metric;
use m3_stats::DifferentLengths;
use schemars::JsonSchema;
use serde::Serialize;

/// Changes that are no larger come from the order in which numbers are added.
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
    /// The lower end of its paired interval; null with fewer than two tasks.
    pub low: Option<f64>,
    /// The upper end, likewise.
    pub high: Option<f64>,
    /// True where no resample differed, so that the interval is the difference alone: no certainty, but nothing
    /// that resampling could see.
    pub has_no_spread: bool,
    /// The p-value of a paired permutation test, two-sided; null with fewer than two tasks.
    pub p_value: Option<f64>,
    /// The p-value after Holm's correction for the number of metrics compared, for other metrics apart from those of the
    /// paper; null for the average and the metric that decides, which are no further comparisons, and where there is no p-value.
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
    /// The second model's.
    pub second: f64,
    /// The second less the first.
    pub change: f64,
    /// Its calls in the reference: a trajectory with more calls counts more in the set.
    pub reference_calls: u64,
}

impl ChangedTrajectory {
    /// Whether it changed at all; differences in the last digits are none.
    pub(super) fn is_changed(&self) -> bool {
        self.change.abs() > NO_CHANGE
    }

    /// Whether the second model does it worse; differences in the last digits are none.
    #[must_use]
    pub fn is_lower(&self) -> bool {
        self.change < -NO_CHANGE
    }

    /// The change in a sentence; `metric` is the one that decides.
    pub(crate) fn words(&self, metric: &str) -> String {
        let Self { first, second, change, .. } = self;
        if change.abs() <= NO_CHANGE {
            return format!("{metric} {second:.4}, as before");
        }
        format!("{metric} {second:.4}, before {first:.4} ({change:+.4})")
    }
}

/// With fewer tasks no difference is significant at 5 %: the signs of five may all be the same by chance in 2 of 2^5 cases.
pub(super) const LEAST_TASKS: usize = 6;

/// What a comparison decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The second model is not worse by more than the margin.
    Pass,
    /// It is.
    Regress,
    /// These tasks do not tell.
    Inconclusive,
}

impl Decision {
    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Regress => "regress",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// Of the difference in the metric that decides, if the second may be lower by `margin`.
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

/// Whether the tasks are too few to tell a change from chance, and some changed.
pub(super) fn are_too_few(tasks: &[ChangedTrajectory]) -> bool {
    tasks.len() < LEAST_TASKS && tasks.iter().any(ChangedTrajectory::is_changed)
}

/// Why two models are not compared.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// They do not have the same trajectories.
    #[error(transparent)]
    DifferentLengths(#[from] DifferentLengths),
    /// The metric that is to decide is not known of both.
    #[error("`{}` is not known of both results, so it cannot decide", .0.name())]
    NotKnown(Metric),
}
