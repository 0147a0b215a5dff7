//! Makes a leaderboard: models by a metric, best first, and how certain this order is.

use std::collections::BTreeMap;

use m3_score::Metric;
use m3_stats::{DifferentLengths, Draws, LEVEL};

use super::repeats::Passing;
use super::report::{
    CallsReport, LEADERBOARD_SCHEMA, Leaderboard, ModelReport, OutcomesReport, RankReport, TokensReport,
    TypeReport, TypeRowReport,
};
use super::statistics::Statistics;
use super::suites::suites;
use super::{
    Average, FailuresReport, GradedSums, ModelResult, Numbers, Selection, TrajectoryResult, failures, origin,
    published, values,
};
use crate::TaskOutcomes;

impl Leaderboard {
    /// Ranks models by a metric; `selection` is what [`select`](super::select) chose of them.
    ///
    /// # Errors
    /// [`DifferentLengths`] if the selection does not have the same trajectories of every model.
    pub fn new(
        models: &[ModelResult],
        selection: Option<&Selection<'_>>,
        by: Metric,
        draws: &Draws,
    ) -> Result<Self, DifferentLengths> {
        let entrants = Entrant::all(models, selection);
        let average = Average::of(|metric| entrants.iter().all(|entrant| entrant.is_complete(metric)));
        let columns = columns(&entrants, selection.is_some());
        let statistics =
            selection.map(|selection| Statistics::new(selection, (average, by), draws)).transpose()?;
        let mut rows: Vec<ModelReport> = entrants
            .iter()
            .map(|entrant| entrant.report(&columns, average, selection, statistics.as_ref()))
            .collect();
        let failures = selection.map_or_else(Vec::new, FailuresReport::of);
        let passing = selection.map_or(Ok(None), Passing::of);
        let passing_note = passing.as_ref().err().cloned();
        let passing = passing.ok().flatten().map(|passing| passing.leaderboard(draws)).transpose()?;
        let (passing, passes) = passing.unzip();
        let passes = passes.unwrap_or_else(|| vec![None; failures.len()]);
        let scored = entrants.iter().zip(&mut rows).filter(|(entrant, _)| entrant.is_scored());
        let mut names = Vec::new();
        for (((entrant, row), failures), passes) in scored.zip(&failures).zip(passes) {
            row.passing = passes;
            row.failures.clone_from(failures);
            names.push(entrant.name);
        }
        rank_rows(&mut rows, by, statistics.as_ref());
        // The sort is stable: equal models keep their order.
        rows.sort_by(|a, b| value_of(b, by).total_cmp(&value_of(a, by)));
        let mut notes: Vec<String> = failures::note(&names, &failures).into_iter().collect();
        notes.extend(notes_on_rows(&entrants, &columns, average, selection));
        notes.extend(statistics.as_ref().and_then(Statistics::note));
        notes.extend(passing_note);
        Ok(Self {
            schema: LEADERBOARD_SCHEMA.to_owned(),
            profile: selection.map(|selection| selection.profile.name().to_owned()),
            similarity: selection.map(|selection| selection.similarity.name().to_owned()),
            tasks: selection.map(|selection| selection.ids.len()),
            signature: selection.and_then(|selection| origin::common_signature(&selection.origins)),
            level: LEVEL,
            resamples: statistics.as_ref().map_or(0, |found| found.resamples),
            seed: draws.seed,
            average: average.into(),
            ranked_by: by.name().to_owned(),
            columns: columns.iter().map(|metric| metric.name().to_owned()).collect(),
            notes,
            suites: selection.map_or_else(Vec::new, |selection| {
                let own = rows.iter().filter(|row| row.published.is_none());
                suites(own.map(|row| row.model.as_str()), &names, selection)
            }),
            models: rows,
            smallest_detectable_difference: statistics
                .as_ref()
                .and_then(|found| found.tests.smallest_difference),
            tests: statistics.map(|found| found.tests.report),
            types: selection.map_or_else(Vec::new, |selection| types(&entrants, selection, &columns)),
            passing,
        })
    }
}

/// The metrics that become columns: the average, and those that any model has. If scored models are ranked too, a metric
/// that only published tables have gets no column, because the table would be too wide.
fn columns(entrants: &[Entrant<'_>], has_scored_models: bool) -> Vec<Metric> {
    let has = |metric| {
        entrants.iter().any(|found| (!has_scored_models || found.published.is_none()) && found.has(metric))
    };
    let all = Metric::of_leaderboards().into_iter();
    all.filter(|metric| *metric == Metric::Average || has(*metric)).collect()
}

/// Notes on the references, on what models lack, and on published tables.
fn notes_on_rows(
    entrants: &[Entrant<'_>],
    columns: &[Metric],
    average: Average,
    selection: Option<&Selection<'_>>,
) -> Vec<String> {
    let mut notes: Vec<String> = selection.into_iter().flat_map(Selection::notes).collect();
    notes.extend(entrants.iter().flat_map(|entrant| entrant.notes(columns, average, selection.is_some())));
    let sources: Vec<&str> = entrants.iter().filter_map(|entrant| entrant.published).collect();
    notes.extend(published::notes(&sources, selection));
    notes
}

/// How many trajectories have a value of a metric. Trajectories are counted one by one for metrics that come from grades
/// and for means of values that a trajectory may lack. Any other metric is known for all trajectories or for none: one
/// trajectory without it makes it unknown for the set.
pub(super) fn known(trajectories: &[&TrajectoryResult], metric: Metric) -> usize {
    if metric.is_graded() {
        return trajectories.iter().filter(|found| found.grades.contains_key(&metric)).count();
    }
    if let Some(index) = metric.mean_index() {
        return trajectories.iter().filter(|found| found.sums.counts[index] > 0.0).count();
    }
    let is_known = trajectories.iter().all(|found| !found.not_known.contains(&metric));
    if is_known { trajectories.len() } else { 0 }
}

/// A model in the leaderboard.
struct Entrant<'a> {
    name: &'a str,
    published: Option<&'static str>,
    source: Source<'a>,
}

enum Source<'a> {
    /// A model with trajectories: those selected, and its index among such models.
    Scored {
        trajectories: &'a [&'a TrajectoryResult],
        index: usize,
    },
    Row(&'a [Option<f64>; Metric::COUNT]),
}

impl<'a> Entrant<'a> {
    fn all(models: &'a [ModelResult], selection: Option<&'a Selection<'_>>) -> Vec<Self> {
        let mut scored = selection.into_iter().flat_map(|selection| &selection.trajectories).enumerate();
        let entrant = |model: &'a ModelResult| {
            let source = match &model.numbers {
                Numbers::Row(row) => Source::Row(row),
                Numbers::Trajectories { .. } => {
                    let (index, trajectories) = scored.next()?;
                    Source::Scored { trajectories, index }
                }
            };
            Some(Self { name: &model.name, published: model.published, source })
        };
        models.iter().filter_map(entrant).collect()
    }

    fn is_scored(&self) -> bool {
        matches!(self.source, Source::Scored { .. })
    }

    /// Whether any value of a metric is known.
    fn has(&self, metric: Metric) -> bool {
        match self.source {
            Source::Row(row) => row[metric.index()].is_some(),
            Source::Scored { trajectories, .. } => known(trajectories, metric) > 0,
        }
    }

    /// Whether a metric is known for every task, so that it may be part of the average.
    fn is_complete(&self, metric: Metric) -> bool {
        match self.source {
            Source::Row(row) => row[metric.index()].is_some(),
            Source::Scored { trajectories, .. } => known(trajectories, metric) == trajectories.len(),
        }
    }

    fn report(
        &self,
        columns: &[Metric],
        average: Average,
        selection: Option<&Selection<'_>>,
        statistics: Option<&Statistics>,
    ) -> ModelReport {
        let mut report = ModelReport {
            model: self.name.to_owned(),
            published: self.published.map(str::to_owned),
            ..ModelReport::default()
        };
        match (&self.source, selection, statistics) {
            (Source::Scored { trajectories, index }, Some(selection), Some(statistics)) => {
                let shown = columns.iter().filter(|metric| **metric == Metric::Average || self.has(**metric));
                let estimate = |metric: Metric| statistics.estimates[*index][metric.index()].into();
                report.metrics = shown.map(|&metric| (metric.name().to_owned(), estimate(metric))).collect();
                report.group = Some(statistics.tests.groups[*index]);
                report.left_out = selection.left_out[*index];
                report.signature.clone_from(&selection.origins[*index].signature);
                describe(&mut report, trajectories);
            }
            (Source::Row(row), ..) => {
                let finished = finished(row, average, selection.is_some());
                let known = Metric::ALL.into_iter().zip(finished);
                report.metrics = known
                    .filter_map(|(metric, value)| Some((metric.name().to_owned(), value?.into())))
                    .collect();
            }
            (Source::Scored { .. }, ..) => {}
        }
        report
    }

    /// Notes on the model for the reader.
    fn notes(&self, columns: &[Metric], average: Average, has_scored_models: bool) -> Vec<String> {
        match self.source {
            Source::Scored { trajectories, .. } => columns
                .iter()
                .filter(|metric| metric.is_graded() && self.has(**metric) && !self.is_complete(**metric))
                .map(|metric| {
                    let (count, all) = (known(trajectories, *metric), trajectories.len());
                    let metric = metric.name().replace('_', " ");
                    format!(
                        "{}: {metric} of {count} of {all} tasks is known, and is not in the average",
                        self.name
                    )
                })
                .collect(),
            // One note speaks of all rows of a published table.
            Source::Row(_) if self.published.is_some() && has_scored_models => Vec::new(),
            Source::Row(row) => row_note(self.name, row, average, has_scored_models).into_iter().collect(),
        }
    }
}

/// The columns of a row of finished numbers. Its average is the mean of the other columns, missing if one of them is
/// missing; if only tables are compared, the average given in the table.
fn finished(
    row: &[Option<f64>; Metric::COUNT],
    average: Average,
    has_scored_models: bool,
) -> [Option<f64>; Metric::COUNT] {
    let mut values = *row;
    let given = row[Metric::Average.index()].filter(|_| !has_scored_models);
    values[Metric::Average.index()] = given.or_else(|| mean(row, average));
    values
}

fn mean(row: &[Option<f64>; Metric::COUNT], average: Average) -> Option<f64> {
    let parts: Option<Vec<f64>> = average.metrics().map(|metric| row[metric.index()]).collect();
    parts.map(|parts| parts.iter().sum::<f64>() / parts.len() as f64)
}

/// A note on a row whose average is missing, or differs from the mean of its columns by more than 0.0015.
fn row_note(
    name: &str,
    row: &[Option<f64>; Metric::COUNT],
    average: Average,
    has_scored_models: bool,
) -> Option<String> {
    match (row[Metric::Average.index()], mean(row, average)) {
        (given, None) if has_scored_models || given.is_none() => {
            Some(format!("{name}: the table lacks a metric, so there is no average"))
        }
        (Some(given), Some(mean)) if (given - mean).abs() > 0.0015 => Some(if has_scored_models {
            format!(
                "{name}: the average is {mean:.3}, over the metrics that all models have; the table gives {given:.3}"
            )
        } else {
            format!("{name}: the table gives an average of {given:.3}, the mean of its columns is {mean:.3}")
        }),
        _ => None,
    }
}

/// Adds what is known about a model's trajectories besides the metrics.
fn describe(report: &mut ModelReport, trajectories: &[&TrajectoryResult]) {
    let sums: GradedSums = trajectories.iter().map(|found| GradedSums::from(*found)).sum();
    if sums.trajectories > 0.0 {
        report.calls = Some(CallsReport {
            average_steps: sums.steps / sums.trajectories,
            average_calls: sums.sums.predicted_calls / sums.trajectories,
        });
    }
    let usage: Vec<_> = trajectories.iter().filter_map(|found| found.usage).collect();
    if !usage.is_empty() {
        let mean =
            |tokens: fn(&super::Usage) -> f64| usage.iter().map(tokens).sum::<f64>() / usage.len() as f64;
        report.tokens = Some(TokensReport {
            tasks: usage.len(),
            is_partial: usage.len() < trajectories.len(),
            input: mean(|usage| usage.input_tokens),
            output: mean(|usage| usage.output_tokens),
        });
    }
    let outcomes = trajectories.iter().filter_map(|found| found.outcomes).reduce(TaskOutcomes::with);
    if let Some(outcomes) = outcomes {
        let counts = TaskOutcomes::NAMES.map(str::to_owned).into_iter().zip(outcomes.all());
        let counts = counts.filter(|(name, count)| name != TaskOutcomes::NOT_EXECUTED || *count > 0);
        report.outcomes = Some(OutcomesReport { counts: counts.collect() });
    }
}

/// The value by which models are sorted; models without one come last.
fn value_of(report: &ModelReport, by: Metric) -> f64 {
    report.metric(by.name()).map_or(-1.0, |estimate| estimate.value)
}

/// Gives every model its place by a metric, and the range of places that it may have. For a scored model the range among
/// scored models comes from the resamples. Rows of tables move it down: its best place by the rows above the upper end of
/// the model's interval, its worst place by the rows above the lower end. A row of a table may have any place.
fn rank_rows(rows: &mut [ModelReport], by: Metric, statistics: Option<&Statistics>) {
    let values: Vec<f64> = rows.iter().map(|row| value_of(row, by)).collect();
    let is_row = |row: &&ModelReport| row.group.is_none();
    let finished: Vec<f64> = rows.iter().filter(is_row).map(|row| value_of(row, by)).collect();
    let above = |value: f64| finished.iter().filter(|other| **other > value).count();
    let mut ranks = statistics.map(|found| found.ranks.iter()).into_iter().flatten();
    for (index, row) in rows.iter_mut().enumerate() {
        let rank = 1 + values.iter().filter(|other| **other > values[index]).count();
        let own = if row.group.is_some() { ranks.next() } else { None };
        row.rank = match (own, row.metric(by.name())) {
            (Some(own), Some(estimate)) => RankReport {
                rank: own.rank + above(estimate.value),
                best: own.best + above(estimate.high.unwrap_or(estimate.value)),
                worst: own.worst + above(estimate.low.unwrap_or(estimate.value)),
            },
            _ => RankReport { rank, best: 1, worst: values.len() },
        };
    }
}

/// The paper's tables by type of task: each model on the tasks of each type. The first model gives the type.
fn types(entrants: &[Entrant<'_>], selection: &Selection<'_>, columns: &[Metric]) -> Vec<TypeReport> {
    let mut by_type: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, first) in selection.trajectories.iter().flatten().take(selection.ids.len()).enumerate() {
        if let Some(task_type) = &first.task_type {
            by_type.entry(task_type).or_default().push(index);
        }
    }
    by_type.into_iter().map(|(name, tasks)| type_report(name, &tasks, entrants, selection, columns)).collect()
}

fn type_report(
    task_type: &str,
    tasks: &[usize],
    entrants: &[Entrant<'_>],
    selection: &Selection<'_>,
    columns: &[Metric],
) -> TypeReport {
    let models: Vec<(&str, Vec<&TrajectoryResult>)> = entrants
        .iter()
        .filter_map(|entrant| match entrant.source {
            Source::Scored { trajectories, .. } => {
                Some((entrant.name, tasks.iter().map(|&task| trajectories[task]).collect()))
            }
            Source::Row(_) => None,
        })
        .collect();
    let is_complete = |metric| models.iter().all(|(_, found)| known(found, metric) == found.len());
    let average = Average::of_type(is_complete);
    let row = |(name, trajectories): &(&str, Vec<&TrajectoryResult>)| {
        let sums: GradedSums = trajectories.iter().map(|found| GradedSums::from(*found)).sum();
        let values = values(&sums, selection.profile, average);
        let shown =
            columns.iter().filter(|metric| **metric == Metric::Average || known(trajectories, **metric) > 0);
        TypeRowReport {
            model: (*name).to_owned(),
            metrics: shown.map(|metric| (metric.name().to_owned(), values[metric.index()])).collect(),
        }
    };
    let mut rows: Vec<TypeRowReport> = models.iter().map(row).collect();
    rows.sort_by(|a, b| b.average().unwrap_or_default().total_cmp(&a.average().unwrap_or_default()));
    TypeReport { task_type: task_type.to_owned(), tasks: tasks.len(), average: average.into(), models: rows }
}
