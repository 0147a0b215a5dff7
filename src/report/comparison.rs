//! A comparison of two models as tables.

use super::leaderboard::{NO_SPREAD, typed};
use super::sheet::{Cell, Column, Sheet};
use crate::leaderboard::{Comparison, Metric};

/// The tables of a comparison.
#[must_use]
pub fn comparison_sheets(comparison: &Comparison) -> Vec<Sheet> {
    let mut sheets = vec![differences(comparison)];
    if !comparison.changed.is_empty() {
        sheets.push(changed(comparison));
    }
    sheets
}

/// Fewer tasks are too few for a comparison to be relied on.
const FEW_TASKS: usize = 20;

fn signed(value: f64) -> String {
    format!("{value:+.3}")
}

/// A metric as a row says it, in the 24 columns that it has.
fn label(metric: &str) -> String {
    if metric == Metric::ArgumentFidelityCovered.name() {
        return "fidelity, covered".to_owned();
    }
    metric.replace('_', " ")
}

fn differences(comparison: &Comparison) -> Sheet {
    let p_value = |p: Option<f64>| {
        p.map_or_else(|| "-".to_owned(), |p| if p < 1e-3 { "< 0.001".to_owned() } else { format!("{p:.3}") })
    };
    let rows = comparison.differences.iter().map(|found| {
        let interval = match (found.low, found.high) {
            _ if found.has_no_spread => NO_SPREAD.to_owned(),
            (Some(low), Some(high)) => format!("{} to {}", signed(low), signed(high)),
            _ => "-".to_owned(),
        };
        let p = if found.metric == Metric::Average.name() { found.p_value } else { found.corrected_p_value };
        let cells = [
            label(&found.metric),
            format!("{:.3}", found.first),
            format!("{:.3}", found.second),
            signed(found.difference),
            interval,
            p_value(p),
        ];
        cells.map(Cell::new).to_vec()
    });
    let mut notes = vec![
        format!(
            "Profile {}, {}{}; intervals of {} %, {} resamples, seed {}",
            comparison.profile,
            typed(Some(&comparison.similarity)),
            crate::text::counted(comparison.tasks, "task"),
            100.0 * comparison.level,
            comparison.resamples,
            comparison.seed
        ),
        "p: paired permutation test, of the metrics after Holm's correction".to_owned(),
        format!("Average: {}", comparison.average),
    ];
    if let Some(smallest) = comparison.average_difference().and_then(|average| average.smallest_detectable) {
        notes.push(format!(
            "Smallest difference of averages that these tasks show (power 80 %): {smallest:.3}"
        ));
    }
    if comparison.tasks < FEW_TASKS {
        let tasks = crate::text::counted(comparison.tasks, "task");
        notes.push(format!("Only {tasks}: intervals and p-values are rough"));
    }
    if comparison.differences.iter().any(|found| found.has_no_spread) {
        notes.push(format!("{NO_SPREAD}: no resample differed, which is no certainty"));
    }
    if comparison.left_out != (0, 0) {
        let (first, second) = comparison.left_out;
        notes.push(format!("Left out: {first} tasks of the first alone, {second} of the second"));
    }
    Sheet {
        title: format!("{} -> {}", comparison.first, comparison.second),
        notes,
        columns: vec![
            Column::text("metric"),
            Column::number("first", "first"),
            Column::number("second", "second"),
            Column::number("difference", "difference"),
            Column::number("interval", "interval"),
            Column::number("p", "p"),
        ],
        rows: rows.collect(),
    }
}

fn changed(comparison: &Comparison) -> Sheet {
    let rows = comparison.changed.iter().map(|found| {
        let cells = [
            found.id.clone(),
            found.task_type.clone().unwrap_or_else(|| "-".to_owned()),
            format!("{:.3}", found.first),
            format!("{:.3}", found.second),
            signed(found.change),
            found.reference_calls.to_string(),
        ];
        cells.map(Cell::new).to_vec()
    });
    Sheet {
        title: "Tasks that changed most".to_owned(),
        notes: vec!["Averages of the task alone; calls are those of the reference".to_owned()],
        columns: vec![
            Column::text("id"),
            Column::text("type"),
            Column::number("first", "first"),
            Column::number("second", "second"),
            Column::number("change", "change"),
            Column::number("calls", "calls"),
        ],
        rows: rows.collect(),
    }
}
