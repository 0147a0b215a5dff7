//! Where every reference and every prediction went: in JSON, and for people what leads a report and what ends it.

use std::collections::{BTreeMap, HashSet};

use m3_support::text::counted;
use m3_trajectory::FailureClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ScoreSummary, shortened, tables};

/// How many ids of a list are named.
const NAMED: usize = 3;

/// The longest name of an id, in columns.
const NAME_WIDTH: usize = 20;

/// Where every reference and every prediction went. Of repetitions counts are sums, and lists have the ids of all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct LedgerReport {
    /// Different ids in the references.
    pub references: usize,
    /// Different ids in the predictions.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub predictions: usize,
    /// Trajectories that the numbers are made of.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub scored: usize,
    /// Ids of references without a prediction.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub missing: Vec<String>,
    /// Ids of predictions without a reference.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub extra: Vec<String>,
    /// Ids that stand more than once in one of the files.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub duplicate: Vec<String>,
    /// Ids of predictions without any call.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub empty: Vec<String>,
    /// Ids of predictions that ended by an error: `provider`, `server_lost` or `other` is their class.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub errored: Vec<String>,
    /// Ids of predictions that were cut off: `time`, `limit` or `context` is their class.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub unfinished: Vec<String>,
    /// Ids of predictions with more calls than can be aligned.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub too_large: Vec<String>,
    /// How many references are without a prediction (`missing`) or have one that came to nothing, by its class: `provider`
    /// (the model could not be had, refused, or what it said could not be used), `server_lost`, `time`, `limit` (steps,
    /// calls or tokens), `context`, `other`, `too_large`; scores of earlier versions do not say.
    #[schemars(required)]
    pub failures: Option<BTreeMap<String, usize>>,
}

/// How far predictions and references are of the same tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CoverageReport {
    /// Different ids in the references.
    pub references: usize,
    /// Different ids in the predictions; of repetitions their sum.
    pub predictions: usize,
    /// Ids in both, in every repetition.
    pub shared: usize,
    /// Those of them whose prediction did not fail and was finished, as far as it says, in every repetition.
    pub finished: usize,
}

impl From<&m3_score::Ledger> for CoverageReport {
    fn from(ledger: &m3_score::Ledger) -> Self {
        let m3_score::Ledger { references, predictions, missing, errored, unfinished, too_large, .. } =
            ledger;
        // With repetitions a task may have failed in more than one way.
        let failed: HashSet<&String> =
            [missing, errored, unfinished, too_large].into_iter().flatten().collect();
        Self {
            references: *references,
            predictions: *predictions,
            shared: references - missing.len(),
            finished: references - failed.len(),
        }
    }
}

impl From<m3_score::Ledger> for LedgerReport {
    fn from(ledger: m3_score::Ledger) -> Self {
        let failures = ledger.failures.iter().map(|(class, count)| (class.name().to_owned(), *count));
        Self {
            failures: Some(failures.collect()),
            references: ledger.references,
            predictions: ledger.predictions,
            scored: ledger.scored,
            missing: ledger.missing,
            extra: ledger.extra,
            duplicate: ledger.duplicate,
            empty: ledger.empty,
            errored: ledger.errored,
            unfinished: ledger.unfinished,
            too_large: ledger.too_large,
        }
    }
}

/// What a reader should know before the numbers: tasks without a prediction or without a reference, predictions that
/// failed. Ids and rates are on a line of their own.
pub(super) fn warnings(summary: &ScoreSummary) -> Vec<String> {
    let LedgerReport { references, predictions, missing, extra, errored, unfinished, too_large, .. } =
        &summary.ledger;
    let is_paper = tables::is_paper(summary);
    let repetitions = summary.repeats.as_ref().map_or(1, |repeats| repeats.count);
    // Of repetitions each id is said once, whichever of them it is of.
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
    lines
}

/// How many references failed by which class, and which share of all that is; each counts once in every repetition.
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

/// What was counted, a line for each thing that a reader should know; ids on a line of their own.
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
    say(duplicate, "id stands twice", "ids stand twice");
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
