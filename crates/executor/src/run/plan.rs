//! The tasks that a run has to do: every selected task without a prediction that has the key it would have now.

use m3_trajectory::json::Keys;

use super::Run;
use super::journal::Attempts;
use super::key::RunKey;
use super::workspace;
use crate::{FinishReason, prompts_hash};

/// A run of a task that is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// The place of the task among the tasks of the file.
    pub(super) task: usize,
    /// The number of the repetition, from 1.
    pub(super) repeat: u32,
    /// The number of the attempt, from 1.
    pub(super) attempt: u32,
    pub(super) key: String,
}

/// The runs of tasks that are to be done, and the state of those done before.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    /// The runs to do, in the order of repetitions, then of tasks: all tasks are tried once before any is tried twice.
    pub(super) items: Vec<Item>,
    pub(super) standing: RunProgress,
    /// Selected tasks that are not run again: their place, their repetition and how they ended.
    over: Vec<(usize, u32, FinishReason)>,
    /// Whether the model has replied in any of the kept predictions.
    pub(super) has_replies: bool,
    /// For each repetition and each task of the file, whether there is a prediction with the key it would have now.
    pub(super) present: Vec<Vec<bool>>,
}

/// The state of a run before it begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunProgress {
    /// Runs of selected tasks that are to be done.
    pub to_do: usize,
    /// Runs that are done already.
    pub done: usize,
    /// Runs that failed before and are not tried again.
    pub failed: usize,
    /// Runs among `to_do` that have a prediction made under other conditions, or one that failed.
    pub again: usize,
    /// Runs of unselected tasks whose prediction was made under other conditions: it stays, and is not among the
    /// predictions of this run.
    pub others: usize,
}

/// Compares the existing predictions with those that the run should have.
pub(super) fn plan(run: &Run, attempts: &Attempts) -> Plan {
    let prompts = prompts_hash(run.options.mode);
    let model = run.model.name().to_string();
    let mut plan = Plan::default();
    for repeat in 1..=run.repeats {
        let mut present = Vec::with_capacity(run.tasks.len());
        for (index, task) in run.tasks.iter().enumerate() {
            let id = &task.task.id;
            let kept = run.output.kept_prediction(id, repeat);
            if kept.is_none() && !task.is_selected {
                // The key of such a task is not needed, and would require reading the task's image.
                present.push(false);
                continue;
            }
            let key = RunKey {
                task: &task.task.to_json().to_text(Keys::Sorted),
                // An image that cannot be read matches no earlier one.
                image: task.image.as_ref().map(|image| image.hash().unwrap_or("unreadable")),
                model: &model,
                prompts: &prompts,
                options: &run.options,
                tools: task.offered.hash(),
                repeat,
            };
            let key = key.hash();
            let is_there = kept.is_some();
            let same = kept.filter(|kept| kept.key == key);
            present.push(same.is_some());
            plan.has_replies |= same.as_ref().is_some_and(|kept| kept.trajectory.turns().next().is_some());
            if !task.is_selected {
                plan.standing.others += usize::from(is_there && same.is_none());
                continue;
            }
            match same.map(|kept| kept.finish) {
                Some(finish @ FinishReason::Error) if !run.retry_failed => {
                    plan.standing.failed += 1;
                    plan.over.push((index, repeat, finish));
                }
                Some(finish) if !matches!(finish, FinishReason::Error | FinishReason::Interrupted) => {
                    plan.standing.done += 1;
                    plan.over.push((index, repeat, finish));
                }
                _ => {
                    plan.standing.to_do += 1;
                    plan.standing.again += usize::from(is_there);
                    let attempt =
                        attempts.get(&(id.clone(), repeat)).map_or(1, |last| last.saturating_add(1));
                    plan.items.push(Item { task: index, repeat, attempt, key });
                }
            }
        }
        plan.present.push(present);
    }
    plan
}

/// Removes workspaces left by a run that was killed after it had written a prediction, or by a run that was to keep
/// more than this one. What cannot be removed stays: nothing depends on it.
pub(super) fn clear_up(run: &Run, plan: &Plan) {
    for (task, repeat, finish) in &plan.over {
        if !run.keep.keeps(*finish) {
            let _ = workspace::remove(&run.output.workspace(&run.tasks[*task].task.id, *repeat));
        }
    }
}
