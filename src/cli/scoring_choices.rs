//! Choices of scoring, by their names in options: the profile, the similarity, the groups.

use clap::ValueEnum;
use m3_score::{Flow, Profile, Results, Similarity};
use m3_suites::Shape;
use m3_trajectory::TrajectoryFile;

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

/// Whether names of files are compared by what they stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FlowArg {
    /// By which call made them: names that a trajectory chooses are its own
    On,
    /// As texts
    Off,
}

impl From<FlowArg> for Flow {
    fn from(flow: FlowArg) -> Self {
        match flow {
            FlowArg::On => Self::On,
            FlowArg::Off => Self::Off,
        }
    }
}

/// Whether recorded results are evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ResultsArg {
    /// Where both sides have recorded them
    Auto,
    /// Never
    Off,
}

impl From<ResultsArg> for Results {
    fn from(results: ResultsArg) -> Self {
        match results {
            ResultsArg::Auto => Self::Auto,
            ResultsArg::Off => Self::Off,
        }
    }
}

/// What tasks are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ByArg {
    /// The type that the references name
    Type,
    /// How hard a task is by the shape of its reference: single, two calls in parallel, two in series, more
    Class,
}

impl ByArg {
    /// Makes classes the types of references.
    pub(super) fn apply_to(self, references: &mut TrajectoryFile) {
        if self == Self::Class {
            references.set_types(|reference| Some(Shape::from_reference(reference).name().to_owned()));
        }
    }
}
