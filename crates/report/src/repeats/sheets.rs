//! The tables of repetitions: rates of passing, and the spread of the metrics.

use m3_score::Metric;
use m3_stats::PassRate;
use m3_support::text::{counted, shortened};

use super::{ESTIMATORS, criterion};
use crate::sheet::{Cell, Column, Sheet};
use crate::{RepeatsReport, TaskTrialsReport};

/// The most values of k of which all are shown; of more values, powers of two and the largest are shown.
const SHOWN: u32 = 8;

/// The most ids that are named.
const NAMED: usize = 3;

/// The tables of the repetitions.
pub(crate) fn repeats_sheets(repeats: &RepeatsReport) -> Vec<Sheet> {
    let mut sheets = vec![rates_sheet(repeats)];
    if repeats.count > 1 {
        sheets.push(spread_sheet(repeats));
    }
    sheets
}

fn rates_sheet(repeats: &RepeatsReport) -> Sheet {
    let most = repeats.pass_at.last().map_or(0, |rate| rate.k);
    let is_shown = |k: u32| most <= SHOWN || k.is_power_of_two() || k == most;
    let rows =
        repeats.pass_at.iter().zip(&repeats.pass_all).filter(|(at, _)| is_shown(at.k)).map(|(at, all)| {
            let cells = [
                at.k.to_string(),
                format!("{:.3}", at.rate.value),
                at.rate.interval(),
                format!("{:.3}", all.rate.value),
                all.rate.interval(),
                at.tasks.to_string(),
            ];
            cells.map(Cell::new).to_vec()
        });
    Sheet {
        title: format!("passing, {} of each task", counted(repeats.count, "trial")),
        notes: rates_notes(repeats),
        columns: vec![
            Column::number("k", "k"),
            Column::number("pass@k", "pass@k"),
            Column::number("interval", "interval"),
            Column::number("pass^k", "pass^k"),
            Column::number("interval", "interval"),
            Column::number("tasks", "tasks"),
        ],
        rows: rows.collect(),
    }
}

/// Notes on what the rates are computed from.
fn rates_notes(repeats: &RepeatsReport) -> Vec<String> {
    let passes: u64 = repeats.tasks.iter().map(|task| u64::from(task.passes)).sum();
    let trials: u64 = repeats.tasks.iter().map(|task| u64::from(task.trials)).sum();
    let mut notes = vec![format!(
        "{passes} of {trials} trials pass: finished, with at least {}",
        criterion(&repeats.pass)
    )];
    let of_tasks =
        |is_meant: fn(&TaskTrialsReport) -> bool| repeats.tasks.iter().filter(|task| is_meant(task)).count();
    let always = of_tasks(|task| task.passes == task.trials && task.trials > 0);
    let never = of_tasks(|task| task.passes == 0 && task.trials > 0);
    let untried = of_tasks(|task| task.trials == 0);
    let untried_too = if untried > 0 { format!(", {untried} without a trial") } else { String::new() };
    notes.push(format!(
        "Tasks: {always} always pass, {} sometimes, {never} never{untried_too}",
        repeats.tasks.len().saturating_sub(always + never + untried)
    ));
    notes.extend(ESTIMATORS.map(|(rate, _, formula)| {
        let (name, what) = match rate {
            PassRate::AllK => ("pass^k", "all of k trials pass"),
            _ => ("pass@k", "any of k trials passes"),
        };
        format!("{name}: {what}, {formula}")
    }));
    notes.push(format!(
        "Means over tasks; intervals of {} % from {} resamples of tasks with all their trials",
        100.0 * repeats.level,
        repeats.resamples
    ));
    if !repeats.fewer_trials.is_empty() {
        let named: Vec<String> =
            repeats.fewer_trials.iter().take(NAMED).map(|id| shortened(id, 20)).collect();
        let more = if repeats.fewer_trials.len() > NAMED { ", …" } else { "" };
        notes.push(format!(
            "{} with fewer than {} trials, left out where k is larger than what they have: {}{more}",
            counted(repeats.fewer_trials.len(), "task"),
            repeats.count,
            named.join(", ")
        ));
    }
    notes
}

fn spread_sheet(repeats: &RepeatsReport) -> Sheet {
    let shown = |value: f64| format!("{value:.4}");
    let for_people = Metric::of_scores().filter(|metric| metric.is_in_leaderboards());
    let rows = for_people.filter_map(|metric| {
        let found = repeats.spread.get(metric.name())?;
        let sd = found.sd.map_or_else(|| "-".to_owned(), shown);
        let cells = [metric.label().to_owned(), shown(found.mean), sd, shown(found.min), shown(found.max)];
        Some(cells.map(Cell::new).to_vec())
    });
    Sheet {
        title: format!("spread over {}", counted(repeats.count, "repetition")),
        notes: Vec::new(),
        columns: vec![
            Column::text("metric"),
            Column::number("mean", "mean"),
            Column::number("standard deviation", "sd"),
            Column::number("lowest", "min"),
            Column::number("highest", "max"),
        ],
        rows: rows.collect(),
    }
}

#[cfg(test)]
mod tests {
    use m3_score::{Ledger, PassCriterion, Profile, Summary};
    use m3_stats::Draws;

    use super::super::RepeatsGatherer;
    use super::*;

    /// With the profile open-m3-bench a failed task has no trial, so it does not count as never passing.
    #[test]
    fn tasks_without_a_trial_neither_pass_nor_fail() {
        let criterion = PassCriterion::default();
        let mut gatherer = RepeatsGatherer::new(&criterion, Profile::OpenM3Bench);
        let ledger = Ledger { references: 1, missing: vec!["a".to_owned()], ..Ledger::default() };
        gatherer.end_repetition(&Summary { ledger, ..Summary::default() });
        let notes = rates_notes(&gatherer.finish(&Draws { count: 10, ..Draws::default() }));
        assert_eq!(notes[1], "Tasks: 0 always pass, 0 sometimes, 0 never, 1 without a trial");
    }
}
