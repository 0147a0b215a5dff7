//! The scores of labelled pairs by a similarity, as tables.

use m3_report::{AskedReport, Sheet};
use m3_support::text::{counted, shortened};

use crate::calibrate::fidelity::{
    FidelityReport, GroupReport, PairReport, SourceReport, SourcesReport, TrainingReport,
};
use crate::report::Table;

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
    let table = Table::new(&report.sources)
        .text("source", |source| shortened(&source.name, 40))
        .number("pairs", "pairs", |source| source.pairs.to_string())
        .value("area under the curve", "area", |source| source.area_under_curve)
        .number(ACCEPTED.0, ACCEPTED.1, |source| share(source.different_accepted))
        .number(REJECTED.0, REJECTED.1, |source| share(source.same_rejected));
    vec![table.sheet(NOT_SEEN, notes)]
}

/// The title of figures on sources that were left out of the training.
const NOT_SEEN: &str = "On sources it has not seen";

/// The names of the columns of both errors.
const ACCEPTED: (&str, &str) = ("different accepted in percent", "accepted");
const REJECTED: (&str, &str) = ("same rejected in percent", "rejected");

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{:.1}", 100.0 * value))
}

fn groups(title: &str, head: &str, notes: Vec<String>, groups: &[&GroupReport]) -> Sheet {
    Table::new(groups)
        .text(head, |group| if group.name.is_empty() { "-".to_owned() } else { group.name.clone() })
        .number("same", "same", |group| group.same.to_string())
        .number("different", "diff.", |group| group.different.to_string())
        .value("area under the curve", "area", |group| group.area_under_curve)
        .number("right in percent", "right", |group| share(Some(group.accuracy)))
        .number(ACCEPTED.0, ACCEPTED.1, |group| share(group.different_accepted))
        .number(REJECTED.0, REJECTED.1, |group| share(group.same_rejected))
        .sheet(title, notes)
}

fn reliability(report: &FidelityReport) -> Sheet {
    let note = "A calibrated score is, on average, the share of the same";
    Table::new(&report.reliability)
        .text("from", |bin| format!("{:.1}", bin.low))
        .number("pairs", "pairs", |bin| bin.pairs.to_string())
        .value("mean score", "score", |bin| Some(bin.mean_score))
        .value("share of the same", "same", |bin| Some(bin.same))
        .sheet("Reliability", vec![note.to_owned()])
}

fn wrong(report: &FidelityReport) -> Sheet {
    let is_wrong = |pair: &&PairReport| (pair.score >= report.threshold) != pair.same;
    let mut wrong: Vec<&PairReport> = report.pairs.iter().filter(is_wrong).collect();
    let far = |pair: &PairReport| (pair.score - report.threshold).abs();
    wrong.sort_by(|a, b| far(b).total_cmp(&far(a)));
    let note = format!("{} of {}", wrong.len(), counted(report.pairs.len(), "pair"));
    let why = |pair: &PairReport| Some(format!("{}: {}", pair.kind.as_ref()?, pair.reason.as_ref()?));
    Table::new(wrong.into_iter().take(LISTED))
        .number("pair", "pair", |pair| pair.index.to_string())
        .text("tool", |pair| shortened(&pair.tool, 18))
        .text("label", |pair| if pair.same { "same" } else { "other" }.to_owned())
        .value("score", "score", |pair| Some(pair.score))
        .text("argument", |pair| shortened(pair.argument.as_deref().unwrap_or("-"), 14))
        .text("reason", |pair| shortened(why(pair).as_deref().unwrap_or("-"), 60))
        .sheet("Pairs called wrongly, the worst first", vec![note])
}
