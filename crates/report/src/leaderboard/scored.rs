//! The models that have trajectories, and why two of them cannot be compared.

use std::collections::BTreeMap;

use m3_score::{Profile, Similarity};
use m3_support::text::shortened;

use super::{ModelResult, Numbers, Origin, TrajectoryResult};

/// Why models cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// Two models were scored in different ways.
    #[error(
        "`{}` and `{}` were not scored in the same way: {first} and {second}\n\
         hint: score all models by the same m3, with the same profile, encoder, similarity, thresholds, `--tool-names`, \
         `--fidelity-model`, `--flow`, `--roles` and `--llm`", .files.0, .files.1
    )]
    Conditions {
        /// The two files.
        files: (String, String),
        /// How the first was scored.
        first: String,
        /// How the second was scored.
        second: String,
    },
    /// Two models were scored against different references.
    #[error(
        "`{}` and `{}` were scored against different references: {difference}\n\
         hint: score all models against the same file; `--allow-different-references` compares them all the same",
        .files.0, .files.1
    )]
    References {
        /// The two files.
        files: (String, String),
        /// How the references differ.
        difference: String,
    },
    /// Two models were scored on different tasks.
    #[error(
        "`{}` and `{}` have different tasks: {} only in the first{}, {} only in the second{}\n\
         hint: `--intersect` compares on the tasks that all have", .files.0, .files.1,
        .only_first.len(), examples(.only_first), .only_second.len(), examples(.only_second)
    )]
    Ids {
        /// The two files.
        files: (String, String),
        /// Ids that only the first has.
        only_first: Vec<String>,
        /// Ids that only the second has.
        only_second: Vec<String>,
    },
    /// No task is in all results.
    #[error("no task is in all results; check that they are of one benchmark")]
    Empty,
}

fn examples(ids: &[String]) -> String {
    match ids.first() {
        Some(id) => format!(" (`{}`{})", shortened(id, 40), if ids.len() > 1 { ", …" } else { "" }),
        None => String::new(),
    }
}

/// A model with trajectories.
pub(super) struct RankedModel<'a> {
    pub(super) file: &'a str,
    pub(super) origin: &'a Origin,
    pub(super) profile: Profile,
    pub(super) similarity: Similarity,
    pub(super) conditions: &'a str,
    pub(super) trajectories: &'a BTreeMap<String, TrajectoryResult>,
}

impl<'a> RankedModel<'a> {
    pub(super) fn of(model: &'a ModelResult) -> Option<Self> {
        let Numbers::Trajectories { profile, similarity, conditions, trajectories, origin, .. } =
            &model.numbers
        else {
            return None;
        };
        let (profile, similarity) = (*profile, *similarity);
        Some(Self { file: &model.file, origin, profile, similarity, conditions, trajectories })
    }

    pub(super) fn files(&self, other: &Self) -> (String, String) {
        (self.file.to_owned(), other.file.to_owned())
    }

    pub(super) fn check_conditions(&self, other: &Self) -> Result<(), SelectionError> {
        if (self.profile, self.conditions) == (other.profile, other.conditions) {
            return Ok(());
        }
        Err(self.differs_in_conditions(other))
    }

    /// The error for two models that were scored in different ways.
    pub(super) fn differs_in_conditions(&self, other: &Self) -> SelectionError {
        let conditions = |model: &Self| {
            let fidelity = model.origin.fidelity_model.as_ref();
            let fidelity = fidelity.map(|found| format!(", fidelity model {found}")).unwrap_or_default();
            let asked = model.origin.asked.as_ref();
            let asked = asked.map(|asked| format!(", {}", asked.condition())).unwrap_or_default();
            format!("profile {}, {}{fidelity}{asked}", model.profile.name(), model.conditions)
        };
        let (first, second) = (conditions(self), conditions(other));
        SelectionError::Conditions { files: self.files(other), first, second }
    }

    pub(super) fn check_ids(&self, other: &Self, intersects: bool) -> Result<(), SelectionError> {
        let without = |a: &Self, b: &Self| -> Vec<String> {
            a.trajectories.keys().filter(|id| !b.trajectories.contains_key(*id)).cloned().collect()
        };
        let (only_first, only_second) = (without(self, other), without(other, self));
        if intersects || (only_first.is_empty() && only_second.is_empty()) {
            return Ok(());
        }
        Err(SelectionError::Ids { files: self.files(other), only_first, only_second })
    }
}
