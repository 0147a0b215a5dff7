//! The values of the models by the rules of other benchmarks, from `m3 score --suite`.

use m3_support::text::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::Selection;
use crate::{OWN_SUITE, SuiteMetricReport, SuiteValues};

/// The values of the models by a suite.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SuiteBoardReport {
    /// The name of the suite, such as `mcpagentbench:published`.
    pub suite: String,
    /// The benchmark.
    pub title: String,
    /// What its metrics mean.
    pub metrics: Vec<SuiteMetricReport>,
    /// The models that were scored with it.
    pub models: Vec<SuiteRowReport>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// The values of a model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SuiteRowReport {
    /// The name of the model.
    pub model: String,
    /// The suite's values over all tasks of the model; null if a value is not defined.
    pub values: SuiteValues,
}

/// The values of one's own models by suites, in the order in which suites first occur. `scored` are the names in the
/// order of the selection.
pub(super) fn suites<'m>(
    models: impl Iterator<Item = &'m str>,
    scored: &[&str],
    selection: &Selection<'_>,
) -> Vec<SuiteBoardReport> {
    let placed = |model: &'m str| Some((model, scored.iter().position(|name| *name == model)?));
    let mut boards: Vec<SuiteBoardReport> = Vec::new();
    for (model, at) in models.filter_map(placed) {
        let (origin, left_out) = (selection.origins[at], selection.left_out[at]);
        for (suite, report) in origin.suites.0.iter().filter(|(suite, _)| suite != OWN_SUITE) {
            let at = boards.iter().position(|board| board.suite == *suite).unwrap_or_else(|| {
                boards.push(SuiteBoardReport {
                    suite: suite.clone(),
                    title: report.title.clone(),
                    metrics: report.metrics.clone(),
                    models: Vec::new(),
                    notes: Vec::new(),
                });
                boards.len() - 1
            });
            let board = &mut boards[at];
            board.models.push(SuiteRowReport { model: model.to_owned(), values: report.aggregate.clone() });
            if left_out > 0 {
                let count = counted(left_out, "task");
                board.notes.push(format!("{model}: {count} that other models do not have count here"));
            }
        }
    }
    boards
}
