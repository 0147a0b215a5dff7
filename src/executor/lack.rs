//! What a whole run lacks, so that no other task of it could be run either.

use crate::files::is_full;
use crate::llm::{CassetteError, ModelError};
use crate::mcp::results::StoreError;

/// What a whole run lacks. A task that has met it should not count as failed: it may be run again as it is.
#[derive(Debug, thiserror::Error)]
pub enum Lack {
    /// The model: it did not answer the first request of a task, for a reason that lies in no task; or the account is
    /// empty, at whichever request.
    #[error(transparent)]
    Model(ModelError),
    /// The cassette cannot be written any more, and what is not recorded cannot be replayed.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
    /// There is no space for the results of tools.
    #[error(transparent)]
    Results(StoreError),
}

impl Lack {
    /// What a failure to ask the model says of all other requests, where it was a task's first one; the error itself
    /// if it says nothing of them. Later requests have shown that the model can be asked.
    pub(crate) fn of_model(error: ModelError, is_first: bool) -> Result<Self, ModelError> {
        match error {
            ModelError::Cassette(error) => Ok(Self::Cassette(error)),
            error if error.is_of_empty_account() => Ok(Self::Model(error)),
            ModelError::NoReply { status, ref reason, .. } if is_first && may_be_of_all(status, reason) => {
                Ok(Self::Model(error))
            }
            error => Err(error),
        }
    }

    /// What a failure to keep a result says of all others.
    pub(super) fn of_results(error: StoreError) -> Result<Self, StoreError> {
        let (StoreError::Folder { cause, .. } | StoreError::Write { cause, .. }) = &error;
        if is_full(cause) { Ok(Self::Results(error)) } else { Err(error) }
    }

    /// Whether it is sure. That a model cannot be reached, or may not be asked, may still lie in one task (a request
    /// that some server before the model does not let through) if it has answered another.
    pub(crate) fn is_sure(&self, has_answered: bool) -> bool {
        match self {
            Self::Model(ModelError::NoReply { status: Some(401), .. })
            | Self::Cassette(_)
            | Self::Results(_) => true,
            Self::Model(error) => error.is_of_empty_account() || !has_answered,
        }
    }
}

/// No answer at all, a wrong key, no right to the model, no such model.
fn may_be_of_all(status: Option<u16>, reason: &str) -> bool {
    match status {
        None | Some(401 | 403 | 404) => true,
        // Gemini says so of a wrong key, with `INVALID_ARGUMENT`.
        Some(400) => reason.contains("API key not valid"),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_reply(status: Option<u16>) -> ModelError {
        ModelError::NoReply { model: "m".to_owned(), status, tries: 1, reason: "no".to_owned() }
    }

    #[test]
    fn a_model_that_answers_nobody_is_told_from_a_task_that_it_does_not_answer() {
        for (status, before, after) in [
            (Some(401), true, true),
            (Some(403), true, false),
            (Some(404), true, false),
            (None, true, false),
            (Some(400), false, false),
            (Some(429), false, false),
            (Some(500), false, false),
        ] {
            let is_sure = |has_answered| {
                Lack::of_model(no_reply(status), true).is_ok_and(|lack| lack.is_sure(has_answered))
            };
            assert_eq!((is_sure(false), is_sure(true)), (before, after), "{status:?}");
            assert!(Lack::of_model(no_reply(status), false).is_err(), "{status:?}");
        }
        let mut empty = no_reply(Some(429));
        if let ModelError::NoReply { reason, .. } = &mut empty {
            "HTTP 429: the provider answers with an error `insufficient_quota`: pay".clone_into(reason);
        }
        assert!(Lack::of_model(empty, false).is_ok_and(|lack| lack.is_sure(true)));
        let mut wrong_key = no_reply(Some(400));
        if let ModelError::NoReply { reason, .. } = &mut wrong_key {
            "HTTP 400: API key not valid. Please pass a valid API key.".clone_into(reason);
        }
        assert!(Lack::of_model(wrong_key, true).is_ok_and(|lack| lack.is_sure(false)));
    }
}
