//! What a score was made with: the encoder, the model of fidelity, the thresholds.

use std::fmt;

use m3_score::fidelity::model::BUILT_IN_DIGEST;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calls::not_known;

/// The encoder that the similarities come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct EncoderReport {
    /// The common name of the encoder.
    pub name: String,
    /// Digest of weights, graph, tokenizer, maximum length and pooling.
    pub fingerprint: String,
    /// The length of an embedding.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub dimensions: usize,
    /// The most tokens of a text; longer texts were cut.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub max_tokens: usize,
}

/// The model that argument fidelity comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct FidelityModelReport {
    /// Whether this is the model that is built into this version of m3.
    pub built_in: bool,
    /// The first sixteen digits of the SHA-256 of the model's file. The built-in model may differ between versions.
    pub fingerprint: String,
}

/// The number of digits of a model's fingerprint.
const DIGITS: usize = 16;

impl FidelityModelReport {
    /// Makes the report of the model with this digest.
    #[must_use]
    pub fn new(digest: &str) -> Self {
        Self {
            // A copy of the built-in model gives the same numbers.
            built_in: digest == BUILT_IN_DIGEST,
            fingerprint: digest.get(..DIGITS).unwrap_or(digest).to_owned(),
        }
    }
}

/// The name of the model in errors: `built-in (4f1c..)`, or the fingerprint alone.
impl fmt::Display for FidelityModelReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.built_in {
            write!(formatter, "built-in ({})", self.fingerprint)
        } else {
            formatter.write_str(&self.fingerprint)
        }
    }
}

/// tau_weak and tau_strong, each in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct ThresholdsReport {
    /// tau_weak: pairs with a lower similarity are not matched.
    pub weak: f64,
    /// tau_strong: pairs from this similarity on are matched with confidence.
    pub strong: f64,
}

impl ThresholdsReport {
    /// Stands for thresholds that a score lacks.
    pub(super) fn unknown() -> Self {
        Self { weak: not_known(), strong: not_known() }
    }

    /// Whether the score has thresholds.
    pub(crate) fn is_known(&self) -> bool {
        !self.weak.is_nan()
    }
}
