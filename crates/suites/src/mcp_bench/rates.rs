//! The rates that rules decide (section 5.1), of one task.

use std::collections::BTreeSet;

use m3_trajectory::json::Json;
use m3_trajectory::{Call, Step, Trajectory};

use crate::members::{member, number};

/// What is counted of a prediction.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Rates {
    /// Entries among its calls, also those that name no tool.
    pub(super) calls: usize,
    /// Whether it is known which tools were offered.
    is_known: bool,
    valid: usize,
    compliant: usize,
    successes: usize,
    failed_valid: usize,
    /// The share of planned entries that name a tool, where the prediction tells it.
    pub(super) planning: Option<f64>,
    pub(super) rounds: usize,
    pub(super) servers: usize,
}

impl Rates {
    /// Nothing.
    pub(super) const EMPTY: Self = Self {
        calls: 0,
        is_known: false,
        valid: 0,
        compliant: 0,
        successes: 0,
        failed_valid: 0,
        planning: None,
        rounds: 0,
        servers: 0,
    };

    /// Counts calls. `fits` says of an offered tool whether its schema accepts the arguments; nothing of any other.
    pub(super) fn of(
        prediction: &Trajectory,
        is_known: bool,
        mut fits: impl FnMut(&str, Option<&Json>) -> Option<bool>,
    ) -> Self {
        let mut rates = Self {
            is_known,
            planning: member(prediction, "planning_json_compliance").and_then(number),
            rounds: prediction.steps.len(),
            servers: servers(prediction).len(),
            ..Self::default()
        };
        for entry in prediction.steps.iter().flat_map(Step::entries) {
            rates.calls += 1;
            // An entry that is no call names no tool, and cannot have succeeded.
            let Ok(call) = entry else { continue };
            let is_success = is_success(call);
            rates.successes += usize::from(is_success);
            if let Some(is_compliant) = fits(&call.tool, call.arguments.as_ref()) {
                rates.valid += 1;
                rates.compliant += usize::from(is_compliant);
                rates.failed_valid += usize::from(!is_success);
            }
        }
        rates
    }

    /// The share of calls of offered tools; undefined without calls, as all rates are, and if it is not known which
    /// tools were offered.
    pub(super) fn name_validity(&self) -> Option<f64> {
        share(self.valid, self.calls).filter(|_| self.is_known)
    }

    /// The share of calls of offered tools whose arguments fit; 0 if there are calls, but none of an offered tool.
    pub(super) fn schema_compliance(&self) -> Option<f64> {
        self.of_valid(self.compliant)
    }

    /// The share of calls that succeeded.
    pub(super) fn execution_success(&self) -> Option<f64> {
        share(self.successes, self.calls)
    }

    /// The share of calls of offered tools that failed.
    pub(super) fn valid_call_failure_rate(&self) -> Option<f64> {
        self.of_valid(self.failed_valid)
    }

    fn of_valid(&self, count: usize) -> Option<f64> {
        (self.calls > 0 && self.is_known).then(|| share(count, self.valid).unwrap_or_default())
    }

    /// Adds the counts of another task.
    pub(super) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.is_known |= other.is_known;
        self.valid += other.valid;
        self.compliant += other.compliant;
        self.successes += other.successes;
        self.failed_valid += other.failed_valid;
    }
}

fn share(count: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| count as f64 / of as f64)
}

/// Whether a call succeeded: by its member `success`, else if it has a result that is not marked as an error.
fn is_success(call: &Call) -> bool {
    match call.extra.iter().find(|(key, _)| key == "success") {
        Some((_, flag)) => *flag == Json::Bool(true),
        None => call.result.is_some() && !call.is_error(),
    }
}

/// The servers that calls are of.
pub(super) fn servers(trajectory: &Trajectory) -> BTreeSet<&str> {
    trajectory.calls().filter_map(|(_, call)| Some(call.tool.split_once('/')?.0)).collect()
}
