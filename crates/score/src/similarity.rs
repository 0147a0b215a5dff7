//! The similarity by which calls are aligned.

use super::Thresholds;

/// How the similarity of two calls of one tool is computed for their alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Similarity {
    /// The paper's: the cosine of the embeddings of the serialized arguments
    #[default]
    Cosine,
    /// Argument by argument, each as what it is (number, date, path, text ..): the fidelity
    Typed,
}

impl Similarity {
    /// The name in options and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Similarity::Cosine => "cosine",
            Similarity::Typed => "typed",
        }
    }

    /// The similarity with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Cosine, Self::Typed].into_iter().find(|known| known.name() == name)
    }

    /// The name of the similarity's value.
    #[must_use]
    pub fn measure(self) -> &'static str {
        match self {
            Similarity::Cosine => "cosine",
            Similarity::Typed => "fidelity",
        }
    }

    /// The default tau_weak and tau_strong: for the cosine 0.6 and 0.8 as in the paper (section 6.4); for the
    /// fidelity 0.5, where a pair is as often right as wrong, and 0.85, above which arguments differ only in how they
    /// are written.
    #[must_use]
    pub fn thresholds(self) -> Thresholds {
        match self {
            Similarity::Cosine => Thresholds::default(),
            Similarity::Typed => Thresholds::TYPED,
        }
    }
}
