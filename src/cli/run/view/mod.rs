//! What is shown while tasks run: a live view on a terminal, else lines of what has happened. Neither ever holds up a
//! task: the live view is drawn now and then from what is known, and lines that a slow reader does not take are
//! left out and counted.

mod board;
mod log;
mod words;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::cli::printer::Printer;
use crate::executor::Events;
use crate::executor::run::{Price, Standing};
use crate::text::counted;
use board::Board;
use log::Log;

/// Tasks that have a line of their own.
const SHOWN: usize = 8;

/// The live view is drawn this often.
const EVERY: Duration = Duration::from_millis(120);

/// Lines that wait for a slow reader.
const WAITING: usize = 10_000;

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
            None => Self::lines(standing, stop, printer),
        }
    }

    fn lines(standing: Standing, stop: &CancellationToken, printer: Printer) -> Self {
        let (send, lines) = sync_channel::<String>(WAITING);
        let log = Mutex::new(Log::new(standing, Instant::now()));
        let left_out = Arc::new(AtomicU64::new(0));
        let (end, ended) = sync_channel::<()>(1);
        let count = Arc::clone(&left_out);
        let stopping = Stopping::new(stop, printer);
        let thread = std::thread::spawn(move || print_lines(&lines, &ended, &count, stopping));
        let events: Events = Arc::new(move |told| {
            // Until the line is handed on, so that lines that count are in order.
            let mut log = locked(&log);
            if log.line(&told, Instant::now()).is_some_and(|line| send.try_send(line).is_err()) {
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

/// Prints lines until there are none left after the end.
fn print_lines(lines: &Receiver<String>, ended: &Receiver<()>, left_out: &AtomicU64, mut stopping: Stopping) {
    let printer = stopping.printer;
    loop {
        stopping.say();
        match lines.recv_timeout(EVERY) {
            Ok(line) => printer.event(&line),
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
        printer.warn(&format!(
            "{} could not be shown in time; the journal has all events",
            counted(left_out, "line")
        ));
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A task and its repetition; shown names are shortened and may be alike.
type Run = (String, u32);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::{Event, Told};

    #[test]
    fn the_end_shows_every_line_that_was_told() {
        let standing = Standing { to_do: 100, done: 0, failed: 0, again: 0, others: 0 };
        let view = View::lines(standing, &CancellationToken::new(), Printer::new(true));
        let events = view.events();
        for _ in 0..100 {
            events(Told { task: "a".to_owned(), repeat: 1, attempt: 2, event: Event::Started });
        }
        view.finish();
    }
}
