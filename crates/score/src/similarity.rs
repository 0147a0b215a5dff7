//! What calls are aligned by.

use super::Thresholds;

/// How alike two calls of one tool are taken to be when they are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Similarity {
    /// The paper's: the cosine of the embeddings of their serialized arguments.
    #[default]
    Cosine,
    /// The [fidelity](super::fidelity) of their arguments.
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

    /// The similarity of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Cosine, Self::Typed].into_iter().find(|known| known.name() == name)
    }

    /// What its value is called.
    #[must_use]
    pub fn measure(self) -> &'static str {
        match self {
            Similarity::Cosine => "cosine",
            Similarity::Typed => "fidelity",
        }
    }

    /// tau_weak and tau_strong, unless others are asked for: 0.6 and 0.8 of the paper (section 6.4); of the fidelity 0.5,
    /// where a pair is as often right as wrong, and 0.85, from where on arguments are the same but for their writing.
    #[must_use]
    pub fn thresholds(self) -> Thresholds {
        match self {
            Similarity::Cosine => Thresholds::default(),
            Similarity::Typed => Thresholds::TYPED,
        }
    }
}
