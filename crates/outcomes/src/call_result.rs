//! The result of a live call: its answer for the rules, and its result in the form of trajectories, with secrets
//! removed.

use m3_mcp::{CallError, Content, ToolName, ToolResult};
use m3_support::redact::Redactor;
use serde_json::Value;

use super::answer::Answer;
use super::check::Reply;
use super::outcome::NotJudged;

/// The result of a live call.
#[derive(Debug)]
pub struct CallResult {
    /// The reply for [`CallChecker::finish`](super::CallChecker::finish).
    pub reply: Reply,
    /// The result in the form of trajectories, and whether it is an error; `None` if the call was not answered.
    pub result: Option<(Value, bool)>,
}

impl CallResult {
    /// Converts a result in which secrets are replaced already.
    #[must_use]
    pub fn answered(result: &ToolResult) -> Self {
        Self { reply: Reply::Answer(Answer::from(result)), result: Some((recorded(result), result.is_error)) }
    }

    /// Converts an error and removes its secrets.
    #[must_use]
    pub fn failed(name: &ToolName, error: &CallError, redactor: &Redactor) -> Self {
        let no_answer = |why| Self { reply: Reply::NoAnswer(why, message(error, redactor)), result: None };
        match error {
            CallError::UnknownTool { .. } => protocol_error(-32_601, &format!("unknown tool: {name}")),
            CallError::Protocol { code, message, .. } => {
                protocol_error((*code).into(), &redactor.text(message))
            }
            CallError::Status { reason, .. } => {
                Self::answered(&ToolResult::error(redactor.text(reason).into_owned()))
            }
            CallError::TimedOutIdle { .. } | CallError::TimedOutTotal { .. } => {
                no_answer(NotJudged::TimedOut)
            }
            CallError::ServerDied { .. } => no_answer(NotJudged::ServerLost),
            CallError::TooLarge { .. } | CallError::Malformed { .. } => no_answer(NotJudged::Unreadable),
            CallError::UnknownServer { .. }
            | CallError::Unavailable { .. }
            | CallError::NeverSent { .. }
            | CallError::Cancelled => no_answer(NotJudged::ServerNotAvailable),
        }
    }
}

/// An error on one line, with secrets removed.
pub(super) fn message(error: &dyn std::error::Error, redactor: &Redactor) -> String {
    redactor.text(&error.to_string().replace('\n', "; ")).into_owned()
}

fn protocol_error(code: i64, message: &str) -> CallResult {
    let text = format!("MCP error {code}: {message}");
    CallResult {
        reply: Reply::Answer(Answer::protocol_error(code, message)),
        result: Some((Value::String(text), true)),
    }
}

/// The result with secrets removed.
#[must_use]
pub fn without_secrets(result: ToolResult, redactor: &Redactor) -> ToolResult {
    // Saves copying: results can be large, and most configurations have no secrets.
    if redactor.is_empty() {
        return result;
    }
    let mut value = result.to_wire();
    redactor.value(&mut value);
    ToolResult::from_wire(value)
}

/// A result in the form of trajectories: a plain text if a single text is its only content.
pub(crate) fn recorded(result: &ToolResult) -> Value {
    match result.content.as_slice() {
        [Content::Text(text)] if result.structured_content.is_none() => Value::String(text.clone()),
        _ => result.to_wire(),
    }
}
