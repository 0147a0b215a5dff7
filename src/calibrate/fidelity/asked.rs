//! What reports say of a pair that was put to a language model.

use m3_judge::same::{PairAnswer, SameOpinion};
use schemars::JsonSchema;
use serde::Serialize;

/// What a language model says of a pair.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AskedPair {
    /// The score before it was asked.
    pub before: f64,
    /// What it says.
    pub answer: PairAnswer,
    /// Its opinion in the order `a`, `b`, and in the order `b`, `a`; null where there is none that can be read.
    pub opinions: [Option<SameOpinion>; 2],
}
