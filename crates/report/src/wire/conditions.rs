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
    /// The name people know it by.
    pub name: String,
    /// Digest of weights, graph, tokenizer, maximum length and pooling.
    pub fingerprint: String,
    /// The length of an embedding.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub dimensions: usize,
    /// Longer texts were cut to so many tokens.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub max_tokens: usize,
}

/// The model that argument fidelity comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct FidelityModelReport {
    /// Whether it is the one that this version of m3 has built in, rather than one of `--fidelity-model`.
    pub built_in: bool,
    /// The first sixteen digits of the SHA-256 of its file. The one that is built in may differ between versions.
    pub fingerprint: String,
}

/// The number of digits of a model's fingerprint.
const DIGITS: usize = 16;

impl FidelityModelReport {
    /// Of the model with this digest.
    #[must_use]
    pub fn new(digest: &str) -> Self {
        Self {
            // A copy of the built-in model gives the same numbers.
            built_in: digest == BUILT_IN_DIGEST,
            fingerprint: digest.get(..DIGITS).unwrap_or(digest).to_owned(),
        }
    }
}

/// As it is named in errors: `built-in (4f1c..)`, or the fingerprint alone.
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
    /// Pairs below it are not matched.
    pub weak: f64,
    /// Pairs from here on are matched with confidence.
    pub strong: f64,
}

impl ThresholdsReport {
    /// Stands for thresholds that a score does not say.
    pub(super) fn unknown() -> Self {
        Self { weak: not_known(), strong: not_known() }
    }

    /// Whether they are said.
    pub(crate) fn is_known(&self) -> bool {
        !self.weak.is_nan()
    }
}
