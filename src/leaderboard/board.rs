//! Makes a leaderboard: models by average, best first, and how sure that order is.

use std::collections::BTreeMap;

use super::report::{
    CallsReport, LEADERBOARD_SCHEMA, Leaderboard, ModelReport, OutcomesReport, RankReport, TokensReport,
    TypeReport, TypeRowReport,
};
use super::{Average, Metric, ModelResult, Numbers, Outcomes, Selection, Totals, TrajectoryResult, values};
use crate::stats::{
    DifferentLengths, Draws, LEVEL, POWER, RankInterval, Resamples, SIGNIFICANCE, bootstrap, holm, pairs,
    smallest_detectable_difference, tie_groups,
};

/// The most permutations that are drawn so that corrected p-values can be small enough.
const MOST_PERMUTATIONS: usize = 100_000;

impl Leaderboard {
    /// Ranks models; `selection` is what [`select`](super::select) chose of them.
    ///
    /// # Errors
    /// [`DifferentLengths`] if the selection has not the same trajectories of every model.
    pub fn new(
        models: &[ModelResult],
        selection: Option<&Selection<'_>>,
        draws: &Draws,
    ) -> Result<Self, DifferentLengths> {
        let entrants = Entrant::all(models, selection);
        let average = Average::of(|metric| entrants.iter().all(|entrant| entrant.is_complete(metric)));
        let columns: Vec<Metric> = Metric::ALL
            .into_iter()
            .filter(|metric| *metric == Metric::Average || entrants.iter().any(|found| found.has(*metric)))
            .collect();
        let statistics = selection.map(|selection| Statistics::new(selection, average, draws)).transpose()?;
        let is_mixed = selection.is_some();
        let mut rows: Vec<ModelReport> = entrants
            .iter()
            .map(|entrant| entrant.report(&columns, average, selection, statistics.as_ref()))
            .collect();
        rank_rows(&mut rows, statistics.as_ref().filter(|found| found.ranks.len() == models.len()));
        // Stable: models of equal average stay in the order they were given.
        rows.sort_by(|a, b| average_of(b).total_cmp(&average_of(a)));
        let mut notes: Vec<String> =
            entrants.iter().flat_map(|entrant| entrant.notes(&columns, average, is_mixed)).collect();
        notes.extend(statistics.as_ref().and_then(Statistics::note));
        Ok(Self {
            schema: LEADERBOARD_SCHEMA.to_owned(),
            profile: selection.map(|selection| selection.profile.name().to_owned()),
            similarity: selection.map(|selection| selection.similarity.name().to_owned()),
            tasks: selection.map(|selection| selection.ids.len()),
            level: LEVEL,
            resamples: statistics.as_ref().map_or(0, |found| found.resamples.count()),
            seed: draws.seed,
            average: average.into(),
            columns: columns.iter().map(|metric| metric.name().to_owned()).collect(),
            notes,
            models: rows,
            smallest_detectable_difference: statistics.and_then(|found| found.smallest_difference),
            types: selection.map_or_else(Vec::new, |selection| types(&entrants, selection, &columns)),
        })
    }
}

/// How often permutations are drawn so that the smallest p-value, corrected for `tests`, can be far below the
/// significance, as long as that takes a reasonable time.
pub(super) fn test_draws(draws: &Draws, tests: usize) -> Draws {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of draws")]
    let wanted = (10.0 * tests as f64 / SIGNIFICANCE) as usize;
    Draws { count: draws.count.max(wanted.min(MOST_PERMUTATIONS)), ..*draws }
}

/// What resampling says of the models with trajectories, in their order.
struct Statistics {
    resamples: Resamples<{ Metric::COUNT }>,
    ranks: Vec<RankInterval>,
    groups: Vec<usize>,
    smallest_difference: Option<f64>,
    /// The smallest corrected p-value that any pair could have.
    least_p_value: f64,
    pairs: usize,
}

impl Statistics {
    fn new(selection: &Selection<'_>, average: Average, draws: &Draws) -> Result<Self, DifferentLengths> {
        let totals = totals(&selection.trajectories);
        let statistic = |totals: &Totals| values(totals, selection.profile, average);
        let resamples = bootstrap(&totals, statistic, draws)?;
        let metric = Metric::Average.index();
        let pairs = pairs(resamples.models());
        let permutations = test_draws(draws, pairs.len());
        let p_values: Vec<f64> =
            resamples.flip_test(&pairs, &permutations).iter().map(|p| p[metric]).collect();
        let points: Vec<f64> = resamples.points().iter().map(|values| values[metric]).collect();
        let significance = SIGNIFICANCE / pairs.len().max(1) as f64;
        let differences = pairs
            .iter()
            .filter_map(|&(a, b)| resamples.difference(a, b, metric, LEVEL).standard_error)
            .filter(|error| *error > 0.0)
            .map(|error| smallest_detectable_difference(error, significance, POWER));
        let least = crate::stats::least_p_value(selection.ids.len(), &permutations);
        Ok(Self {
            ranks: resamples.ranks(metric, LEVEL),
            groups: tie_groups(&points, &pairs, &holm(&p_values), SIGNIFICANCE),
            smallest_difference: median(differences.collect()),
            least_p_value: least * pairs.len() as f64,
            pairs: pairs.len(),
            resamples,
        })
    }

    /// What to say where the tests cannot find anything.
    fn note(&self) -> Option<String> {
        let is_blind = self.pairs > 0 && self.least_p_value >= SIGNIFICANCE;
        is_blind.then(|| {
            format!(
                "groups mean nothing here: with {} tasks and {} pairs of models no difference can be significant",
                self.resamples.trajectories(),
                self.pairs
            )
        })
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}

/// The trajectories of each model as totals.
pub(super) fn totals(models: &[Vec<&TrajectoryResult>]) -> Vec<Vec<Totals>> {
    models
        .iter()
        .map(|trajectories| trajectories.iter().map(|&found| Totals::from(found)).collect())
        .collect()
}

/// How many trajectories have a metric; all have those of the alignment. The fidelity of a set is known if that of each
/// is.
pub(super) fn graded(trajectories: &[&TrajectoryResult], metric: Metric) -> usize {
    let has_grade = |found: &&&TrajectoryResult| match metric {
        Metric::TaskCompletion => found.grades.task_completion.is_some(),
        Metric::InformationGrounding => found.grades.information_grounding.is_some(),
        _ => true,
    };
    if metric.is_fidelity() {
        let is_known = trajectories.iter().all(|found| found.has_fidelity);
        return if is_known { trajectories.len() } else { 0 };
    }
    trajectories.iter().filter(has_grade).count()
}

/// A model in the leaderboard.
struct Entrant<'a> {
    name: &'a str,
    source: Source<'a>,
}

enum Source<'a> {
    /// Its selected trajectories, and its place among the models that have any.
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
            Some(Self { name: &model.name, source })
        };
        models.iter().filter_map(entrant).collect()
    }

    /// Whether there is anything to show of a metric.
    fn has(&self, metric: Metric) -> bool {
        match self.source {
            Source::Row(row) => row[metric.index()].is_some(),
            Source::Scored { trajectories, .. } => graded(trajectories, metric) > 0,
        }
    }

    /// Whether a metric is known of every task, so that it may be part of the average.
    fn is_complete(&self, metric: Metric) -> bool {
        match self.source {
            Source::Row(row) => row[metric.index()].is_some(),
            Source::Scored { trajectories, .. } => graded(trajectories, metric) == trajectories.len(),
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
            metrics: BTreeMap::new(),
            rank: RankReport { rank: 1, best: 1, worst: 1 },
            group: None,
            left_out: 0,
            calls: None,
            tokens: None,
            outcomes: None,
        };
        match (&self.source, selection, statistics) {
            (Source::Scored { trajectories, index }, Some(selection), Some(statistics)) => {
                let shown = columns.iter().filter(|metric| **metric == Metric::Average || self.has(**metric));
                let estimate =
                    |metric: Metric| statistics.resamples.estimate(*index, metric.index(), LEVEL).into();
                report.metrics = shown.map(|&metric| (metric.name().to_owned(), estimate(metric))).collect();
                report.group = Some(statistics.groups[*index]);
                report.left_out = selection.left_out[*index];
                describe(&mut report, trajectories);
            }
            (Source::Row(row), ..) => {
                let finished = finished(row, average, selection.is_some());
                let known = Metric::ALL.into_iter().zip(finished);
                let known =
                    known.filter_map(|(metric, value)| Some((metric.name().to_owned(), value?.into())));
                report.metrics = known.collect();
            }
            (Source::Scored { .. }, ..) => {}
        }
        report
    }

    /// What a reader should know of the model.
    fn notes(&self, columns: &[Metric], average: Average, is_mixed: bool) -> Vec<String> {
        match self.source {
            Source::Scored { trajectories, .. } => columns
                .iter()
                .filter(|metric| metric.is_judged() && self.has(**metric) && !self.is_complete(**metric))
                .map(|metric| {
                    let (count, all) = (graded(trajectories, *metric), trajectories.len());
                    let metric = metric.name().replace('_', " ");
                    format!(
                        "{}: {metric} of {count} of {all} tasks is known, and is not in the average",
                        self.name
                    )
                })
                .collect(),
            Source::Row(row) => row_note(self.name, row, average, is_mixed).into_iter().collect(),
        }
    }
}

/// The columns of a row of a table. Its average is the mean of the others, none if one of them is missing; the
/// one that the table gives where nothing but tables is compared.
fn finished(
    row: &[Option<f64>; Metric::COUNT],
    average: Average,
    is_mixed: bool,
) -> [Option<f64>; Metric::COUNT] {
    let mut values = *row;
    let given = row[Metric::Average.index()].filter(|_| !is_mixed);
    values[Metric::Average.index()] = given.or_else(|| mean(row, average));
    values
}

fn mean(row: &[Option<f64>; Metric::COUNT], average: Average) -> Option<f64> {
    let parts: Option<Vec<f64>> = average.metrics().map(|metric| row[metric.index()]).collect();
    parts.map(|parts| parts.iter().sum::<f64>() / parts.len() as f64)
}

/// What to say of a row whose average is missing, or not the mean of its columns as far as three digits show.
fn row_note(
    name: &str,
    row: &[Option<f64>; Metric::COUNT],
    average: Average,
    is_mixed: bool,
) -> Option<String> {
    match (row[Metric::Average.index()], mean(row, average)) {
        (given, None) if is_mixed || given.is_none() => {
            Some(format!("{name}: the table lacks a metric, so there is no average"))
        }
        (Some(given), Some(mean)) if (given - mean).abs() > 0.0015 => Some(if is_mixed {
            format!(
                "{name}: the average is {mean:.3}, over the metrics that all models have; the table gives {given:.3}"
            )
        } else {
            format!("{name}: the table gives an average of {given:.3}, the mean of its columns is {mean:.3}")
        }),
        _ => None,
    }
}

/// Adds what the trajectories of a model say beside the metrics.
fn describe(report: &mut ModelReport, trajectories: &[&TrajectoryResult]) {
    let total: Totals = trajectories.iter().map(|found| Totals::from(*found)).sum();
    if total.trajectories > 0.0 {
        report.calls = Some(CallsReport {
            average_steps: total.steps / total.trajectories,
            average_calls: total.sums.predicted_calls / total.trajectories,
        });
    }
    let usage: Vec<_> = trajectories.iter().filter_map(|found| found.usage).collect();
    if !usage.is_empty() {
        let mean =
            |tokens: fn(&super::Usage) -> f64| usage.iter().map(tokens).sum::<f64>() / usage.len() as f64;
        report.tokens = Some(TokensReport {
            tasks: usage.len(),
            input: mean(|usage| usage.input_tokens),
            output: mean(|usage| usage.output_tokens),
        });
    }
    let outcomes: Vec<_> = trajectories.iter().filter_map(|found| found.outcomes).collect();
    if !outcomes.is_empty() {
        let count =
            |index: usize| outcomes.iter().map(|found| found.counts[index]).fold(0, u64::saturating_add);
        let counts =
            Outcomes::NAMES.iter().enumerate().map(|(index, name)| ((*name).to_owned(), count(index)));
        report.outcomes = Some(OutcomesReport { counts: counts.collect() });
    }
}

/// The average that models are ordered by; those without one come last.
fn average_of(report: &ModelReport) -> f64 {
    report.average().map_or(-1.0, |average| average.value)
}

/// Gives every model its place: with resampling where all models could be, else by average alone.
fn rank_rows(rows: &mut [ModelReport], statistics: Option<&Statistics>) {
    let averages: Vec<f64> = rows.iter().map(average_of).collect();
    for (index, row) in rows.iter_mut().enumerate() {
        row.rank = if let Some(statistics) = statistics {
            statistics.ranks[index].into()
        } else {
            let rank = 1 + averages.iter().filter(|other| **other > averages[index]).count();
            RankReport { rank, best: 1, worst: averages.len() }
        };
    }
}

/// The paper's per-task tables: each model on the tasks of each type. The type is the first model's.
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
    let is_complete = |metric| models.iter().all(|(_, found)| graded(found, metric) == found.len());
    let average = Average::of_type(is_complete);
    let row = |(name, trajectories): &(&str, Vec<&TrajectoryResult>)| {
        let total: Totals = trajectories.iter().map(|found| Totals::from(*found)).sum();
        let values = values(&total, selection.profile, average);
        let shown =
            columns.iter().filter(|metric| **metric == Metric::Average || graded(trajectories, **metric) > 0);
        TypeRowReport {
            model: (*name).to_owned(),
            metrics: shown.map(|metric| (metric.name().to_owned(), values[metric.index()])).collect(),
        }
    };
    let mut rows: Vec<TypeRowReport> = models.iter().map(row).collect();
    rows.sort_by(|a, b| b.average().unwrap_or_default().total_cmp(&a.average().unwrap_or_default()));
    TypeReport { task_type: task_type.to_owned(), tasks: tasks.len(), average: average.into(), models: rows }
}
