//! `home.json`: every run and score that was found; `state.json`: the revision, and the progress of the runs.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{Column, columns, name_of, without_folder};
use crate::journal::ProgressDocument;
use crate::run::Run;
use crate::score::metrics;
use crate::shelves::Shelves;

/// All runs and references that were found.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Home {
    /// Whether the page can ask again: a bundle never changes.
    is_live: bool,
    revision: u64,
    columns: Vec<Column>,
    runs: Vec<RunRow>,
    references: Vec<ReferencesRow>,
    notes: Vec<String>,
    /// Files that are not shown: names and reasons.
    passed_over: Vec<(String, String)>,
}

#[derive(Debug, Default, Serialize)]
struct RunRow {
    name: String,
    model: Option<String>,
    /// Trajectories, missing ones included.
    trajectories: usize,
    /// Trajectories that failed.
    failed: usize,
    calls: usize,
    failed_calls: usize,
    tokens: Option<u64>,
    /// The format of the run, if another program wrote it.
    format: Option<String>,
    /// The means of grades, over the trajectories that have them, with their number.
    grades: BTreeMap<String, (f64, u32)>,
    /// m3's metrics, as in `columns`.
    values: Option<Vec<Option<f64>>>,
    /// The values of suites, by suite and name.
    suites: Option<Value>,
    references: Option<String>,
    progress: Option<ProgressDocument>,
    problem: Option<String>,
    /// Whether the run is being scored.
    is_being_scored: bool,
}

#[derive(Debug, Serialize)]
struct ReferencesRow {
    name: String,
    tasks: usize,
    is_rejected: bool,
}

impl Home {
    /// The document of a page that shows only one run.
    pub(crate) fn of_one(name: &str) -> Self {
        let run = RunRow { name: name.to_owned(), ..RunRow::default() };
        Self { runs: vec![run], ..Self::default() }
    }
}

/// The document of all runs and references that were found.
pub(crate) fn home(shelves: &Shelves, is_live: bool) -> Home {
    let names: Vec<String> = metrics().map(|metric| metric.name().to_owned()).collect();
    Home {
        is_live,
        revision: shelves.revision,
        columns: columns(&names),
        runs: shelves.runs.iter().map(|run| run_row(shelves, run)).collect(),
        references: shelves
            .references
            .iter()
            .map(|known| ReferencesRow {
                name: known.name.clone(),
                tasks: known.run.rows.len(),
                is_rejected: known.is_rejected,
            })
            .collect(),
        notes: shelves.notes.clone(),
        passed_over: shelves
            .passed_over
            .iter()
            .map(|(path, reason)| (name_of(path), without_folder(path, reason)))
            .collect(),
    }
}

fn run_row(shelves: &Shelves, run: &Run) -> RunRow {
    let sum = |of: fn(&crate::row::Row) -> Option<u64>| {
        run.rows
            .iter()
            .filter_map(of)
            .fold(None, |sum: Option<u64>, part| Some(sum.unwrap_or(0).saturating_add(part)))
    };
    let score = run.score.as_ref();
    let values = score.map(|score| {
        let value =
            |metric: m3_score::Metric| score.head.aggregate.get(metric.name()).and_then(Value::as_f64);
        metrics().map(value).collect()
    });
    let suites = score.and_then(|score| {
        let suites = score.head.suites.as_object()?.iter();
        let found: serde_json::Map<String, Value> = suites
            .filter_map(|(name, suite)| Some((name.clone(), suite.get("aggregate")?.clone())))
            .collect();
        (!found.is_empty()).then_some(Value::Object(found))
    });
    RunRow {
        name: run.name.clone(),
        format: run.format().map(str::to_owned),
        grades: mean_grades(run),
        model: run.model.clone(),
        trajectories: run.rows.len(),
        failed: run.rows.iter().filter(|row| row.failure.is_some()).count(),
        calls: run.rows.iter().fold(0, |sum: usize, row| sum.saturating_add(row.calls)),
        failed_calls: run.rows.iter().map(|row| row.failed_calls).sum(),
        tokens: sum(|row| row.tokens),
        values,
        suites,
        references: shelves.references_of(run).map(|known| known.name.clone()),
        progress: run.progress.as_ref().map(crate::journal::Progress::document),
        problem: run.problem.as_ref().map(|problem| {
            run.files.iter().fold(problem.clone(), |told, file| without_folder(&file.path, &told))
        }),
        is_being_scored: shelves.is_scoring
            && (score.is_none() || run.is_stale)
            && run.problem.is_none()
            && shelves.references_of(run).is_some(),
    }
}

fn mean_grades(run: &Run) -> BTreeMap<String, (f64, u32)> {
    let mut sums: BTreeMap<&str, (f64, u32)> = BTreeMap::new();
    for (name, value) in run.rows.iter().filter(|row| !row.is_replaced).flat_map(|row| &row.grades) {
        let (sum, count) = sums.entry(name).or_default();
        *sum += value;
        *count += 1;
    }
    sums.into_iter().map(|(name, (sum, count))| (name.to_owned(), (sum / f64::from(count), count))).collect()
}

/// The revision of a library, and the progress of its runs.
#[derive(Debug, Serialize)]
pub(crate) struct State {
    revision: u64,
    runs: Vec<RunState>,
}

#[derive(Debug, Serialize)]
struct RunState {
    progress: Option<ProgressDocument>,
}

/// The current revision, and the progress of the runs.
pub(crate) fn state(shelves: &Shelves) -> State {
    let progress = |run: &Run| run.progress.as_ref().map(crate::journal::Progress::document);
    let runs = shelves.runs.iter().map(|run| RunState { progress: progress(run) });
    State { revision: shelves.revision, runs: runs.collect() }
}
