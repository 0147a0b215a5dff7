//! `board.json`: the leaderboard with its intervals, one for each set of references; `compare/A-B.json`: two runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use m3_report::leaderboard::{Comparison, Leaderboard, ModelResult, SelectOptions, read_results, select};
use m3_score::Metric;
use m3_stats::Draws;
use serde::Serialize;

use super::{name_of, without_folder};
use crate::shelves::Shelves;

/// All leaderboards of a library.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Board {
    /// The revision of the library from which the leaderboards were made.
    pub revision: u64,
    groups: Vec<Group>,
}

/// The runs that were scored against the same references in the same way.
#[derive(Debug, Serialize)]
struct Group {
    references: String,
    runs: Vec<usize>,
    board: Option<Leaderboard>,
    problem: Option<String>,
}

/// A scored run: its number, its name, the file of its score.
type ScoredRun = (usize, String, PathBuf);

/// The facts that leaderboards need from the shelves, so that the shelves are free while leaderboards are made.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    revision: u64,
    /// The name of the references and the scored runs, by the digest of the references and the profile.
    groups: BTreeMap<String, (String, Vec<ScoredRun>)>,
}

impl Entries {
    pub(crate) fn of(shelves: &Shelves) -> Self {
        let mut entries = Self { revision: shelves.revision, ..Self::default() };
        for (index, run) in shelves.runs.iter().enumerate() {
            let Some(score) = run.score.as_deref() else { continue };
            let references = &score.head.inputs.references;
            let key = format!("{} {}", references.sha256, score.head.profile);
            let group = entries.groups.entry(key).or_insert_with(|| (name_of(&references.name), Vec::new()));
            group.1.push((index, run.name.clone(), score.path.clone()));
        }
        entries
    }

    fn scored(&self, run: usize) -> Option<&ScoredRun> {
        self.groups.values().flat_map(|(_, runs)| runs).find(|(index, ..)| *index == run)
    }
}

fn read((_, name, path): &ScoredRun) -> Result<ModelResult, String> {
    let mut models =
        read_results(path, Some(name)).map_err(|error| without_folder(path, &error.to_string()))?;
    let model = models.pop().ok_or_else(|| format!("`{name}` has no result"))?;
    // The place of the score's file says nothing to a reader of the page.
    Ok(ModelResult { file: name.clone(), ..model })
}

impl Board {
    /// Makes all leaderboards. This takes seconds for many tasks and models.
    pub(crate) fn new(entries: &Entries) -> Self {
        let groups = entries.groups.values().map(|(references, runs)| {
            let board = leaderboard(runs);
            Group {
                references: references.clone(),
                runs: runs.iter().map(|(index, ..)| *index).collect(),
                problem: board.as_ref().err().cloned(),
                board: board.ok(),
            }
        });
        Self { revision: entries.revision, groups: groups.collect() }
    }
}

fn leaderboard(runs: &[ScoredRun]) -> Result<Leaderboard, String> {
    let models: Vec<ModelResult> = runs.iter().map(read).collect::<Result<_, _>>()?;
    let options = SelectOptions { intersects: true, ..SelectOptions::default() };
    let selection = select(&models, options).map_err(|error| error.to_string())?;
    Leaderboard::new(&models, selection.as_ref(), Metric::Average, &Draws::default())
        .map_err(|error| error.to_string())
}

/// Compares two runs task by task.
///
/// # Errors
/// The reason why the runs cannot be compared, in words.
pub(crate) fn comparison(entries: &Entries, first: usize, second: usize) -> Result<Comparison, String> {
    let scored = |run| entries.scored(run).ok_or("a run without a score cannot be compared");
    let models = [read(scored(first)?)?, read(scored(second)?)?];
    let options = SelectOptions { intersects: true, ..SelectOptions::default() };
    let selection = select(&models, options).map_err(|error| error.to_string())?;
    let selection = selection.ok_or("there is nothing to compare")?;
    let names = (models[0].name.as_str(), models[1].name.as_str());
    Comparison::new(names, &selection, &Draws::default(), (None, 0.0)).map_err(|error| error.to_string())
}
