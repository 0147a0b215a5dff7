//! Reads the results that are compared: scores with the values of suites.

use std::collections::BTreeMap;
use std::path::Path;

use crate::leaderboard::{open_result, read_entries, stem};
use crate::unusable::UnusableFile;
use crate::{ScoreSummary, TrajectoryReport};

/// A model's score with all its trajectories.
#[derive(Debug, Clone)]
pub struct ScoredModel {
    /// The name of the model.
    pub name: String,
    /// The file as the user named it.
    pub file: String,
    /// The head of the score.
    pub head: ScoreSummary,
    /// The trajectories of all repetitions.
    pub trajectories: Vec<TrajectoryReport>,
    /// For each repetition, whether each labelled trajectory did its job, by id; empty without labels.
    pub people: Vec<BTreeMap<String, bool>>,
}

/// Reads what `m3 score --format json` wrote. `name` is the name of the model; by default the file's name without its
/// endings.
///
/// # Errors
/// [`UnusableFile`].
pub fn read_scored(path: &Path, name: Option<&str>) -> Result<ScoredModel, UnusableFile> {
    let (head, trajectories) = open_result(path, read_entries)?;
    let name = name.map_or_else(|| stem(path), str::to_owned);
    Ok(ScoredModel { name, file: path.display().to_string(), head, trajectories, people: Vec::new() })
}
