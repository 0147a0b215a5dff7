//! A trajectory as a row of a table. Rows are made once, so that tables need not read the file again.

use m3_trajectory::json::Json;
use m3_trajectory::{Trajectory, Usage};
use serde::Serialize;

use crate::grades::{Measures, measures};
use crate::score::ScoredTrial;
use crate::text::cut;

/// The most characters of a question in a row.
const QUESTION: usize = 240;

/// The most characters of a name, such as an id, a type or a reason.
const NAME: usize = 200;

/// The most tools that a row names.
const TOOLS: usize = 40;

/// The facts about a trajectory that are known without its score.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Row {
    /// The task's id. It is not shortened, because links and searches use it.
    pub id: String,
    /// Which repetition of the task, from 1.
    pub repeat: u64,
    /// The number of this trajectory among those with the same id and repetition, from 1. The last of them counts in
    /// scores.
    #[serde(skip_serializing_if = "is_first")]
    pub copy: u64,
    /// Whether a later one has the same id and repetition.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_replaced: bool,
    /// The type of task.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// The beginning of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The name of the task's picture in the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// Why the run ended: `answered`, `max_steps` ..
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// Why the run failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Steps.
    pub steps: usize,
    /// Calls.
    pub calls: usize,
    /// Calls that are recorded as failed.
    pub failed_calls: usize,
    /// The names of the first 40 tools that are called, each once, in the order of the calls.
    pub tools: Vec<String>,
    /// Tokens read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The duration of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<u64>,
    /// The grades that a panel of graders gave.
    #[serde(skip_serializing_if = "Measures::is_empty")]
    pub grades: Measures,
}

impl Row {
    /// The row of a trajectory. Repetition and copy are 1 until the caller numbers them.
    pub(crate) fn new(trajectory: &Trajectory) -> Self {
        let text = |key: &str| trajectory.get(key).and_then(Json::as_str);
        let mut tools: Vec<String> = Vec::new();
        for (_, call) in trajectory.calls() {
            if tools.len() < TOOLS && !tools.contains(&call.tool) {
                tools.push(cut(&call.tool, NAME));
            }
        }
        let usage = trajectory.usage();
        let usage = usage.filter(|usage| usage.input_tokens.or(usage.output_tokens).is_some());
        Self {
            id: trajectory.id.clone(),
            repeat: 1,
            copy: 1,
            is_replaced: false,
            task_type: trajectory.task_type.as_deref().map(|name| cut(name, NAME)),
            question: trajectory.instruction().map(|text| cut(text, QUESTION)),
            picture: None,
            finish: text("finish").map(|name| cut(name, NAME)),
            failure: text("failure").map(|name| cut(name, NAME)),
            steps: trajectory.steps.len(),
            calls: trajectory.call_count(),
            failed_calls: trajectory.calls().filter(|(_, call)| is_failed(call)).count(),
            tools,
            tokens: usage.map(Usage::total),
            milliseconds: trajectory.milliseconds(),
            grades: measures(trajectory),
        }
    }

    /// The row of a trajectory of which only the score is known.
    pub(crate) fn of_score(scored: &ScoredTrial) -> Self {
        let ScoredTrial { id, repeat, task_type, failure, .. } = scored;
        Self {
            id: id.clone(),
            repeat: *repeat,
            copy: 1,
            task_type: task_type.clone(),
            steps: scored.steps,
            calls: scored.calls,
            failure: failure.clone(),
            ..Self::default()
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_first(copy: &u64) -> bool {
    *copy <= 1
}

/// Whether a call is recorded as failed: by its outcome if it has one, else by its `is_error`.
pub(crate) fn is_failed(call: &m3_trajectory::Call) -> bool {
    call.recorded_outcome().map_or_else(|| call.is_error(), |outcome| outcome != "success")
}
