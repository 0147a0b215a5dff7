//! Step coherence: were calls that belong together made together?

use std::collections::{BTreeMap, BTreeSet};

use super::Pair;

/// Equation 3 of M³-Bench: the mean over reference steps l of sc(l) = 1/k, where k is the number of distinct
/// predicted steps that l's matched calls went to, weighted by w(l), the number of l's matched calls.
///
/// In [0, 1]; 1 if no step was split; 0 if nothing matched.
#[must_use]
pub fn step_coherence(pairs: &[Pair]) -> f64 {
    let mut steps: BTreeMap<usize, (usize, BTreeSet<usize>)> = BTreeMap::new();
    for pair in pairs {
        let (weight, touched) = steps.entry(pair.reference_step).or_default();
        *weight += 1;
        touched.insert(pair.predicted_step);
    }
    if pairs.is_empty() {
        return 0.0;
    }
    let sum: f64 = steps.values().map(|(weight, touched)| *weight as f64 / touched.len() as f64).sum();
    sum / pairs.len() as f64
}

#[cfg(test)]
mod tests {
    use super::super::pairs;
    use super::step_coherence;

    /// By hand: step 0 has 3 matches in 2 predicted steps, step 1 has 1 in 1: (3/2 + 1/1) / 4.
    #[test]
    fn a_split_step_counts_by_its_parts() {
        let coherence = step_coherence(&pairs(&[(0, 0, 1.0), (0, 0, 1.0), (0, 2, 1.0), (1, 1, 1.0)]));
        assert!((coherence - 0.625).abs() < 1e-15);
    }

    #[test]
    fn degenerate_cases() {
        assert!(step_coherence(&[]).abs() < f64::EPSILON);
        assert!((step_coherence(&pairs(&[(3, 9, 0.6)])) - 1.0).abs() < f64::EPSILON);
    }
}
