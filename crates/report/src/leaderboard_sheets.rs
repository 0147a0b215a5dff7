//! A leaderboard as tables: the paper's table 2 with places and intervals, steps and calls (table 4), tokens (table
//! 3), outcomes of calls (figure 6), each type of task (tables 5 and after).

use std::collections::{BTreeMap, BTreeSet};

use m3_score::{Metric, Similarity};
use m3_stats::PassRate;

use super::estimate::NO_SPREAD;
use super::metrics::fitting;
use super::repeats::criterion;
use super::sheet::{Cell, Column, Sheet};
use super::shortened;
use super::tables::capitalized;
use crate::TaskOutcomes;
use crate::leaderboard::{
    FailuresReport, Leaderboard, ModelReport, PUBLISHED_MARK, SuiteBoardReport, TestMethod, TestsReport,
};
use crate::suites::shown;

/// The tables of a leaderboard. With `has_types`, also one for each type of task.
#[must_use]
pub fn leaderboard_sheets(board: &Leaderboard, has_types: bool) -> Vec<Sheet> {
    let mut sheets = vec![metrics(board)];
    let mut push = |sheet: Sheet| {
        if !sheet.rows.is_empty() {
            sheets.push(sheet);
        }
    };
    push(failures(board.models.iter().map(|model| (model.model.as_str(), model.failures.as_ref()))));
    push(places(board));
    push(passing(board));
    push(effort(board));
    push(outcomes(board));
    board.suites.iter().map(suite).for_each(&mut push);
    if has_types {
        types(board).into_iter().for_each(push);
    }
    sheets
}

/// A note if calls were aligned by typed similarity.
pub(super) fn typed(similarity: Option<&str>) -> &'static str {
    if similarity == Some(Similarity::Typed.name()) { "similarity typed, " } else { "" }
}

/// The line with the common signature.
pub(super) fn signature(signature: Option<&str>) -> Option<String> {
    signature.map(|signature| format!("Signature: {}", shortened(signature, 200)))
}

fn columns(board: &Leaderboard) -> Vec<Metric> {
    board.columns.iter().filter_map(|name| Metric::from_name(name)).collect()
}

/// The most metrics of a table: one with more is too wide for a terminal.
const MOST_METRICS: usize = 10;

fn heads(metrics: &[Metric], ranking: Metric) -> Vec<Column> {
    let shown = fitting(metrics, MOST_METRICS, ranking);
    let head = |metric: &Metric| {
        let column = Column::number(&metric.name().replace('_', " "), metric.heading());
        Column { is_for_programs: !shown.contains(metric), ..column }
    };
    [Column::text("model")].into_iter().chain(metrics.iter().map(head)).collect()
}

/// A model and its metrics by name.
type Values<'a> = (&'a str, BTreeMap<&'a str, f64>);

/// One row for each model; the best value of each column is marked.
fn metric_rows(metrics: &[Metric], models: &[Values<'_>]) -> Vec<Vec<Cell>> {
    let shown = |value: f64| format!("{value:.3}");
    let best = |metric: &Metric| {
        let values = models.iter().filter_map(|(_, values)| values.get(metric.name()).copied());
        values.max_by(f64::total_cmp).map(shown)
    };
    let bests: Vec<Option<String>> = metrics.iter().map(best).collect();
    let row = |(model, values): &Values<'_>| {
        let cell = |(metric, best): (&Metric, &Option<String>)| match values.get(metric.name()) {
            // Values that look equal count as equally good: they differ only in digits that no table shows.
            Some(value) => Cell { text: shown(*value), is_best: Some(shown(*value)) == *best },
            None => Cell::new("-"),
        };
        [Cell::new(*model)].into_iter().chain(metrics.iter().zip(&bests).map(cell)).collect()
    };
    models.iter().map(row).collect()
}

/// The name of a model, with a mark if its numbers were published.
fn marked(model: &ModelReport) -> String {
    let mark = if model.published.is_some() { PUBLISHED_MARK } else { "" };
    format!("{}{mark}", model.model)
}

fn metrics(board: &Leaderboard) -> Sheet {
    let columns = columns(board);
    let marked: Vec<String> = board.models.iter().map(marked).collect();
    let models = board.models.iter().zip(&marked).map(|(model, name)| {
        let values = model.metrics.iter().map(|(name, estimate)| (name.as_str(), estimate.value));
        (name.as_str(), values.collect())
    });
    let models: Vec<Values<'_>> = models.collect();
    let mut notes = board.notes.clone();
    if board.ranking() != Metric::Average {
        notes.push(format!("Ranked by {}", board.ranked_by));
    }
    notes.push(format!("Average: {}", board.average.description));
    if let (Some(profile), Some(tasks)) = (&board.profile, board.tasks) {
        let similarity = typed(board.similarity.as_deref());
        notes.push(format!("Profile {profile}, {similarity}{}", m3_support::text::counted(tasks, "task")));
    }
    let shown = fitting(&columns, MOST_METRICS, board.ranking());
    let beside = columns.iter().filter(|metric| metric.is_beside() && shown.contains(metric));
    notes.extend(beside.map(|metric| format!("{} is no part of the average", capitalized(metric.label()))));
    notes.extend(board.models.iter().filter(|model| model.left_out > 0).map(|model| {
        format!(
            "{}: {} of its tasks left out, which another model does not have",
            model.model, model.left_out
        )
    }));
    notes.extend(signature(board.signature.as_deref()));
    Sheet {
        title: "Leaderboard".to_owned(),
        notes,
        columns: heads(&columns, board.ranking()),
        rows: metric_rows(&columns, &models),
    }
}

/// Failed tasks, by model and class; without rows if there are none.
pub(super) fn failures<'a>(
    models: impl Iterator<Item = (&'a str, Option<&'a FailuresReport>)> + Clone,
) -> Sheet {
    let known = models.clone().filter_map(|(_, found)| found);
    let classes: BTreeSet<&str> = known
        .flat_map(|found| found.classes.iter())
        .filter(|(_, count)| **count > 0)
        .map(|(name, _)| name.as_str())
        .collect();
    let row = |(model, found): (&str, Option<&FailuresReport>)| {
        let number =
            |count: Option<usize>| Cell::new(count.map_or_else(|| "-".to_owned(), |count| count.to_string()));
        let rate = found.map_or_else(|| "-".to_owned(), |found| format!("{:.1} %", 100.0 * found.rate()));
        let of_class =
            |class: &&str| number(found.map(|found| found.classes.get(*class).copied().unwrap_or_default()));
        let cells = [
            Cell::new(model),
            number(found.map(|found| found.tasks)),
            number(found.map(|found| found.failed)),
            Cell::new(rate),
        ];
        cells.into_iter().chain(classes.iter().map(of_class)).collect()
    };
    let heads = ["tasks", "failed", "rate"].map(|name| Column::number(name, name));
    let of_classes = classes.iter().map(|class| {
        let name = class.replace('_', " ");
        Column::number(&name, &name)
    });
    Sheet {
        title: "Failed tasks".to_owned(),
        notes: vec![
            "Tasks without a prediction, or with one that failed or was not finished, by class".to_owned(),
        ],
        columns: [Column::text("model")].into_iter().chain(heads).chain(of_classes).collect(),
        rows: if classes.is_empty() { Vec::new() } else { models.map(row).collect() },
    }
}

/// The table of how certain the order is.
fn places(board: &Leaderboard) -> Sheet {
    let Some(tasks) = board.tasks else { return Sheet::default() };
    let ranking = board.ranking();
    let percent = 100.0 * board.level;
    let mut notes = vec![format!(
        "Intervals of {percent} % from {} resamples of {tasks} tasks (seed {}); models of a group do not differ significantly from its best",
        board.resamples, board.seed
    )];
    if let Some(difference) = board.smallest_detectable_difference {
        let pairs = m3_support::text::counted(board.tests.map_or(0, |tests| tests.pairs), "comparison");
        notes.push(format!(
            "Smallest detectable difference in {} with these tasks (power 80 %, {pairs}): {difference:.3}",
            ranking.label()
        ));
    }
    if let Some(TestsReport { method: TestMethod::Bound, tested, pairs }) = board.tests {
        notes.push(format!(
            "Tested: the best of each group against the models below it, {tested} of {pairs} pairs, corrected for all"
        ));
    }
    let mut estimates = board.models.iter().filter_map(|model| model.metric(ranking.name()));
    if estimates.any(|estimate| estimate.has_no_spread) {
        notes.push(format!("{NO_SPREAD}: no resample differed, which is no certainty"));
    }
    let rows = board.models.iter().filter(|model| model.group.is_some()).map(|model| {
        let estimate = model.metric(ranking.name());
        let value = estimate.map_or_else(String::new, |estimate| format!("{:.3}", estimate.value));
        let interval = estimate.map_or_else(|| "-".to_owned(), |estimate| estimate.interval());
        let rank = model.rank;
        let places = if rank.best == rank.worst {
            rank.best.to_string()
        } else {
            format!("{}-{}", rank.best, rank.worst)
        };
        let group = model.group.map_or_else(String::new, |group| group.to_string());
        [model.model.clone(), value, interval, rank.rank.to_string(), places, group].map(Cell::new).to_vec()
    });
    Sheet {
        title: "How sure the order is".to_owned(),
        notes,
        columns: vec![
            Column::text("model"),
            Column::number(ranking.label(), ranking.label()),
            Column::number("interval", "interval"),
            Column::number("rank", "rank"),
            Column::number("rank interval", "ranks"),
            Column::number("group", "group"),
        ],
        rows: rows.collect(),
    }
}

/// The table of how often models pass, if tasks were repeated.
fn passing(board: &Leaderboard) -> Sheet {
    let Some(passing) = &board.passing else { return Sheet::default() };
    let rates = passing.shown();
    let rows = board.models.iter().filter_map(|model| {
        let found = model.passing?;
        let of = |rate: &PassRate| match rate {
            PassRate::Once => found.pass_at_1,
            PassRate::AtK => found.pass_at,
            PassRate::AllK => found.pass_all,
        };
        let cell = |rate: &PassRate| Cell::new(of(rate).with_interval());
        Some([Cell::new(&model.model)].into_iter().chain(rates.iter().map(cell)).collect())
    });
    let mut notes = vec![
        format!("A trial passes if it finished with at least {}", criterion(&passing.pass)),
        format!("Means over {}, with intervals", m3_support::text::counted(passing.tasks, "task")),
    ];
    let others = board.models.iter().filter_map(|model| {
        let repetitions = model.passing?.repetitions;
        (repetitions != passing.k).then(|| format!("{}: {repetitions} repetitions", model.model))
    });
    notes.extend(others);
    let heads = rates.iter().map(|rate| Column::number(&rate.name(passing.k), &rate.name(passing.k)));
    Sheet {
        title: format!("Passing, {} of each task", m3_support::text::counted(passing.k, "trial")),
        notes,
        columns: [Column::text("model")].into_iter().chain(heads).collect(),
        rows: rows.collect(),
    }
}

/// Steps, calls and tokens of a task.
fn effort(board: &Leaderboard) -> Sheet {
    let has_tokens = board.models.iter().any(|model| model.tokens.is_some());
    let mut columns = vec![
        Column::text("model"),
        Column::number("steps per task", "steps"),
        Column::number("calls per task", "calls"),
    ];
    if has_tokens {
        columns.push(Column::number("input tokens per task (millions)", "input M"));
        columns.push(Column::number("output tokens per task (millions)", "output M"));
    }
    let rows = board.models.iter().filter_map(|model| {
        let calls = model.calls?;
        let mut row = vec![
            model.model.clone(),
            format!("{:.2}", calls.average_steps),
            format!("{:.2}", calls.average_calls),
        ];
        if has_tokens {
            let millions =
                |tokens: Option<f64>| tokens.map_or_else(|| "-".to_owned(), |t| format!("{:.3}", t / 1e6));
            row.push(millions(model.tokens.map(|tokens| tokens.input)));
            row.push(millions(model.tokens.map(|tokens| tokens.output)));
        }
        Some(row.into_iter().map(Cell::new).collect())
    });
    let notes = board.models.iter().filter_map(|model| {
        let tokens = model.tokens.filter(|tokens| tokens.is_partial)?;
        let (known, tasks) = (tokens.tasks, board.tasks?);
        Some(format!(
            "{}: tokens are partial, means over the {known} of {tasks} tasks of which they are known",
            model.model
        ))
    });
    Sheet { title: "Steps and calls".to_owned(), notes: notes.collect(), columns, rows: rows.collect() }
}

/// The five outcomes, and calls that were not executed if there are any.
pub(super) fn outcome_names(board: &Leaderboard) -> Vec<&'static str> {
    let counts = || board.models.iter().filter_map(|model| Some(&model.outcomes.as_ref()?.counts));
    let is_there =
        |name: &&str| *name != TaskOutcomes::NOT_EXECUTED || counts().any(|found| found.contains_key(*name));
    TaskOutcomes::NAMES.into_iter().filter(is_there).collect()
}

/// The outcomes of calls, as shares of all calls.
fn outcomes(board: &Leaderboard) -> Sheet {
    // Short names, so that five columns and a model fit into 80 characters.
    let short = ["illegal", "unknown", "invalid", "not found", "success", "not run"];
    let names = outcome_names(board);
    let heads = names.iter().zip(short);
    let head = |(name, short): (&&str, &str)| Column::number(&name.replace('_', " "), short);
    let rows = board.models.iter().filter_map(|model| {
        let counts = &model.outcomes.as_ref()?.counts;
        let total = counts.values().map(|count| *count as f64).sum::<f64>();
        let share = |name: &&str| {
            let count = counts.get(*name).copied().unwrap_or_default() as f64;
            Cell::new(format!("{:.1} %", 100.0 * count / total.max(1.0)))
        };
        Some([Cell::new(&model.model)].into_iter().chain(names.iter().map(share)).collect())
    });
    Sheet {
        title: "What became of calls".to_owned(),
        notes: Vec::new(),
        columns: [Column::text("model")].into_iter().chain(heads.map(head)).collect(),
        rows: rows.collect(),
    }
}

/// The most values of a suite in a table: those and a model fit into 80 columns.
const SUITE_COLUMNS: usize = 4;

/// The table of a suite's shares for the models.
fn suite(suite: &SuiteBoardReport) -> Sheet {
    let shares = suite.metrics.iter().filter(|metric| metric.is_share()).take(SUITE_COLUMNS);
    let names: Vec<&str> = shares.map(|metric| metric.name.as_str()).collect();
    let rows = suite.models.iter().map(|row| {
        let value =
            |name: &&str| Cell::new(shown(&suite.metrics, name, row.values.get(name).copied().flatten()));
        [Cell::new(&row.model)].into_iter().chain(names.iter().map(value)).collect()
    });
    let mut notes = suite.notes.clone();
    notes.push("Without intervals: `m3 agree` has those of the order".to_owned());
    let heads = names.iter().map(|name| Column::number(&name.replace('_', " "), &name.replace('_', " ")));
    Sheet {
        title: format!("{} ({})", suite.title, suite.suite),
        notes,
        columns: [Column::text("model")].into_iter().chain(heads).collect(),
        rows: rows.collect(),
    }
}

fn types(board: &Leaderboard) -> Vec<Sheet> {
    let columns = columns(board);
    let sheet = |found: &crate::leaderboard::TypeReport| {
        let models = found.models.iter().map(|row| {
            let values = row.metrics.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            (row.model.as_str(), values)
        });
        let models: Vec<Values<'_>> = models.collect();
        let tasks = m3_support::text::counted(found.tasks, "task");
        Sheet {
            title: format!("Type {} ({tasks})", found.task_type),
            notes: vec![format!("Average: {}", found.average.description)],
            columns: heads(&columns, board.ranking()),
            rows: metric_rows(&columns, &models),
        }
    };
    board.types.iter().map(sheet).collect()
}
