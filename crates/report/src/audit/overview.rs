//! The overview of a whole set, gathered trajectory by trajectory without keeping them.

use std::collections::BTreeMap;

use m3_score::ByTool;

use super::{ConfusedTools, Overview, ReasonCount, SimilarityBin};
use crate::TrajectoryReport;

/// The number of bins in the histogram of similarities.
pub(crate) const BINS: usize = 20;

/// The most pairs of confused tools that are named.
const NAMED_TOOLS: usize = 10;

/// Gathers an [`Overview`].
#[derive(Debug, Default)]
pub struct Gathering {
    bins: [(u64, u64); BINS],
    reasons: BTreeMap<(&'static str, String), u64>,
}

impl Gathering {
    /// Adds the next trajectory.
    pub fn add(&mut self, report: &TrajectoryReport) {
        for pair in &report.matches {
            self.bins[bin(pair.similarity)].0 += 1;
        }
        for alone in &report.unmatched_references {
            if let Some(best) = alone.best {
                self.bins[bin(best.similarity)].1 += 1;
            }
            *self.reasons.entry(("reference", alone.reason.clone())).or_default() += 1;
        }
        for alone in &report.unmatched_predictions {
            *self.reasons.entry(("prediction", alone.reason.clone())).or_default() += 1;
        }
    }

    /// The overview; `by_tool` has the calls of the same set.
    #[must_use]
    pub fn finish(self, by_tool: &ByTool) -> Overview {
        let bin = |(index, &(matched, unmatched)): (usize, &(u64, u64))| SimilarityBin {
            from: index as f64 / BINS as f64,
            matched,
            unmatched,
        };
        let mut reasons: Vec<ReasonCount> = self
            .reasons
            .into_iter()
            .map(|((side, reason), calls)| ReasonCount { side: side.to_owned(), reason, calls })
            .collect();
        // The sort is stable: equal counts stay in the order of their names.
        reasons.sort_by_key(|count| std::cmp::Reverse(count.calls));
        let mut confused_tools: Vec<ConfusedTools> = by_tool
            .replaced()
            .map(|(reference, predicted, calls)| ConfusedTools {
                reference: reference.to_owned(),
                predicted: predicted.to_owned(),
                calls,
            })
            .collect();
        confused_tools.sort_by_key(|confused| std::cmp::Reverse(confused.calls));
        confused_tools.truncate(NAMED_TOOLS);
        Overview { similarities: self.bins.iter().enumerate().map(bin).collect(), reasons, confused_tools }
    }
}

/// The bin of a similarity; negative ones go into the first.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in [0, BINS]")]
pub(crate) fn bin(similarity: f64) -> usize {
    ((similarity.clamp(0.0, 1.0) * BINS as f64) as usize).min(BINS - 1)
}

#[cfg(test)]
mod tests {
    use super::bin;

    #[test]
    fn thresholds_begin_bins() {
        assert_eq!([-0.2, 0.0, 0.049, 0.6, 0.8, 0.999, 1.0].map(bin), [0, 0, 0, 12, 16, 19, 19]);
    }
}
