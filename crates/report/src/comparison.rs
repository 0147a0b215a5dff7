//! A comparison of two models as tables.

use m3_score::Metric;
use m3_support::text::counted;

use super::estimate::NO_SPREAD;
use super::leaderboard_sheets::{failures, signature, typed};
use super::repeats::criterion;
use super::sheet::{Cell, Column, Sheet};
use crate::leaderboard::{Comparison, DifferenceReport, PassingComparison};

/// The tables of a comparison.
#[must_use]
pub fn comparison_sheets(comparison: &Comparison) -> Vec<Sheet> {
    let mut sheets = vec![differences(comparison)];
    sheets.extend(comparison.passing.as_ref().map(passing));
    let names = [comparison.first.as_str(), comparison.second.as_str()];
    let failed = failures(names.into_iter().zip(comparison.failures.iter().map(Option::as_ref)));
    if !failed.rows.is_empty() {
        sheets.push(failed);
    }
    if !comparison.changed.is_empty() {
        sheets.push(changed(comparison));
    }
    sheets
}

/// With fewer tasks a comparison is not reliable.
const FEW_TASKS: usize = 20;

fn signed(value: f64) -> String {
    format!("{value:+.3}")
}

/// The name of a metric or of a rate of passing, as tables show it.
fn label(name: &str) -> String {
    Metric::from_name(name).map_or_else(|| name.to_owned(), |metric| metric.label().to_owned())
}

/// A row of a table of differences.
fn difference_row(found: &DifferenceReport) -> Vec<Cell> {
    let p_value = |p: Option<f64>| {
        p.map_or_else(|| "-".to_owned(), |p| if p < 1e-3 { "< 0.001".to_owned() } else { format!("{p:.3}") })
    };
    let interval = match (found.low, found.high) {
        _ if found.has_no_spread => NO_SPREAD.to_owned(),
        (Some(low), Some(high)) => format!("{} to {}", signed(low), signed(high)),
        _ => "-".to_owned(),
    };
    let p = found.corrected_p_value.or(found.p_value);
    let cells = [
        label(&found.metric),
        format!("{:.3}", found.first),
        format!("{:.3}", found.second),
        signed(found.difference),
        interval,
        p_value(p),
    ];
    cells.map(Cell::new).to_vec()
}

fn difference_columns(first: &str) -> Vec<Column> {
    let numbers = ["first", "second", "difference", "interval", "p"].map(|name| Column::number(name, name));
    [Column::text(first)].into_iter().chain(numbers).collect()
}

/// How often each of the two models passes, if tasks were repeated.
fn passing(found: &PassingComparison) -> Sheet {
    let PassingComparison { passing, differences } = found;
    Sheet {
        title: format!("Passing, {} of each task", counted(passing.k, "trial")),
        notes: vec![
            format!("A trial passes if it finished with at least {}", criterion(&passing.pass)),
            format!("Means over {}; intervals and p paired by task", counted(passing.tasks, "task")),
        ],
        columns: difference_columns("rate"),
        rows: differences.iter().map(difference_row).collect(),
    }
}

fn differences(comparison: &Comparison) -> Sheet {
    let rows = comparison.differences.iter().map(difference_row);
    let mut notes = comparison.notes.clone();
    notes.extend([
        format!(
            "Profile {}, {}{}; intervals of {} %, {} resamples, seed {}",
            comparison.profile,
            typed(Some(&comparison.similarity)),
            counted(comparison.tasks, "task"),
            100.0 * comparison.level,
            comparison.resamples,
            comparison.seed
        ),
        "p: paired permutation test; of the metrics that do not decide after Holm's correction".to_owned(),
        format!("Average: {}", comparison.average),
        format!("Decision: {}, because {}", comparison.decision.name(), comparison.reason()),
    ]);
    if let Some(smallest) = comparison.deciding_difference().and_then(|found| found.smallest_detectable) {
        notes.push(format!(
            "Smallest detectable difference in {} with these tasks (power 80 %): {smallest:.3}",
            comparison.metric
        ));
    }
    if comparison.tasks < FEW_TASKS {
        let tasks = counted(comparison.tasks, "task");
        notes.push(format!("Only {tasks}: intervals and p-values are rough"));
    }
    if comparison.differences.iter().any(|found| found.has_no_spread) {
        notes.push(format!("{NO_SPREAD}: no resample differed, which is no certainty"));
    }
    if comparison.left_out != (0, 0) {
        let (first, second) = comparison.left_out;
        notes.push(format!("Left out: {first} tasks of the first alone, {second} of the second"));
    }
    notes.extend(signature(comparison.signature.as_deref()));
    Sheet {
        title: format!("{} -> {}", comparison.first, comparison.second),
        notes,
        columns: difference_columns("metric"),
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
        notes: vec![format!("{} of the task alone; calls are those of the reference", comparison.metric)],
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
