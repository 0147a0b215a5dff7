//! Choices of scoring, by their names in options: the profile and the similarity.

use clap::ValueEnum;
use m3_score::{Profile, Similarity};

/// How metrics are computed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ProfileArg {
    /// The equations of M3-Bench
    Paper,
    /// Like the program published with Open-M3-Bench, for comparison with the paper's tables
    #[value(name = "open-m3-bench")]
    OpenM3Bench,
}

impl From<ProfileArg> for Profile {
    fn from(profile: ProfileArg) -> Self {
        match profile {
            ProfileArg::Paper => Self::Paper,
            ProfileArg::OpenM3Bench => Self::OpenM3Bench,
        }
    }
}

/// How calls are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SimilarityArg {
    /// The paper's: the cosine of the embeddings of the serialized arguments
    Cosine,
    /// Argument by argument, each as what it is (number, date, path, text ..): the fidelity
    Typed,
}

impl From<SimilarityArg> for Similarity {
    fn from(similarity: SimilarityArg) -> Self {
        match similarity {
            SimilarityArg::Cosine => Self::Cosine,
            SimilarityArg::Typed => Self::Typed,
        }
    }
}
