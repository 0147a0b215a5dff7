//! The metrics of one alignment. Each file has one metric: its equation, its range, its degenerate cases. None
//! depends on the order of calls within steps, because they only use the steps.

mod coherence;
mod order;
mod purity;

pub use coherence::step_coherence;
pub use order::{inversions, order_consistency, ordered_pair_coverage};
pub use purity::merge_purity;

/// A matched pair as used by the metrics: (a, b, s) of M³-Bench, section 4.3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// a, the reference step.
    pub reference_step: usize,
    /// b, the predicted step.
    pub predicted_step: usize,
    /// s, the similarity, in [0, 1].
    pub similarity: f64,
}

impl Pair {
    /// A pair of the reference step a and the predicted step b with the similarity s.
    #[must_use]
    pub fn new(reference_step: usize, predicted_step: usize, similarity: f64) -> Self {
        Self { reference_step, predicted_step, similarity }
    }
}

#[cfg(test)]
pub(crate) fn pairs(of: &[(usize, usize, f64)]) -> Vec<Pair> {
    let pair = |&(reference_step, predicted_step, similarity): &_| Pair {
        reference_step,
        predicted_step,
        similarity,
    };
    of.iter().map(pair).collect()
}
