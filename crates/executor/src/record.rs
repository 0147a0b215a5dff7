//! The record of a task: a native prediction with everything that was said and returned.

use m3_llm::Usage;
use m3_trajectory::FailureClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model gave its answer.
    Answered,
    /// All steps were used; the model was asked for its answer with what it had.
    MaxSteps,
    /// Calls, tokens or time were used up.
    Budget,
    /// The prompt did not fit the model's context; asked again, it would not fit either.
    ContextOverflow,
    /// The model or what the task needs could not be had; the record has what was done until then.
    Error,
    /// The run was interrupted: the record has what was done until then, and the task will be run again. No prediction
    /// has this reason, only the record that is kept beside the predictions.
    Interrupted,
}

impl FinishReason {
    /// Whether something failed, apart from reaching a limit that the user set.
    pub(crate) fn is_failure(self) -> bool {
        matches!(self, Self::Error | Self::ContextOverflow)
    }
}

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

/// A turn of the model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TurnRecord {
    /// The purpose of the turn, as in [`Event::Asked`](super::Event::Asked).
    pub purpose: String,
    /// The usage that the provider reported.
    pub usage: Usage,
    /// The time from the first try to the answer.
    pub milliseconds: u64,
    /// The number of times that the model was asked.
    pub tries: u32,
    /// The model that the provider says has answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What was wrong with the reply and how it was understood all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oddities: Vec<String>,
}
