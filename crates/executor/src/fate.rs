//! Decides whether a model is still worth asking: [`Fate`], for runs, judges and graders alike.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::RunBlocker;

/// A model that failed at this many tasks, and has answered nothing before, is given up.
pub const TASKS: usize = 3;

/// How a model has fared so far.
#[derive(Debug, Default)]
pub struct Fate {
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

/// What one task's failure means for the other tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlook {
    /// No other task would get a reply either.
    GiveUp,
    /// It is not known yet: the model has never replied.
    Open,
    /// Nothing: the failure is this task's own.
    Alone,
}

impl Fate {
    /// For one model among several: the others go on without it. Such a model may fail at [`TASKS`] tasks before it
    /// is given up, even when it cannot be reached or may not be asked; and the same number in a row counts after it
    /// has answered, too.
    #[must_use]
    pub fn of_many() -> Self {
        Self { is_one_of_many: true, ..Self::default() }
    }

    /// For the model of a run: when it has failed at [`TASKS`] tasks, its tasks under way may still get a reply; see
    /// [`Fate::is_in_doubt`].
    pub(crate) fn of_run() -> Self {
        Self { waits: true, ..Self::default() }
    }

    /// Whether the model has failed at [`TASKS`] tasks and replied to none. No other task should begin until those
    /// under way have ended; if none of them gets a reply either, the model is given up.
    pub(crate) fn is_in_doubt(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        !state.has_replied && state.failed.len() >= TASKS
    }

    /// Whether no further request is worth making.
    pub fn is_given_up(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).is_given_up
    }

    pub(crate) fn has_replied(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).has_replied
    }

    /// Notes that the model has replied: it can be asked.
    pub fn replied(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.has_replied = true;
        state.failed.clear();
    }

    /// Notes that the model has replied to an earlier command, with the same question or another one. What it refuses
    /// now is then refused because of the request. Whether it can be reached now stays open.
    pub fn replied_before(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).has_replied_before = true;
    }

    /// A task has met a blocker. What a request brings upon itself, such as what a provider's policy refuses (400), says
    /// nothing of others once the model has replied; before, it may be all that the model ever says.
    pub fn failed(&self, task: &str, blocker: &RunBlocker) -> Outlook {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_alone = state.has_replied || (state.has_replied_before && !blocker.is_of_server());
        if blocker.is_sure(state.has_replied || self.is_one_of_many) {
            state.is_given_up = true;
        } else if !is_alone || (self.is_one_of_many && blocker.is_of_server()) {
            state.failed.insert(task.to_owned());
            state.is_given_up |= !self.waits && state.failed.len() >= TASKS;
        }
        if state.is_given_up {
            Outlook::GiveUp
        } else if is_alone {
            Outlook::Alone
        } else {
            Outlook::Open
        }
    }
}

#[cfg(test)]
mod tests {
    use m3_llm::{ModelError, Refusal};

    use super::*;

    fn blocker(status: Option<u16>, refusal: Option<Refusal>) -> RunBlocker {
        let reason = "no".to_owned();
        RunBlocker::Model(ModelError::NoReply { model: "m".to_owned(), status, tries: 1, refusal, reason })
    }

    /// By the status, before any answer and after one, and by the number of tasks at which the model failed.
    #[test]
    fn a_model_is_given_up_for_its_own_failures_at_different_tasks() {
        use Outlook::{Alone, GiveUp, Open};
        for (status, has_replied, tasks, expected) in [
            (Some(400), false, ["a", "a", "a", "b"], [Open, Open, Open, Open]),
            (Some(400), false, ["a", "b", "b", "c"], [Open, Open, Open, GiveUp]),
            (Some(422), false, ["a", "b", "c", "d"], [Open, Open, GiveUp, GiveUp]),
            (Some(429), false, ["a", "b", "c", "d"], [Open, Open, GiveUp, GiveUp]),
            (Some(500), false, ["a", "b", "c", "d"], [Open, Open, GiveUp, GiveUp]),
            (Some(404), false, ["a", "b", "c", "d"], [GiveUp; 4]),
            (None, false, ["a", "b", "c", "d"], [GiveUp; 4]),
            (Some(400), true, ["a", "b", "c", "d"], [Alone; 4]),
            (Some(429), true, ["a", "b", "c", "d"], [Alone; 4]),
            (Some(403), true, ["a", "b", "c", "d"], [Alone; 4]),
            (Some(503), true, ["a", "b", "c", "d"], [Alone; 4]),
            (None, true, ["a", "b", "c", "d"], [Alone; 4]),
        ] {
            let fate = Fate::default();
            if has_replied {
                fate.replied();
            }
            let outlooks = tasks.map(|task| fate.failed(task, &blocker(status, None)));
            assert_eq!(outlooks, expected, "{status:?} {has_replied} {tasks:?}");
        }
        for refusal in [Refusal::WrongKey, Refusal::EmptyAccount] {
            let fate = Fate::of_many();
            fate.failed("a", &blocker(Some(401), Some(refusal)));
            assert!(fate.is_given_up(), "{refusal:?} is the same for all tasks");
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
            let fate = Fate::of_many();
            if has_replied {
                fate.replied();
            }
            for task in tasks {
                fate.failed(task, &blocker(status, None));
            }
            assert_eq!(fate.is_given_up(), is_given_up, "{status:?} {has_replied} {tasks:?}");
        }
    }

    /// What was refused last time is refused again, and says nothing about the model; that it cannot be reached does.
    #[test]
    fn a_model_that_replied_to_an_earlier_command_is_given_up_for_its_server_alone() {
        use Outlook::{Alone, GiveUp, Open};
        for (status, expected) in [(400, [Alone; 3]), (422, [Alone; 3]), (500, [Open, Open, GiveUp])] {
            for fate in [Fate::default(), Fate::of_many()] {
                fate.replied_before();
                let outlooks = ["a", "b", "c"].map(|task| fate.failed(task, &blocker(Some(status), None)));
                assert_eq!(outlooks, expected, "{status}");
            }
        }
    }

    #[test]
    fn tasks_that_are_under_way_may_still_get_a_reply() {
        let fate = Fate::of_run();
        for (task, is_in_doubt) in [("a", false), ("b", false), ("c", true), ("d", true)] {
            assert_eq!(fate.failed(task, &blocker(Some(400), None)), Outlook::Open);
            assert_eq!(fate.is_in_doubt(), is_in_doubt, "{task}");
        }
        fate.replied();
        assert!(!fate.is_in_doubt());
    }

    #[test]
    fn an_answer_in_between_shows_that_it_can_be_asked() {
        let fate = Fate::of_many();
        for task in 0..10 {
            fate.replied();
            fate.failed(&task.to_string(), &blocker(None, None));
        }
        assert!(!fate.is_given_up());
    }
}
