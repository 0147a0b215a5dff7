//! The trials that are compared: all trials of the tasks that every model has.

use std::collections::{BTreeMap, BTreeSet};

use m3_score::Metric;

use super::view::{View, ViewOfTrial};
use super::{AgreeError, ScoredModel};
use crate::TrajectoryReport;

/// The lowest grade at which a trial is right for graders and people.
pub const PASS_MARK: f64 = 0.5;

/// A trial of a task.
pub(super) struct Trial {
    /// The value and the verdict by each view.
    pub(super) seen: Vec<Option<ViewOfTrial>>,
    /// The verdict of the graders.
    pub(super) graded: Option<bool>,
    /// Whether the task's reference has a call.
    pub(super) has_calls: bool,
    /// The verdict of the label; `None` also if the reference has no calls.
    pub(super) labelled: Option<bool>,
}

/// All trials of all models: `trials[model][task]`.
pub(super) struct Table<'m> {
    pub(super) ids: Vec<&'m str>,
    /// The number of tasks that only some models have.
    pub(super) left_out: usize,
    pub(super) trials: Vec<Vec<Vec<Trial>>>,
}

impl<'m> Table<'m> {
    /// Makes the table of the trials by some views.
    ///
    /// # Errors
    /// [`AgreeError::Empty`].
    pub(super) fn new(models: &'m [ScoredModel], views: &[View]) -> Result<Self, AgreeError> {
        let by_id: Vec<ByTask<'_>> = models.iter().map(by_task).collect();
        let mut ids: BTreeSet<&str> =
            by_id.first().into_iter().flat_map(|tasks| tasks.keys().copied()).collect();
        let all: BTreeSet<&str> = by_id.iter().flat_map(|tasks| tasks.keys().copied()).collect();
        for tasks in &by_id {
            ids.retain(|id| tasks.contains_key(id));
        }
        if ids.is_empty() {
            return Err(AgreeError::Empty);
        }
        let graded = |found: &TrajectoryReport| {
            Some(*found.grades.as_ref()?.0.get(&Metric::TaskCompletion)? >= PASS_MARK)
        };
        let label = |model: &ScoredModel, found: &TrajectoryReport| {
            let repetition = found.repeat.unwrap_or(1).saturating_sub(1);
            model.people.get(repetition)?.get(&found.id).copied()
        };
        let trial = |model: &ScoredModel, found: &TrajectoryReport| Trial {
            seen: views.iter().map(|view| view.of(found)).collect(),
            graded: graded(found),
            has_calls: has_calls(found),
            labelled: label(model, found).filter(|_| has_calls(found)),
        };
        let of_model = |(model, tasks): (&ScoredModel, &ByTask<'_>)| {
            let trials = |id| tasks.get(id).into_iter().flatten().map(|found| trial(model, found)).collect();
            ids.iter().map(trials).collect()
        };
        let trials = models.iter().zip(&by_id).map(of_model).collect();
        Ok(Self { trials, left_out: all.len() - ids.len(), ids: ids.into_iter().collect() })
    }

    /// The mean of a view over a model's tasks, each counted `count` times; `None` if the view has no value for any.
    pub(super) fn score(&self, model: usize, view: usize, count: impl Fn(usize) -> f64) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for (task, trials) in self.trials[model].iter().enumerate() {
            let times = count(task);
            for seen in trials.iter().filter_map(|trial| trial.seen[view]) {
                sum += times * seen.value;
                weights += times * seen.weight;
            }
        }
        (weights > 0.0).then(|| sum / weights)
    }

    /// The numbers of a model's labelled trials that did their job, and of all its labelled trials; `None` without any.
    pub(super) fn success(&self, model: usize) -> Option<(usize, usize)> {
        let labels: Vec<bool> =
            self.trials[model].iter().flatten().filter_map(|trial| trial.labelled).collect();
        let succeeded = labels.iter().filter(|label| **label).count();
        (!labels.is_empty()).then_some((succeeded, labels.len()))
    }

    pub(super) fn models(&self) -> std::ops::Range<usize> {
        0..self.trials.len()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().flatten().flatten()
    }
}

fn has_calls(trajectory: &TrajectoryReport) -> bool {
    trajectory.metrics.reference_calls > 0
}

/// The trajectories of a model by task, in the order of the repetitions.
type ByTask<'m> = BTreeMap<&'m str, Vec<&'m TrajectoryReport>>;

fn by_task(model: &ScoredModel) -> ByTask<'_> {
    let mut tasks = ByTask::new();
    for trajectory in &model.trajectories {
        tasks.entry(&trajectory.id).or_default().push(trajectory);
    }
    tasks
}
