//! The tables and the picture of the comparison with labels of success.

use m3_figures::{AreaBar, ReliabilityCurve, ReliabilityPoint, SuccessAreas};
use m3_support::text::counted;

use super::report::AgreeReport;
use super::success_report::{MetricSuccess, ReliabilityReport, SuccessReport};
use crate::EstimateReport;
use crate::sheet::{Cell, Column, Sheet};

/// The table of how well each metric predicts success.
pub(super) fn areas(report: &AgreeReport, success: &SuccessReport) -> Sheet {
    let known: Vec<&MetricSuccess> = success.metrics.iter().filter(|metric| metric.trials > 0).collect();
    let parts: [fn(&MetricSuccess) -> Option<&EstimateReport>; 4] = [
        |metric| metric.area.as_ref(),
        |metric| metric.within_tasks.as_ref(),
        |metric| metric.within_models.as_ref(),
        |metric| metric.tau.as_ref(),
    ];
    let best = parts.map(|part| {
        known.iter().filter_map(|metric| part(metric)).map(|it| it.value).fold(f64::NEG_INFINITY, f64::max)
    });
    let row = |metric: &&MetricSuccess| {
        let values = parts.iter().zip(best).flat_map(|(part, best)| {
            let estimate = part(metric);
            let value = Cell::number(estimate.map(|it| it.value));
            let interval = estimate.map_or_else(|| "-".to_owned(), EstimateReport::short_interval);
            [Cell { is_best: estimate.is_some_and(|it| it.value >= best), ..value }, Cell::new(interval)]
        });
        let first = [Cell::new(&metric.name), Cell::new(metric.trials.to_string())];
        first.into_iter().chain(values).collect()
    };
    let for_programs = |column: Column| Column { is_for_programs: true, ..column };
    Sheet {
        title: "which number predicts success?".to_owned(),
        notes: notes(report, success),
        columns: vec![
            Column::text("metric"),
            for_programs(Column::number("trials", "trials")),
            Column::number("area under the curve", "area"),
            Column::number("interval", "interval"),
            Column::number("within tasks", "tasks"),
            Column::number("interval within tasks", "interval"),
            Column::number("within models", "models"),
            Column::number("interval within models", "interval"),
            Column::number("order of models (tau-b)", "order"),
            for_programs(Column::number("interval of the order", "interval")),
        ],
        rows: known.iter().map(row).collect(),
    }
}

fn notes(report: &AgreeReport, success: &SuccessReport) -> Vec<String> {
    let labels = &success.labels;
    let failed = success.trials - success.succeeded;
    let one_class = match (success.trials, success.succeeded, failed) {
        (0, ..) => Some("no trial has a label, so nothing is known"),
        (_, _, 0) => Some("all labelled trials did the job, so areas and the order of models are unknown"),
        (_, 0, _) => Some("no labelled trial did the job, so areas and the order of models are unknown"),
        _ => None,
    };
    let left_out: Vec<String> = [
        (success.without_calls, "trial", "without a call in the reference"),
        (success.without_label, "trial", "without a label"),
        (labels.broken, "label", "of runs that broke"),
        (labels.unclear, "label", "without pass or fail"),
        (labels.unknown_runs, "label", "of runs without a result"),
        (labels.unknown_ids, "label", "of ids that the model does not have"),
    ]
    .into_iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(count, what, why)| format!("{} {why}", counted(count, what)))
    .collect();
    let unknown: Vec<&str> =
        success.metrics.iter().filter(|metric| metric.trials == 0).map(|it| it.name.as_str()).collect();
    [
        Some(format!(
            "{} of {}, {} did the job; intervals of {} % from {} resamples of tasks",
            counted(success.trials, "labelled trial"),
            counted(success.models, "model"),
            success.succeeded,
            100.0 * report.level,
            report.resamples
        )),
        one_class.map(str::to_owned),
        Some(
            "area: of two trials of which one did the job, how often the number is higher for that one (a tie counts \
             half); 0.5 is chance"
                .to_owned(),
        ),
        Some("tasks, models: the same for two trials of one task, of one model".to_owned()),
        Some("order: Kendall's tau-b of the models' means and the shares that did the job".to_owned()),
        (!left_out.is_empty()).then(|| format!("left out: {}", left_out.join("; "))),
        (!unknown.is_empty()).then(|| format!("unknown for these trials: {}", unknown.join(", "))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The table of how well the verdict matches the share that did the job.
pub(super) fn reliability(report: &ReliabilityReport) -> Sheet {
    let bins = report.bins.iter().filter(|bin| bin.trials > 0);
    let row = |bin: &super::ReliabilityBin| {
        vec![
            Cell::new(format!("{:.1} to {:.1}", bin.from, bin.to)),
            Cell::new(bin.trials.to_string()),
            Cell::number(bin.expected),
            Cell::number(bin.succeeded),
        ]
    };
    let right = report.right.map(|right| format!(", {:.0} % of these are right", 100.0 * right));
    Sheet {
        title: format!("is {} the share that did the job?", report.metric),
        notes: vec![
            format!(
                "calibration error {:.3}: the mean distance of expected and true; together {:.3} expected, {:.3} true",
                report.calibration_error, report.expected, report.succeeded
            ),
            format!(
                "decided (at least 0.8, or less than 0.2): {:.0} %{}",
                100.0 * report.decided,
                right.unwrap_or_default()
            ),
        ],
        columns: vec![
            Column::text("verdict"),
            Column::number("trials", "trials"),
            Column::number("expected", "expected"),
            Column::number("true", "true"),
        ],
        rows: bins.map(row).collect(),
    }
}

/// The areas of all metrics, and the curve of the verdict's reliability.
pub(super) fn picture(success: &SuccessReport) -> String {
    let interval = |estimate: &EstimateReport| estimate.low.zip(estimate.high);
    let bar = |metric: &MetricSuccess| AreaBar {
        name: metric.name.clone(),
        area: metric.area.map_or(f64::NAN, |area| area.value),
        interval: metric.area.as_ref().and_then(interval),
        within_tasks: metric.within_tasks.map_or(f64::NAN, |area| area.value),
    };
    let point = |bin: &super::ReliabilityBin| {
        Some(ReliabilityPoint {
            expected: bin.expected?,
            succeeded: bin.succeeded?,
            trials: bin.trials as u64,
        })
    };
    let trials = counted(success.trials, "labelled trial");
    let curve = |report: &ReliabilityReport| ReliabilityCurve {
        title: format!(
            "Is {} the share that did the job? Calibration error {:.3}",
            report.metric, report.calibration_error
        ),
        points: report.bins.iter().filter_map(point).collect(),
    };
    SuccessAreas {
        title: format!("Which number predicts success? {trials} of {}", counted(success.models, "model")),
        bars: success.metrics.iter().filter(|metric| metric.trials > 0).map(bar).collect(),
        curve: success.reliability.as_ref().map(curve),
    }
    .to_svg()
}
