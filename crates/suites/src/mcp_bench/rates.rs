//! The rates of one task that rules decide (section 5.1).

use std::collections::BTreeSet;

use m3_trajectory::json::Json;
use m3_trajectory::{Call, Step, Trajectory};

use crate::members::number;
use crate::suite::Variant;

/// Counts of a prediction's calls.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Rates {
    /// The number of entries among the prediction's calls, including those that name no tool.
    pub(super) calls: usize,
    /// Whether it is known which tools were offered.
    pub(super) is_known: bool,
    valid: usize,
    compliant: usize,
    /// Calls of offered tools whose arguments could not be checked.
    unchecked: usize,
    /// Calls whose success or failure is recorded, and those of them that are of offered tools.
    recorded: usize,
    recorded_valid: usize,
    successes: usize,
    failed_valid: usize,
    /// The share of planned entries that name a tool, where the prediction tells it.
    pub(super) planning: Option<f64>,
    pub(super) rounds: usize,
    pub(super) servers: usize,
}

impl Rates {
    /// Counts calls. `fits` tells of an offered tool whether its schema accepts the arguments, `Some(None)` if to check
    /// that would take too much; `None` for any other tool. The published program counts a call without a recorded result as failed.
    pub(super) fn count(
        prediction: &Trajectory,
        is_known: bool,
        variant: Variant,
        mut fits: impl FnMut(&str, Option<&Json>) -> Option<Option<bool>>,
    ) -> Self {
        let mut rates = Self {
            is_known,
            planning: prediction.get("planning_json_compliance").and_then(number),
            rounds: prediction.steps.len(),
            servers: servers(prediction).len(),
            ..Self::default()
        };
        for entry in prediction.steps.iter().flat_map(Step::entries) {
            rates.calls += 1;
            // An entry that is not a call names no tool, and cannot have succeeded.
            let Ok(call) = entry else {
                rates.recorded += 1;
                continue;
            };
            let success = success(call).or((variant == Variant::Published).then_some(false));
            rates.recorded += usize::from(success.is_some());
            rates.successes += usize::from(success == Some(true));
            if let Some(is_compliant) = fits(&call.tool, call.arguments.as_ref()) {
                rates.valid += 1;
                rates.compliant += usize::from(is_compliant == Some(true));
                rates.unchecked += usize::from(is_compliant.is_none());
                rates.recorded_valid += usize::from(success.is_some());
                rates.failed_valid += usize::from(success == Some(false));
            }
        }
        rates
    }

    /// The share of calls of offered tools; undefined without calls, as all rates are, and if it is not known which
    /// tools were offered.
    pub(super) fn name_validity(&self) -> Option<f64> {
        share(self.valid, self.calls).filter(|_| self.is_known)
    }

    /// The share of calls of offered tools whose arguments fit, among those that could be checked; 0 if there are calls,
    /// but none of an offered tool.
    pub(super) fn schema_compliance(&self) -> Option<f64> {
        let checked = self.valid - self.unchecked;
        let is_any = self.calls > 0 && (checked > 0 || self.valid == 0);
        (is_any && self.is_known).then(|| share(self.compliant, checked).unwrap_or_default())
    }

    /// The share of calls that succeeded, among those with a recorded result.
    pub(super) fn execution_success(&self) -> Option<f64> {
        share(self.successes, self.recorded)
    }

    /// The share of calls of offered tools that failed, among those with a recorded result; 0 if there are calls, but
    /// none of an offered tool.
    pub(super) fn valid_call_failure_rate(&self) -> Option<f64> {
        match self.valid {
            0 => (self.calls > 0 && self.is_known).then_some(0.0),
            _ => share(self.failed_valid, self.recorded_valid).filter(|_| self.is_known),
        }
    }

    /// The number of calls whose success is not recorded.
    pub(super) fn unrecorded(&self) -> usize {
        self.calls - self.recorded
    }

    /// Adds the counts of another task.
    pub(super) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.is_known |= other.is_known;
        self.valid += other.valid;
        self.compliant += other.compliant;
        self.unchecked += other.unchecked;
        self.recorded += other.recorded;
        self.recorded_valid += other.recorded_valid;
        self.successes += other.successes;
        self.failed_valid += other.failed_valid;
    }
}

fn share(count: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| count as f64 / of as f64)
}

/// Whether a call succeeded: by its member `success`, else if it has a result that is not marked as an error. `None` if
/// nothing is recorded.
fn success(call: &Call) -> Option<bool> {
    match call.get("success") {
        Some(flag) => Some(*flag == Json::Bool(true)),
        None if call.is_error() => Some(false),
        None => call.result.as_ref().is_some_and(|result| *result != Json::Null).then_some(true),
    }
}

/// The servers of a trajectory's calls.
pub(super) fn servers(trajectory: &Trajectory) -> BTreeSet<&str> {
    trajectory.calls().filter_map(|(_, call)| Some(call.tool.split_once('/')?.0)).collect()
}
