//! The divisor of a metric's sum, and the metric's value where the divisor is zero.

use super::Metric;
use crate::Profile;

/// A sum divided by a count.
pub(crate) struct Ratio {
    /// The metric whose sum is divided, if it is another one.
    pub(crate) of: Option<Metric>,
    pub(crate) count: Count,
    pub(crate) without: Without,
}

/// The count that divides a sum.
#[derive(Clone, Copy)]
pub(crate) enum Count {
    ReferenceCalls,
    PredictedCalls,
    Matched,
    Strong,
    /// The number of values that were added up, for means.
    Added,
}

/// The value if the count is zero.
#[derive(Clone, Copy)]
pub(crate) enum Without {
    /// The share of trajectories that did not fail, if neither side has a call; else 0.
    Calls,
    /// The share of trajectories that did not fail: if the reference has no call, none is missed.
    ReferenceCalls,
    /// The value 0.
    Zero,
    /// No value: there is nothing that the metric could measure.
    Unknown,
}

impl Ratio {
    pub(super) fn new(count: Count, without: Without) -> Self {
        Self { of: None, count, without }
    }
}

/// The mean over strong matches; in the published program the sum over reference calls, with 0 if there are none.
pub(super) fn of_similarity(profile: Profile) -> Ratio {
    match profile {
        Profile::Paper => {
            Ratio { of: Some(Metric::ArgumentSimilarityStrong), ..Ratio::new(Count::Strong, Without::Calls) }
        }
        Profile::OpenM3Bench => Ratio::new(Count::ReferenceCalls, Without::Zero),
    }
}

/// The mean of the values that were added up; unknown if there are none.
pub(super) fn mean(_: Profile) -> Ratio {
    Ratio::new(Count::Added, Without::Unknown)
}

pub(super) fn covered(_: Profile) -> Ratio {
    Ratio::new(Count::ReferenceCalls, Without::Calls)
}
