//! The least values of metrics (`--fail-under`), for output formats that report where a value is lower.

use m3_score::Metric;

use super::{ScoreSummary, TrajectoryReport};

/// The least value of a metric, or of a suite's value (`SUITE.NAME`).
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    /// The metric.
    pub name: String,
    /// The least value of the metric.
    pub least: f64,
}

impl Floor {
    /// The metric's value for a trajectory alone; `None` if the trajectory has no value.
    pub(crate) fn of_trajectory(&self, report: &TrajectoryReport) -> Option<f64> {
        match self.name.split_once('.') {
            None => report.metrics.metrics.get(Metric::from_name(&self.name)?),
            Some((suite, name)) => report.suites.get(suite)?.get(name)?.number(),
        }
    }

    /// The metric's value for the whole set; `None` if the set has no value.
    pub(crate) fn of_set(&self, summary: &ScoreSummary) -> Option<f64> {
        match self.name.split_once('.') {
            None => summary.aggregate.metrics.get(Metric::from_name(&self.name)?),
            Some((suite, name)) => summary.suites.get(suite)?.aggregate.get(name).copied().flatten(),
        }
    }

    /// A message about a value that is below the floor; `None` if it is not below.
    pub(crate) fn below_message(&self, value: f64) -> Option<String> {
        (value < self.least).then(|| format!("{} is {value:.4}, below {}", self.name, self.least))
    }

    /// Why the whole set does not reach the floor; `None` if it does.
    pub(crate) fn failure_of_set(&self, summary: &ScoreSummary) -> Option<String> {
        match self.of_set(summary) {
            Some(value) => self.below_message(value),
            None => Some(format!("{} is not defined", self.name)),
        }
    }
}
