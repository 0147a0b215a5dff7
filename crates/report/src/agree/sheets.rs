//! The tables and the picture of an agreement.

use m3_figures::{RankLines, RankedLine};
use m3_support::text::{counted, shortened};

use super::report::{AgreeReport, Yardstick, YardstickReport};
use super::success_sheets;
use crate::sheet::{Cell, Column, Sheet};

/// The widest name of a model or a task, in columns.
const NAME: usize = 32;

/// The most tasks in the table for people.
const TASKS: usize = 10;

/// The tables for which there is data, in this order: what predicts success, its reliability, scores, places, order,
/// verdicts, graders, labels, tasks.
#[must_use]
pub fn agree_sheets(report: &AgreeReport) -> Vec<Sheet> {
    let mut sheets = Vec::new();
    if let Some(success) = &report.success {
        sheets.push(success_sheets::areas(report, success));
        sheets.extend(success.reliability.as_ref().map(success_sheets::reliability));
    }
    let yardsticks = report.yardsticks.chunk_by(|a, b| a.yardstick == b.yardstick).map(yardstick);
    sheets.push(models(report));
    if report.views.len() > 1 {
        sheets.extend([places(report), correlations(report), verdicts(report)]);
    }
    sheets.extend(yardsticks);
    if report.views.len() > 1 {
        sheets.push(tasks(report));
    }
    sheets
}

/// The models' places by each view or, with labels of success, each metric's area and the verdict's reliability.
#[must_use]
pub fn agree_picture(report: &AgreeReport) -> String {
    if let Some(success) = &report.success {
        return success_sheets::picture(success);
    }
    let line = |model: &super::RankedModel| RankedLine {
        name: model.model.clone(),
        // Values that are not finite are not drawn.
        ranks: model.ranks.0.iter().map(|(_, rank)| rank.unwrap_or(f64::NAN)).collect(),
    };
    RankLines {
        title: format!("Places of {} by suite", counted(report.models.len(), "model")),
        columns: report.views.iter().map(|view| view.name.clone()).collect(),
        lines: report.models.iter().map(line).collect(),
    }
    .to_svg()
}

/// A column for each view, headed by its metric if no other view has that metric, else by its suite.
fn columns(report: &AgreeReport) -> impl Iterator<Item = Column> {
    let parts =
        |name: &str| name.rsplit_once('.').map(|(suite, metric)| (suite.to_owned(), metric.to_owned()));
    let all: Vec<_> = report.views.iter().filter_map(|view| parts(&view.name)).collect();
    report.views.iter().map(move |view| {
        let short = match parts(&view.name) {
            Some((_, metric)) if all.iter().filter(|(_, other)| *other == metric).count() == 1 => metric,
            Some((suite, _)) => suite,
            None => view.name.clone(),
        };
        Column::number(&view.name, &short)
    })
}

/// A row for each model, with the text that `shown` makes of its score and its place by each view; the first place is
/// marked. With labels and `has_success`, the share of trials that did the job comes first.
fn rows(
    report: &AgreeReport,
    has_success: bool,
    shown: impl Fn(Option<f64>, Option<f64>) -> Option<String>,
) -> Vec<Vec<Cell>> {
    let best = report.models.iter().filter_map(|model| model.success).fold(f64::NEG_INFINITY, f64::max);
    let row = |model: &super::RankedModel| {
        let cells = model.scores.0.iter().zip(&model.ranks.0).map(|((_, score), (_, rank))| Cell {
            text: shown(*score, *rank).unwrap_or_else(|| "-".to_owned()),
            is_best: rank.is_some_and(|rank| rank <= 1.0),
        });
        let success = (has_success && report.success.is_some()).then(|| Cell {
            is_best: model.success.is_some_and(|share| share >= best),
            ..Cell::number(model.success)
        });
        [Cell::new(shortened(&model.model, NAME))].into_iter().chain(success).chain(cells).collect()
    };
    report.models.iter().map(row).collect()
}

fn places(report: &AgreeReport) -> Sheet {
    Sheet {
        title: "places".to_owned(),
        notes: Vec::new(),
        columns: [Column::text("model")].into_iter().chain(columns(report)).collect(),
        rows: rows(report, false, |_, rank| rank.map(|rank| rank.to_string())),
    }
}

fn models(report: &AgreeReport) -> Sheet {
    let right =
        report.views.iter().map(|view| format!("{} calls a trial right if {}", view.name, view.right));
    let counts = format!("{}, {}", counted(report.tasks, "task"), counted(report.trials, "trial"));
    let left_out = (report.left_out > 0)
        .then(|| format!("{} left out, which not all models have", counted(report.left_out, "task")));
    let not_in_all = (!report.not_in_all.is_empty())
        .then(|| format!("left out, since not all results have them: {}", report.not_in_all.join(", ")));
    let success = report.success.as_ref().map(|_| Column::number("share that did the job", "did"));
    let did = success.is_some().then(|| "did: the share of labelled trials that did the job".to_owned());
    Sheet {
        title: "scores, from 0 to 1".to_owned(),
        notes: [counts].into_iter().chain(did).chain(left_out).chain(not_in_all).chain(right).collect(),
        columns: [Column::text("model")].into_iter().chain(success).chain(columns(report)).collect(),
        rows: rows(report, true, |score, _| score.map(|score| format!("{score:.3}"))),
    }
}

fn correlations(report: &AgreeReport) -> Sheet {
    let rows = report.correlations.iter().map(|pair| {
        let tau = pair.tau.as_ref();
        let value = Cell::new(tau.map_or_else(|| "-".to_owned(), |tau| format!("{:.3}", tau.value)));
        let interval = Cell::new(tau.map_or_else(|| "-".to_owned(), crate::EstimateReport::interval));
        vec![Cell::new(&pair.first), Cell::new(&pair.second), value, interval]
    });
    Sheet {
        title: "do they agree about the order of the models?".to_owned(),
        notes: vec![format!(
            "Kendall's tau-b: 1 the same order, 0 none in common; intervals of {} % from {} resamples of tasks",
            100.0 * report.level,
            report.resamples
        )],
        columns: vec![
            Column::text("suite"),
            Column::text("and"),
            Column::number("tau", "tau"),
            Column::number("interval", "interval"),
        ],
        rows: rows.collect(),
    }
}

fn verdicts(report: &AgreeReport) -> Sheet {
    let rows = report.verdicts.iter().map(|pair| {
        let counts = [pair.both, pair.only_first, pair.only_second, pair.neither];
        let counts = counts.into_iter().map(|count| Cell::new(count.to_string()));
        let names = [Cell::new(&pair.first), Cell::new(&pair.second)];
        let shares = [Cell::number(pair.agreement), Cell::number(pair.kappa)];
        names.into_iter().chain(counts).chain(shares).collect()
    });
    Sheet {
        title: "do they agree about which trials are right?".to_owned(),
        notes: Vec::new(),
        columns: vec![
            Column::text("suite"),
            Column::text("and"),
            Column::number("both right", "both"),
            Column::number("only the first", "1st"),
            Column::number("only the second", "2nd"),
            Column::number("neither", "none"),
            Column::number("agreement", "agree"),
            Column::number("kappa", "kappa"),
        ],
        rows: rows.collect(),
    }
}

fn yardstick(rows: &[YardstickReport]) -> Sheet {
    let cells = |row: &YardstickReport| {
        let kappa = row.kappa.as_ref();
        let count = |count: u64| Cell::new(count.to_string());
        vec![
            Cell::new(&row.view),
            count(row.trials),
            count(row.both),
            count(row.only_view),
            count(row.only_yardstick),
            count(row.neither),
            Cell::number(row.agreement),
            Cell::number(kappa.map(|kappa| kappa.value)),
            Cell::new(kappa.map_or_else(|| "-".to_owned(), crate::EstimateReport::interval)),
        ]
    };
    let whom = rows.first().map_or("", |row| match row.yardstick {
        Yardstick::Graders => "graders",
        Yardstick::People => "labels",
    });
    Sheet {
        title: format!("do they agree with {whom} about which trials are right?"),
        notes: vec![format!(
            "false: only the suite calls it right; missed: only {whom} do; none: neither does"
        )],
        columns: vec![
            Column::text("suite"),
            Column::number("trials with a verdict", "trials"),
            Column::number("both right", "both"),
            Column::number("only the suite", "false"),
            Column::number("only the yardstick", "missed"),
            Column::number("neither", "none"),
            Column::number("agreement", "agree"),
            Column::number("kappa", "kappa"),
            Column::number("interval", "interval"),
        ],
        rows: rows.iter().map(cells).collect(),
    }
}

fn tasks(report: &AgreeReport) -> Sheet {
    let shown = report.by_task.iter().take(TASKS).filter(|task| task.disagreement > 0.0);
    let rows = shown.map(|task| {
        let first = [Cell::new(shortened(&task.id, NAME)), Cell::number(Some(task.disagreement))];
        first.into_iter().chain(task.right.0.iter().map(|(_, share)| Cell::number(*share))).collect()
    });
    let views = columns(report);
    Sheet {
        title: "tasks that they disagree about most".to_owned(),
        notes: vec![
            "differ: share of trials with different verdicts; then the share each calls right; all tasks: JSON"
                .to_owned(),
        ],
        columns: [Column::text("task"), Column::number("differ", "differ")]
            .into_iter()
            .chain(views)
            .collect(),
        rows: rows.collect(),
    }
}
