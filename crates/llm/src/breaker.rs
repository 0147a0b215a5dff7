//! Decides whether a model is still worth asking: a [`Breaker`] for runs, judges and graders alike.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::{CassetteError, ModelError};

/// A model that failed at this many tasks, and has answered nothing before, is given up.
pub const MAX_FAILED_TASKS: usize = 3;

/// Why a model cannot be asked any more. A task stopped by it should not count as failed: it can be run again as it is.
#[derive(Debug, thiserror::Error)]
pub enum ModelBlocker {
    /// The model did not answer the first request of a task; or the account is empty or its limit used up, at any
    /// request.
    #[error(transparent)]
    Model(ModelError),
    /// The cassette cannot be written any more; calls that are not recorded could not be replayed.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
}

impl ModelBlocker {
    /// Makes a blocker of an error if the error would stop every other request too. Unless the account is used up, only
    /// the failure of a task's first request does: at later ones the model has already answered.
    ///
    /// # Errors
    /// The error itself, if it concerns this request only.
    pub fn of_error(error: ModelError, is_first: bool) -> Result<Self, ModelError> {
        match error {
            ModelError::Cassette(error) => Ok(Self::Cassette(error)),
            error if error.is_of_used_account() => Ok(Self::Model(error)),
            ModelError::NoReply { .. } if is_first => Ok(Self::Model(error)),
            error => Err(error),
        }
    }

    /// Whether the reason certainly stops all tasks. If the model cannot be reached or refuses access but has
    /// answered another task, the cause may lie in this one task, for example in a request that a proxy does not let
    /// through.
    fn is_sure(&self, has_answered: bool) -> bool {
        match self {
            Self::Model(ModelError::NoReply { refusal: Some(_), .. }) | Self::Cassette(_) => true,
            Self::Model(ModelError::NoReply { status: None | Some(403 | 404), .. }) => !has_answered,
            Self::Model(_) => false,
        }
    }

    /// Whether the model's server, or the way to it, has failed rather than the request.
    #[must_use]
    pub fn is_of_server(&self) -> bool {
        matches!(self, Self::Model(ModelError::NoReply { status: None | Some(403 | 404 | 500..=599), .. }))
    }
}

/// Counts the failures and replies of a model, and decides when to give it up.
#[derive(Debug, Default)]
pub struct Breaker {
    state: Mutex<State>,
    is_one_of_many: bool,
    /// Whether the decision waits, after failed tasks, until the tasks under way have ended.
    waits: bool,
}

#[derive(Debug, Default)]
struct State {
    /// The tasks at which the model failed since its last answer, for reasons that may lie in the model.
    failed: HashSet<String>,
    has_replied: bool,
    /// Whether the model has replied to an earlier command.
    has_replied_before: bool,
    is_given_up: bool,
}

/// The scope of a failure to ask a model for one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureScope {
    /// The model: no other task would get a reply either.
    Model,
    /// The scope is not known yet: the model has never replied.
    Unknown,
    /// This task alone.
    Task,
}

impl Breaker {
    /// For one model among several: the others go on without it. Such a model is given up after failures of its server
    /// at [`MAX_FAILED_TASKS`] tasks in a row, even if it has replied before. Before it has replied, other failures
    /// count as well.
    #[must_use]
    pub fn among_others() -> Self {
        Self { is_one_of_many: true, ..Self::default() }
    }

    /// For the model of a run: when it has failed at [`MAX_FAILED_TASKS`] tasks, its tasks under way may still get a reply; see
    /// [`Breaker::is_in_doubt`].
    #[must_use]
    pub fn for_run() -> Self {
        Self { waits: true, ..Self::default() }
    }

    /// Whether the model has failed at [`MAX_FAILED_TASKS`] tasks and replied to none. No other task should begin until those
    /// under way have ended; if none of them gets a reply either, the model is given up.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        !state.has_replied && state.failed.len() >= MAX_FAILED_TASKS
    }

    /// Whether no further request is worth making.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).is_given_up
    }

    /// Whether the model has replied.
    #[must_use]
    pub fn has_replied(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).has_replied
    }

    /// Notes that the model has replied: it can be asked.
    pub fn replied(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.has_replied = true;
        state.failed.clear();
    }

    /// Notes that the model has replied to an earlier command, with this question or another one. If the model refuses
    /// a request now, the request itself is the reason. Whether the model can be reached now stays open.
    pub fn replied_before(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).has_replied_before = true;
    }

    /// Notes that a task failed with a blocker, and returns the scope of the failure. Once the model has replied, a
    /// failure that the request itself causes, such as a refusal by the provider's policy (400), shows nothing about
    /// other requests. Before that, every request may fail in the same way.
    pub fn failed(&self, task: &str, blocker: &ModelBlocker) -> FailureScope {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_alone = state.has_replied || (state.has_replied_before && !blocker.is_of_server());
        if blocker.is_sure(state.has_replied || self.is_one_of_many) {
            state.is_given_up = true;
        } else if !is_alone || (self.is_one_of_many && blocker.is_of_server()) {
            state.failed.insert(task.to_owned());
            state.is_given_up |= !self.waits && state.failed.len() >= MAX_FAILED_TASKS;
        }
        if state.is_given_up {
            FailureScope::Model
        } else if is_alone {
            FailureScope::Task
        } else {
            FailureScope::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Refusal;

    fn blocker(status: Option<u16>, refusal: Option<Refusal>) -> ModelBlocker {
        let reason = "no".to_owned();
        ModelBlocker::Model(ModelError::NoReply { model: "m".to_owned(), status, tries: 1, refusal, reason })
    }

    /// The scope of a failure, for each status, before and after a reply, and by the number of tasks at which the model
    /// failed.
    #[test]
    fn a_model_is_given_up_for_its_own_failures_at_different_tasks() {
        use FailureScope::{Model, Task, Unknown};
        for (status, has_replied, tasks, expected) in [
            (Some(400), false, ["a", "a", "a", "b"], [Unknown, Unknown, Unknown, Unknown]),
            (Some(400), false, ["a", "b", "b", "c"], [Unknown, Unknown, Unknown, Model]),
            (Some(422), false, ["a", "b", "c", "d"], [Unknown, Unknown, Model, Model]),
            (Some(429), false, ["a", "b", "c", "d"], [Unknown, Unknown, Model, Model]),
            (Some(500), false, ["a", "b", "c", "d"], [Unknown, Unknown, Model, Model]),
            (Some(404), false, ["a", "b", "c", "d"], [Model; 4]),
            (None, false, ["a", "b", "c", "d"], [Model; 4]),
            (Some(400), true, ["a", "b", "c", "d"], [Task; 4]),
            (Some(429), true, ["a", "b", "c", "d"], [Task; 4]),
            (Some(403), true, ["a", "b", "c", "d"], [Task; 4]),
            (Some(503), true, ["a", "b", "c", "d"], [Task; 4]),
            (None, true, ["a", "b", "c", "d"], [Task; 4]),
        ] {
            let breaker = Breaker::default();
            if has_replied {
                breaker.replied();
            }
            let outlooks = tasks.map(|task| breaker.failed(task, &blocker(status, None)));
            assert_eq!(outlooks, expected, "{status:?} {has_replied} {tasks:?}");
        }
        for refusal in [Refusal::WrongKey, Refusal::EmptyAccount] {
            let breaker = Breaker::among_others();
            breaker.failed("a", &blocker(Some(401), Some(refusal)));
            assert!(breaker.is_given_up(), "{refusal:?} is the same for all tasks");
        }
    }

    #[test]
    fn a_model_beside_others_is_given_up_for_three_tasks_in_a_row() {
        for (status, has_replied, tasks, is_given_up) in [
            (Some(403), false, ["a", "a", "a", "b"], false),
            (Some(403), false, ["a", "a", "b", "c"], true),
            (Some(400), false, ["a", "b", "b", "c"], true),
            (Some(400), true, ["a", "b", "c", "d"], false),
            (Some(403), true, ["a", "a", "a", "b"], false),
            (Some(404), true, ["a", "b", "b", "c"], true),
            (Some(503), true, ["a", "b", "c", "c"], true),
            (None, true, ["a", "b", "c", "c"], true),
        ] {
            let breaker = Breaker::among_others();
            if has_replied {
                breaker.replied();
            }
            for task in tasks {
                breaker.failed(task, &blocker(status, None));
            }
            assert_eq!(breaker.is_given_up(), is_given_up, "{status:?} {has_replied} {tasks:?}");
        }
    }

    /// A request that was refused last time is refused again, which shows nothing about the model. A server that cannot
    /// be reached now does show something.
    #[test]
    fn a_model_that_replied_to_an_earlier_command_is_given_up_for_its_server_alone() {
        use FailureScope::{Model, Task, Unknown};
        for (status, expected) in [(400, [Task; 3]), (422, [Task; 3]), (500, [Unknown, Unknown, Model])] {
            for breaker in [Breaker::default(), Breaker::among_others()] {
                breaker.replied_before();
                let outlooks = ["a", "b", "c"].map(|task| breaker.failed(task, &blocker(Some(status), None)));
                assert_eq!(outlooks, expected, "{status}");
            }
        }
    }

    #[test]
    fn tasks_that_are_under_way_may_still_get_a_reply() {
        let breaker = Breaker::for_run();
        for (task, is_in_doubt) in [("a", false), ("b", false), ("c", true), ("d", true)] {
            assert_eq!(breaker.failed(task, &blocker(Some(400), None)), FailureScope::Unknown);
            assert_eq!(breaker.is_in_doubt(), is_in_doubt, "{task}");
        }
        breaker.replied();
        assert!(!breaker.is_in_doubt());
    }

    #[test]
    fn an_answer_in_between_shows_that_it_can_be_asked() {
        let breaker = Breaker::among_others();
        for task in 0..10 {
            breaker.replied();
            breaker.failed(&task.to_string(), &blocker(None, None));
        }
        assert!(!breaker.is_given_up());
    }

    fn no_reply(status: Option<u16>, refusal: Option<Refusal>) -> ModelError {
        ModelError::NoReply { model: "m".to_owned(), status, tries: 1, refusal, reason: "no".to_owned() }
    }

    /// Whether a failure stops the run, before and after the model has replied to another task. Depends on the status,
    /// the refusal, and whether it was the task's first request.
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
                let blocker = ModelBlocker::of_error(no_reply(status, refusal), is_first);
                blocker.is_ok_and(|blocker| blocker.is_sure(has_answered))
            };
            assert_eq!((stops(false), stops(true)), (before, after), "{status:?} {refusal:?} {is_first}");
        }
    }
}
