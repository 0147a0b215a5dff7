//! `run/N.json`: the tasks of a run as a table, and what its score says of all of them together.

use serde::Serialize;
use serde_json::Value;

use super::{Column, columns, name_of, rounded};
use crate::row::Row;
use crate::run::Run;

/// The most tools and arguments that are listed.
const LISTED: usize = 200;

/// The tasks of a run.
#[derive(Debug, Serialize)]
pub(crate) struct RunDocument<'a> {
    name: &'a str,
    columns: Vec<Column>,
    rows: Vec<ScoredRow<'a>>,
    score: Option<Summary<'a>>,
}

#[derive(Debug, Serialize)]
struct ScoredRow<'a> {
    #[serde(flatten)]
    row: &'a Row,
    /// By column; left out if it has no score.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Option<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passes: Option<bool>,
}

/// What the score says of all tasks together.
#[derive(Debug, Serialize)]
struct Summary<'a> {
    signature: &'a str,
    profile: &'a str,
    predictions: String,
    references: String,
    aggregate: &'a Value,
    by_type: &'a Value,
    costs: &'a [Value],
    by_tool: &'a [Value],
    wrong_arguments: &'a [Value],
    rejected_matches: Rejected<'a>,
}

#[derive(Debug, Serialize)]
struct Rejected<'a> {
    count: u64,
    matches: &'a [Value],
}

/// The tasks of a run.
pub(crate) fn run(run: &Run) -> RunDocument<'_> {
    let score = run.score.as_deref();
    let scored = |row: &Row| score.filter(|_| !row.is_replaced)?.of(&row.id, row.repeat);
    let rows = run.rows.iter().map(|row| {
        let found = scored(row);
        ScoredRow {
            row,
            values: found.map(|found| found.values.iter().map(|value| value.map(rounded)).collect()),
            passes: found.and_then(|found| found.passes),
        }
    });
    RunDocument {
        name: &run.name,
        columns: score.map(|score| columns(&score.columns)).unwrap_or_default(),
        rows: rows.collect(),
        score: score.map(|score| {
            let head = &score.head;
            let rejected = &head.rejected_matches;
            let matches =
                rejected.get("matches").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            Summary {
                signature: &head.signature,
                profile: &head.profile,
                predictions: name_of(&head.inputs.predictions.name),
                references: name_of(&head.inputs.references.name),
                aggregate: &head.aggregate,
                by_type: &head.by_type,
                costs: first(&head.costs),
                by_tool: first(&head.by_tool),
                wrong_arguments: first(&head.wrong_arguments),
                rejected_matches: Rejected {
                    count: rejected.get("count").and_then(Value::as_u64).unwrap_or_default(),
                    matches: first(matches),
                },
            }
        }),
    }
}

fn first(all: &[Value]) -> &[Value] {
    all.get(..LISTED).unwrap_or(all)
}
