//! One task, run once.

use std::path::Path;
use std::sync::Arc;

use m3_llm::{Model, Picture, Scope};
use m3_support::redact::Redactor;
use m3_trajectory::{FailureClass, Task};
use tokio_util::sync::CancellationToken;

use super::attempt_state::{AttemptState, Stop};
use super::{Events, FinishReason, Mode, Offered, Record, RunBlocker, RunOptions, Tools, modes};

/// Everything that running a task once takes. Servers are started and the image is prepared by the caller.
pub struct Attempt<'a> {
    /// The task.
    pub task: &'a Task,
    /// Its image: the path that tools may be called with, relative to the workspace, and the picture that the model
    /// is shown.
    pub image: Option<(String, Arc<Picture>)>,
    /// The task's workspace.
    pub workspace: &'a Path,
    /// Its tools.
    pub tools: &'a Tools,
    /// Those that the model is offered; calls of any other are calls of unknown tools.
    pub offered: Arc<Offered>,
    /// The model.
    pub model: &'a Model,
    /// How they work together.
    pub options: &'a RunOptions,
    /// On whose behalf the model is asked.
    pub scope: Scope,
    /// Gets what happens.
    pub events: Events,
    /// Cancelled when nothing new should be begun: calls that are under way are finished, the model is not waited
    /// for. Dropping the future stops at once.
    pub stop: CancellationToken,
    /// Takes secrets out of everything that is recorded.
    pub redactor: &'a Redactor,
}

/// How an attempt ended.
#[derive(Debug)]
pub enum Attempted {
    /// With a record, whatever it says.
    Done(Record),
    /// It was stopped. The record has what was done until then.
    Interrupted(Box<Record>),
    /// The whole run lacks something. The record is that of a task that has failed, for callers who take it so.
    Lacking(RunBlocker, Box<Record>),
}

/// Runs a task once. Tells everything but [`Event::Started`](super::Event::Started),
/// [`Event::Finished`](super::Event::Finished) and [`Event::Interrupted`](super::Event::Interrupted), which are
/// the caller's: it starts the servers and writes the record.
pub async fn attempt(attempt: Attempt<'_>) -> Attempted {
    let mut state = AttemptState::new(attempt);
    let ended = match state.attempt.options.mode {
        Mode::Staged => modes::staged(&mut state).await,
        Mode::Native => modes::native(&mut state).await,
        Mode::React => modes::react(&mut state).await,
    };
    let (finish, failure, reason) = match ended {
        Ok(FinishReason::Answered) => (FinishReason::Answered, None, None),
        // Its steps were used up, and not its time: the model was asked for its answer with what it had.
        Ok(finish) => (finish, Some(FailureClass::Limit), None),
        Err(Stop::Interrupted) => {
            let record = state.into_record(FinishReason::Interrupted, Some(FailureClass::Other), None);
            return Attempted::Interrupted(Box::new(record));
        }
        Err(Stop::Budget(failure, reason)) => (FinishReason::Budget, Some(failure), Some(reason)),
        Err(Stop::Error(failure, reason)) => (FinishReason::Error, Some(failure), Some(reason)),
        Err(Stop::ContextOverflow(reason)) => {
            (FinishReason::ContextOverflow, Some(FailureClass::Context), Some(reason))
        }
        Err(Stop::RunBlocker(lack)) => {
            let record = state.into_record(FinishReason::Error, Some(lack.failure()), Some(lack.to_string()));
            return Attempted::Lacking(lack, Box::new(record));
        }
    };
    Attempted::Done(state.into_record(finish, failure, reason))
}
