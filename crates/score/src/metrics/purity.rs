//! Merge purity: were steps that depend on one another kept apart?

use std::collections::{BTreeMap, BTreeSet};

use super::Pair;
use crate::ExactSum;

/// Equations 4 and 5 of M³-Bench: `1 - H(G | P) / ln(G_act)`, where W_ab sums the similarities of the pairs
/// between reference step a and predicted step b, G is the reference step and P the predicted step of a unit
/// of W, and G_act the number of reference steps with any.
///
/// In [0, 1]; 1 if each predicted step holds calls of one reference step, and with one active reference step;
/// 0 if nothing matched.
#[must_use]
pub fn merge_purity(pairs: &[Pair]) -> f64 {
    if pairs.is_empty() {
        return 0.0;
    }
    // By predicted step, then by reference step. Exact sums, so that the order of pairs does not matter.
    let mut weights: BTreeMap<usize, BTreeMap<usize, ExactSum>> = BTreeMap::new();
    for pair in pairs {
        *weights.entry(pair.predicted_step).or_default().entry(pair.reference_step).or_default() +=
            pair.similarity;
    }
    let active: BTreeSet<usize> = weights
        .values()
        .flat_map(|column| column.iter().filter(|(_, weight)| weight.value() > 0.0).map(|(step, _)| *step))
        .collect();
    if active.len() < 2 {
        return 1.0;
    }
    let column_sum =
        |column: &BTreeMap<usize, ExactSum>| column.values().map(|weight| weight.value()).sum::<f64>();
    let total: f64 = weights.values().map(column_sum).sum();
    let entropy: f64 = weights
        .values()
        .map(|column| {
            let sum = column_sum(column);
            let shares = column.values().map(|weight| weight.value() / sum).filter(|share| *share > 0.0);
            sum / total * shares.map(|share| -share * share.ln()).sum::<f64>()
        })
        .sum();
    (1.0 - entropy / (active.len() as f64).ln()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::pairs;
    use super::merge_purity;

    /// By hand: predicted step 0 holds weight 1 of each of two reference steps, predicted step 1 weight 2 of
    /// the second: H = 2/4 ln 2 + 2/4 * 0, G_act = 2, so 1 - (ln 2 / 2) / ln 2 = 0.5.
    #[test]
    fn a_merged_step_loses_its_share() {
        let purity = merge_purity(&pairs(&[(0, 0, 1.0), (1, 0, 1.0), (1, 1, 1.0), (1, 1, 1.0)]));
        assert!((purity - 0.5).abs() < 1e-15);
    }

    #[test]
    fn everything_in_one_step_is_impure_and_nothing_merged_is_pure() {
        assert!(merge_purity(&pairs(&[(0, 0, 0.9), (1, 0, 0.9), (2, 0, 0.9)])).abs() < 1e-15);
        assert!((merge_purity(&pairs(&[(0, 1, 0.9), (1, 0, 0.7), (2, 5, 0.8)])) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn degenerate_cases() {
        assert!(merge_purity(&[]).abs() < f64::EPSILON);
        assert!((merge_purity(&pairs(&[(2, 0, 0.7), (2, 1, 0.7)])) - 1.0).abs() < f64::EPSILON);
        assert!((merge_purity(&pairs(&[(0, 0, 0.0), (1, 0, 0.0)])) - 1.0).abs() < f64::EPSILON);
    }
}
