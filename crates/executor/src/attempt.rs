//! Runs one task once.

use m3_trajectory::FailureClass;

use super::attempt_state::{Attempt, AttemptState};
use super::stop::Stop;
use super::{FinishReason, Mode, Record, RunBlocker, modes};

/// How an attempt ended.
#[derive(Debug)]
pub enum AttemptEnd {
    /// The attempt came to its end, successful or not; the record says which.
    Done(Record),
    /// The attempt was stopped. The record has what was done until then.
    Interrupted(Box<Record>),
    /// Something prevents the whole run. The record is that of a failed task, for callers that count it as one.
    Blocked(RunBlocker, Box<Record>),
}

/// Runs a task once. Sends every event except [`Event::Started`](super::Event::Started),
/// [`Event::Finished`](super::Event::Finished) and [`Event::Interrupted`](super::Event::Interrupted), which are the
/// caller's: it starts the servers and writes the record.
pub async fn attempt(attempt: Attempt<'_>) -> AttemptEnd {
    let mut state = AttemptState::new(attempt);
    let ended = match state.attempt.options.mode {
        Mode::Staged => modes::staged(&mut state).await,
        Mode::Native => modes::native(&mut state).await,
        Mode::React => modes::react(&mut state).await,
    };
    let (finish, failure, reason) = match ended {
        Ok(FinishReason::Answered) => (FinishReason::Answered, None, None),
        // The steps were used up but not the time: the model was asked for its answer with what it had.
        Ok(finish) => (finish, Some(FailureClass::Limit), None),
        Err(Stop::Interrupted) => {
            let record = state.into_record(FinishReason::Interrupted, Some(FailureClass::Other), None);
            return AttemptEnd::Interrupted(Box::new(record));
        }
        Err(Stop::Budget(failure, reason)) => (FinishReason::Budget, Some(failure), Some(reason)),
        Err(Stop::Error(failure, reason)) => (FinishReason::Error, Some(failure), Some(reason)),
        Err(Stop::ContextOverflow(reason)) => {
            (FinishReason::ContextOverflow, Some(FailureClass::Context), Some(reason))
        }
        Err(Stop::RunBlocker(blocker)) => {
            let record =
                state.into_record(FinishReason::Error, Some(blocker.failure()), Some(blocker.to_string()));
            return AttemptEnd::Blocked(blocker, Box::new(record));
        }
    };
    AttemptEnd::Done(state.into_record(finish, failure, reason))
}
