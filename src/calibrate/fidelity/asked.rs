//! What reports say of pairs that were put to a language model.

use m3_judge::same::{PairAnswer, SameOpinion};
use schemars::JsonSchema;
use serde::Serialize;

/// The score of pairs that a model takes in both orders for the same. Never 1, which only equal arguments have.
pub const SAID_SAME: f64 = 0.95;

/// The score of pairs that a model takes in both orders for different.
pub const SAID_DIFFERENT: f64 = 0.05;

/// The scores that are not sure: pairs from the lower to the upper one, both included, are put to a model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Band {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

impl Default for Band {
    /// 0.25 to 0.75: where scores are calibrated, a quarter to a half of such pairs are called wrongly.
    fn default() -> Self {
        Self { low: 0.25, high: 0.75 }
    }
}

impl Band {
    /// Whether a score is in it.
    pub(super) fn holds(self, score: f64) -> bool {
        (self.low..=self.high).contains(&score)
    }
}

/// What a language model was asked about, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AskedReport {
    /// The model.
    pub model: String,
    /// Pairs with these scores were put to it.
    pub band: Band,
    /// Pairs that it was asked about, each in both orders.
    pub asked: usize,
    /// Of these, those that it takes for the same in both orders; their score is 0.95 now.
    pub same: usize,
    /// Of these, those that it takes for different in both orders; their score is 0.05 now.
    pub different: usize,
    /// Of these, those that keep their score, for one of the three reasons that follow.
    pub uncertain: usize,
    /// Uncertain, because it says one thing in one order and the other in the other.
    pub disagreement: usize,
    /// Uncertain, because a reply cannot be read.
    pub unreadable: usize,
    /// Uncertain, because a request got no reply.
    pub no_reply: usize,
    /// Pairs of such scores that it was not asked about, because they are too long to be shown.
    pub too_long: usize,
}

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
