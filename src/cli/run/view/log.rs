//! The lines of a run that is not watched at a terminal, for example in CI: each answer and each call has a line once
//! it has ended, and the line of each finished task gives the progress of the run. What a task asks or is about to do
//! is left out. If there is no line for a while, one says what the run waits for.

use std::collections::BTreeMap;
use std::time::Instant;

use m3_executor::run::RunProgress;
use m3_executor::{Event, TaskEvent};
use m3_support::text::{counted, duration};

use super::Run;
use super::words::{name, reason, what};

/// The state that lines need besides their event.
pub(super) struct Log {
    /// The number of tasks that have a prediction or have failed, and the number of all tasks.
    done: usize,
    all: usize,
    began: Instant,
    running: BTreeMap<Run, Running>,
}

/// A running task.
struct Running {
    since: Instant,
    /// The purpose of the last request to the model.
    purpose: String,
    /// The last event.
    last: TaskEvent,
}

impl Log {
    pub(super) fn new(standing: RunProgress, began: Instant) -> Self {
        let RunProgress { to_do, done, failed, .. } = standing;
        Self { done: done + failed, all: to_do + done + failed, began, running: BTreeMap::new() }
    }

    /// The line for an event, if it has one.
    pub(super) fn line(&mut self, told: &TaskEvent, now: Instant) -> Option<String> {
        let run = (told.task.clone(), told.repeat);
        let in_words = || what(&told.event, told.attempt);
        let text = match &told.event {
            Event::Finished { error, .. } => {
                self.done += 1;
                let taken = self.taken(&run, now);
                let error = error.as_ref();
                let error = error.map_or_else(String::new, |error| format!(": {}", reason(error)));
                Some(format!("{}{taken} ({}){error}", in_words(), self.standing(now)))
            }
            Event::Interrupted => Some(format!("{}{}", in_words(), self.taken(&run, now))),
            event => {
                let purpose = self.note(run, told, now);
                match event {
                    Event::Started if told.attempt == 1 => None,
                    Event::Asked { .. } | Event::Called { .. } => None,
                    Event::Answered { .. } => Some(format!("{}{purpose}", in_words())),
                    _ => Some(in_words()),
                }
            }
        };
        text.map(|text| format!("{} {text}", name(told)))
    }

    /// The line after a while of silence: the progress, the number of running tasks, and the current action of the
    /// one that has run longest.
    pub(super) fn sign_of_life(&self, now: Instant) -> String {
        let running = match self.running.len() {
            0 => "no task runs".to_owned(),
            1 => "1 task runs".to_owned(),
            running => format!("{running} tasks run"),
        };
        let longest = self.running.values().min_by_key(|running| running.since);
        let longest = longest.map_or_else(String::new, |Running { since, last, .. }| {
            let time = duration(now.saturating_duration_since(*since));
            format!(", the longest for {time}: {} {}", name(last), what(&last.event, last.attempt))
        });
        format!("{}: {running}{longest}", self.standing(now))
    }

    /// Remembers the current action of a task; returns the purpose of the last request, in brackets.
    fn note(&mut self, run: Run, told: &TaskEvent, now: Instant) -> String {
        // Only `Started` adds a task: the event about a workspace that stays comes after the end of its task.
        if matches!(told.event, Event::Started) {
            let running = Running { since: now, purpose: String::new(), last: told.clone() };
            self.running.insert(run, running);
            return String::new();
        }
        let Some(running) = self.running.get_mut(&run) else { return String::new() };
        if let Event::Asked { purpose, .. } = &told.event {
            running.purpose.clone_from(purpose);
        }
        running.last = told.clone();
        if running.purpose.is_empty() { String::new() } else { format!(" ({})", running.purpose) }
    }

    fn standing(&self, now: Instant) -> String {
        let elapsed = duration(now.saturating_duration_since(self.began));
        format!("{} of {}, {elapsed}", self.done, counted(self.all, "task"))
    }

    /// Removes a task that has ended; returns its time, in words.
    fn taken(&mut self, run: &Run, now: Instant) -> String {
        let running = self.running.remove(run);
        running.map_or_else(String::new, |running| {
            format!(" in {}", duration(now.saturating_duration_since(running.since)))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use m3_executor::FinishReason;
    use m3_llm::Usage;

    use super::*;

    fn told(task: &str, attempt: u32, event: Event) -> TaskEvent {
        TaskEvent { task: task.to_owned(), repeat: 1, attempt, event }
    }

    fn finished(finish: FinishReason, error: Option<&str>) -> Event {
        let (usage, error) = (Usage::default(), error.map(str::to_owned));
        Event::Finished { finish, steps: 1, calls: 2, usage, error }
    }

    fn asked(turn: u32) -> Event {
        Event::Asked { turn, purpose: "plan".to_owned() }
    }

    #[test]
    fn answers_calls_and_ends_get_a_line_each_and_ends_say_how_far_the_run_is() {
        let began = Instant::now();
        // One earlier task is done, one has failed and is not run again.
        let mut log = Log::new(RunProgress { to_do: 2, done: 1, failed: 1, again: 0, others: 0 }, began);
        let usage = Usage { input_tokens: Some(1200), output_tokens: Some(80), ..Usage::default() };
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
            (1, "a", 1, asked(1)),
            (2, "a", 1, Event::Answered { turn: 1, usage, milliseconds: 1500, tries: 1 }),
            (2, "a", 1, called),
            (3, "a", 1, returned),
            (3, "b", 2, Event::Answered { turn: 1, usage: Usage::default(), milliseconds: 90, tries: 3 }),
            (4, "a", 1, finished(FinishReason::Answered, None)),
            (6, "b", 2, finished(FinishReason::Error, Some("no reply\nhint: ask again"))),
        ] {
            lines.extend(log.line(&told(task, attempt, event), began + Duration::from_secs(second)));
        }
        assert_eq!(
            lines,
            [
                "b started, try 2",
                "a turn 1: answered in 1.5 s, tokens: 1200 in, 80 out (plan)",
                "a step 1: image/crop, resource not found, 215 ms",
                "b turn 1: answered in 90 ms after 3 tries, unknown tokens",
                "a answered after 1 step and 2 calls in 4.0 s (3 of 4 tasks, 4.0 s)",
                "b failed after 1 step and 2 calls in 5.0 s (4 of 4 tasks, 6.0 s): no reply (hint: ask again)",
            ]
        );
    }

    #[test]
    fn a_sign_of_life_says_what_runs_and_for_how_long() {
        let began = Instant::now();
        let at = |second| began + Duration::from_secs(second);
        let mut log = Log::new(RunProgress { to_do: 3, ..RunProgress::default() }, began);
        assert_eq!(log.sign_of_life(at(60)), "0 of 3 tasks, 1 min 0 s: no task runs");
        for (second, task, event) in [
            (1, "z", Event::Started),
            (2, "a", Event::Started),
            (3, "z", asked(1)),
            (4, "b", Event::Started),
            (5, "b", finished(FinishReason::Answered, None)),
        ] {
            log.line(&told(task, 1, event), at(second));
        }
        assert_eq!(
            log.sign_of_life(at(65)),
            "1 of 3 tasks, 1 min 5 s: 2 tasks run, the longest for 1 min 4 s: z turn 1: asks the model (plan)"
        );
    }
}
