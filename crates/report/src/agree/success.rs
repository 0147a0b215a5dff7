//! Which metric distinguishes trials that did their job from others: areas, the order of models, reliability.

use std::collections::BTreeMap;

use m3_score::JobVerdict;
use m3_stats::agreement::{MixedPairs, Outcome, SortedOutcomes, kendall_tau};
use m3_stats::{Draws, resampled};

use super::statistics::estimate;
use super::success_report::{LabelsReport, MetricSuccess, ReliabilityBin, ReliabilityReport, SuccessReport};
use super::table::{Table, Trial};
use super::view::{View, all_views};
use super::{AgreeError, ScoredModel};
use crate::EstimateReport;

/// The number of bins of the verdict, all of equal width.
const BINS: u8 = 10;

/// A labelled trial of a task whose reference has a call, with a metric's value.
#[derive(Debug, Clone, Copy)]
struct LabelledTrial {
    model: usize,
    task: usize,
    succeeded: bool,
    /// The metric's value, as a share of what can be reached.
    value: f64,
}

impl SuccessReport {
    /// Compares all metrics with labels of success; `None` where no model has labels.
    pub(super) fn new(
        models: &[ScoredModel],
        labels: LabelsReport,
        draws: &Draws,
    ) -> Result<Option<Self>, AgreeError> {
        if models.iter().all(|model| model.people.is_empty()) {
            return Ok(None);
        }
        let views = all_views(models);
        let table = Table::new(models, &views)?;
        let known = || table.all().filter(|trial| trial.labelled.is_some());
        let succeeded = |model: usize| table.success(model).map(|(count, _)| count).unwrap_or_default();
        let metric = |(at, view): (usize, &View)| metric(view, &judged(&table, at), draws);
        let mut metrics: Vec<MetricSuccess> = views.iter().enumerate().map(metric).collect();
        let area = |metric: &MetricSuccess| metric.area.map_or(f64::NEG_INFINITY, |area| area.value);
        // Equal metrics stay in the order of reports.
        metrics.sort_by(|a, b| area(b).total_cmp(&area(a)));
        let verdict = views.iter().position(View::is_verdict);
        Ok(Some(Self {
            labels,
            trials: known().count(),
            succeeded: table.models().map(succeeded).sum(),
            models: table.models().filter(|model| table.success(*model).is_some()).count(),
            without_label: table.all().filter(|trial| trial.has_calls && trial.labelled.is_none()).count(),
            without_calls: table.all().filter(|trial| !trial.has_calls).count(),
            metrics,
            reliability: verdict.and_then(|at| reliability(&views[at], &judged(&table, at))),
        }))
    }
}

fn judged(table: &Table<'_>, view: usize) -> Vec<LabelledTrial> {
    let of_model = |(model, tasks): (usize, &Vec<Vec<Trial>>)| {
        let of_task = |(task, trials): (usize, &Vec<Trial>)| {
            let judged = |trial: &Trial| {
                let (succeeded, seen) = (trial.labelled?, trial.seen[view]?);
                Some(LabelledTrial { model, task, succeeded, value: seen.value / seen.weight })
            };
            trials.iter().filter_map(judged).collect::<Vec<_>>()
        };
        tasks.iter().enumerate().flat_map(of_task).collect::<Vec<_>>()
    };
    table.trials.iter().enumerate().flat_map(of_model).collect()
}

/// Trials sorted by a metric's value: all trials, those of each task, those of each model.
struct SortedTrials<'j> {
    rows: &'j [LabelledTrial],
    all: SortedOutcomes,
    by_task: Vec<(usize, MixedPairs)>,
    by_model: Vec<SortedOutcomes>,
}

impl<'j> SortedTrials<'j> {
    fn new(rows: &'j [LabelledTrial]) -> Self {
        let groups = |key: fn(&LabelledTrial) -> usize| {
            let mut groups: BTreeMap<usize, Vec<Outcome>> = BTreeMap::new();
            for row in rows {
                groups.entry(key(row)).or_default().push(row.outcome());
            }
            groups.into_iter().map(|(key, outcomes)| (key, SortedOutcomes::new(outcomes)))
        };
        Self {
            rows,
            all: SortedOutcomes::new(rows.iter().map(LabelledTrial::outcome)),
            by_task: groups(|row| row.task).map(|(task, it)| (task, it.pairs(|_| 1.0))).collect(),
            by_model: groups(|row| row.model).map(|(_, it)| it).collect(),
        }
    }

    /// The area over all pairs, over pairs of one task and of one model, and tau-b. Each task counts `count` times.
    fn statistics(&self, count: impl Fn(usize) -> f64) -> [Option<f64>; 4] {
        let (mut within_tasks, mut within_models) = (MixedPairs::default(), MixedPairs::default());
        for (task, pairs) in &self.by_task {
            within_tasks += *pairs * count(*task);
        }
        for model in &self.by_model {
            within_models += model.pairs(&count);
        }
        [self.all.pairs(&count).area(), within_tasks.area(), within_models.area(), self.tau(&count)]
    }

    /// Kendall's tau-b of the models' means and the shares that did the job.
    fn tau(&self, count: impl Fn(usize) -> f64) -> Option<f64> {
        // By model: trials, the sum of values, how many succeeded.
        let mut sums: BTreeMap<usize, (f64, f64, f64)> = BTreeMap::new();
        for row in self.rows {
            let (times, sum) = (count(row.task), sums.entry(row.model).or_default());
            sum.0 += times;
            sum.1 += times * row.value;
            sum.2 += times * f64::from(u8::from(row.succeeded));
        }
        let means = sums.values().filter(|(trials, ..)| *trials > 0.0);
        let means = means.map(|(trials, values, succeeded)| (values / trials, succeeded / trials));
        kendall_tau(&means.collect::<Vec<_>>())
    }
}

impl LabelledTrial {
    fn outcome(&self) -> Outcome {
        Outcome { value: self.value, succeeded: self.succeeded, unit: self.task }
    }
}

fn metric(view: &View, rows: &[LabelledTrial], draws: &Draws) -> MetricSuccess {
    let tasks: BTreeMap<usize, usize> = {
        let mut tasks: Vec<usize> = rows.iter().map(|row| row.task).collect();
        tasks.sort_unstable();
        tasks.dedup();
        tasks.into_iter().enumerate().map(|(at, task)| (task, at)).collect()
    };
    // Only tasks with labelled trials are drawn.
    let rows: Vec<LabelledTrial> =
        rows.iter().map(|row| LabelledTrial { task: tasks[&row.task], ..*row }).collect();
    let sorted = SortedTrials::new(&rows);
    let values = sorted.statistics(|_| 1.0);
    let statistic = |counts: &[u32]| {
        sorted.statistics(|task| f64::from(counts[task])).map(|value| value.unwrap_or(f64::NAN))
    };
    let is_known = values.iter().any(Option::is_some);
    let resamples = if is_known { resampled(tasks.len(), statistic, draws) } else { Vec::new() };
    let estimated = |at: usize| -> Option<EstimateReport> {
        values[at].map(|value| estimate(value, resamples.iter().map(|values| values[at])))
    };
    MetricSuccess {
        name: view.name(),
        trials: rows.len(),
        area: estimated(0),
        within_tasks: estimated(1),
        within_models: estimated(2),
        tau: estimated(3),
    }
}

/// How well the verdict's probability matches the share of trials that did the job; `None` without trials.
fn reliability(view: &View, rows: &[LabelledTrial]) -> Option<ReliabilityReport> {
    let mean = |rows: &[&LabelledTrial], number: fn(&LabelledTrial) -> f64| {
        (!rows.is_empty()).then(|| rows.iter().map(|row| number(row)).sum::<f64>() / rows.len() as f64)
    };
    let did = |row: &LabelledTrial| f64::from(u8::from(row.succeeded));
    let bin = |bin: u8| {
        let [from, to] = [bin, bin + 1].map(|edge| f64::from(edge) / f64::from(BINS));
        let is_in = |row: &&LabelledTrial| row.value >= from && (row.value < to || bin + 1 == BINS);
        let inside: Vec<&LabelledTrial> = rows.iter().filter(is_in).collect();
        let (expected, succeeded) = (mean(&inside, |row| row.value), mean(&inside, did));
        ReliabilityBin { from, to, trials: inside.len(), expected, succeeded }
    };
    let bins: Vec<ReliabilityBin> = (0..BINS).map(bin).collect();
    let off = |bin: &ReliabilityBin| {
        Some(bin.trials as f64 * (bin.expected.zip(bin.succeeded).map(|(a, b)| (a - b).abs())?))
    };
    let all: Vec<&LabelledTrial> = rows.iter().collect();
    let decided: Vec<&LabelledTrial> =
        rows.iter().filter(|row| JobVerdict::new(row.value) != JobVerdict::CannotTell).collect();
    Some(ReliabilityReport {
        metric: view.name(),
        trials: rows.len(),
        expected: mean(&all, |row| row.value)?,
        succeeded: mean(&all, did)?,
        calibration_error: bins.iter().filter_map(off).sum::<f64>() / rows.len() as f64,
        decided: decided.len() as f64 / rows.len() as f64,
        right: mean(&decided, |row| {
            f64::from(u8::from((JobVerdict::new(row.value) == JobVerdict::Did) == row.succeeded))
        }),
        bins,
    })
}
