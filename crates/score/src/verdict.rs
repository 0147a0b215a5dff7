//! Did the trajectory do its job? A probability, from five numbers that a reader can find in a report; `docs/verdict.md` has
//! the equation, an example and how often it is right.

use m3_flow::CallRole;

use super::calls::Calls;
use super::fidelity::constants::SAME_OTHERWISE;
use super::{ComparedPair, ExactSum};

/// The weight of each number, learned from executed workflows of m3's own and from `WorkBench` and tau-bench (both MIT), rounded.
/// All are at least 0, so that no better number ever lowers the probability.
mod weights {
    pub(super) const LOWEST_CHANGE: f64 = 3.4;
    pub(super) const LOWEST: f64 = 2.0;
    pub(super) const COVERED: f64 = 0.2;
    pub(super) const EXTRA_CHANGES: f64 = 3.5;
    pub(super) const ARTIFACTS: f64 = 2.4;
    pub(super) const BIAS: f64 = -3.0;
}

/// What an extra call counts like of which nothing says whether it changes something, as a share of one that does.
const UNKNOWN: f64 = 0.5;

/// From here on a trajectory did its job, by all that is known.
pub const DID: f64 = 0.8;

/// What the probability is made from, each in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JobEvidence {
    /// The lowest fidelity of the reference's calls that change something, or may: not of those that only look. That of all calls
    /// where every call looks. A call that is compared with none has 0.
    pub lowest_change: f64,
    /// The lowest fidelity of all reference calls.
    pub lowest: f64,
    /// The mean fidelity of all reference calls.
    pub covered: f64,
    /// The share of extra changes: `e / (e + c)`, where `c`, at least 1, are the reference's calls that change something, or may,
    /// and `e` the predicted calls compared with none that change something; one that may counts half.
    pub extra_changes: f64,
    /// How well what both trajectories leave behind agrees; `None` where it is not known.
    pub artifacts: Option<f64>,
}

impl JobEvidence {
    /// That of a trajectory; `None` if the reference has no call. `reached_without` are the reference's calls that are compared with
    /// none and not missing.
    pub(super) fn new(
        (references, predictions): (&Calls, &Calls),
        (compared, reached_without): (&[ComparedPair], &[super::CallPlace]),
        artifacts: Option<f64>,
        read_only: &dyn Fn(&str) -> Option<bool>,
    ) -> Option<Self> {
        let role = |calls: &Calls, call: usize| {
            let tool = calls.tool(call);
            CallRole::of_tool(tool, read_only(tool))
        };
        let mut fidelities = vec![0.0; references.len()];
        for place in reached_without {
            fidelities[place.index] = SAME_OTHERWISE;
        }
        let mut is_extra = vec![true; predictions.len()];
        for pair in compared {
            fidelities[pair.reference.index] = pair.fidelity.score;
            is_extra[pair.predicted.index] = false;
        }
        let changes: Vec<f64> = (0..references.len())
            .filter(|&call| role(references, call) != CallRole::Looks)
            .map(|call| fidelities[call])
            .collect();
        let lowest = |of: &[f64]| of.iter().copied().reduce(f64::min);
        let lowest_of_all = lowest(&fidelities)?;
        let extra =
            (0..predictions.len()).filter(|&call| is_extra[call]).map(|call| match role(predictions, call) {
                CallRole::Looks => 0.0,
                CallRole::Unknown => UNKNOWN,
                CallRole::Changes => 1.0,
            });
        let (extra, needed) = (extra.sum::<f64>(), changes.len().max(1) as f64);
        Some(Self {
            lowest_change: lowest(&changes).unwrap_or(lowest_of_all),
            lowest: lowest_of_all,
            // Exactly, so that the order of calls makes no difference in the last digit.
            covered: fidelities.iter().copied().collect::<ExactSum>().value() / references.len() as f64,
            extra_changes: extra / (extra + needed),
            artifacts,
        })
    }

    /// The probability that the trajectory did its job, in (0, 1): a logistic function of the weighted sum of its numbers.
    #[must_use]
    pub fn probability(&self) -> f64 {
        use weights::{ARTIFACTS, BIAS, COVERED, EXTRA_CHANGES, LOWEST, LOWEST_CHANGE};
        let artifacts = self.artifacts.map_or(0.0, |agreement| agreement - 0.5);
        let sum = BIAS + LOWEST_CHANGE * self.lowest_change + LOWEST * self.lowest + COVERED * self.covered
            - EXTRA_CHANGES * self.extra_changes
            + ARTIFACTS * artifacts;
        1.0 / (1.0 + (-sum).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: JobEvidence =
        JobEvidence { lowest_change: 1.0, lowest: 1.0, covered: 1.0, extra_changes: 0.0, artifacts: None };

    /// The example of docs/verdict.md, computed by hand.
    #[test]
    fn the_probability_is_that_of_the_document() {
        let of = |evidence: JobEvidence| format!("{:.3}", evidence.probability());
        assert_eq!(of(RIGHT), "0.931");
        assert_eq!(of(JobEvidence { lowest_change: 0.1, lowest: 0.1, covered: 0.7, ..RIGHT }), "0.089");
        assert_eq!(of(JobEvidence { extra_changes: 0.5, ..RIGHT }), "0.701");
        assert_eq!(of(JobEvidence { artifacts: Some(1.0), ..RIGHT }), "0.978");
    }

    proptest::proptest! {
        #[test]
        fn nothing_better_lowers_it(from in proptest::array::uniform5(0.0..=1.0), at in 0..5_usize, better in 0.0..=1.0) {
            let of = |numbers: [f64; 5]| {
                let [lowest_change, lowest, covered, extra_changes, artifacts] = numbers;
                let evidence =
                    JobEvidence { lowest_change, lowest, covered, extra_changes: 1.0 - extra_changes, artifacts: Some(artifacts) };
                evidence.probability()
            };
            let mut to = from;
            to[at] = f64::max(from[at], better);
            proptest::prop_assert!(of(to) >= of(from));
            proptest::prop_assert!(of(to) > 0.0 && of(to) < 1.0);
        }
    }
}
