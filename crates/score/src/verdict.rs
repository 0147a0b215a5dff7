//! Did the trajectory do its job? A probability, from a few numbers that a reader can find in a report; `docs/verdict.md` has
//! the equation, an example and how often it is right.

/// The weight of each number, learned from executed workflows of m3's own and from `WorkBench` and tau-bench (both MIT), rounded.
/// All are at least 0, so that no better number ever lowers the probability.
mod weights {
    pub(super) const LOWEST_CHANGE: f64 = 3.9;
    pub(super) const LOWEST: f64 = 2.7;
    pub(super) const EXTRA_CHANGES: f64 = 4.1;
    pub(super) const ARTIFACTS: f64 = 2.1;
    /// The cost of a false report, somewhat more than artifacts can cost. Chosen, not learned, as no source that may be
    /// learned from has replies on both sides.
    pub(super) const WRONG_REPORT: f64 = 2.4;
    /// The weight of the answer where nothing is known to be changed: there the answer is the job. Chosen, not learned.
    pub(super) const ANSWER: f64 = 7.0;
    pub(super) const BIAS: f64 = -3.2;
}

/// The factor of all other numbers where no call of a task is known to change anything: there the reference's path is
/// one of many. Chosen, not learned: every source that may be learned from has calls that change something.
const LOOSE: f64 = 0.5;

/// The highest agreement of an answer that is wrong.
const WRONG_ANSWER: f64 = 0.5;

/// The least agreement of an answer that is right.
const RIGHT_ANSWER: f64 = 0.9;

/// The least probability at which a trajectory did its job.
const DID: f64 = 0.8;

/// The probability below which a trajectory did not do its job.
const DID_NOT: f64 = 0.2;

/// Whether a trajectory did its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobVerdict {
    /// Its probability is at least 0.8.
    Did,
    /// Its probability is below 0.2.
    DidNot,
    /// Its probability is in between.
    CannotTell,
}

impl JobVerdict {
    /// The verdict for a probability.
    #[must_use]
    pub fn new(probability: f64) -> Self {
        match probability {
            DID.. => Self::Did,
            ..DID_NOT => Self::DidNot,
            _ => Self::CannotTell,
        }
    }

    /// The name of the verdict in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Did => "did",
            Self::DidNot => "did_not",
            Self::CannotTell => "cannot_tell",
        }
    }

    /// The verdict in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Did => "did the job",
            Self::DidNot => "did not do the job",
            Self::CannotTell => "cannot tell whether it did the job",
        }
    }
}

/// The numbers that the probability is computed from, all in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JobEvidence {
    /// The lowest fidelity of the reference's calls that change something, or may; the lowest of all calls where every
    /// call only looks. A call that is compared with no call has 0.
    pub lowest_change: f64,
    /// The lowest fidelity of all reference calls.
    pub lowest: f64,
    /// The share of extra changes, `e / (e + c)`: `c`, at least 1, is the number of the reference's calls that change
    /// something, or may; `e` is the number of predicted calls that are compared with no call and change something,
    /// where one that only may counts half.
    pub extra_changes: f64,
    /// The agreement of what both trajectories leave behind; `None` where it is not known.
    pub artifacts: Option<f64>,
    /// How well the final reply agrees with the reference's; `None` where it is not known.
    pub answer: Option<f64>,
    /// Whether the job is bound to the reference's path: one of its calls is known to change something, or returned a picture.
    pub is_bound: bool,
}

impl JobEvidence {
    /// The probability that the trajectory did its job, in (0, 1): a logistic function of the weighted sum of its numbers.
    #[must_use]
    pub fn probability(&self) -> f64 {
        1.0 / (1.0 + (-self.sum()).exp())
    }

    /// The weighted sum.
    pub(super) fn sum(&self) -> f64 {
        use weights::{ANSWER, ARTIFACTS, BIAS, EXTRA_CHANGES, LOWEST, LOWEST_CHANGE, WRONG_REPORT};
        let artifacts = self.artifacts.map_or(0.0, |agreement| agreement - 0.5);
        let sum = BIAS + LOWEST_CHANGE * self.lowest_change + LOWEST * self.lowest
            - EXTRA_CHANGES * self.extra_changes
            + ARTIFACTS * artifacts;
        let answer = self.answer.map(right_answer);
        // What is changed or left behind says whether the job was done: there a right answer adds nothing, a wrong one costs.
        if self.is_bound {
            sum + answer.map_or(0.0, |answer| WRONG_REPORT * (answer - 1.0))
        } else {
            LOOSE * sum + answer.map_or(0.0, |answer| ANSWER * (answer - 0.5))
        }
    }
}

/// How far an answer with this agreement is right, in [0, 1]: 0 up to 0.5, as with a value changed or half of them
/// missing, and 1 from 0.9 on.
fn right_answer(agreement: f64) -> f64 {
    ((agreement - WRONG_ANSWER) / (RIGHT_ANSWER - WRONG_ANSWER)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: JobEvidence = JobEvidence {
        lowest_change: 1.0,
        lowest: 1.0,
        extra_changes: 0.0,
        artifacts: None,
        answer: None,
        is_bound: true,
    };

    /// The example of docs/verdict.md, computed by hand.
    #[test]
    fn the_probability_is_that_of_the_document() {
        let of = |evidence: JobEvidence| format!("{:.3}", evidence.probability());
        assert_eq!(of(RIGHT), "0.968");
        assert_eq!(of(JobEvidence { lowest_change: 0.1, lowest: 0.1, ..RIGHT }), "0.073");
        assert_eq!(of(JobEvidence { extra_changes: 0.5, ..RIGHT }), "0.794");
        assert_eq!(of(JobEvidence { artifacts: Some(1.0), ..RIGHT }), "0.988");
        assert_eq!(of(JobEvidence { is_bound: false, ..RIGHT }), "0.846");
        let answered = |agreement| JobEvidence { is_bound: false, answer: Some(agreement), ..RIGHT };
        assert_eq!(of(answered(1.0)), "0.995");
        assert_eq!(of(answered(0.3)), "0.142");
    }

    proptest::proptest! {
        #[test]
        fn nothing_better_lowers_it(from in proptest::array::uniform5(0.0..=1.0), at in 0..5_usize, better in 0.0..=1.0, is_bound: bool) {
            let of = |numbers: [f64; 5]| {
                let [lowest_change, lowest, extra_changes, artifacts, answer] = numbers;
                let evidence =
                    JobEvidence { lowest_change, lowest, extra_changes: 1.0 - extra_changes, artifacts: Some(artifacts), answer: Some(answer), is_bound };
                evidence.probability()
            };
            let mut to = from;
            to[at] = f64::max(from[at], better);
            proptest::prop_assert!(of(to) >= of(from));
            proptest::prop_assert!(of(to) > 0.0 && of(to) < 1.0);
        }
    }
}
