//! Decides whether there are enough labels to choose thresholds: [`Advice`].

use m3_judge::labels::Label;
use m3_score::Thresholds;
use m3_stats::{Draws, LEVEL, percentiles, resampled};
use m3_support::text::counted;

use super::sweep::{LabelledPair, Pick};

/// With fewer labelled pairs, a share of them is known no more precisely than to a fifth (1 / √20, half the width of
/// its interval).
const FEWEST: usize = 20;

/// Thresholds that can be moved this far without changing any label are not well determined.
const WIDE: f64 = 0.1;

/// The assessment of the thresholds that agree with most labels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Advice {
    /// How often, of two pairs with different labels, the pair with the higher label is more similar; a tie counts
    /// half.
    pub(super) concordance: Option<f64>,
    /// The interval of the concordance.
    pub(super) interval: Option<(f64, f64)>,
    /// The reasons to keep the default thresholds; empty if the labels are sufficient.
    pub(super) reasons: Vec<String>,
    /// What the labels leave open.
    pub(super) warnings: Vec<String>,
}

impl Advice {
    pub(super) fn new(pairs: &[LabelledPair], best: &Pick, draws: &Draws) -> Self {
        let mut sorted: Vec<usize> = (0..pairs.len()).collect();
        sorted.sort_by(|&a, &b| pairs[a].similarity.total_cmp(&pairs[b].similarity));
        let of = |counts: &[u32]| concordance(pairs, &sorted, counts);
        let value = of(&vec![1; pairs.len()]);
        let values = resampled(pairs.len(), |counts| [of(counts).unwrap_or(f64::NAN)], draws);
        let interval = percentiles(values.into_iter().map(|[value]| value), LEVEL);
        let mut reasons = Vec::new();
        if pairs.len() < FEWEST {
            reasons
                .push(format!("{} are too few, {FEWEST} the least", counted(pairs.len(), "labelled pair")));
        }
        match interval {
            None => reasons.push("all pairs have one label".to_owned()),
            Some((low, high)) if low <= 0.5 => reasons.push(format!(
                "labels and similarity go together no more than by chance: of two pairs with different labels the one \
                 with the higher label is the more similar in {:.0} % (interval {:.0} % to {:.0} %, chance 50 %)",
                100.0 * value.unwrap_or(0.5),
                100.0 * low,
                100.0 * high
            )),
            Some(_) => {}
        }
        Self { concordance: value, interval, reasons, warnings: warnings(pairs, &sorted, best) }
    }

    /// The thresholds to score with.
    pub(super) fn thresholds(&self, best: &Pick) -> (f64, f64) {
        let default = Thresholds::default();
        if self.reasons.is_empty() { (best.weak, best.strong) } else { (default.weak(), default.strong()) }
    }
}

/// The share of pairs of pairs with different labels in which label and similarity agree; each pair counts as often as
/// `counts` says. `None` if all labels are the same.
fn concordance(pairs: &[LabelledPair], sorted: &[usize], counts: &[u32]) -> Option<f64> {
    // For each label, the weight of the pairs that are less similar than the current ones.
    let mut below = [0.0; 3];
    let (mut agreeing, mut all) = (0.0, 0.0);
    for tied in sorted.chunk_by(|&a, &b| pairs[a].similarity.total_cmp(&pairs[b].similarity).is_eq()) {
        let mut here = [0.0; 3];
        for &index in tied {
            here[pairs[index].label as usize] += f64::from(counts[index]);
        }
        for (low, high) in [(0, 1), (0, 2), (1, 2)] {
            agreeing += here[high] * (below[low] + here[low] / 2.0);
            all += here[high] * (below[low] + here[low]) + here[low] * below[high];
        }
        (0..3).for_each(|label| below[label] += here[label]);
    }
    (all > 0.0).then(|| agreeing / all)
}

fn warnings(pairs: &[LabelledPair], sorted: &[usize], best: &Pick) -> Vec<String> {
    let mut warnings = Vec::new();
    for (label, name, what) in [
        (Label::Weak, "weak", "the weak threshold"),
        (Label::Medium, "medium", "the distance between the thresholds"),
        (Label::Strong, "strong", "the strong threshold"),
    ] {
        if !pairs.iter().any(|pair| pair.label == label) {
            warnings.push(format!("no pair is labelled {name}: nothing is known of {what}"));
        }
    }
    for (name, threshold) in [("weak", best.weak), ("strong", best.strong)] {
        // Thresholds are in [0, 1].
        let similarities = || sorted.iter().map(|&index| pairs[index].similarity);
        let low =
            similarities().take_while(|&similarity| similarity < threshold).last().unwrap_or(0.0).max(0.0);
        let high = similarities().find(|&similarity| similarity >= threshold).unwrap_or(1.0);
        if high - low > WIDE {
            warnings.push(format!(
                "no pair has a similarity between {low:.2} and {high:.2}: any {name} threshold in that gap meets as many labels"
            ));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use Label::{Medium, Strong, Weak};

    use super::*;

    fn labelled(pairs: &[(f64, Label)]) -> Vec<LabelledPair> {
        pairs.iter().map(|&(similarity, label)| LabelledPair { similarity, label }).collect()
    }

    fn advice(pairs: &[(f64, Label)]) -> Advice {
        let best = Pick { weak: 0.6, strong: 0.8, agreement: 1.0 };
        Advice::new(&labelled(pairs), &best, &Draws { count: 2000, ..Draws::default() })
    }

    #[test]
    fn concordance_counts_pairs_of_pairs() {
        // By hand, of weak 0.2, weak 0.7, medium 0.5, strong 0.7: medium-weak 1 of 2, strong-weak 1 and a tie of 2,
        // strong-medium 1 of 1: 3.5 of 5.
        let found = advice(&[(0.2, Weak), (0.7, Weak), (0.5, Medium), (0.7, Strong)]);
        assert!((found.concordance.unwrap() - 0.7).abs() < 1e-12, "{found:?}");
        assert_eq!(advice(&[(0.2, Weak), (0.7, Weak)]).concordance, None);
    }

    #[test]
    fn labels_that_follow_similarity_are_followed_and_others_are_not() {
        // 60 similarities from 0.4 to 0.99, with labels that agree with the defaults.
        let similarity = |index: u32| 0.4 + f64::from(index) / 100.0;
        let label = |similarity: f64| {
            if similarity >= 0.8 {
                Strong
            } else if similarity >= 0.6 {
                Medium
            } else {
                Weak
            }
        };
        let told: Vec<_> = (0..60).map(|index| (similarity(index), label(similarity(index)))).collect();
        let found = advice(&told);
        assert_eq!((found.reasons.len(), found.warnings.len()), (0, 0), "{found:?}");
        // The labels alternate, whatever the similarity.
        let turns: Vec<_> =
            (0..60).map(|index| (similarity(index), [Weak, Strong, Medium][index as usize % 3])).collect();
        let found = advice(&turns);
        assert!(found.reasons.len() == 1 && found.reasons[0].contains("by chance"), "{found:?}");
        assert_eq!(found.thresholds(&Pick { weak: 0.1, strong: 0.2, agreement: 0.4 }), (0.6, 0.8));
        let few = advice(&told[15..34]);
        assert!(few.reasons.iter().any(|reason| reason.contains("19 labelled pairs are too few")), "{few:?}");
    }

    #[test]
    fn a_missing_class_and_a_gap_are_named() {
        let found = advice(&[(0.1, Weak), (0.55, Weak), (0.62, Strong), (0.75, Strong), (0.95, Strong)]);
        assert_eq!(found.warnings.len(), 2, "{found:?}");
        assert!(found.warnings[0].contains("no pair is labelled medium"));
        assert!(found.warnings[1].contains("between 0.75 and 0.95: any strong threshold"));
    }
}
