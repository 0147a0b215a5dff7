//! A value for each metric.

use std::ops::Index;

use super::Metric;

/// The metrics of a set, each in [0, 1]; NaN for those that are unknown, 0 for those that come from grades.
#[derive(Debug, Clone, Copy)]
pub struct Metrics(pub(crate) [f64; Metric::COUNT]);

impl Metrics {
    /// Metrics with these values.
    #[must_use]
    pub fn new(value: impl FnMut(Metric) -> f64) -> Self {
        Self(Metric::ALL.map(value))
    }

    /// The value of a metric; `None` if it is unknown.
    #[must_use]
    pub fn get(&self, metric: Metric) -> Option<f64> {
        Some(self[metric]).filter(|value| !value.is_nan())
    }
}

/// Two unknown values are equal.
impl PartialEq for Metrics {
    fn eq(&self, other: &Self) -> bool {
        Metric::ALL.into_iter().all(|metric| self.get(metric) == other.get(metric))
    }
}

impl Index<Metric> for Metrics {
    type Output = f64;

    fn index(&self, metric: Metric) -> &f64 {
        &self.0[metric.index()]
    }
}
