//! A run: all tasks of a file, several at once, each kept as soon as it is done.
//!
//! ```text
//! tasks, model, servers -> Run::begin -> StartedRun (what is to do) -> StartedRun::go -> predictions, journal
//! ```
//!
//! A prediction is written, whole and on disk, before the journal says that its task is done; a run that was killed
//! at any moment and is started again does what is left and nothing twice. `docs/run.md` describes the folder.

mod combine;
mod journal;
mod key;
mod output;
mod plan;
mod prediction;
mod prices;
mod work;
mod workspace;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use combine::Combiner;
use journal::Journal;
pub use journal::{JournalEntry, JournalLine, RunEvent};
pub use key::RunKey;
use m3_images::task_image::TaskImage;
use m3_llm::{Breaker, Cassette, Model, PictureLimits, Pictures, Recorder, Usage};
use m3_mcp::Host;
use m3_support::redact::Redactor;
use m3_trajectory::Task;
pub use output::{OutputError, OutputFolder};
pub use plan::RunProgress;
use plan::{Item, Plan};
pub use prediction::{ModelReport, PREDICTION_SCHEMA, Prediction, RunReport, RunSummary, Versions};
pub use prices::{Price, Prices, PricesError};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use work::{ItemEnd, OpenTask, Work, blocking};
pub use workspace::KeepWorkspaces;

use super::{Event, Events, OfferedTools, RunBlocker, RunOptions, TaskEvent};

/// Everything that a run needs.
pub struct Run {
    /// All tasks of the file, in its order. Their ids are different.
    pub tasks: Vec<RunTask>,
    /// Where everything is written.
    pub output: OutputFolder,
    /// The model.
    pub model: Arc<Model>,
    /// Where the results of calls come from.
    pub tools: ToolSource,
    /// Takes secrets out of everything that is written.
    pub redactor: Redactor,
    /// Pictures that several tasks show.
    pub pictures: Pictures,
    /// How each task is run.
    pub options: RunOptions,
    /// How often each task is run, at least once.
    pub repeats: u32,
    /// The most tasks that run at once, at least one.
    pub workers: usize,
    /// Which workspaces are kept.
    pub keep: KeepWorkspaces,
    /// Whether tasks that failed before are run again.
    pub retry_failed: bool,
}

/// A task that has been checked.
#[derive(Debug, Clone)]
pub struct RunTask {
    /// The task.
    pub task: Task,
    /// The task's image, if it has one.
    pub image: Option<TaskImage>,
    /// Whether the task is to be run; the predictions of other tasks stay as they are.
    pub is_selected: bool,
    /// The tools that the model is offered; tasks may share them.
    pub offered: Arc<OfferedTools>,
}

/// Where the results of calls come from.
pub enum ToolSource {
    /// Servers give the results.
    Live {
        /// The servers that tasks share are running already; every task starts the others for itself.
        host: Arc<Host>,
        /// Records the servers' answers.
        recorder: Option<Arc<Recorder>>,
    },
    /// A cassette gives the results.
    Replayed {
        /// The cassette that is replayed.
        cassette: Arc<Cassette>,
        /// Records what is replayed.
        recorder: Option<Arc<Recorder>>,
    },
}

/// The reason why a run cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The output folder cannot be written to.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// No other task could be run either.
    #[error(transparent)]
    RunBlocker(#[from] RunBlocker),
    /// Servers that tasks share have stopped for good.
    #[error("{0}\nhint: tasks share it; the same command starts it again and continues")]
    Servers(String),
    /// The system allows no further file or process, for any task.
    #[error("{0}\nhint: the same command continues")]
    Exhausted(String),
    /// A task ended in a way that is a bug.
    #[error("a task broke off: {0}")]
    BrokeOff(String),
}

/// A run with an open journal and a plan of the tasks to run.
pub struct StartedRun {
    run: Arc<Run>,
    journal: Arc<Journal>,
    /// Cancelled when the journal cannot be written.
    failed: CancellationToken,
    plan: Plan,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// Predictions of the selected tasks, those made before included.
    pub summary: RunSummary,
    /// The number of tasks that were begun and not done, and the usage that the model has reported for them.
    pub interrupted: (u64, Usage),
    /// Whether the run was told to stop before all was done.
    pub is_interrupted: bool,
    /// The duration of the run.
    pub elapsed: Duration,
}

impl Run {
    /// Opens the journal and finds out which tasks are to be run.
    ///
    /// # Errors
    /// [`RunError::Output`].
    pub fn begin(self) -> Result<StartedRun, RunError> {
        let failed = CancellationToken::new();
        let path = self.output.journal();
        let (journal, attempts) =
            Journal::open(&path, failed.clone()).map_err(OutputError::io("open", &path))?;
        let plan = plan::plan(&self, &attempts);
        plan::clear_up(&self, &plan);
        Ok(StartedRun { run: Arc::new(self), journal: Arc::new(journal), failed, plan })
    }

    /// The limits that pictures of this run must keep.
    #[must_use]
    pub fn picture_limits(&self) -> PictureLimits {
        picture_limits(&self.model, &self.options)
    }
}

/// The limits that pictures must keep for a model.
#[must_use]
pub fn picture_limits(model: &Model, options: &RunOptions) -> PictureLimits {
    let limits = model.image_limits();
    let wanted = options.max_image_side.unwrap_or(limits.max_side);
    PictureLimits { max_side: limits.max_side.min(wanted), ..limits }
}

impl StartedRun {
    /// What is to be done, and what was done before.
    #[must_use]
    pub fn standing(&self) -> RunProgress {
        self.plan.standing
    }

    /// Runs the tasks. `events` gets everything that the journal gets. When `stop` is cancelled, running calls are
    /// finished and nothing new is begun.
    ///
    /// # Errors
    /// [`RunError`] if nothing more can be written; what was written is whole.
    pub async fn go(self, events: Events, stop: CancellationToken) -> Result<RunEnd, RunError> {
        let began = Instant::now();
        let standing = self.plan.standing;
        self.journal.write(JournalEntry::Run(RunEvent::RunStarted {
            m3: env!("CARGO_PKG_VERSION").to_owned(),
            process: std::process::id(),
            model: self.run.model.name().to_string(),
            to_do: standing.to_do,
            done: standing.done,
        }));
        let journal = Arc::clone(&self.journal);
        let breaker = Arc::new(Breaker::for_run());
        if self.plan.has_replies {
            breaker.replied_before();
        }
        if self.run.model.is_replayed() {
            // A recording is played to its end, however its tasks end.
            breaker.replied();
        }
        let fared = Arc::clone(&breaker);
        let unfinished = Arc::new(OpenUsage::default());
        let noted = Arc::clone(&unfinished);
        let events: Events = Arc::new(move |told| {
            if matches!(told.event, Event::Answered { .. }) {
                fared.replied();
            }
            noted.note(&told);
            journal.write(JournalEntry::Task(told.clone()));
            events(told);
        });
        // This token is also cancelled for internal reasons, which do not count as an interruption by the user.
        let inner = stop.child_token();
        let Plan { items, present, .. } = self.plan;
        let mut combiner = Combiner::new(Arc::clone(&self.run), present);
        let work = |item| Work {
            run: Arc::clone(&self.run),
            item,
            events: Arc::clone(&events),
            stop: inner.clone(),
            breaker: Arc::clone(&breaker),
        };
        let workers = self.run.workers.max(1);
        let worked = work_all((items, workers), &work, (&inner, &self.failed), &breaker, &mut combiner).await;
        let close = async {
            if let ToolSource::Live { host, .. } = &self.run.tools {
                host.close().await;
            }
        };
        // The file is also written after a failure: finished tasks should be in it, if it can be written.
        let ((), written) = tokio::join!(close, combiner.finish());
        let is_interrupted = worked.as_ref().is_ok_and(|interrupted| *interrupted);
        self.journal.write(JournalEntry::Run(RunEvent::RunEnded { is_interrupted }));
        if let Some(cause) = self.journal.failure() {
            return Err(OutputError::io("write", self.journal.path())(cause).into());
        }
        worked?;
        written?;
        let (run, present) = (Arc::clone(&self.run), combiner.present());
        let summary = blocking(move || summary(&run, &present)).await?;
        Ok(RunEnd { summary, interrupted: unfinished.sum(), is_interrupted, elapsed: began.elapsed() })
    }
}

/// The usage that the model has reported for tasks that are not done.
#[derive(Debug, Default)]
struct OpenUsage(Mutex<HashMap<(String, u32), Usage>>);

impl OpenUsage {
    fn note(&self, told: &TaskEvent) {
        let mut begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let run = (told.task.clone(), told.repeat);
        match &told.event {
            Event::Started => {
                begun.insert(run, Usage::default());
            }
            Event::Answered { usage, .. } => {
                begun.entry(run).and_modify(|sum| *sum = sum.plus(*usage));
            }
            Event::Finished { .. } => {
                begun.remove(&run);
            }
            _ => {}
        }
    }

    /// The number of these tasks, and the sum of their usage.
    fn sum(&self) -> (u64, Usage) {
        let begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let usage = begun.values().fold(Usage::default(), |sum, usage| sum.plus(*usage));
        (begun.len() as u64, usage)
    }
}

/// Keeps workers busy until all is done. Returns whether the run was interrupted before.
async fn work_all(
    (items, workers): (Vec<Item>, usize),
    work: &(dyn Fn(Item) -> Work + Send + Sync),
    (stop, failed): (&CancellationToken, &CancellationToken),
    breaker: &Breaker,
    combiner: &mut Combiner,
) -> Result<bool, RunError> {
    let mut left = items.into_iter().peekable();
    let mut running: JoinSet<(Item, Result<ItemEnd, RunError>)> = JoinSet::new();
    let (mut failure, mut is_interrupted) = (None, false);
    let mut open: Vec<(Item, OpenTask)> = Vec::new();
    let mut tick = tokio::time::interval(Duration::from_millis(500));
    loop {
        if failed.is_cancelled() {
            stop.cancel();
        }
        while running.len() < workers
            && !stop.is_cancelled()
            && !breaker.is_in_doubt()
            && let Some(item) = left.next()
        {
            let work = work(item.clone());
            running.spawn(async move { (item, work.work().await) });
        }
        let joined = tokio::select! {
            joined = running.join_next() => joined,
            _ = tick.tick() => {
                combiner.write_if_due().await;
                continue;
            }
        };
        let Some(joined) = joined else { break };
        match joined {
            Ok((item, Ok(ItemEnd::Done(_)))) => combiner.add(&item),
            Ok((_, Ok(ItemEnd::Interrupted))) => is_interrupted = true,
            Ok((item, Ok(ItemEnd::Open(task)))) => open.push((item, *task)),
            Ok((_, Err(error))) => {
                stop.cancel();
                failure.get_or_insert(error);
            }
            Err(error) => {
                stop.cancel();
                failure.get_or_insert(RunError::BrokeOff(error.to_string()));
            }
        }
        if breaker.has_replied()
            && failure.is_none()
            && let Err(error) = finish_open(&mut open, work, combiner).await
        {
            stop.cancel();
            failure = Some(error);
        }
    }
    is_interrupted |= stop.is_cancelled() && (left.peek().is_some() || !open.is_empty());
    if failure.is_some() || is_interrupted {
        // Tasks that are still open are run again.
    } else if breaker.is_in_doubt() {
        // Nothing is recorded for a model that answers no task.
        failure = open.pop().map(|(_, task)| task.blocker.into());
    } else {
        failure = finish_open(&mut open, work, combiner).await.err();
    }
    failure.map_or(Ok(is_interrupted), Err)
}

/// Records tasks that the model did not answer as failed: the model answers others, or too few tasks have asked it to
/// decide whether it would.
async fn finish_open(
    open: &mut Vec<(Item, OpenTask)>,
    work: &(dyn Fn(Item) -> Work + Send + Sync),
    combiner: &mut Combiner,
) -> Result<(), RunError> {
    for (item, task) in open.drain(..) {
        work(item.clone()).finish_open(task).await?;
        combiner.add(&item);
    }
    Ok(())
}

/// Sums over the predictions of the selected tasks.
fn summary(run: &Run, present: &[Vec<bool>]) -> RunSummary {
    let mut summary = RunSummary::default();
    for (repeat, present) in (1..).zip(present) {
        for (task, _) in
            run.tasks.iter().zip(present).filter(|(task, is_present)| task.is_selected && **is_present)
        {
            if let Some(kept) = run.output.kept_prediction(&task.task.id, repeat) {
                summary.add(&kept);
            }
        }
    }
    summary
}
