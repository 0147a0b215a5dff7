//! Whether a judge is asked any more: [`Fate`].

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::executor::Lack;
use crate::llm::ModelError;

/// A judge that failed at so many tasks, and answered nothing in between, is not asked any more.
pub(super) const TASKS: usize = 3;

/// How a judge fares.
#[derive(Debug, Default)]
pub(super) struct Fate(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The tasks at which it failed since its last answer, for reasons that may lie in the judge.
    failed: HashSet<usize>,
    is_given_up: bool,
}

impl Fate {
    pub(super) fn is_given_up(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_given_up
    }

    /// It has replied: it can be asked.
    pub(super) fn replied(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).failed.clear();
    }

    /// It gave no reply to a request about a task, and, where `is_first`, to no earlier one of the conversation. What a
    /// request brings upon itself, such as what a provider's policy refuses, says nothing of others.
    pub(super) fn failed(&self, subject: usize, error: ModelError, is_first: bool) {
        let is_of_server = matches!(&error, ModelError::NoReply { status: Some(500..=599), .. });
        let (is_sure, may_be_of_all) = match Lack::of_model(error, is_first) {
            // That it may have answered others is what the tasks are counted for.
            Ok(lack) => (lack.is_sure(true), true),
            Err(_) => (false, is_of_server),
        };
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if may_be_of_all {
            state.failed.insert(subject);
        }
        state.is_given_up |= is_sure || state.failed.len() >= TASKS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Refusal;

    fn no_reply(status: Option<u16>, refusal: Option<Refusal>) -> ModelError {
        ModelError::NoReply { model: "m".to_owned(), status, tries: 1, refusal, reason: "no".to_owned() }
    }

    /// By the status and the tasks at which the judge failed.
    #[test]
    fn a_judge_is_given_up_for_its_own_failures_at_different_tasks() {
        for (status, tasks, is_given_up) in [
            (Some(400), [0, 1, 2, 3], false),
            (Some(429), [0, 1, 2, 3], false),
            (Some(403), [0, 0, 0, 1], false),
            (Some(403), [0, 1, 1, 2], true),
            (Some(404), [0, 1, 2, 2], true),
            (Some(503), [0, 1, 2, 2], true),
            (None, [0, 1, 2, 2], true),
        ] {
            let fate = Fate::default();
            for task in tasks {
                fate.failed(task, no_reply(status, None), true);
            }
            assert_eq!(fate.is_given_up(), is_given_up, "{status:?} {tasks:?}");
        }
        for refusal in [Refusal::WrongKey, Refusal::EmptyAccount] {
            let fate = Fate::default();
            fate.failed(0, no_reply(Some(401), Some(refusal)), true);
            assert!(fate.is_given_up(), "{refusal:?} is the same for all tasks");
        }
    }

    #[test]
    fn an_answer_in_between_shows_that_it_can_be_asked() {
        let fate = Fate::default();
        for task in 0..10 {
            fate.failed(task, no_reply(None, None), true);
            fate.replied();
        }
        assert!(!fate.is_given_up());
    }
}
