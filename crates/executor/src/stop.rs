//! Why an attempt ends early.

use m3_trajectory::FailureClass;

use super::RunBlocker;

/// Why an attempt ends before the model has given its answer.
#[derive(Debug)]
pub(super) enum Stop {
    /// The run is interrupted.
    Interrupted,
    /// A budget was used up: which one, in words.
    Budget(FailureClass, String),
    /// Something failed: what, in words.
    Error(FailureClass, String),
    /// The conversation is longer than the model's context, in the provider's words.
    ContextOverflow(String),
    /// The whole run has to stop: no other task could be run either.
    RunBlocker(RunBlocker),
}

impl Stop {
    /// A stop because the model said nothing, or nothing that can be used.
    pub(super) fn no_reply(reason: String) -> Self {
        Self::Error(FailureClass::Provider, reason)
    }
}
