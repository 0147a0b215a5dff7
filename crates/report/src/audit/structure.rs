//! How the steps compare: names the facts behind step coherence, merge purity and order consistency one by one.

use std::collections::{BTreeMap, BTreeSet};

use m3_score::ExactSum;
use m3_score::metrics::{Pair, inversions};

use super::{InvertedPair, MergedStep, SplitStep, StepWeight, Structure};
use crate::MatchReport;

/// The most inverted pairs that are named; a trajectory of n matches can have n squared of them.
const NAMED_INVERSIONS: usize = 100;

/// The most matches that are searched for inverted pairs to name; all pairs are counted.
const SEARCHED_MATCHES: usize = 2_000;

/// Finds split steps, merged steps and inversions among the matches, which are in the order of the
/// reference's calls.
pub(crate) fn structure(matches: &[MatchReport]) -> Structure {
    let mut weights: BTreeMap<(usize, usize), ExactSum> = BTreeMap::new();
    let mut to: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut from: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for pair in matches {
        let (reference, predicted) = (pair.reference.step, pair.predicted.step);
        *weights.entry((reference, predicted)).or_default() += pair.similarity;
        to.entry(reference).or_default().insert(predicted);
        from.entry(predicted).or_default().insert(reference);
    }
    let several = |(step, others): (usize, BTreeSet<usize>)| {
        (others.len() > 1).then(|| (step, others.into_iter().collect::<Vec<_>>()))
    };
    let pairs: Vec<Pair> = matches
        .iter()
        .map(|pair| Pair::new(pair.reference.step, pair.predicted.step, pair.similarity))
        .collect();
    let weight = |((reference, predicted), weight): ((usize, usize), ExactSum)| {
        let weight = weight.value();
        StepWeight { reference, predicted, weight }
    };
    let split = to.into_iter().filter_map(several);
    let merged = from.into_iter().filter_map(several);
    Structure {
        weights: weights.into_iter().map(weight).collect(),
        split: split.map(|(reference, predicted)| SplitStep { reference, predicted }).collect(),
        merged: merged.map(|(predicted, reference)| MergedStep { predicted, reference }).collect(),
        inverted: inverted(matches),
        inversions: inversions(&pairs),
    }
}

/// The first pairs in opposite orders (equation 6 of M³-Bench).
fn inverted(matches: &[MatchReport]) -> Vec<InvertedPair> {
    let searched = &matches[..matches.len().min(SEARCHED_MATCHES)];
    let pairs = searched.iter().enumerate().flat_map(|(first, u)| {
        let later = searched.iter().enumerate().skip(first + 1);
        let inverted =
            later.filter(|(_, v)| u.reference.step < v.reference.step && u.predicted.step > v.predicted.step);
        inverted.map(move |(second, _)| InvertedPair { first, second })
    });
    pairs.take(NAMED_INVERSIONS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use m3_score::CallPlace;

    fn matched(steps: &[(usize, usize)]) -> Vec<MatchReport> {
        let pair = |(index, &(reference, predicted)): (usize, &(usize, usize))| MatchReport {
            tool: "t".to_owned(),
            similarity: 0.5,
            strength: "weak".to_owned(),
            reference: CallPlace { step: reference, call: 0, index },
            predicted: CallPlace { step: predicted, call: 0, index },
            compared_with: None,
            argument_fidelity: 1.0,
            wrong_arguments: Vec::new(),
            regions: None,
        };
        steps.iter().enumerate().map(pair).collect()
    }

    /// By hand: reference step 0 went to predicted steps 0 and 2; predicted step 0 holds steps 0 and 1; of
    /// the pairs, the two of (0 to 2) with (1 to 0) are in opposite orders.
    #[test]
    fn split_merged_and_inverted_are_named() {
        let found = structure(&matched(&[(0, 0), (0, 2), (0, 2), (1, 0)]));
        assert_eq!(found.split, [SplitStep { reference: 0, predicted: vec![0, 2] }]);
        assert_eq!(found.merged, [MergedStep { predicted: 0, reference: vec![0, 1] }]);
        assert_eq!(found.inversions, 2);
        assert_eq!(found.inverted[0], InvertedPair { first: 1, second: 3 });
        let weights: Vec<_> = found.weights.iter().map(|w| (w.reference, w.predicted, w.weight)).collect();
        assert_eq!(weights, [(0, 0, 0.5), (0, 2, 1.0), (1, 0, 0.5)]);
    }

    #[test]
    fn nothing_matched_has_no_structure() {
        assert_eq!(structure(&[]), Structure::default());
    }
}
