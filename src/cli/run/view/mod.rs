//! The display while tasks run: a live view on a terminal, else a line for each event. Neither ever delays a task:
//! the live view is redrawn from time to time, and lines that a slow reader does not accept are left out and counted.

mod board;
mod log;
mod words;

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use board::Board;
use log::Log;
use m3_executor::Events;
use m3_executor::run::{Price, RunProgress};
use m3_support::text::counted;
use tokio_util::sync::CancellationToken;

use crate::cli::common::Printer;

/// The most tasks with their own line.
const SHOWN: usize = 8;

/// The time from one drawing of the live view to the next.
const EVERY: Duration = Duration::from_millis(120);

/// The most lines that wait for a slow reader.
const WAITING: usize = 10_000;

/// The longest time without a line: CI ends programs that seem to hang.
const SILENCE: Duration = Duration::from_mins(1);

/// The display of a run's events, until it is finished.
pub(super) struct View {
    /// The receiver of events.
    pub(super) events: Events,
    /// The sender that is dropped to end the thread.
    end: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl View {
    /// A view of a run with this progress; the live view has a line for each worker, up to [`SHOWN`].
    pub(super) fn new(
        standing: RunProgress,
        workers: u16,
        price: Option<Price>,
        stop: &CancellationToken,
        printer: Printer,
    ) -> Self {
        if printer.is_quiet() {
            return Self { events: Arc::new(|_| ()), end: None, thread: None };
        }
        let Some(live) = printer.live(usize::from(workers).min(SHOWN) + 2) else {
            let stopping = Stopping::new(stop, printer);
            return Self::lines(standing, stopping, (WAITING, SILENCE), Printer::message_output());
        };
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

    /// A view that writes lines to `out`; up to `waiting` lines wait if `out` is slow.
    fn lines(
        standing: RunProgress,
        stopping: Stopping,
        (waiting, silence): (usize, Duration),
        out: impl Write + Send + 'static,
    ) -> Self {
        let (send, told) = sync_channel::<String>(waiting);
        let log = Arc::new(Mutex::new(Log::new(standing, Instant::now())));
        let left_out = Arc::new(AtomicU64::new(0));
        let (end, ended) = sync_channel::<()>(1);
        let printing =
            Lines { told, ended, left_out: Arc::clone(&left_out), log: Arc::clone(&log), stopping, silence };
        let thread = std::thread::spawn(move || printing.print(out));
        let events: Events = Arc::new(move |told| {
            // The log is locked until the line is passed on, so that lines with counts stay in order.
            let mut log = locked(&log);
            if log.line(&told, Instant::now()).is_some_and(|line| send.try_send(line).is_err()) {
                left_out.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { events, end: Some(end), thread: Some(thread) }
    }

    /// Shows the remaining lines and ends the display.
    pub(super) fn finish(mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // The thread has no result.
            let _ = thread.join();
        }
    }
}

/// Reports once that the run is being stopped.
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

/// The thread's part of the lines: prints them, signs of life, and the number of lines left out.
struct Lines {
    told: Receiver<String>,
    /// The signal to end: nothing is ever sent here, the sender is only dropped.
    ended: Receiver<()>,
    left_out: Arc<AtomicU64>,
    log: Arc<Mutex<Log>>,
    stopping: Stopping,
    /// The longest time without a line.
    silence: Duration,
}

impl Lines {
    /// Prints lines until the end, including those that still wait then.
    fn print(mut self, mut out: impl Write) {
        let printer = self.stopping.printer;
        let mut last = Instant::now();
        loop {
            self.stopping.say();
            match self.told.recv_timeout(EVERY) {
                Ok(line) => {
                    printer.event_to(&mut out, &line);
                    last = Instant::now();
                }
                Err(RecvTimeoutError::Timeout)
                    if self.ended.try_recv() == Err(TryRecvError::Disconnected) =>
                {
                    break;
                }
                Err(RecvTimeoutError::Timeout) if last.elapsed() >= self.silence => {
                    last = Instant::now();
                    let sign = locked(&self.log).sign_of_life(last);
                    printer.event_to(&mut out, &sign);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let left_out = self.left_out.load(Ordering::Relaxed);
        if left_out > 0 {
            let lines = counted(left_out, "line");
            printer.warn_to(
                &mut out,
                &format!("{lines} could not be shown in time; the journal has all events"),
            );
        }
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A task's id and repetition; the shown names are shortened and may be the same.
type Run = (String, u32);

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::mpsc::{Sender, channel};

    use m3_executor::{Event, TaskEvent};

    use super::*;

    /// Passes on the bytes that are written, and blocks while the lock is held.
    struct Out {
        written: Sender<Vec<u8>>,
        gate: Arc<Mutex<()>>,
    }

    impl Write for Out {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // The bytes are sent before the wait, so that the holder of the lock knows about them.
            self.written.send(bytes.to_vec()).map_err(io::Error::other)?;
            drop(locked(&self.gate));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A view of 100 tasks as lines, of which up to `waiting` wait; its output; and the lock that blocks it.
    fn lines(waiting: usize, silence: Duration) -> (View, Receiver<Vec<u8>>, Arc<Mutex<()>>) {
        let standing = RunProgress { to_do: 100, ..RunProgress::default() };
        let (written, read) = channel();
        let gate = Arc::default();
        let out = Out { written, gate: Arc::clone(&gate) };
        let stopping = Stopping::new(&CancellationToken::new(), Printer::new(false));
        (View::lines(standing, stopping, (waiting, silence), out), read, gate)
    }

    /// An event with this number in its line.
    fn told(number: u32) -> TaskEvent {
        TaskEvent { task: "a".to_owned(), repeat: number, attempt: 2, event: Event::Started }
    }

    fn text(read: &Receiver<Vec<u8>>) -> String {
        read.iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect()
    }

    #[test]
    fn the_end_shows_every_line_that_was_told() {
        let (view, read, _) = lines(WAITING, SILENCE);
        let events = Arc::clone(&view.events);
        (2..102).for_each(|number| events(told(number)));
        view.finish();
        let expected: Vec<String> = (2..102).map(|number| format!("a ({number}) started, try 2")).collect();
        assert_eq!(text(&read).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn lines_that_a_slow_reader_does_not_take_are_left_out_and_counted() {
        let (view, read, gate) = lines(3, SILENCE);
        let events = Arc::clone(&view.events);
        let closed = gate.lock().unwrap();
        events(told(2));
        // From now on the first line is being written.
        let mut first = read.recv_timeout(Duration::from_mins(1)).unwrap();
        (3..102).for_each(|number| events(told(number)));
        drop(closed);
        view.finish();
        first.extend_from_slice(text(&read).as_bytes());
        let shown = String::from_utf8(first).unwrap();
        let shown: Vec<&str> = shown.lines().collect();
        assert_eq!(shown[..4], [2, 3, 4, 5].map(|number| format!("a ({number}) started, try 2")));
        let warning = "96 lines could not be shown in time; the journal has all events";
        assert!(shown.len() == 5 && shown[4].ends_with(warning), "{shown:?}");
    }

    #[test]
    fn a_run_that_tells_nothing_gives_signs_of_life() {
        let (view, read, _) = lines(WAITING, Duration::ZERO);
        let mut said = String::new();
        while !said.contains('\n') {
            said += std::str::from_utf8(&read.recv_timeout(Duration::from_mins(1)).unwrap()).unwrap();
        }
        assert!(said.starts_with("0 of 100 tasks, ") && said.contains(": no task runs\n"), "{said}");
        view.finish();
    }
}
