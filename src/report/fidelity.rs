//! The scores of labelled pairs by a similarity, as tables.

use m3_report::{AskedReport, Cell, Column, Sheet};
use m3_support::text::{counted, shortened};

use crate::calibrate::fidelity::{
    FidelityReport, GroupReport, PairReport, SourceReport, SourcesReport, TrainingReport,
};

/// The most pairs that are listed.
const LISTED: usize = 30;

/// The tables of a report.
pub(crate) fn fidelity_sheets(report: &FidelityReport) -> Vec<Sheet> {
    let own_model = report.fidelity_model.as_ref().filter(|model| !model.built_in);
    let mut notes = vec![format!(
        "{}, similarity {}, accepted from {} on, encoder {}{}",
        counted(report.pairs.len(), "pair"),
        report.similarity,
        report.threshold,
        report.encoder,
        own_model.map(|model| format!(", fidelity model {model}")).unwrap_or_default()
    )];
    if let (Some(brier), Some(error)) = (report.brier_score, report.calibration_error) {
        notes.push(format!("Brier score {brier:.3}, calibration error {error:.3}"));
    }
    notes.extend(report.asked.as_ref().map(asked));
    let with_all = |groups| std::iter::once(&report.all).chain(groups).collect::<Vec<_>>();
    let mut sheets = Vec::new();
    // The notes on all pairs go with the first table.
    if !report.by_source.is_empty() {
        let notes = std::mem::take(&mut notes);
        sheets.push(groups("Fidelity by source", "source", notes, &with_all(&report.by_source)));
    }
    let tools: Vec<&GroupReport> = report.by_tool.iter().collect();
    sheets.extend([
        groups("Fidelity by kind of edit", "edit", notes, &with_all(&report.by_edit)),
        groups("Fidelity by tool", "tool", Vec::new(), &tools),
        reliability(report),
        wrong(report),
    ]);
    sheets.retain(|sheet| !sheet.rows.is_empty());
    sheets
}

/// The table of a training.
pub(crate) fn training_sheets(report: &TrainingReport) -> Vec<Sheet> {
    let (title, of, note) = if report.is_adapted {
        (
            "On pairs it has not seen",
            "model",
            "adapted: each fifth of the pairs by a model adapted to the others; pairs of one question stay together",
        )
    } else {
        (NOT_SEEN, "source", "each source by the model of all others; accepted from 0.5 on")
    };
    let figures: Vec<&GroupReport> = report.figures.iter().collect();
    vec![groups(title, of, vec![note.to_owned()], &figures)]
}

/// The counts of a language model's answers, in a sentence.
fn asked(asked: &AskedReport) -> String {
    let AskedReport { disagreement, unreadable, no_reply, .. } = asked;
    let reasons = [(disagreement, "disagreement"), (unreadable, "unreadable"), (no_reply, "no reply")];
    let reasons = reasons.into_iter().filter(|(count, _)| **count > 0);
    let reasons: Vec<String> = reasons.map(|(count, reason)| format!("{count} {reason}")).collect();
    let why = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    format!(
        "{} with scores from {} to {} put to {} in both orders: {} the same, {} different, {} uncertain{why}",
        counted(asked.asked, "pair"),
        asked.band.low,
        asked.band.high,
        shortened(&asked.model, 100),
        asked.same,
        asked.different,
        asked.uncertain,
    )
}

/// The table of the sources that a model was made from.
pub(crate) fn sources_sheets(report: &SourcesReport) -> Vec<Sheet> {
    let pairs: usize = report.sources.iter().map(|source| source.pairs).sum();
    let mut notes = vec![
        format!(
            "model {}, made from {} of {}",
            report.fidelity_model,
            counted(pairs, "pair"),
            counted(report.sources.len(), "source")
        ),
        "each source by the model of all others; accepted from 0.5 on".to_owned(),
    ];
    if !report.sources.iter().all(SourceReport::has_figures) {
        notes.push("without figures: the model was adapted to it".to_owned());
    }
    let rows = report.sources.iter().map(|source| {
        vec![
            Cell::new(shortened(&source.name, 40)),
            Cell::new(source.pairs.to_string()),
            Cell::number(source.area_under_curve),
            share(source.different_accepted),
            share(source.same_rejected),
        ]
    });
    let mut columns = vec![Column::text("source"), Column::number("pairs", "pairs")];
    columns.push(area_column());
    columns.extend(error_columns());
    vec![Sheet { title: NOT_SEEN.to_owned(), notes, columns, rows: rows.collect() }]
}

/// The title of figures on sources that were left out of the training.
const NOT_SEEN: &str = "On sources it has not seen";

fn area_column() -> Column {
    Column::number("area under the curve", "area")
}

fn error_columns() -> [Column; 2] {
    [
        Column::number("different accepted in percent", "accepted"),
        Column::number("same rejected in percent", "rejected"),
    ]
}

fn share(value: Option<f64>) -> Cell {
    Cell::new(value.map_or_else(|| "-".to_owned(), |value| format!("{:.1}", 100.0 * value)))
}

fn groups(title: &str, of: &str, notes: Vec<String>, groups: &[&GroupReport]) -> Sheet {
    let rows = groups.iter().map(|group| {
        vec![
            Cell::new(if group.name.is_empty() { "-" } else { &group.name }),
            Cell::new(group.same.to_string()),
            Cell::new(group.different.to_string()),
            Cell::number(group.area_under_curve),
            Cell::new(format!("{:.1}", 100.0 * group.accuracy)),
            share(group.different_accepted),
            share(group.same_rejected),
        ]
    });
    let mut columns =
        vec![Column::text(of), Column::number("same", "same"), Column::number("different", "diff.")];
    columns.extend([area_column(), Column::number("right in percent", "right")]);
    columns.extend(error_columns());
    Sheet { title: title.to_owned(), notes, columns, rows: rows.collect() }
}

fn reliability(report: &FidelityReport) -> Sheet {
    let rows = report.reliability.iter().map(|bin| {
        vec![
            Cell::new(format!("{:.1}", bin.low)),
            Cell::new(bin.pairs.to_string()),
            Cell::new(format!("{:.3}", bin.mean_score)),
            Cell::new(format!("{:.3}", bin.same)),
        ]
    });
    Sheet {
        title: "Reliability".to_owned(),
        notes: vec!["A calibrated score is, on average, the share of the same".to_owned()],
        columns: vec![
            Column::text("from"),
            Column::number("pairs", "pairs"),
            Column::number("mean score", "score"),
            Column::number("share of the same", "same"),
        ],
        rows: rows.collect(),
    }
}

fn wrong(report: &FidelityReport) -> Sheet {
    let is_wrong = |pair: &&PairReport| (pair.score >= report.threshold) != pair.same;
    let mut found: Vec<&PairReport> = report.pairs.iter().filter(is_wrong).collect();
    let far = |pair: &PairReport| (pair.score - report.threshold).abs();
    found.sort_by(|a, b| far(b).total_cmp(&far(a)));
    let rows = found.iter().take(LISTED).map(|pair| {
        let why = pair.kind.iter().zip(&pair.reason).map(|(kind, reason)| format!("{kind}: {reason}")).next();
        let text = |text: &Option<String>, width| Cell::new(shortened(text.as_deref().unwrap_or("-"), width));
        vec![
            Cell::new(pair.index.to_string()),
            Cell::new(shortened(&pair.tool, 18)),
            Cell::new(if pair.same { "same" } else { "other" }),
            Cell::new(format!("{:.3}", pair.score)),
            text(&pair.argument, 14),
            text(&why, 60),
        ]
    });
    Sheet {
        title: "Pairs called wrongly, the worst first".to_owned(),
        notes: vec![format!("{} of {}", found.len(), counted(report.pairs.len(), "pair"))],
        columns: vec![
            Column::number("pair", "pair"),
            Column::text("tool"),
            Column::text("label"),
            Column::number("score", "score"),
            Column::text("argument"),
            Column::text("reason"),
        ],
        rows: rows.collect(),
    }
}
