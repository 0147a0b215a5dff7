//! Writes `predictions.json` and the files of further repetitions from the predictions of each task.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::output::OutputError;
use super::plan::Item;
use super::{Run, RunError};

/// `predictions.json` is rewritten at most this often while tasks are running; if writing it is slow, at most once in
/// twenty times the duration of the last writing.
const COMBINE_EVERY: Duration = Duration::from_secs(5);

/// Writes `predictions.json` and the files of further repetitions, from time to time and at the end.
pub(super) struct Combiner {
    run: Arc<Run>,
    /// For each repetition and each task, whether there is a prediction that belongs to this run.
    present: Arc<Mutex<Vec<Vec<bool>>>>,
    writing: Option<tokio::task::JoinHandle<Result<Duration, OutputError>>>,
    is_changed: bool,
    next: Instant,
    failure: Option<RunError>,
}

impl Combiner {
    pub(super) fn new(run: Arc<Run>, present: Vec<Vec<bool>>) -> Self {
        let present = Arc::new(Mutex::new(present));
        let next = Instant::now() + COMBINE_EVERY;
        Self { run, present, writing: None, is_changed: true, next, failure: None }
    }

    pub(super) fn present(&self) -> Vec<Vec<bool>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn add(&mut self, item: &Item) {
        let mut present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        let place = present.get_mut(item.repeat as usize - 1).and_then(|tasks| tasks.get_mut(item.task));
        if let Some(place) = place {
            *place = true;
            self.is_changed = true;
        }
    }

    /// Starts to write if it is due, without waiting for the end.
    pub(super) async fn write_if_due(&mut self) {
        if self.writing.as_ref().is_some_and(|writing| !writing.is_finished()) {
            return;
        }
        self.join().await;
        if self.is_changed && Instant::now() >= self.next {
            self.write();
        }
    }

    fn write(&mut self) {
        self.is_changed = false;
        let (run, present) = (Arc::clone(&self.run), self.present());
        self.writing = Some(tokio::task::spawn_blocking(move || {
            let began = Instant::now();
            for (repeat, present) in (1..).zip(&present) {
                let ids = run.tasks.iter().zip(present).filter(|(_, is_present)| **is_present);
                run.output.combine(ids.map(|(task, _)| task.task.id.as_str()), repeat)?;
            }
            Ok(began.elapsed())
        }));
    }

    async fn join(&mut self) {
        let Some(writing) = self.writing.take() else { return };
        match writing.await {
            Ok(Ok(took)) => self.next = Instant::now() + COMBINE_EVERY.max(took * 20),
            Ok(Err(error)) => self.failure = Some(error.into()),
            Err(error) => self.failure = Some(RunError::BrokeOff(error.to_string())),
        }
    }

    /// Writes the files a last time.
    pub(super) async fn finish(&mut self) -> Result<(), RunError> {
        self.join().await;
        // A write that failed before may succeed now; a failure counts only if this last write fails.
        self.failure = None;
        self.write();
        self.join().await;
        self.failure.take().map_or(Ok(()), Err)
    }
}
