//! Which trajectories models are compared on: the same for all, or the user is told.

use std::collections::{BTreeMap, BTreeSet};

use m3_score::{Profile, Similarity};
use m3_support::text::shortened;

use super::origin::{check_references, check_tasks};
use super::{ModelResult, Numbers, Origin, TrajectoryResult};

/// The trajectories that several models are compared on.
#[derive(Debug, Clone)]
pub struct Selection<'a> {
    /// The definitions of all.
    pub profile: Profile,
    /// What calls were aligned by, of all.
    pub similarity: Similarity,
    /// The ids, sorted.
    pub ids: Vec<&'a str>,
    /// The trajectories of each model with trajectories, in the order of the ids: `[models][ids]`.
    pub trajectories: Vec<Vec<&'a TrajectoryResult>>,
    /// For each model, how many of its trajectories were left out because another has none of that id.
    pub left_out: Vec<usize>,
    /// What the score of each model was made of.
    pub origins: Vec<&'a Origin>,
    /// What a reader should know of the references.
    pub notes: Vec<String>,
}

/// Models cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// Scored in different ways.
    #[error(
        "`{}` and `{}` were not scored in the same way: {first} and {second}\n\
         hint: score all models with the same profile, encoder, similarity, thresholds and `--tool-names`", .files.0, .files.1
    )]
    Conditions {
        /// The two files.
        files: (String, String),
        /// How the first was scored.
        first: String,
        /// How the second was scored.
        second: String,
    },
    /// Scored against different references.
    #[error(
        "`{}` and `{}` were scored against different references: {difference}\n\
         hint: score all models against the same file; `--allow-different-references` compares them all the same",
        .files.0, .files.1
    )]
    References {
        /// The two files.
        files: (String, String),
        /// What tells so.
        difference: String,
    },
    /// Scored on different tasks.
    #[error(
        "`{}` and `{}` have different tasks: {} only in the first{}, {} only in the second{}\n\
         hint: `--intersect` compares on the tasks that all have", .files.0, .files.1,
        .only_first.len(), examples(.only_first), .only_second.len(), examples(.only_second)
    )]
    Ids {
        /// The two files.
        files: (String, String),
        /// Ids of the first alone.
        only_first: Vec<String>,
        /// Ids of the second alone.
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

/// What users may insist on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SelectOptions {
    /// Models may have different tasks: those that all have are selected.
    pub intersects: bool,
    /// Models may be scored against different references.
    pub allows_different_references: bool,
}

/// Selects the trajectories that the models have in common; rows of tables have none and are passed over.
/// `None` if no model has any. Unless the options say otherwise, all models should have the same ids and references.
///
/// # Errors
/// [`SelectionError`].
pub fn select<'a>(
    models: &'a [ModelResult],
    options: SelectOptions,
) -> Result<Option<Selection<'a>>, SelectionError> {
    let scored: Vec<Scored<'_>> = models.iter().filter_map(Scored::of).collect();
    let Some(first) = scored.first() else { return Ok(None) };
    let allows = options.allows_different_references;
    for other in &scored[1..] {
        first.check_conditions(other)?;
    }
    let mut notes = check_references(&scored, allows)?;
    let mut ids: BTreeSet<&str> = first.trajectories.keys().map(String::as_str).collect();
    for other in &scored[1..] {
        first.check_ids(other, options.intersects)?;
        ids.retain(|id| other.trajectories.contains_key(*id));
    }
    if ids.is_empty() {
        return Err(SelectionError::Empty);
    }
    let ids: Vec<&str> = ids.into_iter().collect();
    let of_ids = |model: &Scored<'a>| ids.iter().filter_map(|id| model.trajectories.get(*id)).collect();
    let trajectories: Vec<Vec<&TrajectoryResult>> = scored.iter().map(of_ids).collect();
    notes.extend(check_tasks(&scored, &ids, &trajectories, allows)?);
    Ok(Some(Selection {
        profile: first.profile,
        similarity: first.similarity,
        left_out: scored.iter().map(|model| model.trajectories.len() - ids.len()).collect(),
        origins: scored.iter().map(|model| model.origin).collect(),
        notes,
        trajectories,
        ids,
    }))
}

/// A model with trajectories.
pub(super) struct Scored<'a> {
    pub(super) file: &'a str,
    pub(super) origin: &'a Origin,
    profile: Profile,
    similarity: Similarity,
    conditions: &'a str,
    trajectories: &'a BTreeMap<String, TrajectoryResult>,
}

impl<'a> Scored<'a> {
    fn of(model: &'a ModelResult) -> Option<Self> {
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

    fn check_conditions(&self, other: &Self) -> Result<(), SelectionError> {
        if (self.profile, self.conditions) == (other.profile, other.conditions) {
            return Ok(());
        }
        let said = |model: &Self| format!("profile {}, {}", model.profile.name(), model.conditions);
        let (first, second) = (said(self), said(other));
        Err(SelectionError::Conditions { files: self.files(other), first, second })
    }

    fn check_ids(&self, other: &Self, intersects: bool) -> Result<(), SelectionError> {
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
