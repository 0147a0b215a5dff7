//! The least that was asked for of a metric (`--fail-under`), for forms that say where it is not reached.

use m3_score::Metric;

use super::{ScoreSummary, TrajectoryReport};

/// The least value of a metric, or of a suite's value (`SUITE.NAME`).
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    /// The metric.
    pub name: String,
    /// Its least value.
    pub least: f64,
}

impl Floor {
    /// The value of a trajectory alone; `None` where it has none.
    pub(crate) fn of_trajectory(&self, report: &TrajectoryReport) -> Option<f64> {
        match self.name.split_once('.') {
            None => report.metrics.metrics.get(Metric::from_name(&self.name)?),
            Some((suite, name)) => report.suites.get(suite)?.get(name)?.number(),
        }
    }

    /// The value of the whole set; `None` where it has none.
    pub(crate) fn of_set(&self, summary: &ScoreSummary) -> Option<f64> {
        match self.name.split_once('.') {
            None => summary.aggregate.metrics.get(Metric::from_name(&self.name)?),
            Some((suite, name)) => summary.suites.get(suite)?.aggregate.get(name).copied().flatten(),
        }
    }
}

/// What to say of a value that is too low; `None` if it is not.
pub(crate) fn is_below(floor: &Floor, value: f64) -> Option<String> {
    (value < floor.least).then(|| format!("{} is {value:.4}, below {}", floor.name, floor.least))
}
