//! What the metrics of a set are ratios of, and the ratios.

use std::ops::{AddAssign, Mul};

use super::Profile;

/// The metrics of a set, each in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metrics {
    /// Matched pairs / reference calls.
    pub recall: f64,
    /// Matched pairs / predicted calls.
    pub precision: f64,
    /// How similar the arguments of matched calls are.
    pub argument_similarity: f64,
    /// The same over confident matches.
    pub argument_similarity_strong: f64,
    /// How far the arguments of matched calls ask for the same: the mean of their [fidelity](super::fidelity). Not part of
    /// the average.
    pub argument_fidelity: f64,
    /// The same covered: what is not matched counts as 0.
    pub argument_fidelity_covered: f64,
    /// Were calls that belong together made together?
    pub step_coherence: f64,
    /// Were steps that depend on one another kept apart?
    pub merge_purity: f64,
    /// Was what comes later done later?
    pub order_consistency: f64,
}

impl Metrics {
    /// The mean of the six alignment metrics; `argument_similarity_strong` and the fidelities are not among them.
    #[must_use]
    pub fn average(&self) -> f64 {
        let six = [
            self.recall,
            self.precision,
            self.argument_similarity,
            self.step_coherence,
            self.merge_purity,
            self.order_consistency,
        ];
        six.iter().sum::<f64>() / 6.0
    }
}

/// The sums behind the metrics, over trajectories. A [`Tally`](super::Tally) keeps them exactly; here they are
/// numbers, which can be weighted, as those who resample trajectories need.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sums {
    /// All trajectories.
    pub trajectories: f64,
    /// Trajectories without a prediction, or with one that failed or was not finished.
    pub failed: f64,
    /// Calls of the references, N_ref.
    pub reference_calls: f64,
    /// Calls of the predictions, N_pred.
    pub predicted_calls: f64,
    /// Matched pairs.
    pub matched: f64,
    /// Matched pairs of tau_strong or more.
    pub strong: f64,
    /// The similarities of the matched pairs.
    pub similarity: f64,
    /// The similarities of the strong ones.
    pub strong_similarity: f64,
    /// The fidelities of the matched pairs.
    pub fidelity: f64,
    /// N_ref r F of step coherence.
    pub coherence: f64,
    /// N_ref r F of merge purity.
    pub purity: f64,
    /// N_ref r F of order consistency.
    pub order: f64,
}

impl Sums {
    /// The metrics of the set. Without any call on either side each is the share of trajectories that did not fail (they have
    /// rightly done nothing), except that the published program gives similarities of 0; otherwise a ratio without
    /// denominator is 0, except that in the paper's profile recall is that share (nothing was missed).
    #[must_use]
    pub fn metrics(&self, profile: Profile) -> Metrics {
        // Counts of calls, or such counts with whole weights: less than one half is none.
        let ratio = |sum: f64, count: f64, without: f64| if count < 0.5 { without } else { sum / count };
        // Trajectories that are left out have failed without being among those that are counted.
        let well =
            if self.failed < 0.5 { 1.0 } else { 1.0 - self.failed / self.trajectories.max(self.failed) };
        let nothing = if self.reference_calls + self.predicted_calls < 0.5 { well } else { 0.0 };
        let nothing_missed = if profile == Profile::Paper { well } else { nothing };
        let covered = |sum: f64, without: f64| ratio(sum, self.reference_calls, without).clamp(0.0, 1.0);
        let (argument_similarity, argument_similarity_strong) = match profile {
            Profile::Paper => {
                let mean = ratio(self.strong_similarity, self.strong, nothing).clamp(0.0, 1.0);
                (mean, mean)
            }
            Profile::OpenM3Bench => (covered(self.similarity, 0.0), covered(self.strong_similarity, 0.0)),
        };
        Metrics {
            recall: ratio(self.matched, self.reference_calls, nothing_missed),
            precision: ratio(self.matched, self.predicted_calls, nothing),
            argument_similarity,
            argument_similarity_strong,
            argument_fidelity: ratio(self.fidelity, self.matched, nothing).clamp(0.0, 1.0),
            argument_fidelity_covered: covered(self.fidelity, nothing),
            step_coherence: covered(self.coherence, nothing),
            merge_purity: covered(self.purity, nothing),
            order_consistency: covered(self.order, nothing),
        }
    }

    fn zip(self, other: Self, combine: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            trajectories: combine(self.trajectories, other.trajectories),
            failed: combine(self.failed, other.failed),
            reference_calls: combine(self.reference_calls, other.reference_calls),
            predicted_calls: combine(self.predicted_calls, other.predicted_calls),
            matched: combine(self.matched, other.matched),
            strong: combine(self.strong, other.strong),
            similarity: combine(self.similarity, other.similarity),
            strong_similarity: combine(self.strong_similarity, other.strong_similarity),
            fidelity: combine(self.fidelity, other.fidelity),
            coherence: combine(self.coherence, other.coherence),
            purity: combine(self.purity, other.purity),
            order: combine(self.order, other.order),
        }
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Self) {
        *self = self.zip(other, |a, b| a + b);
    }
}

impl Mul<f64> for Sums {
    type Output = Self;

    fn mul(self, weight: f64) -> Self {
        self.zip(self, |a, _| a * weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROFILES: [Profile; 2] = [Profile::Paper, Profile::OpenM3Bench];

    /// Tasks that need no call: one that was done without any is right, one that failed is not, and a set is as right as the
    /// share of those that did not fail, also where it is resampled.
    #[test]
    fn a_failed_task_earns_nothing_where_no_call_is_needed() {
        for profile in PROFILES {
            let done = Sums { trajectories: 1.0, ..Sums::default() };
            let failed = Sums { failed: 1.0, ..done };
            // Those that are left out.
            let only_failed = Sums { failed: 3.0, ..Sums::default() };
            let mut of_fifteen = done * 14.0;
            of_fifteen += failed;
            for (sums, share) in [
                (Sums::default(), 1.0),
                (done, 1.0),
                (failed, 0.0),
                (only_failed, 0.0),
                (of_fifteen, 14.0 / 15.0),
            ] {
                let metrics = sums.metrics(profile);
                for found in
                    [metrics.recall, metrics.precision, metrics.argument_fidelity, metrics.order_consistency]
                {
                    assert!((found - share).abs() < f64::EPSILON, "{found} {share}");
                }
            }
            // Calls that nobody needed are not right because others were rightly not made.
            let metrics = Sums { predicted_calls: 2.0, ..of_fifteen }.metrics(profile);
            assert!(metrics.precision < f64::EPSILON && metrics.step_coherence < f64::EPSILON);
            let recall = if profile == Profile::Paper { 14.0 / 15.0 } else { 0.0 };
            assert!((metrics.recall - recall).abs() < f64::EPSILON);
        }
    }

    /// Where calls are needed, a failure changes nothing: what was not called is missed already.
    #[test]
    fn a_failed_task_with_calls_is_measured_by_them() {
        let counts = [1.0, 4.0, 2.0, 2.0, 1.0];
        let [trajectories, reference_calls, predicted_calls, matched, strong] = counts;
        let done =
            Sums { trajectories, reference_calls, predicted_calls, matched, strong, ..Sums::default() };
        for profile in PROFILES {
            assert_eq!(Sums { failed: 1.0, ..done }.metrics(profile), done.metrics(profile));
        }
    }
}
