//! The set of definitions that is used, and the two thresholds.

use super::fidelity;

/// The two sets of definitions; `docs/metrics.md` compares them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Profile {
    /// The equations of M3-Bench
    #[default]
    Paper,
    /// Like the program published with Open-M3-Bench, for comparison with the paper's tables
    #[cfg_attr(feature = "clap", value(name = "open-m3-bench"))]
    OpenM3Bench,
}

impl Profile {
    /// The name in options and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Profile::Paper => "paper",
            Profile::OpenM3Bench => "open-m3-bench",
        }
    }

    /// The profile with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Paper, Self::OpenM3Bench].into_iter().find(|known| known.name() == name)
    }
}

/// tau_weak and tau_strong: `0 <= weak <= strong <= 1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    weak: f64,
    strong: f64,
}

/// Whether a match of this similarity is strong.
#[must_use]
pub fn is_strong(similarity: f64, tau_strong: f64) -> bool {
    similarity >= tau_strong
}

/// Thresholds that make no sense.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum ThresholdError {
    /// A threshold is not in [0, 1].
    #[error("{name} is {value}, and should be between 0 and 1")]
    OutOfRange {
        /// `tau_weak` or `tau_strong`.
        name: &'static str,
        /// The value given.
        value: f64,
    },
    /// The strong threshold is below the weak one.
    #[error("tau_weak ({weak}) is above tau_strong ({strong}); the weak threshold should be the lower one")]
    OutOfOrder {
        /// tau_weak
        weak: f64,
        /// tau_strong
        strong: f64,
    },
}

impl Thresholds {
    /// The thresholds of [`Similarity::Typed`](super::Similarity).
    pub(super) const TYPED: Self = Self { weak: fidelity::constants::THRESHOLD, strong: 0.85 };

    /// Checks two thresholds.
    ///
    /// # Errors
    /// [`ThresholdError`] unless `0 <= weak <= strong <= 1`.
    pub fn new(weak: f64, strong: f64) -> Result<Self, ThresholdError> {
        for (name, value) in [("tau_weak", weak), ("tau_strong", strong)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(ThresholdError::OutOfRange { name, value });
            }
        }
        if weak > strong {
            return Err(ThresholdError::OutOfOrder { weak, strong });
        }
        Ok(Self { weak, strong })
    }

    /// Pairs below this similarity are not matched.
    #[must_use]
    pub fn weak(&self) -> f64 {
        self.weak
    }

    /// Pairs from this similarity on are matched with confidence.
    #[must_use]
    pub fn strong(&self) -> f64 {
        self.strong
    }
}

/// 0.6 and 0.8, the thresholds closest to 30 people's labels of 40 pairs (M³-Bench, section 6.4).
impl Default for Thresholds {
    fn default() -> Self {
        Self { weak: 0.6, strong: 0.8 }
    }
}
