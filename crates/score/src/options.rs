//! Options of scoring.

use m3_trajectory::catalog::Catalog;

use super::fidelity::Weights;
use super::{Profile, Similarity, Thresholds};

/// Options of scoring.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScoreOptions<'a> {
    /// The definitions to use.
    pub profile: Profile,
    /// tau_weak and tau_strong.
    pub thresholds: Thresholds,
    /// The similarity that calls are aligned by.
    pub similarity: Similarity,
    /// The tools' schemas, for canonicalization and fidelity.
    pub catalog: Option<&'a Catalog>,
    /// Which arguments of the references vary, for the fidelity. Without this, all arguments have the same weight.
    pub weights: Option<&'a Weights>,
    /// Whether to fill [`Matching::similarities`](super::Matching::similarities), which explain an alignment.
    pub keeps_similarities: bool,
}
