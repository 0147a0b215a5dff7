//! A value with its interval, for reports and tables.

use m3_stats::{Estimate, Method};
use schemars::JsonSchema;
use serde::Serialize;

/// The text in place of an interval without spread.
pub(super) const NO_SPREAD: &str = "no spread";

/// A value and its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct EstimateReport {
    /// The value.
    pub value: f64,
    /// The lower end of the interval; null where nothing could be resampled.
    pub low: Option<f64>,
    /// The upper end of the interval; null where nothing could be resampled.
    pub high: Option<f64>,
    /// Whether all resamples had the same value, so that the interval is the value alone. This is no certainty:
    /// resampling only saw no difference.
    pub has_no_spread: bool,
}

impl From<f64> for EstimateReport {
    fn from(value: f64) -> Self {
        Self { value, low: None, high: None, has_no_spread: false }
    }
}

impl From<Estimate> for EstimateReport {
    fn from(estimate: Estimate) -> Self {
        Self {
            value: estimate.value,
            low: estimate.interval.map(|interval| interval.low),
            high: estimate.interval.map(|interval| interval.high),
            has_no_spread: estimate.interval.is_some_and(|interval| interval.method == Method::Constant),
        }
    }
}

impl EstimateReport {
    /// The interval in words, such as `0.412 to 0.530`.
    pub(super) fn interval(&self) -> String {
        self.ends().map_or_else(str::to_owned, |(low, high)| format!("{low:.3} to {high:.3}"))
    }

    /// The value and its interval in little room, such as `0.471 0.41-0.53`.
    pub(super) fn with_interval(&self) -> String {
        format!("{:.3} {}", self.value, self.short_interval())
    }

    /// The interval in little room, such as `0.41-0.53`; `-0.10 to 0.53` where it begins below 0.
    pub(super) fn short_interval(&self) -> String {
        self.ends().map_or_else(str::to_owned, |(low, high)| {
            let dash = if low < 0.0 { " to " } else { "-" };
            format!("{low:.2}{dash}{high:.2}")
        })
    }

    /// The ends of the interval, or the text that stands for them.
    fn ends(&self) -> Result<(f64, f64), &'static str> {
        if self.has_no_spread { Err(NO_SPREAD) } else { self.low.zip(self.high).ok_or("-") }
    }
}
