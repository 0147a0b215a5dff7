//! What was recorded, by content, and what is played next.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::{ContentHash, ScopeEntry};

/// Recorded things of one kind.
#[derive(Debug)]
pub(super) struct Tape<T> {
    takes: HashMap<ContentHash, Vec<(ScopeEntry, Arc<T>)>>,
    played: Mutex<Played>,
}

#[derive(Debug, Default)]
struct Played {
    /// How many of its own each attempt at a task has had.
    own: HashMap<(ContentHash, ScopeEntry), usize>,
    /// Which ones were given to anyone.
    used: HashSet<(ContentHash, usize)>,
}

/// The attempt of each task's repetition that counts: the one that was recorded last.
#[derive(Debug, Default)]
pub(super) struct LastAttempts(HashMap<(String, u32), (usize, u32)>);

impl LastAttempts {
    pub(super) fn add(&mut self, scope: &ScopeEntry) {
        self.0.insert((scope.task.clone(), scope.repeat), (scope.session, scope.attempt));
    }

    fn is_last(&self, scope: &ScopeEntry) -> bool {
        let last = self.0.get(&(scope.task.clone(), scope.repeat));
        last.is_none_or(|last| *last == (scope.session, scope.attempt))
    }

    /// How many tasks there are.
    pub(super) fn tasks(&self) -> usize {
        self.0.keys().map(|(task, _)| task).collect::<HashSet<_>>().len()
    }
}

impl<T> Default for Tape<T> {
    fn default() -> Self {
        Self { takes: HashMap::new(), played: Mutex::default() }
    }
}

impl<T> Tape<T> {
    pub(super) fn add(&mut self, content: ContentHash, scope: ScopeEntry, take: T) {
        self.takes.entry(content).or_default().push((scope, Arc::new(take)));
    }

    pub(super) fn len(&self) -> usize {
        self.takes.values().map(Vec::len).sum()
    }

    /// What comes next for this content. A task's repetition gets what was recorded of it, in that order, and from
    /// the beginning again with each attempt; what was recorded of others only if there is nothing of its own, that
    /// which nobody had first. Then the last one again.
    pub(super) fn next(
        &self,
        content: ContentHash,
        scope: &ScopeEntry,
        last_attempts: &LastAttempts,
    ) -> Option<Arc<T>> {
        let takes = self.takes.get(&content)?;
        let is_own = |recorded: &ScopeEntry| {
            recorded.task == scope.task && recorded.repeat == scope.repeat && last_attempts.is_last(recorded)
        };
        let own: Vec<usize> = (0..takes.len()).filter(|index| is_own(&takes[*index].0)).collect();
        let mut played = self.played.lock().unwrap_or_else(PoisonError::into_inner);
        let index = if own.is_empty() {
            let unused = (0..takes.len()).find(|index| !played.used.contains(&(content, *index)));
            unused.or_else(|| takes.len().checked_sub(1))?
        } else {
            let count = played.own.entry((content, scope.clone())).or_default();
            let index = own[(*count).min(own.len() - 1)];
            *count += 1;
            index
        };
        played.used.insert((content, index));
        takes.get(index).map(|(_, take)| Arc::clone(take))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scope(task: &str, repeat: u32, attempt: u32) -> ScopeEntry {
        ScopeEntry { task: task.to_owned(), repeat, attempt, session: 0 }
    }

    fn tape(recorded: &[(ScopeEntry, &'static str)]) -> (Tape<&'static str>, LastAttempts, ContentHash) {
        let (mut tape, mut last) = (Tape::default(), LastAttempts::default());
        let content = ContentHash::of("x", &json!({}));
        for (scope, take) in recorded {
            last.add(scope);
            tape.add(content, scope.clone(), *take);
        }
        (tape, last, content)
    }

    #[test]
    fn each_repetition_gets_its_own_in_order_whoever_asks_first() {
        let (tape, last, content) = tape(&[
            (scope("a", 1, 1), "a1"),
            (scope("b", 1, 1), "b1"),
            (scope("a", 2, 1), "a2"),
            (scope("a", 1, 1), "a1+"),
        ]);
        let next = |scope| *tape.next(content, &scope, &last).unwrap();
        assert_eq!(next(scope("a", 2, 1)), "a2");
        assert_eq!(next(scope("b", 1, 1)), "b1");
        assert_eq!(next(scope("a", 1, 1)), "a1");
        assert_eq!(next(scope("a", 1, 1)), "a1+");
        assert_eq!(next(scope("a", 1, 1)), "a1+");
        // After an interruption.
        assert_eq!(next(scope("a", 1, 2)), "a1");
    }

    #[test]
    fn who_has_none_gets_those_that_nobody_had_and_then_the_last() {
        let (tape, last, content) =
            tape(&[(scope("a", 1, 1), "a1"), (scope("a", 2, 1), "a2"), (scope("a", 3, 1), "a3")]);
        let next = |scope| *tape.next(content, &scope, &last).unwrap();
        assert_eq!(next(scope("a", 1, 1)), "a1");
        assert_eq!(next(scope("a", 4, 1)), "a2");
        assert_eq!(next(scope("b", 1, 1)), "a3");
        assert_eq!(next(scope("b", 1, 1)), "a3");
        // Nobody takes away what is a repetition's own.
        assert_eq!(next(scope("a", 2, 1)), "a2");
        assert_eq!(tape.next(ContentHash::of("y", &json!({})), &scope("a", 1, 1), &last), None);
    }

    #[test]
    fn of_an_interrupted_task_the_last_attempt_counts() {
        let (tape, last, content) = tape(&[(scope("a", 1, 1), "cut short"), (scope("a", 1, 2), "whole")]);
        assert_eq!(*tape.next(content, &scope("a", 1, 1), &last).unwrap(), "whole");
        assert_eq!(*tape.next(content, &scope("a", 2, 1), &last).unwrap(), "cut short");
    }

    #[test]
    fn of_a_task_that_was_recorded_anew_the_last_recording_counts() {
        let anew = ScopeEntry { session: 1, ..scope("a", 1, 1) };
        let (tape, last, content) = tape(&[(scope("a", 1, 1), "before"), (anew, "anew")]);
        assert_eq!(*tape.next(content, &scope("a", 1, 1), &last).unwrap(), "anew");
    }
}
