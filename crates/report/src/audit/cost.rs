//! How much each trajectory lowers the average of its set.

use m3_score::{Metric, Profile, WeightedSums};

/// Costs are rounded to one part of this, so that equal trajectories have equal costs.
const PARTS: f64 = 1e12;

/// The cost of each trajectory: the average of the others minus the average of all; 0 for a single one.
#[must_use]
pub fn costs(sums: &[WeightedSums], profile: Profile) -> Vec<f64> {
    let after = sums_after(sums);
    let all = after.first().copied().unwrap_or_default();
    if sums.len() < 2 {
        return vec![0.0; sums.len()];
    }
    let average = all.metrics(profile)[Metric::Average];
    let mut before = WeightedSums::default();
    let cost = |(own, rest): (&WeightedSums, &WeightedSums)| {
        // Adds the sums before and after the trajectory. Subtracting its own sums from the total would lose digits.
        let mut others = before;
        others += *rest;
        before += *own;
        let cost = others.metrics(profile)[Metric::Average] - average;
        // Adding zero turns a negative zero into zero.
        (cost * PARTS).round() / PARTS + 0.0
    };
    sums.iter().zip(&after[1..]).map(cost).collect()
}

/// The sums of each trajectory and all after it, and an empty sum at the end.
fn sums_after(sums: &[WeightedSums]) -> Vec<WeightedSums> {
    let mut after = vec![WeightedSums::default(); sums.len() + 1];
    for index in (0..sums.len()).rev() {
        after[index] = sums[index];
        let rest = after[index + 1];
        after[index] += rest;
    }
    after
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
