//! What is shown while tasks run: a live view on a terminal, else a line for each event. Neither ever holds up a
//! task: the live view is drawn now and then from what is known, and lines that a slow reader does not take are
//! left out and counted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::cli::printer::Printer;
use crate::executor::run::{Price, Standing};
use crate::executor::{Event, Events, FinishReason, Told};
use crate::llm::Usage;
use crate::text::{duration, shortened};

/// Tasks that have a line of their own.
const SHOWN: usize = 8;

/// The live view is drawn this often.
const EVERY: Duration = Duration::from_millis(120);

/// Lines that wait for a slow reader.
const WAITING: usize = 10_000;

/// The longest id of a task, in columns.
const ID: usize = 24;

/// The longest name of a tool and the longest reason of something that is tried again, in columns.
const TEXT: usize = 120;

/// The longest reason why a task failed, in columns.
const ERROR: usize = 400;

/// Shows events until it is finished.
pub(super) struct View {
    events: Events,
    /// Dropped to end the thread.
    end: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl View {
    /// A view of a run that has this to do, with a line for each of some workers.
    pub(super) fn new(
        standing: Standing,
        workers: u16,
        price: Option<Price>,
        stop: &CancellationToken,
        printer: Printer,
    ) -> Self {
        if printer.is_quiet() {
            return Self { events: Arc::new(|_| ()), end: None, thread: None };
        }
        match printer.live(usize::from(workers).min(SHOWN) + 1) {
            Some(live) => {
                let board = Arc::new(Mutex::new(Board::new(standing, price)));
                let (end, ended) = sync_channel::<()>(1);
                let shown = Arc::clone(&board);
                let mut stopping = Stopping::new(stop, printer);
                let thread = std::thread::spawn(move || {
                    while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                        let lines = locked(&shown).lines(Instant::now());
                        live.set(&lines);
                        if stopping.is_due() {
                            live.aside(|| stopping.say());
                        }
                    }
                    live.clear();
                });
                let events: Events = Arc::new(move |told| locked(&board).add(&told, Instant::now()));
                Self { events, end: Some(end), thread: Some(thread) }
            }
            None => Self::lines(stop, printer),
        }
    }

    fn lines(stop: &CancellationToken, printer: Printer) -> Self {
        let (send, lines) = sync_channel::<Told>(WAITING);
        let left_out = Arc::new(AtomicU64::new(0));
        let (end, ended) = sync_channel::<()>(1);
        let count = Arc::clone(&left_out);
        let stopping = Stopping::new(stop, printer);
        let thread = std::thread::spawn(move || print_lines(&lines, &ended, &count, stopping));
        let events: Events = Arc::new(move |told| {
            if send.try_send(told).is_err() {
                left_out.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { events, end: Some(end), thread: Some(thread) }
    }

    /// Gets what happens.
    pub(super) fn events(&self) -> Events {
        Arc::clone(&self.events)
    }

    /// Shows what is left.
    pub(super) fn finish(mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It has nothing to return.
            let _ = thread.join();
        }
    }
}

/// Says once that the run is being stopped.
struct Stopping {
    stop: CancellationToken,
    is_said: bool,
    printer: Printer,
}

impl Stopping {
    fn new(stop: &CancellationToken, printer: Printer) -> Self {
        Self { stop: stop.clone(), is_said: false, printer }
    }

    fn is_due(&self) -> bool {
        self.stop.is_cancelled() && !self.is_said
    }

    fn say(&mut self) {
        if self.is_due() {
            self.is_said = true;
            self.printer.note("finishing the calls that run, then saving; once more stops at once");
        }
    }
}

/// Prints events until there are none left after the end.
fn print_lines(lines: &Receiver<Told>, ended: &Receiver<()>, left_out: &AtomicU64, mut stopping: Stopping) {
    let printer = stopping.printer;
    loop {
        stopping.say();
        match lines.recv_timeout(EVERY) {
            Ok(told) => printer.event(&line(&told)),
            Err(RecvTimeoutError::Timeout) => {
                // Nobody ever sends here: the other side is only dropped.
                if ended.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected) {
                    break;
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let left_out = left_out.load(Ordering::Relaxed);
    if left_out > 0 {
        printer.warn(&format!("{left_out} lines could not be shown in time; the journal has them"));
    }
}

fn locked(board: &Mutex<Board>) -> std::sync::MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A task's name with its repetition.
fn name(told: &Told) -> String {
    let id = shortened(&told.task, ID);
    if told.repeat == 1 { id } else { format!("{id} ({})", told.repeat) }
}

/// An event as a line.
fn line(told: &Told) -> String {
    let text = |text: &str| shortened(text, TEXT);
    let what = match &told.event {
        Event::Started if told.attempt > 1 => format!("started, try {}", told.attempt),
        Event::Started => "started".to_owned(),
        Event::Asked { turn, purpose } => format!("turn {turn}: asks the model ({})", text(purpose)),
        Event::Answered { turn, usage, milliseconds, tries } => {
            let tries = if *tries > 1 { format!(" after {tries} tries") } else { String::new() };
            let is_reported = usage.input_tokens.is_some() || usage.output_tokens.is_some();
            let tokens = if is_reported { usage.total().to_string() } else { "unknown".to_owned() };
            format!("turn {turn}: answered in {}{tries}, {tokens} tokens", seconds(*milliseconds))
        }
        Event::Retried { turn, reason, milliseconds } => {
            format!("turn {turn}: asks again in {}: {}", seconds(*milliseconds), text(reason))
        }
        Event::Called { step, tool, .. } => format!("step {step}: calls {}", text(tool)),
        Event::Returned { step, tool, outcome, milliseconds, .. } => {
            let outcome = text(outcome).replace('_', " ");
            format!("step {step}: {} {outcome} in {}", text(tool), seconds(*milliseconds))
        }
        Event::Malformed { turn, reason } => format!("turn {turn}: cannot be used: {}", text(reason)),
        Event::Finished { finish, steps, calls, error, .. } => {
            let error = error.as_ref();
            let error = error.map_or_else(String::new, |error| format!(": {}", shortened(error, ERROR)));
            format!("{} after {steps} steps and {calls} calls{error}", said(*finish))
        }
        Event::WorkspaceLeft { reason } => format!("its workspace cannot be removed: {}", text(reason)),
        Event::Interrupted => "interrupted".to_owned(),
    };
    format!("{} {what}", name(told))
}

fn said(finish: FinishReason) -> &'static str {
    match finish {
        FinishReason::Answered => "answered",
        FinishReason::MaxSteps => "used all steps",
        FinishReason::Budget => "used its budget",
        FinishReason::Error => "failed",
        FinishReason::Interrupted => "interrupted",
    }
}

fn seconds(milliseconds: u64) -> String {
    format!("{:.1} s", Duration::from_millis(milliseconds).as_secs_f64())
}

/// A task and its repetition; shown names are shortened and may be alike.
type Run = (String, u32);

/// What the live view knows.
struct Board {
    standing: Standing,
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
    /// Since when, and which: the name as it is shown, and what it does.
    running: BTreeMap<(Instant, Run), (String, String)>,
    since: BTreeMap<Run, Instant>,
}

impl Board {
    fn new(standing: Standing, price: Option<Price>) -> Self {
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

    fn add(&mut self, told: &Told, now: Instant) {
        let run = (told.task.clone(), told.repeat);
        match &told.event {
            Event::Started => {
                self.since.insert(run.clone(), now);
            }
            Event::Answered { usage, .. } => self.usage = self.usage.plus(*usage),
            Event::Retried { .. } => self.again += 1,
            Event::Malformed { .. } => self.malformed += 1,
            Event::Called { .. } => self.calls += 1,
            Event::Finished { finish, steps, .. } => {
                self.finished += 1;
                self.steps += u64::from(*steps);
                self.failed += usize::from(*finish == FinishReason::Error);
            }
            Event::Interrupted => self.interrupted += 1,
            Event::Asked { .. } | Event::Returned { .. } | Event::WorkspaceLeft { .. } => {}
        }
        let Some(since) = self.since.get(&run).copied() else { return };
        if matches!(told.event, Event::Finished { .. } | Event::Interrupted) {
            self.since.remove(&run);
            self.running.remove(&(since, run));
        } else {
            let (name, what) = (name(told), line(told));
            let what = what.strip_prefix(&format!("{name} ")).unwrap_or(&what).to_owned();
            self.running.insert((since, run), (name, what));
        }
    }

    /// The totals, then the tasks that have run longest.
    fn lines(&self, now: Instant) -> Vec<String> {
        let Standing { to_do, done, failed, .. } = self.standing;
        let elapsed = now.saturating_duration_since(self.began);
        let left = to_do.saturating_sub(self.finished + self.interrupted);
        let time_left = (self.finished > 0 && left > 0).then(|| {
            let left = elapsed.as_secs_f64() / self.finished as f64 * left as f64;
            format!(", {} left", duration(Duration::from_secs_f64(left)))
        });
        let mut totals = vec![format!(
            "{} of {} tasks, {} running, {} failed; {} steps, {} calls, {} tokens",
            done + self.finished,
            to_do + done + failed,
            self.since.len(),
            failed + self.failed,
            self.steps,
            self.calls,
            self.usage.total(),
        )];
        totals.extend(self.price.map(|price| format!(", cost {:.2}", price.cost(self.usage))));
        if self.again + self.malformed > 0 {
            totals.push(format!("; {} requests again, {} replies unusable", self.again, self.malformed));
        }
        totals.push(format!("; {}{}", duration(elapsed), time_left.unwrap_or_default()));
        let more = self.running.len().saturating_sub(SHOWN);
        if more > 0 {
            totals.push(format!(" ({more} more run)"));
        }
        let tasks = self.running.iter().take(SHOWN).map(|((since, _), (name, what))| {
            format!("  {name} {} {what}", duration(now.saturating_duration_since(*since)))
        });
        let mut lines = vec![totals.concat()];
        lines.extend(tasks);
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(task: &str, repeat: u32, event: Event) -> Told {
        Told { task: task.to_owned(), repeat, attempt: 1, event }
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
    fn what_comes_from_models_cannot_move_the_cursor() {
        let event = Event::Returned {
            step: 1,
            call: 0,
            tool: "a/\u{1b}[2Jb".to_owned(),
            outcome: "unknown_tool".to_owned(),
            milliseconds: 1500,
        };
        assert_eq!(line(&told("x\ny", 2, event)), "x\\ny (2) step 1: a/\\u{1b}[2Jb unknown tool in 1.5 s");
        assert_eq!(
            line(&told("x", 1, finished(FinishReason::Error))),
            "x failed after 2 steps and 3 calls: no\\u{1b}[2J"
        );
    }

    #[test]
    fn totals_count_what_was_told() {
        let standing = Standing { to_do: 4, done: 1, failed: 1, again: 0, others: 0 };
        let price = Price { input: 1.0, cached_input: None, output: 1.0 };
        let mut board = Board::new(standing, Some(price));
        let now = board.began;
        let usage = Usage { input_tokens: Some(1_500_000), ..Usage::default() };
        let answered = Event::Answered { turn: 1, usage, milliseconds: 10, tries: 1 };
        let asked = Event::Asked { turn: 1, purpose: "plan".to_owned() };
        for (task, event) in [
            ("a", Event::Started),
            ("b", Event::Started),
            ("c", Event::Started),
            ("a", answered),
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
                "3 of 6 tasks, 1 running, 2 failed; 4 steps, 0 calls, 1500000 tokens, cost 1.50; 10.0 s, 10.0 s left",
                "  b 10.0 s turn 1: asks the model (plan)",
            ]
        );
    }

    #[test]
    fn the_end_shows_every_line_that_was_told() {
        let view = View::lines(&CancellationToken::new(), Printer::new(true));
        let events = view.events();
        for _ in 0..100 {
            events(told("a", 1, Event::Started));
        }
        view.finish();
    }
}
