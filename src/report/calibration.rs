//! Thresholds from people's labels as tables, with the agreement for both of them, and as a heat map.

use m3_figures::AgreementMap;
use m3_report::{Cell, Column, Picture, Sheet};
use m3_score::Metric;
use m3_support::text::{counted, shortened};

use crate::calibrate::{CalibrationReport, IntervalReport, ThresholdReport};
use crate::report::Table;

/// Shades from little to much agreement, for terminals.
const SHADES: [&str; 5] = [" ", "░", "▒", "▓", "█"];

/// Steps of thresholds between 0 and 1 in the table of agreement.
const STEPS: u32 = 10;

/// The tables of a report.
pub(crate) fn calibration_sheets(report: &CalibrationReport) -> Vec<Sheet> {
    let mut sheets = vec![thresholds(report), sweep(report), sensitivity(report)];
    sheets.retain(|sheet| !sheet.rows.is_empty());
    sheets
}

fn interval(of: Option<IntervalReport>) -> String {
    of.map_or_else(|| "not known".to_owned(), |of| format!("{:.3} to {:.3}", of.low, of.high))
}

/// The names for the thresholds with the most agreement and for the default ones.
fn names(report: &CalibrationReport) -> [&'static str; 2] {
    if report.keep_default.is_empty() {
        ["recommended", "default"]
    } else {
        ["best here", "default, recommended"]
    }
}

/// The notes above the table of thresholds.
fn notes(report: &CalibrationReport) -> Vec<String> {
    let labels = &report.labels;
    let percent = 100.0 * report.level;
    let mut notes = Vec::new();
    if !report.keep_default.is_empty() {
        let ThresholdReport { weak, strong, .. } = report.default;
        notes.push(format!("Keep the defaults, {weak} and {strong}: {}", report.keep_default.join("; ")));
    }
    notes.extend(report.warnings.iter().map(|warning| format!("Warning: {warning}")));
    notes.extend([
        format!(
            "{} of {} by {} ({} weak, {} medium, {} strong), profile {}, encoder {}",
            labels.used,
            counted(labels.pairs, "pair"),
            counted(labels.people, "person").replace("persons", "people"),
            labels.weak,
            labels.medium,
            labels.strong,
            report.profile,
            report.encoder
        ),
        format!(
            "Intervals of {percent} % from {} resamples: weak {}, strong {}, agreement {}",
            report.resamples,
            interval(report.weak_interval),
            interval(report.strong_interval),
            interval(report.agreement_interval)
        ),
    ]);
    notes.extend(report.expected_agreement.map(|expected| {
        format!("On pairs that did not choose the thresholds an agreement of {expected:.3} is to be expected")
    }));
    notes.extend(
        labels.krippendorff_alpha.map(|alpha| format!("People agree with one another by alpha {alpha:.3}")),
    );
    for (what, ids) in [
        ("Without a label", &labels.unlabelled),
        ("Left out, no label has most votes", &labels.ties),
        ("People do not all say the same", &labels.disagreements),
        ("Not met by the recommended thresholds", &labels.not_met),
    ] {
        if !ids.is_empty() {
            let shown: Vec<String> = ids.iter().take(5).map(|id| shortened(id, 30)).collect();
            let more = if ids.len() > shown.len() { ", .." } else { "" };
            notes.push(format!("{what}: {} ({}{more})", ids.len(), shown.join(", ")));
        }
    }
    notes
}

fn thresholds(report: &CalibrationReport) -> Sheet {
    let [other, default] = names(report);
    Table::new([(other, report.best), (default, report.default)])
        .text("thresholds", |(name, _)| (*name).to_owned())
        .value("weak", "weak", |(_, of)| Some(of.weak))
        .value("strong", "strong", |(_, of)| Some(of.strong))
        .value("agreement", "agree", |(_, of)| Some(of.agreement))
        .value("Cohen's kappa", "kappa", |(_, of)| of.cohen_kappa)
        .value("weighted kappa", "weighted", |(_, of)| of.weighted_kappa)
        .sheet("Thresholds", notes(report))
}

/// Agreement in percent, a row for each strong and a column for each weak threshold, with a shade for each.
fn sweep(report: &CalibrationReport) -> Sheet {
    let value = |step: u32| f64::from(step) / f64::from(STEPS);
    let agreement = |weak: f64, strong: f64| {
        let is = |a: f64, b: f64| (a - b).abs() < 1e-9;
        report
            .sweep
            .iter()
            .find(|cell| is(cell.weak, weak) && is(cell.strong, strong))
            .map(|cell| cell.agreement)
    };
    let all = (0..=STEPS).flat_map(|strong| (0..strong).map(move |weak| (weak, strong)));
    let values: Vec<f64> = all.filter_map(|(weak, strong)| agreement(value(weak), value(strong))).collect();
    let (low, high) =
        (values.iter().copied().fold(1.0, f64::min), values.iter().copied().fold(0.0, f64::max));
    let cell = |agreement: f64| {
        let share = if high > low { (agreement - low) / (high - low) } else { 1.0 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the shades")]
        let index = (share * (SHADES.len() - 1) as f64).round().clamp(0.0, 4.0) as usize;
        Cell { text: format!("{}{:.0}", SHADES[index], 100.0 * agreement), is_best: agreement >= high }
    };
    let rows = (1..=STEPS).rev().map(|strong| {
        let cells = (0..STEPS).map(|weak| {
            let found = agreement(value(weak), value(strong)).filter(|_| weak < strong);
            found.map_or_else(|| Cell::new(""), cell)
        });
        [Cell::new(format!("{:.1}", value(strong)))].into_iter().chain(cells).collect()
    });
    let column = |weak: u32| {
        let name = format!("{:.1}", value(weak));
        Column::number(&format!("weak {name}"), &name)
    };
    Sheet {
        title: "Agreement in percent, strong thresholds by weak ones".to_owned(),
        notes: Vec::new(),
        columns: [Column::text("strong")].into_iter().chain((0..STEPS).map(column)).collect(),
        rows: rows.collect(),
    }
}

fn sensitivity(report: &CalibrationReport) -> Sheet {
    let label = |metric: Metric| metric.label();
    let (similarity, heading) = (Metric::ArgumentSimilarity.label(), Metric::ArgumentSimilarity.heading());
    Table::new(&report.sensitivity)
        .text("thresholds", |of| of.name.clone())
        .value("weak", "weak", |of| Some(of.weak))
        .value("strong", "strong", |of| Some(of.strong))
        .value(label(Metric::Recall), label(Metric::Recall), |of| Some(of.recall))
        .value(similarity, heading, |of| Some(of.argument_similarity))
        .value(label(Metric::Average), label(Metric::Average), |of| Some(of.average))
        .sheet("What scores become", vec!["The ends are those of both intervals at once".to_owned()])
}

/// Agreement as a heat map.
pub(crate) fn calibration_picture(report: &CalibrationReport) -> Picture {
    let is_other = |a: f64, b: f64| (a - b).abs() > 1e-9;
    let (best, default) = (report.best, report.default);
    let [name, default_name] = names(report);
    let mut marks = vec![(name.to_owned(), best.weak, best.strong)];
    if is_other(default.weak, best.weak) || is_other(default.strong, best.strong) {
        marks.push((default_name.to_owned(), default.weak, default.strong));
    }
    let map = AgreementMap {
        title: "Agreement with labels by both thresholds".to_owned(),
        cells: report.sweep.iter().map(|cell| (cell.weak, cell.strong, cell.agreement)).collect(),
        step: 0.02,
        marks,
    };
    Picture { name: "calibration".to_owned(), svg: map.to_svg() }
}
