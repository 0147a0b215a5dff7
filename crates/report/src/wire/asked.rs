//! What a language model was asked about pairs of calls, and what came of it.

use std::fmt;
use std::ops::RangeInclusive;

use m3_support::text::{counted, shortened};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest name of a model, in columns.
const NAME_WIDTH: usize = 100;

/// The scores that are not sure: pairs from the lower to the upper one, both included, are put to a model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
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
    /// The scores.
    #[must_use]
    pub fn scores(self) -> RangeInclusive<f64> {
        self.low..=self.high
    }
}

/// What a language model was asked about, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct AskedReport {
    /// The model.
    pub model: String,
    /// Pairs with these scores were put to it.
    pub band: Band,
    /// The first sixteen digits of the SHA-256 of the model's name, the band, and what came of each pair, in their order.
    pub fingerprint: String,
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

impl AskedReport {
    /// Who was asked about which scores, as part of the conditions of a score.
    pub(crate) fn condition(&self) -> String {
        let Band { low, high } = self.band;
        format!("{} asked about {low} to {high}", shortened(&self.model, NAME_WIDTH))
    }
}

/// In a sentence: `openai:gpt-5 was asked about 14 pairs: 9 the same, 3 different, 2 still uncertain`.
impl fmt::Display for AskedReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, asked, same, different, uncertain, .. } = self;
        write!(
            formatter,
            "{} was asked about {}: {same} the same, {different} different, {uncertain} still uncertain",
            shortened(model, NAME_WIDTH),
            counted(*asked, "pair"),
        )
    }
}
