//! `run/N.json`: the tasks of a run as a table, and the score of all of them together.

use std::collections::BTreeSet;

use m3_report::audit::SetDocument;
use m3_score::fidelity::constants::THRESHOLD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Column, columns, name_of};
use crate::row::Row;
use crate::run::Run;
use crate::score::ScoredTrial;

/// The most tools and arguments that are listed.
const LISTED: usize = 200;

/// The tasks of a run.
#[derive(Debug, Serialize)]
pub(crate) struct RunDocument<'a> {
    name: &'a str,
    columns: Vec<Column>,
    rows: Vec<ScoredRow<'a>>,
    score: Option<Summary<'a>>,
    /// The facts about the set that only an audit knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<SetDocument>,
}

#[derive(Debug, Serialize)]
struct ScoredRow<'a> {
    #[serde(flatten)]
    row: &'a Row,
    /// The values by column; left out if the trajectory has no score.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Option<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passes: Option<bool>,
    /// The reasons why calls are unmatched, each once.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    reasons: BTreeSet<String>,
    /// The faults of arguments, each once: verdicts, and `rejected` for a matched pair with wrong arguments.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    findings: BTreeSet<String>,
    /// The trajectory's cost for the average of all, which only an audit knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
}

/// The facts of a score about a trajectory's calls by which tables are filtered.
#[derive(Debug, Default, Deserialize)]
struct Faults {
    #[serde(default)]
    matches: Vec<Match>,
    #[serde(default)]
    unmatched_references: Vec<UnmatchedCall>,
    #[serde(default)]
    unmatched_predictions: Vec<UnmatchedCall>,
}

#[derive(Debug, Deserialize)]
struct Match {
    argument_fidelity: Option<f64>,
    #[serde(default)]
    wrong_arguments: Vec<Wrong>,
}

#[derive(Debug, Deserialize)]
struct Wrong {
    verdict: String,
}

#[derive(Debug, Deserialize)]
struct UnmatchedCall {
    reason: String,
}

impl Faults {
    fn of(scored: &ScoredTrial) -> (BTreeSet<String>, BTreeSet<String>) {
        // A score by another program may have another form.
        let Self { matches, unmatched_references, unmatched_predictions } =
            serde_json::from_str(scored.whole.get()).unwrap_or_default();
        let unmatched = unmatched_references.into_iter().chain(unmatched_predictions);
        let is_rejected = |found: &Match| found.argument_fidelity.is_some_and(|value| value < THRESHOLD);
        let rejected = matches.iter().any(is_rejected).then(|| "rejected".to_owned());
        let wrong = matches.into_iter().flat_map(|found| found.wrong_arguments);
        let findings = rejected.into_iter().chain(wrong.map(|found| found.verdict));
        (unmatched.map(|found| found.reason).collect(), findings.collect())
    }
}

impl RunDocument<'_> {
    /// Adds the facts of an audit about the set, and the cost of each row for the average.
    pub(crate) fn with_audit(mut self, set: SetDocument, costs: &[f64]) -> Self {
        for (row, cost) in self.rows.iter_mut().zip(costs) {
            row.cost = Some(*cost);
        }
        Self { set: Some(set), ..self }
    }
}

/// The facts of a score about all tasks together.
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
    rejected_matches: RejectedPair<'a>,
}

#[derive(Debug, Serialize)]
struct RejectedPair<'a> {
    count: u64,
    matches: &'a [Value],
}

/// The tasks of a run.
pub(crate) fn run(run: &Run) -> RunDocument<'_> {
    let score = run.score.as_deref();
    let scored = |row: &Row| score.filter(|_| !row.is_replaced)?.of(&row.id, row.repeat);
    let rows = run.rows.iter().map(|row| {
        let found = scored(row);
        let (reasons, findings) = found.map(Faults::of).unwrap_or_default();
        ScoredRow {
            row,
            reasons,
            findings,
            cost: None,
            values: found.map(|found| found.values.clone()),
            passes: found.and_then(|found| found.passes),
        }
    });
    RunDocument {
        name: &run.name,
        set: None,
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
                rejected_matches: RejectedPair {
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
