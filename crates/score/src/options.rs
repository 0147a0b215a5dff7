//! Options of scoring.

use std::sync::Arc;

use m3_trajectory::catalog::Catalog;

use super::fidelity::Answers;
use super::fidelity::model::Model;
use super::{MatchOptions, Profile, Similarity, Thresholds};

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
    /// The model of fidelity; the built-in one if there is none.
    pub model: Option<&'a Arc<Model>>,
    /// What is said of pairs of calls, laid over the comparisons of matched ones; it never decides which are matched.
    pub answers: Option<&'a Answers>,
    /// Whether and how each trajectory passes or fails besides.
    pub verdicts: Option<&'a MatchOptions>,
    /// Whether to fill [`Matching::similarities`](super::Matching::similarities), which explain an alignment.
    pub keeps_similarities: bool,
}
