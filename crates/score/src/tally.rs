//! From alignments to numbers: one definition for a trajectory, a type of task and a whole set.
//!
//! Every metric of a set is a ratio of sums over its trajectories. A [`Tally`] holds those sums, so the
//! metrics of one trajectory are those of a set with nothing else in it.

use std::ops::AddAssign;

use super::calls::Calls;
use super::fidelity::CallFidelity;
use super::matching::Matching;
use super::metrics::{Pair, merge_purity, order_consistency, ordered_pair_coverage, step_coherence};
use super::{ExactSum, Metrics, Profile, Sums};

/// Sums over trajectories. Adding tallies in any order gives the same tally.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of trajectories.
    pub trajectories: u64,
    /// Those of them without a prediction, or with one that failed or was not finished.
    pub failed: u64,
    /// The calls of their references, N_ref.
    pub reference_calls: u64,
    /// The calls of their predictions, N_pred.
    pub predicted_calls: u64,
    /// The matched pairs.
    pub matched: u64,
    /// The matched pairs with a similarity of tau_strong or more.
    pub strong: u64,
    /// The steps of the predictions, those without calls included.
    pub predicted_steps: u64,
    similarity: ExactSum,
    strong_similarity: ExactSum,
    fidelity: ExactSum,
    /// N_ref r F = matches x F of step coherence, merge purity and order consistency.
    coherence: ExactSum,
    purity: ExactSum,
    order: ExactSum,
}

impl Tally {
    /// The tally of one trajectory; `fidelities` are those of its matches, `has_failed` says that it has no prediction or
    /// one that failed.
    #[must_use]
    pub fn of(
        has_failed: bool,
        matching: &Matching,
        fidelities: &[CallFidelity],
        references: &Calls,
        predictions: &Calls,
        profile: Profile,
    ) -> Self {
        let pairs: Vec<Pair> = matching
            .matches
            .iter()
            .map(|pair| Pair::new(pair.reference.step, pair.predicted.step, pair.similarity))
            .collect();
        let strong = || matching.matches.iter().filter(|pair| pair.is_strong);
        let matched = pairs.len() as f64;
        let order = match profile {
            Profile::Paper => matched * order_consistency(&pairs),
            Profile::OpenM3Bench => {
                let coverage = ordered_pair_coverage(&pairs, &references.calls_of_steps());
                references.len() as f64 * order_consistency(&pairs) * coverage
            }
        };
        Self {
            trajectories: 1,
            failed: u64::from(has_failed),
            reference_calls: references.len() as u64,
            predicted_calls: predictions.len() as u64,
            matched: pairs.len() as u64,
            strong: strong().count() as u64,
            predicted_steps: predictions.steps() as u64,
            similarity: pairs.iter().map(|pair| pair.similarity).collect(),
            strong_similarity: strong().map(|pair| pair.similarity).collect(),
            fidelity: fidelities.iter().map(|fidelity| fidelity.score).collect(),
            coherence: (matched * step_coherence(&pairs)).into(),
            purity: (matched * merge_purity(&pairs)).into(),
            order: order.into(),
        }
    }

    /// The sums, as numbers that can be weighted.
    #[must_use]
    pub fn sums(&self) -> Sums {
        Sums {
            trajectories: self.trajectories as f64,
            failed: self.failed as f64,
            reference_calls: self.reference_calls as f64,
            predicted_calls: self.predicted_calls as f64,
            matched: self.matched as f64,
            strong: self.strong as f64,
            similarity: self.similarity.value(),
            strong_similarity: self.strong_similarity.value(),
            fidelity: self.fidelity.value(),
            coherence: self.coherence.value(),
            purity: self.purity.value(),
            order: self.order.value(),
        }
    }

    /// The metrics of the set.
    #[must_use]
    pub fn metrics(&self, profile: Profile) -> Metrics {
        self.sums().metrics(profile)
    }

    /// Predicted steps per trajectory.
    #[must_use]
    pub fn average_steps(&self) -> f64 {
        self.per_trajectory(self.predicted_steps)
    }

    /// Predicted calls per trajectory.
    #[must_use]
    pub fn average_calls(&self) -> f64 {
        self.per_trajectory(self.predicted_calls)
    }

    fn per_trajectory(&self, count: u64) -> f64 {
        if self.trajectories == 0 { 0.0 } else { count as f64 / self.trajectories as f64 }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.trajectories += other.trajectories;
        self.failed += other.failed;
        self.reference_calls += other.reference_calls;
        self.predicted_calls += other.predicted_calls;
        self.matched += other.matched;
        self.strong += other.strong;
        self.predicted_steps += other.predicted_steps;
        self.similarity += other.similarity;
        self.strong_similarity += other.strong_similarity;
        self.fidelity += other.fidelity;
        self.coherence += other.coherence;
        self.purity += other.purity;
        self.order += other.order;
    }
}
