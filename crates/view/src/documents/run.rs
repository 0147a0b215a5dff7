//! `run/N.json`: the tasks of a run as a table, and what its score says of all of them together.

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
    /// What only an audit knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<SetDocument>,
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
    /// Why calls are unmatched, each once.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    reasons: BTreeSet<String>,
    /// What is wrong with arguments, each once: verdicts, and `rejected` for a matched pair with wrong arguments.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    findings: BTreeSet<String>,
    /// What it costs the average of all; only an audit knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
}

/// What a score says of a trajectory's calls, as far as tables are filtered by it.
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
        // A score by another program may say all of this in another way.
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
    /// With what an audit says of the set, and of each row what it costs the average.
    pub(crate) fn with_audit(mut self, set: SetDocument, costs: &[f64]) -> Self {
        for (row, cost) in self.rows.iter_mut().zip(costs) {
            row.cost = Some(*cost);
        }
        Self { set: Some(set), ..self }
    }
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
