//! Questions to a language model about pairs of calls, and their results.

use std::fmt;
use std::ops::RangeInclusive;

use m3_support::text::{counted, shortened};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest name of a model, in columns.
const NAME_WIDTH: usize = 100;

/// The band of uncertain scores: pairs from the lower to the upper one, both included, are put to a model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct Band {
    /// The lowest score.
    pub low: f64,
    /// The highest score.
    pub high: f64,
}

impl Default for Band {
    /// 0.25 to 0.75: where scores are calibrated, a quarter to a half of such pairs are called wrongly.
    fn default() -> Self {
        Self { low: 0.25, high: 0.75 }
    }
}

impl Band {
    /// The scores of the band, as a range.
    #[must_use]
    pub fn scores(self) -> RangeInclusive<f64> {
        self.low..=self.high
    }
}

/// Questions to a language model about pairs of calls, and their results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct AskedReport {
    /// The name of the model.
    pub model: String,
    /// The scores of the pairs that were put to the model.
    pub band: Band,
    /// The first sixteen digits of the SHA-256 of the model's name, the band, and each pair's result, in their order.
    pub fingerprint: String,
    /// Pairs that the model was asked about, each in both orders.
    pub asked: usize,
    /// Asked pairs that the model takes for the same in both orders; their score is 0.95 now.
    pub same: usize,
    /// Asked pairs that the model takes for different in both orders; their score is 0.05 now.
    pub different: usize,
    /// Asked pairs that keep their score, for one of the three reasons that follow.
    pub uncertain: usize,
    /// Uncertain pairs for which the model answers differently in the two orders.
    pub disagreement: usize,
    /// Uncertain pairs with a reply that cannot be read.
    pub unreadable: usize,
    /// Uncertain pairs with a request that got no reply.
    pub no_reply: usize,
    /// Pairs in the band that the model was not asked about, because they are too long to be shown.
    pub too_long: usize,
}

impl AskedReport {
    /// The model and the band of scores, as part of the conditions of a score.
    pub(crate) fn condition(&self) -> String {
        let Band { low, high } = self.band;
        format!("{} asked about {low} to {high}", shortened(&self.model, NAME_WIDTH))
    }
}

/// A sentence, such as `openai:gpt-5 was asked about 14 pairs: 9 the same, 3 different, 2 still uncertain`.
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
