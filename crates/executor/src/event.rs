//! Events of running tasks: the only way from the executor to the journal and the terminal.

use std::sync::Arc;

use m3_llm::Usage;
use schemars::JsonSchema;
use serde::Serialize;

use super::FinishReason;

/// An event of a task, with the task's id.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TaskEvent {
    /// The task's id.
    pub task: String,
    /// The number of the repetition, from 1.
    pub repeat: u32,
    /// The number of the attempt at this repetition, from 1.
    pub attempt: u32,
    /// The event itself.
    #[serde(flatten)]
    pub event: Event,
}

/// An event while a task runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The task's servers are being started.
    Started,
    /// The model is asked.
    Asked {
        /// Which turn of the task, from 1.
        turn: u32,
        /// The purpose of the turn: `plan`, `calls`, `decision`, `answer`, `turn` or `compress`.
        purpose: String,
    },
    /// The model has answered.
    Answered {
        /// Which turn of the task, from 1.
        turn: u32,
        /// The usage that the provider reported for this turn.
        usage: Usage,
        /// The time from the first try to the answer.
        milliseconds: u64,
        /// The number of times that the model was asked.
        tries: u32,
    },
    /// A try at asking the model failed, and it is asked again.
    Retried {
        /// Which turn of the task, from 1.
        turn: u32,
        /// Why the try failed.
        reason: String,
        /// The time until the next try.
        milliseconds: u64,
    },
    /// A call is made.
    Called {
        /// The step, from 1.
        step: u32,
        /// The call's place in its step, from 0.
        call: u32,
        /// The tool, `server/tool`.
        tool: String,
    },
    /// A call has ended.
    Returned {
        /// The step, from 1.
        step: u32,
        /// The call's place in its step, from 0.
        call: u32,
        /// The tool, `server/tool`.
        tool: String,
        /// One of the five outcomes of calls, or the reason why there is none.
        outcome: String,
        /// The time that the call needed.
        milliseconds: u64,
    },
    /// A reply could not be used.
    Malformed {
        /// Which turn of the task, from 1.
        turn: u32,
        /// Why the reply could not be used.
        reason: String,
    },
    /// The task is done, its record written.
    Finished {
        /// How the task ended.
        finish: FinishReason,
        /// The number of steps with calls.
        steps: u32,
        /// The number of calls.
        calls: u32,
        /// The usage of all turns together.
        usage: Usage,
        /// Why the task failed, for [`FinishReason::Error`] and [`FinishReason::ContextOverflow`].
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The task's workspace should have been removed and could not be.
    WorkspaceLeft {
        /// Why the workspace could not be removed.
        reason: String,
    },
    /// The run was interrupted before the task was done; it will be run again.
    Interrupted,
}

/// A function that gets every event, in order for each task; it must not block.
pub type Events = Arc<dyn Fn(TaskEvent) + Send + Sync>;
