//! The report of `m3 compare-traces`: the tasks that a new trace does differently from the old one.

use m3_report::{Cell, Column, ScoreSummary, Sheet, TrajectoryReport};
use m3_score::Metric;
use m3_support::text::{counted, shortened};
use schemars::JsonSchema;
use serde::Serialize;

/// The differences between a new trace and an old one (`m3.compare-traces/1`).
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "m3.compare-traces/1")]
pub(crate) struct ChangesReport {
    /// Always `m3.compare-traces/1`.
    pub(crate) schema: &'static str,
    /// The new trajectories scored against the old ones as references.
    pub(crate) score: ScoreSummary,
    /// The tasks of the old trace, those that differ most first.
    pub(crate) tasks: Vec<TaskChange>,
}

/// A task of the old trace, and how the new trace does it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct TaskChange {
    /// The state of the task.
    pub(crate) state: TaskState,
    /// The new trajectory, scored against the old one.
    #[serde(flatten)]
    pub(crate) trajectory: TrajectoryReport,
}

/// Whether a task is done as before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskState {
    /// The new trace does not have the task.
    Missing,
    /// The new trajectory has other calls, other arguments, or the same calls in another order.
    Changed,
    /// The new trajectory has the same calls, steps and order, and equal arguments.
    Same,
}

impl TaskState {
    fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Changed => "changed",
            Self::Same => "same",
        }
    }
}

impl ChangesReport {
    /// The report on these tasks.
    pub(crate) fn new(score: ScoreSummary, trajectories: Vec<TrajectoryReport>) -> Self {
        let mut tasks: Vec<TaskChange> = trajectories
            .into_iter()
            .map(|trajectory| TaskChange { state: state(&trajectory), trajectory })
            .collect();
        let average = |task: &TaskChange| task.trajectory.metrics.metrics[Metric::Average];
        // The sort is stable: tasks that differ equally stay in the order of the file.
        tasks.sort_by(|a, b| a.state.cmp(&b.state).then(average(a).total_cmp(&average(b))));
        Self { schema: "m3.compare-traces/1", score, tasks }
    }

    /// The number of tasks in this state.
    pub(crate) fn count(&self, state: TaskState) -> usize {
        self.tasks.iter().filter(|task| task.state == state).count()
    }
}

/// Whether a trajectory does what its reference does.
fn state(trajectory: &TrajectoryReport) -> TaskState {
    let of = &trajectory.metrics;
    let calls = [of.reference_calls, of.predicted_calls, of.matched];
    let is_whole = |metric: Metric| of.metrics[metric] >= 1.0;
    let structure =
        [Metric::ArgumentFidelity, Metric::StepCoherence, Metric::MergePurity, Metric::OrderConsistency];
    if trajectory.failure.as_deref() == Some("missing") {
        TaskState::Missing
    } else if calls == [0; 3]
        || calls.iter().all(|count| *count == calls[0]) && structure.into_iter().all(is_whole)
    {
        TaskState::Same
    } else {
        TaskState::Changed
    }
}

/// The most tasks that a table lists.
const LISTED: usize = 50;

/// The tables of the report.
pub(crate) fn changes_sheets(report: &ChangesReport) -> Vec<Sheet> {
    let is_known = |metric: Metric| {
        report.tasks.iter().any(|task| task.trajectory.metrics.metrics.get(metric).is_some())
    };
    let metrics = || Metric::of_scores().filter(|metric| metric.is_in_tables() && is_known(*metric));
    let differing = report.tasks.iter().filter(|task| task.state != TaskState::Same);
    let rows = differing.clone().take(LISTED).map(|task| {
        let of = &task.trajectory.metrics;
        let counts = [of.reference_calls, of.predicted_calls].map(|count| Cell::new(count.to_string()));
        let values = metrics().map(|metric| Cell::number(of.metrics.get(metric)));
        let name = [Cell::new(shortened(&task.trajectory.id, 24)), Cell::new(task.state.name())];
        name.into_iter().chain(counts).chain(values).collect()
    });
    let states = [TaskState::Same, TaskState::Changed, TaskState::Missing];
    let mut notes = vec![format!(
        "{} of the old trace: {}",
        counted(report.tasks.len(), "task"),
        states.map(|state| format!("{} {}", report.count(state), state.name())).join(", ")
    )];
    let more = differing.count().saturating_sub(LISTED);
    if more > 0 {
        notes.push(format!("{more} more, which `--format json` lists"));
    }
    let mut columns = vec![Column::text("task"), Column::text("state")];
    columns.extend([Column::number("calls before", "before"), Column::number("calls after", "after")]);
    columns.extend(metrics().map(|metric| Column::number(metric.name(), metric.heading())));
    let rows: Vec<Vec<Cell>> = rows.collect();
    let title = if rows.is_empty() { "No task differs" } else { "Tasks that differ" };
    vec![Sheet {
        title: title.to_owned(),
        notes,
        columns: if rows.is_empty() { Vec::new() } else { columns },
        rows,
    }]
}
