//! Results with repetitions: combines trajectories by task, and computes pass@1, pass@k and pass^k of several models.

use std::collections::BTreeMap;

use m3_score::Metric;
use m3_stats::{DifferentLengths, Draws, LEVEL, PassRate, PassRates, Trials};
use m3_support::text::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Repeats, Selection, TrajectoryResult, Usage};

use crate::estimate::EstimateReport;
use crate::{RepeatsReport, TaskOutcomes, TaskTrialsReport};

impl Repeats {
    /// Checks the repetitions in a score's summary. Returns them, and the trials of each task.
    pub(super) fn checked(report: RepeatsReport) -> Result<(Self, BTreeMap<String, Trials>), String> {
        let RepeatsReport { count, pass, tasks, .. } = report;
        let count = u32::try_from(count).map_err(|_| format!("its `repeats` have a `count` of {count}"))?;
        if count == 0 {
            return Err("its `repeats` have a `count` of 0".to_owned());
        }
        let mut trials = BTreeMap::new();
        for TaskTrialsReport { id, trials: of_task, passes, .. } in tasks {
            if passes > of_task || of_task > count {
                let counts = format!("{passes} passes of {of_task} trials in {count} repetitions");
                return Err(format!("its `repeats` have {counts} for `{id}`"));
            }
            trials.insert(id, Trials { count: of_task, passed: passes });
        }
        Ok((Self { count, pass }, trials))
    }
}

/// Rates of success of several models, on the same tasks and with the same criterion.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PassingReport {
    /// The k of pass@k: the fewest repetitions of any of the models.
    pub k: u32,
    /// The criterion for passing: metrics and their least values, the same for all models.
    pub pass: BTreeMap<String, f64>,
    /// The number of tasks with at least k trials by every model that has repetitions; the rates are means over them.
    pub tasks: usize,
}

/// Rates of success of a model, each the mean over tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ModelPassReport {
    /// The number of the model's repetitions.
    pub repetitions: u32,
    /// pass@1, the share of trials that pass.
    pub pass_at_1: EstimateReport,
    /// pass@k: at least one of k trials passes.
    pub pass_at: EstimateReport,
    /// pass^k: all of k trials pass.
    pub pass_all: EstimateReport,
}

impl PassingReport {
    /// The rates that differ: with one trial all are the same.
    #[must_use]
    pub fn shown(&self) -> &'static [PassRate] {
        if self.k == 1 { &PassRate::ALL[..1] } else { &PassRate::ALL }
    }
}

/// The rates of the models of a selection that have repetitions.
pub(super) struct Passing {
    pub(super) report: PassingReport,
    pub(super) rates: PassRates,
    /// For each model of the selection, its number of repetitions and its index in `rates`.
    places: Vec<Option<(u32, usize)>>,
}

impl Passing {
    /// The rates; `None` if no model has repetitions.
    ///
    /// # Errors
    /// Why rates cannot be compared: models count different things as passing, or no task has enough trials.
    pub(super) fn of(selection: &Selection<'_>) -> Result<Option<Self>, String> {
        let repeats: Vec<Option<&Repeats>> =
            selection.origins.iter().map(|origin| origin.repeats.as_ref()).collect();
        let known = || repeats.iter().copied().flatten();
        let Some(first) = known().next() else { return Ok(None) };
        if known().any(|other| other.pass != first.pass) {
            return Err("pass@k is not compared: the results do not agree on what passes \
                (`m3 score --pass`)"
                .to_owned());
        }
        let k = known().map(|repeats| repeats.count).min().unwrap_or(1);
        let trials = |model: &Vec<&TrajectoryResult>| model.iter().map(|found| found.trials).collect();
        let with_repeats = selection.trajectories.iter().zip(&repeats);
        let models: Vec<Vec<Trials>> =
            with_repeats.filter(|(_, repeats)| repeats.is_some()).map(|(model, _)| trials(model)).collect();
        let rates = PassRates::new(&models, k).map_err(|error| error.to_string())?;
        let tasks = rates.tasks();
        if tasks == 0 {
            return Err(format!("pass@{k} is not known: no task has so many trials with all models"));
        }
        let mut place = 0..;
        let places = repeats.iter().map(|repeats| Some((repeats.as_ref()?.count, place.next()?))).collect();
        Ok(Some(Self { report: PassingReport { k, pass: first.pass.clone(), tasks }, rates, places }))
    }

    /// The report for a leaderboard: on all models, and on each model of the selection.
    pub(super) fn leaderboard(
        self,
        draws: &Draws,
    ) -> Result<(PassingReport, Vec<Option<ModelPassReport>>), DifferentLengths> {
        let estimates = self.rates.estimates(LEVEL, draws)?;
        let model = |place: &Option<(u32, usize)>| {
            let (repetitions, place) = (*place)?;
            let [pass_at_1, pass_at, pass_all] = estimates.get(place)?.map(EstimateReport::from);
            Some(ModelPassReport { repetitions, pass_at_1, pass_at, pass_all })
        };
        let models = self.places.iter().map(model).collect();
        Ok((self.report, models))
    }
}

/// Combines the repetitions of each task. Each trajectory comes with its task's id and, if there are repetitions, its
/// number.
pub(super) fn by_task(
    trajectories: impl Iterator<Item = Result<(String, Option<usize>, TrajectoryResult), String>>,
    trials: &BTreeMap<String, Trials>,
) -> Result<BTreeMap<String, TrajectoryResult>, String> {
    let mut tasks: BTreeMap<String, BTreeMap<Option<usize>, TrajectoryResult>> = BTreeMap::new();
    for found in trajectories {
        let (id, repeat, trajectory) = found?;
        let of_task = tasks.entry(id.clone()).or_default();
        if of_task.insert(repeat, trajectory).is_some() {
            return Err(format!("it has the trajectory `{id}` twice"));
        }
    }
    // Computing rates takes as many steps as there are trials, so the number of trials must be true.
    for (id, of_task) in &tasks {
        if let Some(trials) = trials.get(id)
            && trials.count as usize != of_task.len()
        {
            let (trials, found) = (trials.count, counted(of_task.len(), "trajectory"));
            return Err(format!("its `repeats` have {trials} trials for `{id}`, of which it has {found}"));
        }
    }
    let task = |(id, of_task): (String, BTreeMap<Option<usize>, TrajectoryResult>)| {
        let trials = trials.get(&id).copied().unwrap_or_default();
        let together = together(of_task.into_values().collect())?;
        Some((id, TrajectoryResult { trials, ..together }))
    };
    Ok(tasks.into_iter().filter_map(task).collect())
}

/// All repetitions of a task as one trajectory: sums are added, so that the task is one unit of resampling. Other
/// values are the mean over the repetitions that have them; a grade counts only if all repetitions have it. `None`
/// without any.
fn together(parts: Vec<TrajectoryResult>) -> Option<TrajectoryResult> {
    let usages: Vec<Usage> = parts.iter().filter_map(|part| part.usage).collect();
    let outcomes = parts.iter().filter_map(|part| part.outcomes).reduce(TaskOutcomes::with);
    let grade = |metric: Metric| {
        let grades: Option<Vec<f64>> = parts.iter().map(|part| part.grades.get(&metric).copied()).collect();
        Some((metric, mean(&grades?, |grade| *grade)))
    };
    let grades = Metric::of_grades().filter_map(grade).collect();
    let usage = (!usages.is_empty()).then(|| Usage {
        input_tokens: mean(&usages, |usage| usage.input_tokens),
        output_tokens: mean(&usages, |usage| usage.output_tokens),
    });
    let together = parts.into_iter().reduce(|mut sum, mut other| {
        sum.repetitions += other.repetitions;
        sum.sums += other.sums;
        for (class, count) in std::mem::take(&mut other.failures) {
            *sum.failures.entry(class).or_default() += count;
        }
        sum.not_known.append(&mut other.not_known);
        sum.steps += other.steps;
        sum.similarities.append(&mut other.similarities);
        sum.candidates.append(&mut other.candidates);
        sum
    })?;
    Some(TrajectoryResult { grades, usage, outcomes, ..together })
}

fn mean<T>(values: &[T], of: impl Fn(&T) -> f64) -> f64 {
    values.iter().map(of).sum::<f64>() / values.len() as f64
}
