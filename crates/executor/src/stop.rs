//! Why an attempt ends early.

use m3_trajectory::FailureClass;

use super::RunBlocker;

/// Why an attempt ends before the model has given its answer.
#[derive(Debug)]
pub(super) enum Stop {
    /// The run is interrupted.
    Interrupted,
    /// This was used up.
    Budget(FailureClass, String),
    /// This failed.
    Error(FailureClass, String),
    /// The conversation is longer than the model's context, in the provider's words.
    ContextOverflow(String),
    /// Nothing else in the whole run would do better.
    RunBlocker(RunBlocker),
}

impl Stop {
    /// For what the model did not say, or what nothing can be made of.
    pub(super) fn no_reply(reason: String) -> Self {
        Self::Error(FailureClass::Provider, reason)
    }
}
