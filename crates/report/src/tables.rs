//! What the terminal and Markdown both show: the metrics, the weakest types, what made the numbers.

use m3_score::{Profile, Similarity};
use unicode_width::UnicodeWidthStr as _;

use super::{AggregateReport, ScoreSummary, shortened, signature};

/// How many types are shown.
const WEAKEST: usize = 5;

/// The longest name of an encoder, in columns.
const NAME_WIDTH: usize = 40;

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
    let tasks = if summary.repeats.is_some() { "trials" } else { "tasks" };
    let header = vec!["type", tasks, "rec.", "prec.", "args", "fid.", "steps", "merge", "order", "avg."];
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
    let digest = signature::start(encoder.fingerprint.trim_start_matches("sha256:"));
    let name = shortened(&encoder.name, NAME_WIDTH);
    let mut parts = vec![format!("profile {}", summary.profile), format!("encoder {name} ({digest})")];
    if is_typed(summary) {
        parts.push("similarity typed".to_owned());
    }
    parts.push(format!("tau {} / {}", summary.thresholds.weak, summary.thresholds.strong));
    let names = &summary.tool_names;
    if names.mode != "off" {
        parts.push(format!("tool names {} ({} mapped)", names.mode, names.mapping.len()));
    }
    parts
}

/// Whether calls are aligned by their fidelity.
fn is_typed(summary: &ScoreSummary) -> bool {
    summary.similarity == Similarity::Typed.name()
}

/// Whether the profile is the paper's.
pub(super) fn is_paper(summary: &ScoreSummary) -> bool {
    summary.profile == Profile::Paper.name()
}
