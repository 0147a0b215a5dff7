//! Order consistency: were later calls made later?

use std::collections::BTreeMap;

use super::Pair;

/// Equation 6 of M³-Bench: `1 - inversions / Q` over the Q unordered pairs of matches whose reference steps
/// differ and whose predicted steps differ; an inversion has them in opposite orders.
///
/// In [0, 1]; 1 if nothing can be compared (Q = 0) but something matched; 0 if nothing matched. Time
/// n log n in the number of matches.
#[must_use]
pub fn order_consistency(pairs: &[Pair]) -> f64 {
    if pairs.is_empty() {
        return 0.0;
    }
    let comparable = comparable(pairs);
    if comparable == 0 { 1.0 } else { 1.0 - inversions(pairs) as f64 / comparable as f64 }
}

/// The published scorer's c_pair: of all pairs of reference calls in different steps, the share in which both calls
/// are matched. `calls_of_steps` is the number of calls of each reference step. 0 if there are no such pairs.
#[must_use]
pub fn ordered_pair_coverage(pairs: &[Pair], calls_of_steps: &[u64]) -> f64 {
    let matched = counts(pairs.iter().map(|pair| pair.reference_step));
    let all = cross_pairs(calls_of_steps.iter().copied());
    if all == 0 { 0.0 } else { cross_pairs(matched.into_values()) as f64 / all as f64 }
}

/// The number of pairs of items in different groups, from the sizes of the groups.
fn cross_pairs(sizes: impl Iterator<Item = u64>) -> u64 {
    let (total, within) = sizes.fold((0, 0), |(total, within), size| (total + size, within + choose_2(size)));
    choose_2(total) - within
}

fn choose_2(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

fn counts<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, u64> {
    let mut counts = BTreeMap::new();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
    counts
}

/// The number of pairs of matches with equal keys.
fn equal<K: Ord>(pairs: &[Pair], key: impl Fn(&Pair) -> K) -> u64 {
    counts(pairs.iter().map(key)).into_values().map(choose_2).sum()
}

/// Q: all pairs, minus those with equal reference steps, minus those with equal predicted steps, plus those that were
/// subtracted twice.
fn comparable(pairs: &[Pair]) -> u64 {
    choose_2(pairs.len() as u64) + equal(pairs, |pair| (pair.reference_step, pair.predicted_step))
        - equal(pairs, |pair| pair.reference_step)
        - equal(pairs, |pair| pair.predicted_step)
}

/// The number of inversions in equation 6: pairs of matches in opposite orders. By ascending reference step, each
/// match counts the earlier ones with a later predicted step, through a Fenwick tree over the predicted steps.
#[must_use]
pub fn inversions(pairs: &[Pair]) -> u64 {
    let mut predicted: Vec<usize> = pairs.iter().map(|pair| pair.predicted_step).collect();
    predicted.sort_unstable();
    predicted.dedup();
    let mut by_reference: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for pair in pairs {
        let rank = predicted.partition_point(|step| *step < pair.predicted_step);
        by_reference.entry(pair.reference_step).or_default().push(rank);
    }
    let mut tree = vec![0_u64; predicted.len() + 1];
    let (mut seen, mut inversions) = (0, 0);
    for ranks in by_reference.into_values() {
        // Matches of the same reference step are not compared with one another: all are counted before any is added.
        inversions += ranks.iter().map(|&rank| seen - prefix(&tree, rank + 1)).sum::<u64>();
        for &rank in &ranks {
            add(&mut tree, rank + 1);
            seen += 1;
        }
    }
    inversions
}

/// The number of entries at positions 1..=`end`.
fn prefix(tree: &[u64], end: usize) -> u64 {
    let mut sum = 0;
    let mut at = end;
    while at > 0 {
        sum += tree[at];
        at &= at - 1;
    }
    sum
}

fn add(tree: &mut [u64], position: usize) {
    let mut at = position;
    while at < tree.len() {
        tree[at] += 1;
        at += at & at.wrapping_neg();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Pair, pairs};
    use super::*;

    /// By hand: (0,1) and (1,0) are inverted; (2,2) is in order with both: Q = 3, one inversion.
    #[test]
    fn an_inversion_counts_once() {
        let consistency = order_consistency(&pairs(&[(0, 1, 1.0), (1, 0, 1.0), (2, 2, 1.0)]));
        assert!((consistency - 2.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn degenerate_cases() {
        assert!(order_consistency(&[]).abs() < f64::EPSILON);
        assert!((order_consistency(&pairs(&[(0, 0, 1.0)])) - 1.0).abs() < f64::EPSILON);
        // Same reference step, and same predicted step: nothing can be compared.
        assert!(
            (order_consistency(&pairs(&[(0, 0, 1.0), (0, 1, 1.0), (1, 1, 1.0)])) - 1.0).abs() < f64::EPSILON
        );
        assert!(ordered_pair_coverage(&pairs(&[(0, 0, 1.0)]), &[2]).abs() < f64::EPSILON);
        // Steps of 2 and 1 calls have 2 cross pairs; one call of each matched gives 1.
        assert!(
            (ordered_pair_coverage(&pairs(&[(0, 0, 1.0), (1, 1, 1.0)]), &[2, 1]) - 0.5).abs() < f64::EPSILON
        );
    }

    /// Compared with equation 6 computed pair by pair.
    #[test]
    fn agrees_with_counting_pair_by_pair() {
        let mut seed = 99_u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from((seed >> 33) % below).unwrap()
        };
        for _ in 0..200 {
            let size = random(12);
            let matches: Vec<Pair> = (0..size)
                .map(|_| Pair { reference_step: random(5), predicted_step: random(5), similarity: 1.0 })
                .collect();
            let (mut q, mut inverted) = (0, 0);
            for (index, u) in matches.iter().enumerate() {
                for v in &matches[index + 1..] {
                    let by_reference = u.reference_step.cmp(&v.reference_step) as i8;
                    let by_prediction = u.predicted_step.cmp(&v.predicted_step) as i8;
                    q += u64::from(by_reference * by_prediction != 0);
                    inverted += u64::from(by_reference * by_prediction < 0);
                }
            }
            assert_eq!((comparable(&matches), inversions(&matches)), (q, inverted), "{matches:?}");
        }
    }
}
