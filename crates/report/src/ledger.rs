//! What happened to every reference and every prediction, for people: the first and the last lines of a report.

use std::collections::HashSet;

use m3_support::text::counted;
use m3_trajectory::FailureClass;

use super::{LedgerReport, ScoreSummary, shortened, tables};

/// How many ids of a list are named.
const NAMED: usize = 3;

/// The longest name of an id, in columns.
const NAME_WIDTH: usize = 20;

/// Warnings before the numbers: tasks without a prediction or without a reference, failed predictions. Ids and rates
/// are on separate lines.
pub(super) fn warnings(summary: &ScoreSummary) -> Vec<String> {
    let LedgerReport { references, predictions, missing, extra, errored, unfinished, too_large, .. } =
        &summary.ledger;
    let is_paper = tables::is_paper(summary);
    let repetitions = summary.repeats.as_ref().map_or(1, |repeats| repeats.count);
    // With repetitions, each id is named once, whichever repetition it belongs to.
    let each = if repetitions > 1 { " each time" } else { "" };
    let mut lines = Vec::new();
    if !missing.is_empty() {
        let rule = if is_paper { "scored as empty" } else { "left out" };
        let shared = summary.coverage.shared;
        lines.push(format!(
            "{shared} of {references} references have a prediction{each}, {} {rule}:\n  {}",
            missing.len(),
            names(missing)
        ));
    }
    if !extra.is_empty() {
        let have = if extra.len() == 1 { "has" } else { "have" };
        let what = if repetitions > 1 {
            counted(extra.len(), "id")
        } else {
            format!("{} of {predictions} predictions", extra.len())
        };
        lines.push(format!("{what} {have} no reference, left out:\n  {}", names(extra)));
    }
    let mut known = HashSet::new();
    let failed = [errored, unfinished, too_large].into_iter().flatten();
    let failed: Vec<&String> = failed.filter(|id| known.insert(id.as_str())).collect();
    if !failed.is_empty() {
        let rule = if is_paper { "scored with the calls they have" } else { "left out" };
        lines.push(format!(
            "{} of {references} tasks failed, {rule}:\n  {};\n  {}",
            failed.len(),
            rates(&summary.ledger, repetitions),
            names(&failed)
        ));
    }
    let ignored = summary.ledger.ignored_calls;
    if ignored > 0 {
        lines.push(format!("{} of tools that `--roles` ignores left out", counted(ignored, "call")));
    }
    let malformed = summary.ledger.malformed_calls;
    if malformed > 0 {
        let name = if malformed == 1 { "names" } else { "name" };
        lines.push(format!("{} {name} no tool, counted as extra", counted(malformed, "predicted call")));
    }
    lines
}

/// How many references failed, by class, and their share of all; each counts once in every repetition.
fn rates(ledger: &LedgerReport, repetitions: usize) -> String {
    let failed = ledger.failures.iter().flatten().filter(|(class, _)| *class != FailureClass::Missing.name());
    let mut failed: Vec<_> = failed.collect();
    failed.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let rate = |(class, count): (&String, &usize)| {
        let all = (ledger.references * repetitions).max(1);
        let share = 100.0 * *count as f64 / all as f64;
        format!("{} {count} ({share:.1} %)", class.replace('_', " "))
    };
    failed.into_iter().map(rate).collect::<Vec<_>>().join(", ")
}

/// What was counted, one line for each fact; ids on separate lines.
pub(super) fn ledger(summary: &ScoreSummary) -> Vec<String> {
    let LedgerReport { references, predictions, scored, duplicate, empty, .. } = &summary.ledger;
    let a = &summary.aggregate;
    let (references, predictions) = (counted(*references, "reference"), counted(*predictions, "prediction"));
    let mut lines = vec![
        format!("{references}, {predictions}, {scored} scored"),
        format!("{:.2} steps and {:.2} calls a prediction", a.average_steps, a.average_calls),
    ];
    let mut say = |ids: &[String], one: &str, many: &str| {
        if !ids.is_empty() {
            let what = if ids.len() == 1 { one } else { many };
            lines.push(format!("{} {what}:\n  {}", ids.len(), names(ids)));
        }
    };
    say(duplicate, "duplicate id", "duplicate ids");
    say(empty, "prediction without calls", "predictions without calls");
    lines.extend(summary.tool_names.lines());
    lines
}

fn names(ids: &[impl AsRef<str>]) -> String {
    let named = ids.iter().take(NAMED).map(|id| shortened(id.as_ref(), NAME_WIDTH));
    let mut text = named.collect::<Vec<_>>().join(", ");
    if ids.len() > NAMED {
        text.push_str(", …");
    }
    text
}
