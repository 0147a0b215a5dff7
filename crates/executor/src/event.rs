//! Events of running tasks: the only way from the executor to the journal and the terminal.

use std::sync::Arc;

use m3_llm::Usage;
use schemars::JsonSchema;
use serde::Serialize;

use super::FinishReason;

/// What happened in a task, with the task that it happened in.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TaskEvent {
    /// The task's id.
    pub task: String,
    /// Which repetition, from 1.
    pub repeat: u32,
    /// Which try at it, from 1.
    pub attempt: u32,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The task's servers are being started.
    Started,
    /// The model is asked.
    Asked {
        /// Which turn of the task, from 1.
        turn: u32,
        /// What for: `plan`, `calls`, `decision`, `answer`, `turn` or `compress`.
        purpose: String,
    },
    /// The model has answered.
    Answered {
        /// Which turn of the task, from 1.
        turn: u32,
        /// As reported.
        usage: Usage,
        /// From the first try to the answer.
        milliseconds: u64,
        /// How often it was asked.
        tries: u32,
    },
    /// A try at asking the model failed, and it is asked again.
    Retried {
        /// Which turn of the task, from 1.
        turn: u32,
        /// Why.
        reason: String,
        /// Until the next try.
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
        /// One of the five outcomes, or why there is none.
        outcome: String,
        /// What it took.
        milliseconds: u64,
    },
    /// A reply could not be used.
    Malformed {
        /// Which turn of the task, from 1.
        turn: u32,
        /// Why.
        reason: String,
    },
    /// The task is done, its record written.
    Finished {
        /// Why.
        finish: FinishReason,
        /// Steps with calls.
        steps: u32,
        /// Calls.
        calls: u32,
        /// All turns together.
        usage: Usage,
        /// Why it failed, for [`FinishReason::Error`] and [`FinishReason::ContextOverflow`].
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The task's workspace should have been removed and could not be.
    WorkspaceLeft {
        /// Why.
        reason: String,
    },
    /// The run was interrupted before the task was done; it will be run again.
    Interrupted,
}

/// Gets every event, in order for each task; must not block.
pub type Events = Arc<dyn Fn(TaskEvent) + Send + Sync>;
