//! `matrix.json`: every metric of every task for every scored run.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::{Column, columns};
use crate::shelves::Shelves;

/// The metrics of tasks by runs.
#[derive(Debug, Serialize)]
pub(crate) struct Matrix {
    columns: Vec<Column>,
    /// The runs: their numbers and names.
    runs: Vec<(usize, String)>,
    tasks: Vec<Task>,
    /// The values by column, task and run; each is the mean over repetitions.
    values: Vec<Vec<Vec<Option<f64>>>>,
    /// The row of each task in each run, for links.
    rows: Vec<Vec<Option<usize>>>,
}

#[derive(Debug, Serialize)]
struct Task {
    id: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    question: Option<String>,
}

/// Collects the metrics of all tasks and scored runs.
pub(crate) fn matrix(shelves: &Shelves) -> Matrix {
    let scored: Vec<(usize, &crate::run::Run, &crate::score::Score)> = shelves
        .runs
        .iter()
        .enumerate()
        .filter_map(|(index, run)| Some((index, run, run.score.as_deref()?)))
        .collect();
    let mut names: Vec<String> = Vec::new();
    for (_, _, score) in &scored {
        let new = score.columns.iter().filter(|name| !names.contains(name));
        let new: Vec<String> = new.cloned().collect();
        names.extend(new);
    }
    let mut tasks: BTreeMap<&str, Task> = BTreeMap::new();
    let mut rows: HashMap<(&str, usize), usize> = HashMap::new();
    for (at, (_, run, score)) in scored.iter().enumerate() {
        // A task without a reference has no values.
        let with_score = run
            .rows
            .iter()
            .enumerate()
            .filter(|(_, row)| !row.is_replaced && score.of(&row.id, row.repeat).is_some());
        for (number, row) in with_score {
            rows.entry((row.id.as_str(), at)).or_insert(number);
            let task = tasks.entry(row.id.as_str());
            let task = task.or_insert_with(|| Task { id: row.id.clone(), kind: None, question: None });
            if task.kind.is_none() {
                task.kind.clone_from(&row.task_type);
            }
            if task.question.is_none() {
                task.question.clone_from(&row.question);
            }
        }
    }
    let mut sums: HashMap<(&str, usize, usize), (f64, u32)> = HashMap::new();
    for (at, (_, _, score)) in scored.iter().enumerate() {
        let places: Vec<Option<usize>> =
            score.columns.iter().map(|name| names.iter().position(|known| known == name)).collect();
        for found in &score.trajectories {
            for (place, value) in places.iter().zip(&found.values) {
                if let (Some(place), Some(value)) = (place, value) {
                    let (sum, count) = sums.entry((found.id.as_str(), at, *place)).or_default();
                    *sum += value;
                    *count += 1;
                }
            }
        }
    }
    let value = |id: &str, at: usize, column: usize| {
        sums.get(&(id, at, column)).map(|(sum, count)| sum / f64::from(*count))
    };
    let runs = 0..scored.len();
    let of_task = |id: &str, column: usize| runs.clone().map(|at| value(id, at, column)).collect();
    let values =
        (0..names.len()).map(|column| tasks.keys().map(|id| of_task(id, column)).collect()).collect();
    let rows =
        tasks.keys().map(|id| runs.clone().map(|at| rows.get(&(*id, at)).copied()).collect()).collect();
    Matrix {
        columns: columns(&names),
        runs: scored.iter().map(|(index, run, _)| (*index, run.name.clone())).collect(),
        values,
        rows,
        tasks: tasks.into_values().collect(),
    }
}
