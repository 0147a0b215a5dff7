//! Reasons that stop a whole run, because no other task could be run either.

use m3_llm::{CassetteError, ModelError};
use m3_mcp::results::StoreError;
use m3_support::files::{is_exhausted, is_full};
use m3_trajectory::FailureClass;

/// Why a whole run cannot go on. A task stopped by it should not count as failed: it can be run again as it is.
#[derive(Debug, thiserror::Error)]
pub enum RunBlocker {
    /// The model did not answer the first request of a task; or the account is empty or its limit used up, at any
    /// request.
    #[error(transparent)]
    Model(ModelError),
    /// The cassette cannot be written any more; calls that are not recorded could not be replayed.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
    /// There is no space for the results of tools, or no further file may be opened.
    #[error(transparent)]
    Results(StoreError),
}

impl RunBlocker {
    /// Whether a failure to ask the model would stop every other request too. Unless the account is used up, only the
    /// failure of a task's first request does: at later ones the model has already answered.
    ///
    /// # Errors
    /// The error itself, if it concerns this request only.
    pub fn of_model(error: ModelError, is_first: bool) -> Result<Self, ModelError> {
        match error {
            ModelError::Cassette(error) => Ok(Self::Cassette(error)),
            error if error.is_of_used_account() => Ok(Self::Model(error)),
            ModelError::NoReply { .. } if is_first => Ok(Self::Model(error)),
            error => Err(error),
        }
    }

    /// Whether a failure to keep a result would stop every other result too.
    ///
    /// # Errors
    /// The error itself, if it concerns this result only.
    pub(super) fn of_results(error: StoreError) -> Result<Self, StoreError> {
        let (StoreError::Folder { cause, .. } | StoreError::Write { cause, .. }) = &error;
        if is_full(cause) || is_exhausted(cause) { Ok(Self::Results(error)) } else { Err(error) }
    }

    /// Whether the reason certainly stops all tasks. If the model cannot be reached or refuses access but has
    /// answered another task, the cause may lie in this one task, for example in a request that a proxy does not let
    /// through.
    pub(super) fn is_sure(&self, has_answered: bool) -> bool {
        match self {
            Self::Model(ModelError::NoReply { refusal: Some(_), .. })
            | Self::Cassette(_)
            | Self::Results(_) => true,
            Self::Model(ModelError::NoReply { status: None | Some(403 | 404), .. }) => !has_answered,
            Self::Model(_) => false,
        }
    }

    /// Whether the model's server, or the way to it, has failed rather than the request.
    pub(crate) fn is_of_server(&self) -> bool {
        matches!(self, Self::Model(ModelError::NoReply { status: None | Some(403 | 404 | 500..=599), .. }))
    }

    /// The failure class of a task that fails for this reason.
    pub(super) fn failure(&self) -> FailureClass {
        match self {
            Self::Model(_) => FailureClass::Provider,
            Self::Cassette(_) | Self::Results(_) => FailureClass::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use m3_llm::Refusal;

    use super::*;

    fn no_reply(status: Option<u16>, refusal: Option<Refusal>) -> ModelError {
        ModelError::NoReply { model: "m".to_owned(), status, tries: 1, refusal, reason: "no".to_owned() }
    }

    /// By the status, the refusal and whether it was the task's first request: whether it stops the run before any
    /// other task was answered, and after.
    #[test]
    fn a_model_that_answers_nobody_is_told_from_a_task_that_it_does_not_answer() {
        let (empty, wrong_key) = (Some(Refusal::EmptyAccount), Some(Refusal::WrongKey));
        for (status, refusal, is_first, before, after) in [
            (Some(401), wrong_key, true, true, true),
            (Some(401), wrong_key, false, false, false),
            (Some(400), wrong_key, true, true, true),
            (Some(429), empty, true, true, true),
            (Some(429), empty, false, true, true),
            (Some(429), Some(Refusal::Later), true, true, true),
            (Some(503), Some(Refusal::Later), false, true, true),
            // The model had begun an answer that was too large.
            (Some(200), None, true, false, false),
            (Some(403), None, true, true, false),
            (Some(404), None, true, true, false),
            (None, None, true, true, false),
            (None, None, false, false, false),
            (Some(400), None, true, false, false),
            (Some(429), None, true, false, false),
            (Some(500), None, true, false, false),
        ] {
            let stops = |has_answered| {
                let blocker = RunBlocker::of_model(no_reply(status, refusal), is_first);
                blocker.is_ok_and(|blocker| blocker.is_sure(has_answered))
            };
            assert_eq!((stops(false), stops(true)), (before, after), "{status:?} {refusal:?} {is_first}");
        }
    }
}
