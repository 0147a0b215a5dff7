//! Agreement of two raters: [`percent_agreement`] and [`cohen_kappa`].
//!
//! Cohen (1960), "A coefficient of agreement for nominal scales"; Cohen (1968), "Weighted kappa: nominal scale agreement
//! with provision for scaled disagreement or partial credit".

/// How much two categories disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// All different categories disagree equally.
    None,
    /// Categories disagree by their distance.
    Linear,
    /// Categories disagree by the square of their distance.
    Quadratic,
}

impl Weights {
    fn disagreement(self, first: usize, second: usize) -> f64 {
        let distance = first.abs_diff(second) as f64;
        match self {
            Self::None => f64::from(u8::from(first != second)),
            Self::Linear => distance,
            Self::Quadratic => distance.powi(2),
        }
    }
}

/// The share of subjects, in [0, 1], that two raters put into the same category. `None` without subjects.
///
/// The share means little if one category is rare: always "pass" agrees in nine of ten with a rater who passes nine.
#[must_use]
pub fn percent_agreement(pairs: &[(usize, usize)]) -> Option<f64> {
    let agreed = pairs.iter().filter(|(first, second)| first == second).count();
    (!pairs.is_empty()).then(|| agreed as f64 / pairs.len() as f64)
}

/// Kappa of two raters: at most 1; 0 if they agree as much as by chance. `pairs` has the two categories of each
/// subject, counted from 0; with weights, their order matters.
///
/// `None` without subjects, or if chance alone leaves no disagreement because both raters use a single category.
#[must_use]
pub fn cohen_kappa(pairs: &[(usize, usize)], weights: Weights) -> Option<f64> {
    kappa(pairs.iter().map(|pair| (*pair, 1.0)), |first, second| weights.disagreement(first, second))
}

/// [`cohen_kappa`] of pairs of categories, each with its number of occurrences.
#[must_use]
pub fn cohen_kappa_of_counts(counts: &[((usize, usize), f64)], weights: Weights) -> Option<f64> {
    let there = counts.iter().copied().filter(|(_, count)| *count > 0.0);
    kappa(there, |first, second| weights.disagreement(first, second))
}

/// One minus the observed over the expected disagreement (Cohen 1968, equation 8).
fn kappa(
    counts: impl Iterator<Item = ((usize, usize), f64)> + Clone,
    disagreement: impl Fn(usize, usize) -> f64,
) -> Option<f64> {
    let categories = 1 + counts.clone().map(|((first, second), _)| first.max(second)).max()?;
    let mut margins = vec![[0.0; 2]; categories];
    let (mut observed, mut total) = (0.0, 0.0);
    for ((first, second), count) in counts {
        margins[first][0] += count;
        margins[second][1] += count;
        observed += count * disagreement(first, second);
        total += count;
    }
    let used = |rater: usize| {
        let margins = &margins;
        (0..categories).filter(move |&category| margins[category][rater] > 0.0)
    };
    let mut expected = 0.0;
    for first in used(0) {
        for second in used(1) {
            expected += margins[first][0] * margins[second][1] * disagreement(first, second);
        }
    }
    expected /= total;
    (expected > 0.0).then(|| 1.0 - observed / expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::near;

    /// The pairs behind a square table of counts.
    fn pairs(table: &[&[usize]]) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (first, row) in table.iter().enumerate() {
            for (second, count) in row.iter().enumerate() {
                pairs.extend(std::iter::repeat_n((first, second), *count));
            }
        }
        pairs
    }

    /// Cohen (1968), table 1: 200 patients, shares .44 .07 .09 / .05 .20 .05 / .01 .03 .06.
    const COHEN_1968: [&[usize]; 3] = [&[88, 14, 18], &[10, 40, 10], &[2, 6, 12]];

    #[test]
    fn kappa_is_that_of_cohens_own_table() {
        // Agreement .70, by chance .60 x .50 + .30 x .30 + .10 x .20 = .41: (.70 - .41) / .59 = .492 in the paper.
        let pairs = pairs(&COHEN_1968);
        near(percent_agreement(&pairs), 0.70, 1e-12);
        near(cohen_kappa(&pairs, Weights::None), 0.29 / 0.59, 1e-12);
        // With the paper's disagreements (1, 3 and 6) it is .348.
        let of_the_paper = [[0.0, 1.0, 3.0], [1.0, 0.0, 6.0], [3.0, 6.0, 0.0]];
        let counted = pairs.iter().map(|pair| (*pair, 1.0));
        near(kappa(counted, |first, second| of_the_paper[first][second]), 0.348, 5e-4);
    }

    #[test]
    fn fifty_applications_and_two_readers() {
        // The example of the article "Cohen's kappa" of Wikipedia: 0.70 observed, 0.50 by chance.
        near(cohen_kappa(&pairs(&[&[20, 5], &[10, 15]]), Weights::None), 0.4, 1e-12);
    }

    #[test]
    fn weights_of_an_order_forgive_neighbours() {
        // By hand, from Cohen's table. Linear: observed .07 + 2 x .09 + .05 + .05 + 2 x .01 + .03 = .40; expected .18
        // + 2 x .12 + .15 + .06 + 2 x .05 + .03 = .76. Quadratic: .60, and .18 + 4 x .12 + .15 + .06 + 4 x .05 + .03
        // = 1.10.
        let pairs = pairs(&COHEN_1968);
        near(cohen_kappa(&pairs, Weights::Linear), 1.0 - 0.40 / 0.76, 1e-12);
        near(cohen_kappa(&pairs, Weights::Quadratic), 1.0 - 0.60 / 1.10, 1e-12);
        // With two categories, weights make no difference.
        let two = self::pairs(&[&[20, 5], &[10, 15]]);
        for weights in [Weights::Linear, Weights::Quadratic] {
            near(cohen_kappa(&two, weights), 0.4, 1e-12);
        }
    }

    #[test]
    fn counts_stand_for_that_many_pairs() {
        let mut counts = Vec::new();
        for (first, row) in COHEN_1968.iter().enumerate() {
            counts.extend(row.iter().enumerate().map(|(second, count)| ((first, second), *count as f64)));
        }
        // A category that never occurs changes nothing.
        counts.push(((7, 7), 0.0));
        near(cohen_kappa_of_counts(&counts, Weights::None), 0.29 / 0.59, 1e-12);
        near(cohen_kappa_of_counts(&counts, Weights::Linear), 1.0 - 0.40 / 0.76, 1e-12);
        assert_eq!(cohen_kappa_of_counts(&[((0, 0), 0.0)], Weights::None), None);
    }

    #[test]
    fn raters_who_always_say_the_same_have_no_kappa() {
        assert_eq!(cohen_kappa(&[(1, 1), (1, 1)], Weights::None), None);
        assert_eq!(cohen_kappa(&[], Weights::None), None);
        assert_eq!(percent_agreement(&[]), None);
        near(percent_agreement(&[(1, 1), (1, 1)]), 1.0, 0.0);
        // One rater with a single category agrees with the other only by chance.
        near(cohen_kappa(&[(0, 0), (0, 1), (0, 0), (0, 1)], Weights::None), 0.0, 1e-12);
    }
}
