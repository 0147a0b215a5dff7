//! What to score by.

use m3_trajectory::catalog::Catalog;

use super::fidelity::Weights;
use super::{Profile, Similarity, Thresholds};

/// What to score by.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScoreOptions<'a> {
    /// The definitions.
    pub profile: Profile,
    /// tau_weak and tau_strong.
    pub thresholds: Thresholds,
    /// What calls are aligned by.
    pub similarity: Similarity,
    /// The tools' schemas, for canonicalization and fidelity.
    pub catalog: Option<&'a Catalog>,
    /// Which arguments of the references vary, for the fidelity. Without, all count the same.
    pub weights: Option<&'a Weights>,
    /// Whether [`Matching::similarities`](super::Matching::similarities) is filled: for those who show how an alignment came about.
    pub keeps_similarities: bool,
}
