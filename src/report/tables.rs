//! What the terminal and Markdown both show: the metrics, the weakest types, what the ledger says.

use unicode_width::UnicodeWidthStr as _;

use super::shortened;
use super::{AggregateReport, LedgerReport, ScoreSummary};
use crate::score::{Profile, Similarity};
use crate::text::counted;

/// How many types are shown.
const WEAKEST: usize = 5;

/// How many ids of a list are named.
const NAMED: usize = 3;

/// The longest name of an id, in columns.
const NAME_WIDTH: usize = 20;

/// The longest name of a type: as much as ten columns leave of 80.
const TYPE_WIDTH: usize = 16;

/// A metric, its value in [0, 1] and what it is made of.
pub(super) struct MetricRow {
    pub(super) label: &'static str,
    pub(super) value: f64,
    pub(super) note: String,
}

/// The metrics of the whole set. The average comes last.
pub(super) fn metrics(summary: &ScoreSummary) -> Vec<MetricRow> {
    let a = &summary.aggregate;
    let is_paper = is_paper(summary);
    let row = |label, value, note: String| MetricRow { label, value, note };
    let compared = if is_typed(summary) { "fidelity" } else { "cosine" };
    let similarity = if is_paper {
        format!("mean {compared} of confident matches")
    } else {
        format!("mean {compared} of the matches, x recall")
    };
    let mut rows = vec![
        row("recall", a.recall, format!("{} of {} reference calls matched", a.matched, a.reference_calls)),
        row(
            "precision",
            a.precision,
            format!("{} of {} predicted calls matched", a.matched, a.predicted_calls),
        ),
        row("argument similarity", a.argument_similarity, similarity),
    ];
    if !is_paper {
        let note = "the same of confident matches";
        rows.push(row("  of strong matches", a.argument_similarity_strong, note.to_owned()));
    }
    let covered = format!("of matched calls; {:.4} with recall", a.argument_fidelity_covered);
    rows.extend([
        row("argument fidelity", a.argument_fidelity, covered),
        row("step coherence", a.step_coherence, "calls of a step made together".to_owned()),
        row("merge purity", a.merge_purity, "calls of different steps kept apart".to_owned()),
        row("order consistency", a.order_consistency, "steps taken in order".to_owned()),
        row("average", a.average, "mean of the six, without fidelity".to_owned()),
    ]);
    rows
}

/// Header and rows of the weakest types, the weakest first; no rows if there is only one type.
pub(super) fn weakest_types(summary: &ScoreSummary) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let header = vec!["type", "tasks", "rec.", "prec.", "args", "fid.", "steps", "merge", "order", "avg."];
    if summary.by_type.len() < 2 {
        return (header, Vec::new());
    }
    let mut types: Vec<(&String, &AggregateReport)> = summary.by_type.iter().collect();
    // Stable: types of equal average stay in the order of their names.
    types.sort_by(|a, b| a.1.average.total_cmp(&b.1.average));
    let rows = types.into_iter().take(WEAKEST).map(|(name, a)| {
        let metrics = [
            a.recall,
            a.precision,
            a.argument_similarity,
            a.argument_fidelity,
            a.step_coherence,
            a.merge_purity,
            a.order_consistency,
            a.average,
        ];
        let mut row = vec![shortened(name, TYPE_WIDTH), a.trajectories.to_string()];
        row.extend(metrics.map(|x| format!("{x:.3}")));
        row
    });
    (header, rows.collect())
}

/// Which definitions and encoder made the numbers.
pub(super) fn provenance(summary: &ScoreSummary) -> String {
    provenance_parts(summary).join(", ")
}

/// The same on lines of so many columns.
pub(super) fn provenance_lines(summary: &ScoreSummary, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in provenance_parts(summary) {
        match lines.last_mut() {
            None => lines.push(part),
            // With a comma before it and perhaps one after it.
            Some(line) if line.width() + part.width() + 3 <= columns => line.extend([", ", &part]),
            Some(line) => {
                line.push(',');
                lines.push(part);
            }
        }
    }
    lines
}

fn provenance_parts(summary: &ScoreSummary) -> Vec<String> {
    let encoder = &summary.encoder;
    let digest = encoder.fingerprint.trim_start_matches("sha256:");
    let digest = digest.get(..8).unwrap_or(digest);
    let name = shortened(&encoder.name, 2 * NAME_WIDTH);
    let mut parts = vec![format!("profile {}", summary.profile), format!("encoder {name} ({digest})")];
    if is_typed(summary) {
        parts.push("similarity typed".to_owned());
    }
    parts.push(format!("tau {} / {}", summary.thresholds.weak, summary.thresholds.strong));
    parts
}

/// What was counted, a line for each thing that a reader should know; ids on a line of their own.
pub(super) fn ledger(summary: &ScoreSummary) -> Vec<String> {
    let LedgerReport { references, predictions, scored, missing, extra, duplicate, empty } = &summary.ledger;
    let a = &summary.aggregate;
    let (references, predictions) = (counted(*references, "reference"), counted(*predictions, "prediction"));
    let mut lines = vec![
        format!("{references}, {predictions}, {scored} scored"),
        format!("{:.2} steps and {:.2} calls a prediction", a.average_steps, a.average_calls),
    ];
    let missing_rule = if is_paper(summary) { "scored as empty" } else { "left out" };
    let mut say = |ids: &[String], one: &str, many: &str| {
        if !ids.is_empty() {
            let what = if ids.len() == 1 { one } else { many };
            lines.push(format!("{} {what}:\n  {}", ids.len(), names(ids)));
        }
    };
    let rule = |text: &str| format!("{text}, {missing_rule}");
    say(missing, &rule("reference without a prediction"), &rule("references without a prediction"));
    say(extra, "prediction without a reference, left out", "predictions without a reference, left out");
    say(duplicate, "id stands twice", "ids stand twice");
    say(empty, "prediction without calls", "predictions without calls");
    lines
}

fn names(ids: &[String]) -> String {
    let mut text = ids.iter().take(NAMED).map(|id| shortened(id, NAME_WIDTH)).collect::<Vec<_>>().join(", ");
    if ids.len() > NAMED {
        text.push_str(", …");
    }
    text
}

/// Whether calls are aligned by their fidelity.
fn is_typed(summary: &ScoreSummary) -> bool {
    summary.similarity == Similarity::Typed.name()
}

fn is_paper(summary: &ScoreSummary) -> bool {
    summary.profile == Profile::Paper.name()
}
