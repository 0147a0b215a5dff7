//! What was scored and what was not, and which tasks failed.

use std::collections::BTreeMap;

use m3_trajectory::FailureClass;

/// What happened to every reference and every prediction. Ids are in the order of their files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// The number of different ids in the references.
    pub references: usize,
    /// The number of different ids in the predictions.
    pub predictions: usize,
    /// The number of trajectories that the metrics are computed from.
    pub scored: usize,
    /// References without a prediction.
    pub missing: Vec<String>,
    /// Predictions without a reference.
    pub extra: Vec<String>,
    /// Ids that occur more than once in one of the files.
    pub duplicate: Vec<String>,
    /// Predictions without any call.
    pub empty: Vec<String>,
    /// Predictions that ended with an error, of the model or of something the task needs.
    pub errored: Vec<String>,
    /// Predictions that were cut off: steps, calls, tokens, time or the model's context were used up.
    pub unfinished: Vec<String>,
    /// Predictions with more calls than can be aligned.
    pub too_large: Vec<String>,
    /// Calls of predictions that name no tool: whatever a model wrote in the place of a call.
    pub malformed_calls: usize,
    /// How many references have no prediction, or only the calls before its failure, by class of failure.
    pub failures: BTreeMap<FailureClass, usize>,
}

impl Ledger {
    /// Notes that the task `id` failed.
    pub(super) fn fail(&mut self, id: &str, failure: FailureClass) {
        *self.failures.entry(failure).or_default() += 1;
        let ids = match failure {
            FailureClass::Missing => &mut self.missing,
            FailureClass::TooLarge => &mut self.too_large,
            failure if failure.is_unfinished() => &mut self.unfinished,
            _ => &mut self.errored,
        };
        ids.push(id.to_owned());
    }

    /// The number of references without a prediction, or with one that failed or was not finished.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.failures.values().sum()
    }
}
