//! Results side by side, to be shown to people: the likeness of the results of paired calls, what both trajectories
//! leave behind, and which of it is alike.

use std::collections::HashSet;

use m3_trajectory::Trajectory;

use super::artifacts::{Agreement, MOST};
use super::left_behind::{Artifact, all_left_behind};
use super::{ComparePictures, Likeness, PairResults, Side};

/// The results of a reference and of its prediction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultsBeside {
    /// For each pair of calls, the likeness of their results; `None` where one of them is not recorded, is an error, or
    /// has a picture that cannot be had.
    pub pairs: Vec<Option<Likeness>>,
    /// What both trajectories leave behind.
    pub left: LeftBehind,
}

/// What a reference and its prediction leave behind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LeftBehind {
    /// The artifacts of the reference.
    pub references: Vec<LeftArtifact>,
    /// The artifacts of the prediction.
    pub predictions: Vec<LeftArtifact>,
    /// The artifacts that are matched.
    pub pairs: Vec<LeftPair>,
    /// The artifact agreement, in [0, 1]; `None` where nothing is recorded or left behind, or a picture cannot be had.
    pub agreement: Option<f64>,
}

/// Something that a trajectory leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftArtifact {
    /// The call that makes it, by its index.
    pub call: usize,
    /// The name of the file; `None` where it is not known, as for an answer.
    pub name: Option<String>,
    /// The call whose result shows it as a picture, if one does.
    pub pictured_by: Option<usize>,
}

/// Two artifacts that are matched: places in both lists, and how alike they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeftPair {
    /// The index of an artifact in [`LeftBehind::references`].
    pub reference: usize,
    /// The index of an artifact in [`LeftBehind::predictions`].
    pub predicted: usize,
    /// The likeness of both artifacts.
    pub likeness: Likeness,
}

/// Lays the results of both sides beside each other. `pairs` are the calls that are compared, by their indices. Without
/// `compares` no result counts: then only the names of what is left behind are known.
#[must_use]
pub fn results_beside(
    (reference, prediction): (&Trajectory, &Trajectory),
    pairs: &[(usize, usize)],
    compares: Option<&dyn ComparePictures>,
) -> ResultsBeside {
    let recorded = compares.and_then(|_| PairResults::new(reference, prediction));
    let paired: HashSet<usize> = pairs.iter().map(|(_, predicted)| *predicted).collect();
    let is_paired = |call: usize| paired.contains(&call);
    let Some(results) = recorded else {
        let results = PairResults::build(reference, prediction, false);
        let left = LeftBehind::new(&results, &all_left_behind(&results, &is_paired));
        return ResultsBeside { pairs: vec![None; pairs.len()], left };
    };
    let agreement = Agreement::new(&results, &is_paired, compares);
    let matched = agreement.pairs.iter();
    let matched =
        matched.map(|&((reference, predicted), likeness)| LeftPair { reference, predicted, likeness });
    ResultsBeside {
        pairs: pairs.iter().map(|&pair| results.compare(pair, compares)).collect(),
        left: LeftBehind {
            pairs: matched.collect(),
            agreement: agreement.value,
            ..LeftBehind::new(&results, &agreement.artifacts)
        },
    }
}

impl LeftBehind {
    fn new(results: &PairResults, [references, predictions]: &[Vec<Artifact>; 2]) -> Self {
        let list = |side: &Side, artifacts: &[Artifact]| {
            artifacts.iter().take(MOST).filter_map(|artifact| side.describe(*artifact)).collect()
        };
        Self {
            references: list(&results.references, references),
            predictions: list(&results.predictions, predictions),
            ..Self::default()
        }
    }
}

impl Side {
    fn describe(&self, artifact: Artifact) -> Option<LeftArtifact> {
        match artifact {
            Artifact::File(version) => {
                let made = self.lineage.versions.get(version)?;
                let pictured_by = self.picture_of(version, 0);
                Some(LeftArtifact { call: made.call, name: Some(made.path.clone()), pictured_by })
            }
            Artifact::Result(call) => {
                let pictured_by = self.has_pictures(call).then_some(call);
                Some(LeftArtifact { call, name: None, pictured_by })
            }
        }
    }
}
