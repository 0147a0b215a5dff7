//! The state of the live view, and the lines that it shows.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use m3_executor::run::{Price, RunProgress};
use m3_executor::{Event, FinishReason, TaskEvent};
use m3_llm::Usage;
use m3_support::text::{counted, duration};

use super::words::{name, what};
use super::{Run, SHOWN};

/// The state of the live view.
pub(super) struct Board {
    standing: RunProgress,
    price: Option<Price>,
    began: Instant,
    finished: usize,
    failed: usize,
    interrupted: usize,
    steps: u64,
    calls: u64,
    again: u64,
    malformed: u64,
    usage: Usage,
    /// The running tasks by start time: the shown name, and the current action.
    running: BTreeMap<(Instant, Run), (String, String)>,
    /// The start time of each task, and the last step with a call.
    since: BTreeMap<Run, (Instant, u32)>,
}

impl Board {
    pub(super) fn new(standing: RunProgress, price: Option<Price>) -> Self {
        Self {
            standing,
            price,
            began: Instant::now(),
            finished: 0,
            failed: 0,
            interrupted: 0,
            steps: 0,
            calls: 0,
            again: 0,
            malformed: 0,
            usage: Usage::default(),
            running: BTreeMap::new(),
            since: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, told: &TaskEvent, now: Instant) {
        let run = (told.task.clone(), told.repeat);
        match &told.event {
            Event::Started => {
                self.since.insert(run.clone(), (now, 0));
            }
            Event::Answered { usage, .. } => self.usage = self.usage.plus(*usage),
            Event::Retried { .. } => self.again += 1,
            Event::Malformed { .. } => self.malformed += 1,
            Event::Called { step, .. } => {
                self.calls += 1;
                self.reach(&run, *step);
            }
            Event::Finished { finish, steps, .. } => {
                self.finished += 1;
                self.reach(&run, *steps);
                self.failed += usize::from(*finish == FinishReason::Error);
            }
            Event::Interrupted => self.interrupted += 1,
            Event::Asked { .. } | Event::Returned { .. } | Event::WorkspaceLeft { .. } => {}
        }
        let Some((since, _)) = self.since.get(&run).copied() else { return };
        if matches!(told.event, Event::Finished { .. } | Event::Interrupted) {
            self.since.remove(&run);
            self.running.remove(&(since, run));
        } else {
            self.running.insert((since, run), (name(told), what(&told.event, told.attempt)));
        }
    }

    /// Counts the steps of a task up to this one.
    fn reach(&mut self, run: &Run, step: u32) {
        if let Some((_, last)) = self.since.get_mut(run) {
            self.steps += u64::from(step.saturating_sub(*last));
            *last = step.max(*last);
        }
    }

    /// The lines: the progress of the run and what it has used, then the tasks that have run longest.
    pub(super) fn lines(&self, now: Instant) -> Vec<String> {
        let RunProgress { to_do, done, failed, .. } = self.standing;
        let elapsed = now.saturating_duration_since(self.began);
        let left = to_do.saturating_sub(self.finished + self.interrupted);
        let time_left = (self.finished > 0 && left > 0).then(|| {
            let left = elapsed.as_secs_f64() / self.finished as f64 * left as f64;
            format!(", {} left", duration(Duration::from_secs_f64(left)))
        });
        let far = format!(
            "{} of {} in {}{}; {} running, {} failed",
            done + failed + self.finished,
            counted(to_do + done + failed, "task"),
            duration(elapsed),
            time_left.unwrap_or_default(),
            self.since.len(),
            failed + self.failed,
        );
        let tasks = self.running.iter().take(SHOWN).map(|((since, _), (name, what))| {
            format!("  {name} {} {what}", duration(now.saturating_duration_since(*since)))
        });
        let mut lines = vec![far, self.taken()];
        lines.extend(tasks);
        lines
    }

    fn taken(&self) -> String {
        let mut taken = vec![format!(
            "{}, {}, {}",
            counted(self.steps, "step"),
            counted(self.calls, "call"),
            counted(self.usage.total(), "token"),
        )];
        taken.extend(self.price.map(|price| {
            let cost = price.cost(self.usage);
            // Small costs need more digits to differ.
            if cost < 10.0 { format!(", cost {cost:.4}") } else { format!(", cost {cost:.2}") }
        }));
        if self.again + self.malformed > 0 {
            taken.push(format!(
                "; {} again, {} unusable",
                counted(self.again, "request"),
                counted(self.malformed, "reply")
            ));
        }
        taken.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(task: &str, repeat: u32, event: Event) -> TaskEvent {
        TaskEvent { task: task.to_owned(), repeat, attempt: 1, event }
    }

    fn finished(finish: FinishReason) -> Event {
        Event::Finished {
            finish,
            steps: 2,
            calls: 3,
            usage: Usage::default(),
            error: Some("no\u{1b}[2J".to_owned()),
        }
    }

    #[test]
    fn totals_count_what_was_told() {
        let standing = RunProgress { to_do: 4, done: 1, failed: 1, again: 0, others: 0 };
        let price = Price { input: 1.0, cached_input: None, output: 1.0 };
        let mut board = Board::new(standing, Some(price));
        let now = board.began;
        let usage = Usage { input_tokens: Some(1_500_000), ..Usage::default() };
        let answered = Event::Answered { turn: 1, usage, milliseconds: 10, tries: 1 };
        let called = Event::Called { step: 1, call: 0, tool: "math/add".to_owned() };
        let asked = Event::Asked { turn: 1, purpose: "plan".to_owned() };
        for (task, event) in [
            ("a", Event::Started),
            ("b", Event::Started),
            ("c", Event::Started),
            ("a", answered),
            ("b", called),
            ("b", asked),
            ("a", finished(FinishReason::Answered)),
            ("c", finished(FinishReason::Error)),
        ] {
            board.add(&told(task, 1, event), now);
        }
        let lines = board.lines(now + Duration::from_secs(10));
        assert_eq!(
            lines,
            [
                "4 of 6 tasks in 10.0 s, 10.0 s left; 1 running, 2 failed",
                "5 steps, 1 call, 1500000 tokens, cost 1.5000",
                "  b 10.0 s turn 1: asks the model (plan)",
            ]
        );
    }
}
