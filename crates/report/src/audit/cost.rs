//! How much each trajectory lowers the average of its set.

use m3_score::{Metric, Profile, WeightedSums};
use m3_stats::leave_one_out;

/// Costs are rounded to one part of this, so that equal trajectories have equal costs.
const PARTS: f64 = 1e12;

/// The cost of each trajectory: the average of the others minus the average of all; 0 for a single one.
#[must_use]
pub fn costs(sums: &[WeightedSums], profile: Profile) -> Vec<f64> {
    if sums.len() < 2 {
        return vec![0.0; sums.len()];
    }
    let average = |sums: WeightedSums| sums.metrics(profile)[Metric::Average];
    let mut all = WeightedSums::default();
    // From the last to the first, as sums without one trajectory are added: the order decides the last digits.
    sums.iter().rev().for_each(|own| all += *own);
    let all = average(all);
    // Adding zero turns a negative zero into zero.
    let cost = |others| ((average(others) - all) * PARTS).round() / PARTS + 0.0;
    leave_one_out(sums).map(cost).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trajectory with one reference call and one predicted call, matched or not: only recall and precision differ.
    fn trajectory(matched: f64) -> WeightedSums {
        WeightedSums { reference_calls: 1.0, predicted_calls: 1.0, matched, ..WeightedSums::default() }
    }

    #[test]
    fn the_only_trajectory_costs_nothing() {
        assert_eq!(costs(&[trajectory(0.0)], Profile::Paper), [0.0]);
        assert!(costs(&[], Profile::Paper).is_empty());
    }

    /// By hand: recall and precision are 2 / 3 for all, 1 / 2 without a good one, 1 without the poor one; the average
    /// is over six metrics.
    #[test]
    fn costs_are_what_the_others_gain() {
        let found = costs(&[1.0, 0.0, 1.0].map(trajectory), Profile::Paper);
        let (good, poor) = ((0.5 - 2.0 / 3.0) * 2.0 / 6.0, (1.0 - 2.0 / 3.0) * 2.0 / 6.0);
        for (found, expected) in found.iter().zip([good, poor, good]) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        assert_eq!(found[0].to_bits(), found[2].to_bits());
    }
}
