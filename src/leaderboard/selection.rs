//! Which trajectories models are compared on: the same for all, or the user is told.

use std::collections::BTreeSet;

use super::{ModelResult, Numbers, TrajectoryResult};
use crate::score::{Profile, Similarity};
use crate::text::shortened;

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
}

/// Models cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// Scored in different ways.
    #[error(
        "`{}` and `{}` were not scored in the same way: {first} and {second}\n\
         hint: score all models with the same profile, encoder, similarity and thresholds", .files.0, .files.1
    )]
    Conditions {
        /// The two files.
        files: (String, String),
        /// How the first was scored.
        first: String,
        /// How the second was scored.
        second: String,
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

/// Selects the trajectories that the models have in common; rows of tables have none and are passed over.
/// `None` if no model has any. Unless `intersects`, all models should have the same ids.
///
/// # Errors
/// [`SelectionError`].
pub fn select(models: &[ModelResult], intersects: bool) -> Result<Option<Selection<'_>>, SelectionError> {
    let scored: Vec<_> = models
        .iter()
        .filter_map(|model| match &model.numbers {
            Numbers::Trajectories { profile, similarity, conditions, trajectories, .. } => {
                Some((model, (*profile, *similarity, conditions), trajectories))
            }
            Numbers::Row(_) => None,
        })
        .collect();
    let Some(&(first, made, trajectories)) = scored.first() else { return Ok(None) };
    let mut ids: BTreeSet<&str> = trajectories.keys().map(String::as_str).collect();
    for &(model, other_made, others) in &scored[1..] {
        let files = || (first.file.clone(), model.file.clone());
        if made != other_made {
            let said = |(profile, _, conditions): (Profile, Similarity, &String)| {
                format!("profile {}, {conditions}", profile.name())
            };
            return Err(SelectionError::Conditions {
                files: files(),
                first: said(made),
                second: said(other_made),
            });
        }
        let without =
            |a: &std::collections::BTreeMap<String, TrajectoryResult>,
             b: &std::collections::BTreeMap<String, TrajectoryResult>|
             -> Vec<String> { a.keys().filter(|id| !b.contains_key(*id)).cloned().collect() };
        let (only_first, only_second) = (without(trajectories, others), without(others, trajectories));
        let is_same = only_first.is_empty() && only_second.is_empty();
        if !(intersects || is_same) {
            return Err(SelectionError::Ids { files: files(), only_first, only_second });
        }
        ids.retain(|id| others.contains_key(*id));
    }
    if ids.is_empty() {
        return Err(SelectionError::Empty);
    }
    let of_ids = |others: &'_ std::collections::BTreeMap<String, TrajectoryResult>| others.len() - ids.len();
    let (profile, similarity, _) = made;
    Ok(Some(Selection {
        profile,
        similarity,
        left_out: scored.iter().map(|(.., others)| of_ids(others)).collect(),
        trajectories: scored
            .iter()
            .map(|(.., others)| ids.iter().filter_map(|id| others.get(*id)).collect())
            .collect(),
        ids: ids.into_iter().collect(),
    }))
}
