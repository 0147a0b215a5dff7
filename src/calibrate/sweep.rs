//! Agreement of thresholds with labels: [`Sweep`].
//!
//! A pair is called strong from the strong threshold on, medium from the weak one on, and weak below, as in `m3
//! score`. Only gaps between the similarities of the data make a difference, so the grid has one value for each gap:
//! the default threshold (0.6 or 0.8, the calibration of the paper) if it lies in the gap, else the shortest number
//! in it.
//!
//! The number of labels that two thresholds agree with is a sum of one part for each threshold, so the best pair is
//! found in one pass over the grid, which makes ten thousand resamples cheap.

use m3_judge::labels::Label;
use m3_score::{Thresholds, is_strong};

/// A pair of calls: its similarity and its majority label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LabelledPair {
    /// The similarity, in [-1, 1].
    pub(crate) similarity: f64,
    /// The majority label.
    pub(crate) label: Label,
}

/// A pair of thresholds, and how many labels it agrees with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pick {
    /// The weak threshold.
    pub(crate) weak: f64,
    /// The strong threshold.
    pub(crate) strong: f64,
    /// The share of pairs whose label it agrees with, in [0, 1].
    pub(crate) agreement: f64,
}

/// Labelled pairs sorted by similarity, and the grid between them.
pub(crate) struct Sweep {
    /// The pairs by similarity, with their index in the caller's list.
    sorted: Vec<(LabelledPair, usize)>,
    /// The grid: for each threshold, the number of pairs below it, and the values that represent it.
    gaps: Vec<Gap>,
}

#[derive(Debug, Clone, Copy)]
struct Gap {
    below: usize,
    weak: f64,
    strong: f64,
    /// A weak threshold in this gap that is below the strong one in the same gap.
    weak_below_strong: Option<f64>,
}

/// The label that two thresholds give to a similarity.
pub(super) fn called(similarity: f64, weak: f64, strong: f64) -> Label {
    if is_strong(similarity, strong) {
        Label::Strong
    } else if similarity >= weak {
        Label::Medium
    } else {
        Label::Weak
    }
}

impl Sweep {
    /// Sorts the pairs. Similarities that are not numbers count as 0.
    pub(crate) fn new(pairs: &[LabelledPair]) -> Self {
        let clean = |pair: &LabelledPair| LabelledPair {
            similarity: if pair.similarity.is_nan() { 0.0 } else { pair.similarity },
            ..*pair
        };
        let mut sorted: Vec<(LabelledPair, usize)> =
            pairs.iter().enumerate().map(|(index, pair)| (clean(pair), index)).collect();
        sorted.sort_by(|(a, _), (b, _)| a.similarity.total_cmp(&b.similarity));
        let gaps = gaps(&sorted.iter().map(|(pair, _)| pair.similarity).collect::<Vec<_>>());
        Self { sorted, gaps }
    }

    /// The share of pairs whose label these thresholds agree with; `None` without pairs.
    pub(crate) fn agreement(&self, weak: f64, strong: f64) -> Option<f64> {
        let met = |(pair, _): &&(LabelledPair, usize)| called(pair.similarity, weak, strong) == pair.label;
        let met = self.sorted.iter().filter(met).count();
        (!self.sorted.is_empty()).then(|| met as f64 / self.sorted.len() as f64)
    }

    /// The thresholds that agree with most labels. Of equally good ones those nearest to 0.6 and 0.8, by the sum of
    /// both distances; of equally near ones the lower. `None` without pairs.
    pub(crate) fn best(&self) -> Option<Pick> {
        self.best_of(&vec![1; self.sorted.len()])
    }

    /// The thresholds that agree with most labels if each pair, by its index in the caller's list, counts this often.
    pub(crate) fn best_of(&self, counts: &[u32]) -> Option<Pick> {
        let default = Thresholds::default();
        let weight = |index: usize| f64::from(counts.get(index).copied().unwrap_or_default());
        let total: f64 = self.sorted.iter().map(|(_, index)| weight(*index)).sum();
        if total <= 0.0 {
            return None;
        }
        // The counts of pairs below the current gap.
        let (mut weak, mut medium, mut strong, mut seen) = (0.0, 0.0, 0.0, 0);
        let all_strong: f64 = self
            .sorted
            .iter()
            .filter(|(pair, _)| pair.label == Label::Strong)
            .map(|(_, index)| weight(*index))
            .sum();
        let mut best_weak: Option<(Score, f64)> = None;
        let mut best: Option<(Score, f64, f64)> = None;
        for gap in &self.gaps {
            while seen < gap.below {
                let (pair, index) = self.sorted[seen];
                *match pair.label {
                    Label::Weak => &mut weak,
                    Label::Medium => &mut medium,
                    Label::Strong => &mut strong,
                } += weight(index);
                seen += 1;
            }
            // A weak threshold here agrees with weak pairs below it, and no longer with medium ones.
            let as_weak = Score { met: weak - medium, distance: (gap.weak - default.weak()).abs() };
            let as_strong =
                Score { met: medium + all_strong - strong, distance: (gap.strong - default.strong()).abs() };
            let mut offer = |lower: Score, weak: f64| {
                let score =
                    Score { met: lower.met + as_strong.met, distance: lower.distance + as_strong.distance };
                if best.as_ref().is_none_or(|(best, ..)| score.is_better_than(best)) {
                    best = Some((score, weak, gap.strong));
                }
            };
            if let Some((lower, weak)) = best_weak {
                offer(lower, weak);
            }
            // If both are in the same gap, no pair is called medium.
            if let Some(weak) = gap.weak_below_strong {
                offer(Score { met: as_weak.met, distance: (weak - default.weak()).abs() }, weak);
            }
            if best_weak.as_ref().is_none_or(|(best, _)| as_weak.is_better_than(best)) {
                best_weak = Some((as_weak, gap.weak));
            }
        }
        best.map(|(score, weak, strong)| Pick { weak, strong, agreement: score.met / total })
    }

    /// The share of pairs that were not drawn whose label these thresholds agree with.
    pub(crate) fn agreement_of_rest(&self, counts: &[u32], pick: &Pick) -> Option<f64> {
        let rest = self.sorted.iter().filter(|(_, index)| counts.get(*index).is_none_or(|count| *count == 0));
        let (mut met, mut all) = (0_u32, 0_u32);
        for (pair, _) in rest {
            all += 1;
            met += u32::from(called(pair.similarity, pick.weak, pick.strong) == pair.label);
        }
        (all > 0).then(|| f64::from(met) / f64::from(all))
    }
}

/// The quality of a threshold.
#[derive(Debug, Clone, Copy)]
struct Score {
    /// The number of labels that the threshold agrees with, up to a constant.
    met: f64,
    /// The distance from the default.
    distance: f64,
}

impl Score {
    fn is_better_than(&self, other: &Self) -> bool {
        // Counts are whole numbers, distances may differ by rounding.
        self.met > other.met || (self.met >= other.met && self.distance < other.distance - 1e-12)
    }
}

/// One value for each gap between sorted similarities: below the lowest, between neighbours, above the highest.
/// Thresholds are in [0, 1], so gaps outside are left out.
fn gaps(similarities: &[f64]) -> Vec<Gap> {
    let default = Thresholds::default();
    let mut gaps = Vec::new();
    let mut push = |below: usize, after: f64, up_to: f64| {
        // A threshold t calls pairs strong from t on: it must be above `after` and at most `up_to`.
        let (after, up_to) = (after.max(-f64::MIN_POSITIVE), up_to.min(1.0));
        if after < up_to && up_to >= 0.0 {
            let is_in = |wanted: f64| wanted > after && wanted <= up_to;
            let weak = if is_in(default.weak()) { default.weak() } else { shortest(after, up_to) };
            // Above 0, so that a weak threshold fits below it.
            let strong = if is_in(default.strong()) {
                default.strong()
            } else {
                shortest(after.max(0.0).min(up_to), up_to)
            };
            let weak_below_strong = if weak < strong {
                Some(weak)
            } else {
                (strong > 0.0).then(|| shortest(after, f64::midpoint(after.max(0.0), strong)))
            };
            gaps.push(Gap { below, weak, strong, weak_below_strong });
        }
    };
    let mut after = f64::NEG_INFINITY;
    for (index, &similarity) in similarities.iter().enumerate() {
        if similarity > after {
            push(index, after, similarity);
            after = similarity;
        }
    }
    push(similarities.len(), after, f64::INFINITY);
    gaps
}

/// The number in (after, up to] with the fewest decimals, of these the one nearest to the middle.
fn shortest(after: f64, up_to: f64) -> f64 {
    let middle = f64::midpoint(after.max(0.0), up_to);
    for decimals in 1..=12 {
        let scale = 10_f64.powi(decimals);
        let (low, high) = ((after * scale).floor() + 1.0, (up_to * scale).floor());
        if low <= high {
            let value = (middle * scale).round().clamp(low, high) / scale;
            if value > after && value <= up_to {
                return value;
            }
        }
    }
    up_to
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(pairs: &[(f64, Label)]) -> Vec<LabelledPair> {
        pairs.iter().map(|&(similarity, label)| LabelledPair { similarity, label }).collect()
    }

    use Label::{Medium, Strong, Weak};

    #[test]
    fn the_best_pair_is_known_by_construction() {
        // Weak up to 0.42, medium from 0.48 to 0.88, strong from 0.93: every weak threshold in (0.42, 0.48] with
        // every strong one in (0.88, 0.93] agrees with all. Neither default is among them; the shortest numbers
        // nearest to the middle are 0.45 and 0.9.
        let pairs = [
            (0.1, Weak),
            (0.42, Weak),
            (0.48, Medium),
            (0.6, Medium),
            (0.88, Medium),
            (0.93, Strong),
            (1.0, Strong),
        ];
        let best = Sweep::new(&labelled(&pairs)).best().unwrap();
        assert_eq!(best, Pick { weak: 0.45, strong: 0.9, agreement: 1.0 });
        // If the defaults are as good as any, they are chosen.
        let pairs = [(0.5, Weak), (0.7, Medium), (0.9, Strong)];
        assert_eq!(
            Sweep::new(&labelled(&pairs)).best().unwrap(),
            Pick { weak: 0.6, strong: 0.8, agreement: 1.0 }
        );
    }

    #[test]
    fn a_label_that_nothing_can_meet_costs_its_share() {
        // By hand: no thresholds agree with the strong pair at 0.3, but all others can be right.
        let pairs = [(0.2, Weak), (0.3, Strong), (0.5, Weak), (0.7, Medium), (0.9, Strong)];
        let sweep = Sweep::new(&labelled(&pairs));
        assert_eq!(sweep.best().unwrap(), Pick { weak: 0.6, strong: 0.8, agreement: 0.8 });
        assert_eq!(sweep.agreement(0.6, 0.8), Some(0.8));
        assert_eq!(sweep.agreement(0.0, 0.1), Some(0.4));
    }

    #[test]
    fn the_walk_finds_what_trying_all_finds() {
        use rand::rngs::ChaCha8Rng;
        use rand::{RngExt, SeedableRng};
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for _ in 0..300 {
            let count = random.random_range(1..12);
            let pairs: Vec<LabelledPair> = (0..count)
                .map(|_| LabelledPair {
                    similarity: f64::from(random.random_range(-2..=20)) / 20.0,
                    label: [Weak, Medium, Strong][random.random_range(0..3)],
                })
                .collect();
            let sweep = Sweep::new(&pairs);
            let best = sweep.best().unwrap();
            assert_eq!(
                sweep.agreement(best.weak, best.strong).map(|a| (a * 1e9).round()),
                Some((best.agreement * 1e9).round())
            );
            assert!(
                best.weak < best.strong && (0.0..=1.0).contains(&best.weak) && best.strong <= 1.0,
                "{best:?}"
            );
            let all = (0..=40).flat_map(|weak| (weak + 1..=40).map(move |strong| (weak, strong)));
            let most = all
                .filter_map(|(weak, strong)| {
                    sweep.agreement(f64::from(weak) / 40.0, f64::from(strong) / 40.0)
                })
                .fold(0.0, f64::max);
            assert!(best.agreement >= most - 1e-12, "{pairs:?}");
        }
    }

    #[test]
    fn without_medium_labels_one_threshold_is_enough() {
        let pairs = [(0.2, Weak), (0.7, Weak), (0.75, Strong), (0.9, Strong)];
        let best = Sweep::new(&labelled(&pairs)).best().unwrap();
        assert!((best.agreement - 1.0).abs() < 1e-12);
        assert!(best.weak > 0.7 && best.weak < best.strong && best.strong <= 0.75, "{best:?}");
    }

    #[test]
    fn without_pairs_there_is_no_best() {
        assert_eq!(Sweep::new(&[]).best(), None);
        assert_eq!(Sweep::new(&[]).agreement(0.6, 0.8), None);
        assert!(Sweep::new(&labelled(&[(f64::NAN, Weak)])).best().is_some());
    }
}
