//! The learned part of fidelity: how probable it is that an argument asks for the same, by its evidence.
//!
//! Boosted regression trees over the numbers of [`Evidence`], many of which may move the probability in one direction
//! only, and then a calibration by isotonic regression ([`boost`](crate::boost)). `models/fidelity/train.sh` makes the
//! model with [`train()`].

mod file;
#[cfg(test)]
mod tests;
mod threshold;
mod train;

use std::sync::{Arc, LazyLock};

use crate::boost::{Tree, on_curve, sigmoid};
pub use file::{ModelError, SourceFigures};
pub use threshold::balanced_threshold;
pub use train::{Example, Source, train};

use super::evidence::Evidence;

/// The model that m3 is built with.
const BUILT_IN: &[u8] = include_bytes!("../../../models/fidelity/model.json");

/// The digest of the model that m3 is built with: the first half of the SHA-256 of its file. It is written down, because
/// a run which needs no model need not read it; a test compares it with the file.
pub const BUILT_IN_DIGEST: &str = "b2310f3004761bab48f3af9adfd92d4d";

/// A model: it turns evidence into a probability.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    /// The trees, whose values are added.
    trees: Vec<Tree>,
    /// The trees that adaptations of the model added; their values are added to the calibrated log-odds.
    more: Vec<Tree>,
    /// Log-odds that are added to the sum of the trees before it is calibrated.
    base: f64,
    /// The calibration: sums with the log-odds of "the same" that they mean where both labels weigh the same. Both
    /// rise.
    calibration: Vec<(f64, f64)>,
    /// The sources that the model was made from, and what it reaches on them.
    sources: Vec<SourceFigures>,
    /// The digest of the model: the first half of the SHA-256 of its file.
    digest: String,
}

impl Model {
    /// The model that m3 is built with.
    #[must_use]
    pub fn built_in() -> Arc<Self> {
        // A test reads the model, so that the default is never used.
        static MODEL: LazyLock<Arc<Model>> =
            LazyLock::new(|| Arc::new(Model::read(BUILT_IN).unwrap_or_default()));
        Arc::clone(&MODEL)
    }

    /// The probability, in (0, 1), that an argument with this evidence asks for the same, if both answers are equally
    /// frequent.
    #[must_use]
    pub fn probability(&self, evidence: &Evidence) -> f64 {
        sigmoid(self.log_odds(evidence.numbers()))
    }

    /// The calibrated log-odds of "the same".
    fn log_odds(&self, numbers: &[f64]) -> f64 {
        let more = self.more.iter().map(|tree| tree.value(numbers)).sum::<f64>();
        on_curve(&self.calibration, self.sum(numbers)) + more
    }

    /// The sum of the trees, before it is calibrated.
    fn sum(&self, numbers: &[f64]) -> f64 {
        self.base + self.trees.iter().map(|tree| tree.value(numbers)).sum::<f64>()
    }

    /// The digest of the model: the first half of the SHA-256 of its file.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The sources that the model was made from, and what it reaches on them.
    #[must_use]
    pub fn sources(&self) -> &[SourceFigures] {
        &self.sources
    }
}
