//! The record of a task: a native prediction with everything that was said and returned.

use m3_trajectory::{FailureClass, FinishReason, TurnRecord};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A task that was run once; [`Prediction`](super::run::Prediction) is the form in which it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The steps, each with at least one call.
    pub steps: Vec<StepRecord>,
    /// The answer; empty if there is none.
    pub final_reply: String,
    /// Why the task ended.
    pub finish: FinishReason,
    /// Why there is no answer; `None` for [`FinishReason::Answered`].
    pub failure: Option<FailureClass>,
    /// What failed, for [`FinishReason::Error`] and [`FinishReason::ContextOverflow`]; what was used up, for
    /// [`FinishReason::Budget`].
    pub reason: Option<String>,
    /// All that was said: system, user, assistant and tool messages, with images by name, size and hash.
    pub dialogue: Vec<Value>,
    /// The turns of the model.
    pub turns: Vec<TurnRecord>,
    /// The images that were sent, each with its path in the workspace and the changes made to it.
    pub images: Vec<Value>,
}

/// Calls that were made at once.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepRecord {
    /// The number of the step, from 1.
    pub step: u32,
    /// The calls, in the order of the reply.
    pub calls: Vec<CallRecord>,
}

/// A call and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CallRecord {
    /// The tool's name, `server/tool` or whatever the model wrote; empty for a call without a name.
    pub name: String,
    /// The arguments: an object, or the text that was not an object.
    pub arguments: Value,
    /// The result, as `m3 outcomes` reads it: a text, or the wire's result; images are replaced by the names of their
    /// files. `None` if the call was not made or not answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Whether the tool says that it failed, or the call was not one of an offered tool. A call that was not answered
    /// has neither a result nor an error: nobody said that it failed.
    pub is_error: bool,
    /// One of the five outcomes of M³-Bench, section 5.4, or why there is none.
    pub outcome: String,
    /// The time from sending the call to its result; 0 for a call that was not made.
    pub milliseconds: u64,
}
