//! Recorded answers by content, and which of them is replayed next.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use m3_support::text::shortened;

use super::{ContentHash, ScopeEntry};

/// Recorded answers of one kind.
#[derive(Debug)]
pub(super) struct Tape<T> {
    takes: HashMap<ContentHash, Vec<(ScopeEntry, Arc<T>)>>,
    /// How many of its own answers each attempt at a task has got.
    played: Mutex<HashMap<(ContentHash, ScopeEntry), usize>>,
}

/// The other repetitions or tasks that an answer was recorded for, when the one that asks has no recording. Such an
/// answer is not replayed: the answer to one repetition does not tell what another one would get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Others {
    /// No other repetition or task has the answer.
    None,
    /// Other repetitions of the task have the answer.
    Repeats {
        /// The repetitions, from 1, in order.
        recorded: Vec<u32>,
        /// The repetition that asks.
        asked: u32,
    },
    /// Another task has the answer.
    Task {
        /// The first task that has it.
        recorded: String,
        /// The task that asks.
        asked: String,
    },
}

impl fmt::Display for Others {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(formatter, "it was never recorded"),
            Self::Repeats { recorded, asked } => {
                let recorded: Vec<String> = recorded.iter().map(ToString::to_string).collect();
                write!(
                    formatter,
                    "it was recorded in repetition {} of the task, and is asked in repetition {asked}\nhint: record as \
                     many repetitions as are played; what one of them got is not played for another",
                    recorded.join(", ")
                )
            }
            Self::Task { recorded, asked } => write!(
                formatter,
                "it was recorded for task `{}`, and is asked for task `{}`\nhint: record it for this task too; what \
                 was answered for one task is not played for another",
                shortened(recorded, 80),
                shortened(asked, 80)
            ),
        }
    }
}

/// The attempt that counts for each task's repetition: the one that was recorded last.
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

    /// The number of tasks.
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

    /// The next answer for this content. A task's repetition gets the answers recorded for it, in order; the last one
    /// is repeated, and each attempt starts again with the first. If several attempts were recorded, the last one
    /// counts; if it has no answer to this content (because its mode was another one), the latest that has one
    /// counts.
    ///
    /// # Errors
    /// [`Others`] for which the answer was recorded, if it was not recorded for this repetition of the task.
    pub(super) fn next(
        &self,
        content: ContentHash,
        scope: &ScopeEntry,
        last_attempts: &LastAttempts,
    ) -> Result<Arc<T>, Others> {
        let takes = self.takes.get(&content).map(Vec::as_slice).unwrap_or_default();
        let is_own = |recorded: &&ScopeEntry| recorded.task == scope.task && recorded.repeat == scope.repeat;
        let of =
            |recorded: &ScopeEntry| (last_attempts.is_last(recorded), recorded.session, recorded.attempt);
        let Some(latest) = takes.iter().map(|(recorded, _)| recorded).filter(is_own).map(of).max() else {
            return Err(others(takes.iter().map(|(recorded, _)| recorded), scope));
        };
        let own: Vec<&Arc<T>> = takes
            .iter()
            .filter(|(recorded, _)| is_own(&recorded) && of(recorded) == latest)
            .map(|(_, take)| take)
            .collect();
        let mut played = self.played.lock().unwrap_or_else(PoisonError::into_inner);
        let count = played.entry((content, scope.clone())).or_default();
        let take = own.get(*count).or(own.last()).map(|take| Arc::clone(take));
        *count = count.saturating_add(1);
        take.ok_or(Others::None)
    }
}

/// The [`Others`] of these recorded answers, none of which belongs to this scope.
fn others<'a>(recorded: impl Iterator<Item = &'a ScopeEntry>, scope: &ScopeEntry) -> Others {
    let (mut repeats, mut task) = (BTreeSet::new(), None);
    for recorded in recorded {
        if recorded.task == scope.task {
            repeats.insert(recorded.repeat);
        } else {
            task.get_or_insert(&recorded.task);
        }
    }
    match task {
        _ if !repeats.is_empty() => {
            Others::Repeats { recorded: repeats.into_iter().collect(), asked: scope.repeat }
        }
        Some(recorded) => Others::Task { recorded: recorded.clone(), asked: scope.task.clone() },
        None => Others::None,
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
        let content = ContentHash::new("x", &json!({}));
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
        // A new attempt after an interruption.
        assert_eq!(next(scope("a", 1, 2)), "a1");
    }

    #[test]
    fn who_has_none_gets_none_of_others_and_is_told_who_has() {
        let (tape, last, content) =
            tape(&[(scope("a", 3, 1), "a3"), (scope("a", 1, 1), "a1"), (scope("b", 1, 1), "b1")]);
        let next = |scope| tape.next(content, &scope, &last).unwrap_err();
        assert_eq!(next(scope("a", 4, 1)), Others::Repeats { recorded: vec![1, 3], asked: 4 });
        let message = next(scope("a", 4, 1)).to_string();
        assert!(
            message
                .starts_with("it was recorded in repetition 1, 3 of the task, and is asked in repetition 4")
        );
        assert!(message.contains("\nhint: record as many repetitions as are played"), "{message}");
        assert_eq!(next(scope("b", 2, 1)), Others::Repeats { recorded: vec![1], asked: 2 });
        let message = next(scope("c", 1, 1)).to_string();
        assert!(
            message.starts_with("it was recorded for task `a`, and is asked for task `c`\nhint: "),
            "{message}"
        );
        let unknown = tape.next(ContentHash::new("y", &json!({})), &scope("a", 1, 1), &last);
        assert_eq!(unknown, Err(Others::None));
    }

    #[test]
    fn of_an_interrupted_task_the_last_attempt_counts() {
        let (tape, last, content) = tape(&[(scope("a", 1, 1), "cut short"), (scope("a", 1, 2), "whole")]);
        assert_eq!(*tape.next(content, &scope("a", 1, 1), &last).unwrap(), "whole");
    }

    /// The last recording was made in another mode, which asked for other things.
    #[test]
    fn what_the_last_attempt_has_not_is_played_from_the_latest_that_has() {
        let session = |session| ScopeEntry { session, ..scope("a", 1, 1) };
        let (tape, mut last, content) =
            tape(&[(session(0), "first"), (session(1), "second"), (session(1), "second+")]);
        last.add(&session(2));
        let next = || *tape.next(content, &scope("a", 1, 1), &last).unwrap();
        assert_eq!((next(), next(), next()), ("second", "second+", "second+"));
    }

    #[test]
    fn of_a_task_that_was_recorded_anew_the_last_recording_counts() {
        let anew = ScopeEntry { session: 1, ..scope("a", 1, 1) };
        let (tape, last, content) = tape(&[(scope("a", 1, 1), "before"), (anew, "anew")]);
        assert_eq!(*tape.next(content, &scope("a", 1, 1), &last).unwrap(), "anew");
    }
}
