//! Selects the trajectories on which models are compared: the same for all, or the user gets an error or a note.

use std::collections::BTreeSet;

use m3_score::{Profile, Similarity};

use super::origin::{catalogs_note, check_fidelity_models, check_references, check_tasks, results_note};
use super::scored::{RankedModel, SelectionError};
use super::{ModelResult, Origin, TrajectoryResult};

/// The trajectories that several models are compared on.
#[derive(Debug, Clone)]
pub struct Selection<'a> {
    /// The definitions, the same for all models.
    pub profile: Profile,
    /// The similarity that calls were aligned by, the same for all models.
    pub similarity: Similarity,
    /// The ids, sorted.
    pub ids: Vec<&'a str>,
    /// The trajectories of each model with trajectories, in the order of the ids: `[models][ids]`.
    pub trajectories: Vec<Vec<&'a TrajectoryResult>>,
    /// For each model, how many of its trajectories were left out because another model has none with that id.
    pub left_out: Vec<usize>,
    /// The files behind the score of each model.
    pub origins: Vec<&'a Origin>,
    /// Notes on the references for the reader.
    pub notes: Vec<String>,
}

impl Selection<'_> {
    /// Notes for the reader on the references and on the files behind the scores.
    pub(super) fn notes(&self) -> Vec<String> {
        self.notes.iter().cloned().chain(catalogs_note(&self.origins)).collect()
    }
}

/// How strictly models must have the same tasks and references.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SelectOptions {
    /// Models may have different tasks: only those that all have are selected.
    pub intersects: bool,
    /// Models may be scored against different references.
    pub allows_different_references: bool,
}

/// Selects the trajectories that the models have in common; rows of tables have none and are skipped. `None` if no
/// model has any. Unless the options say otherwise, all models should have the same ids and references.
///
/// # Errors
/// [`SelectionError`].
pub fn select<'a>(
    models: &'a [ModelResult],
    options: SelectOptions,
) -> Result<Option<Selection<'a>>, SelectionError> {
    let scored: Vec<RankedModel<'_>> = models.iter().filter_map(RankedModel::of).collect();
    let Some(first) = scored.first() else { return Ok(None) };
    let allows = options.allows_different_references;
    for other in &scored[1..] {
        first.check_conditions(other)?;
    }
    let of_model = check_fidelity_models(&scored)?;
    let mut notes = check_references(&scored, allows)?;
    notes.extend(of_model);
    notes.extend(results_note(&scored));
    let mut ids: BTreeSet<&str> = first.trajectories.keys().map(String::as_str).collect();
    for other in &scored[1..] {
        first.check_ids(other, options.intersects)?;
        ids.retain(|id| other.trajectories.contains_key(*id));
    }
    if ids.is_empty() {
        return Err(SelectionError::Empty);
    }
    let ids: Vec<&str> = ids.into_iter().collect();
    let of_ids = |model: &RankedModel<'a>| ids.iter().filter_map(|id| model.trajectories.get(*id)).collect();
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
