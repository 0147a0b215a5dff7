//! The part of a report about a pair that was put to a language model.

use m3_judge::same::{PairAnswer, SameOpinion};
use schemars::JsonSchema;
use serde::Serialize;

/// The answer of a language model about a pair.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct AskedPair {
    /// The score before the model was asked.
    pub(crate) before: f64,
    /// The answer of the model.
    pub(crate) answer: PairAnswer,
    /// The model's opinion in the order `a`, `b`, and in the order `b`, `a`; null where it cannot be read.
    pub(crate) opinions: [Option<SameOpinion>; 2],
}
