//! The lines of a run that is not watched at a terminal, such as one in CI: what a task asks and is about to do is left
//! out, and the line of each task that is done says how far the run is.

use std::collections::HashMap;
use std::time::Instant;

use super::Run;
use super::words::{name, reason, what};
use crate::executor::run::Standing;
use crate::executor::{Event, Told};
use crate::text::{counted, duration};

/// What lines say besides their event.
pub(super) struct Log {
    /// Tasks that have a prediction, of how many.
    done: usize,
    all: usize,
    began: Instant,
    /// When each task that runs was started.
    since: HashMap<Run, Instant>,
}

impl Log {
    pub(super) fn new(standing: Standing, began: Instant) -> Self {
        let Standing { to_do, done, failed, .. } = standing;
        Self { done, all: to_do + done + failed, began, since: HashMap::new() }
    }

    /// The line of an event, if it gets one.
    pub(super) fn line(&mut self, told: &Told, now: Instant) -> Option<String> {
        let run = (told.task.clone(), told.repeat);
        let text = what(&told.event, told.attempt);
        let text = match &told.event {
            Event::Asked { .. } | Event::Answered { .. } | Event::Called { .. } => return None,
            Event::Started => {
                self.since.insert(run, now);
                if told.attempt == 1 {
                    return None;
                }
                text
            }
            Event::Finished { error, .. } => {
                self.done += 1;
                let error = error.as_ref();
                let error = error.map_or_else(String::new, |error| format!(": {}", reason(error)));
                let (done, all) = (self.done, counted(self.all, "task"));
                let elapsed = duration(now.saturating_duration_since(self.began));
                format!("{text}{} ({done} of {all}, {elapsed}){error}", self.taken(&run, now))
            }
            Event::Interrupted => format!("{text}{}", self.taken(&run, now)),
            _ => text,
        };
        Some(format!("{} {text}", name(told)))
    }

    /// What a task took that has ended.
    fn taken(&mut self, run: &Run, now: Instant) -> String {
        let since = self.since.remove(run);
        since.map_or_else(String::new, |since| {
            format!(" in {}", duration(now.saturating_duration_since(since)))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::executor::FinishReason;
    use crate::llm::Usage;

    #[test]
    fn calls_and_ends_get_a_line_each_that_says_how_far_the_run_is() {
        let began = Instant::now();
        let mut log = Log::new(Standing { to_do: 2, done: 1, failed: 0, again: 0, others: 0 }, began);
        let finished = |finish, error: Option<&str>| Event::Finished {
            finish,
            steps: 1,
            calls: 2,
            usage: Usage::default(),
            error: error.map(str::to_owned),
        };
        let returned = Event::Returned {
            step: 1,
            call: 0,
            tool: "image/crop".to_owned(),
            outcome: "resource_not_found".to_owned(),
            milliseconds: 215,
        };
        let called = Event::Called { step: 1, call: 0, tool: "image/crop".to_owned() };
        let mut lines = Vec::new();
        for (second, task, attempt, event) in [
            (0, "a", 1, Event::Started),
            (1, "b", 2, Event::Started),
            (1, "a", 1, Event::Asked { turn: 1, purpose: "plan".to_owned() }),
            (2, "a", 1, called),
            (3, "a", 1, returned),
            (4, "a", 1, finished(FinishReason::Answered, None)),
            (6, "b", 2, finished(FinishReason::Error, Some("no reply\nhint: ask again"))),
        ] {
            let told = Told { task: task.to_owned(), repeat: 1, attempt, event };
            lines.extend(log.line(&told, began + Duration::from_secs(second)));
        }
        assert_eq!(
            lines,
            [
                "b started, try 2",
                "a step 1: image/crop, resource not found, 215 ms",
                "a answered after 1 step and 2 calls in 4.0 s (2 of 3 tasks, 4.0 s)",
                "b failed after 1 step and 2 calls in 5.0 s (3 of 3 tasks, 6.0 s): no reply (hint: ask again)",
            ]
        );
    }
}
