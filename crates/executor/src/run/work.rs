//! Runs one task, from the start of its servers to its prediction on disk.

use std::sync::Arc;
use std::time::Instant;

use m3_images::task_image::path_in_workspace;
use m3_llm::{Breaker, FailureScope, ModelBlocker, Picture, Scope};
use m3_mcp::results::{Keeps, ResultStore, StoreError};
use m3_mcp::{Host, ServerState, StartError};
use m3_support::files::{is_exhausted, is_full};
use m3_support::text::milliseconds;
use m3_trajectory::{FailureClass, RunFacts};
use tokio_util::sync::CancellationToken;

use super::output::OutputError;
use super::plan::Item;
use super::prediction::{Circumstances, Prediction, RunReport};
use super::workspace::{self, KeepWorkspaces};
use super::{Run, RunError, RunTask, ToolSource};
use crate::pool::RESULTS;
use crate::{
    Attempt, AttemptEnd, Event, Events, FinishReason, Record, RunBlocker, TaskEvent, Tools, attempt,
    prompts_hash,
};

/// How an [`Item`] ended.
pub(super) enum ItemEnd {
    /// The task's prediction is written.
    Done(FinishReason),
    /// The task was interrupted, and will be run again.
    Interrupted,
    /// The model answered neither this task nor any before it. Whether the task counts as failed is decided later.
    Open(Box<OpenTask>),
}

/// A task that the model did not answer. It counts as failed if the model answers another one.
pub(super) struct OpenTask {
    /// Why the model did not answer.
    pub(super) blocker: RunBlocker,
    record: Record,
    began: Instant,
}

/// A task being run.
pub(super) struct Work {
    pub(super) run: Arc<Run>,
    pub(super) item: Item,
    pub(super) events: Events,
    pub(super) stop: CancellationToken,
    /// The record of the model's replies and failures in the run.
    pub(super) breaker: Arc<Breaker>,
}

/// Something that a task needs was not available.
enum Unavailable {
    /// Only this task fails, with a record that says so.
    Task(FailureClass, String),
    /// No other task could be run either.
    Run(RunError),
}

impl Work {
    /// Runs the task.
    pub(super) async fn work(self) -> Result<ItemEnd, RunError> {
        let began = Instant::now();
        self.tell(Event::Started);
        let (attempted, host) = match self.ready().await {
            Ok(image) => self.attempt(image).await,
            Err(unavailable) => (Err(unavailable), None),
        };
        let worked = self.conclude(attempted, began).await;
        if let Some(host) = host {
            host.close().await;
        }
        let is_kept = match &worked {
            Ok(ItemEnd::Done(finish)) => self.run.keep.keeps(*finish),
            Ok(ItemEnd::Open(task)) => self.run.keep.keeps(task.record.finish),
            Ok(ItemEnd::Interrupted) | Err(_) => self.run.keep == KeepWorkspaces::Always,
        };
        if !is_kept {
            self.remove_workspace().await;
        }
        worked
    }

    fn task(&self) -> &RunTask {
        &self.run.tasks[self.item.task]
    }

    fn workspace(&self) -> std::path::PathBuf {
        self.run.output.workspace(&self.task().task.id, self.item.repeat)
    }

    fn tell(&self, event: Event) {
        let task = self.task().task.id.clone();
        (self.events)(TaskEvent { task, repeat: self.item.repeat, attempt: self.item.attempt, event });
    }

    /// Makes the workspace and reads the image. Returns its path in the workspace and the picture that the model is
    /// shown.
    async fn ready(&self) -> Result<Option<(String, Arc<Picture>)>, Unavailable> {
        let path = self.workspace();
        let image = self.task().task.image.clone().zip(self.task().image.clone());
        let named = image.clone();
        let folder = path.clone();
        let make = move || {
            let image = named.as_ref().map(|(image, file)| (image.as_str(), file.source()));
            workspace::make(&folder, image)
        };
        match blocking(make).await.map_err(Unavailable::Run)? {
            Err(cause) if is_full(&cause) || is_exhausted(&cause) => {
                let error = OutputError::io("make the workspace", &path)(cause);
                return Err(Unavailable::Run(error.into()));
            }
            // The image vanished, or the workspace of an earlier try cannot be removed: this concerns only this task.
            result => result.map_err(|cause| {
                let file = image.as_ref().map_or_else(String::new, |(_, file)| {
                    format!(", with a copy of `{}`", file.source().display())
                });
                of_task(format!("failed to make the workspace{file}: {cause}"))
            })?,
        }
        let Some((image, file)) = image else { return Ok(None) };
        let run = Arc::clone(&self.run);
        let picture = blocking(move || run.pictures.get(file.source(), &run.picture_limits()));
        let picture = picture.await.map_err(|error| of_task(error.to_string()))?;
        let picture = picture.map_err(|error| of_task(error.to_string()))?;
        Ok(Some((path_in_workspace(&image), picture)))
    }

    /// Starts the servers and lets the model work. The host is returned so that it can be closed.
    async fn attempt(
        &self,
        image: Option<(String, Arc<Picture>)>,
    ) -> (Result<AttemptEnd, Unavailable>, Option<Arc<Host>>) {
        let workspace = self.workspace();
        let results = workspace.join(RESULTS);
        let store = ResultStore::open(results, &workspace, self.run.redactor.clone(), Keeps::Untold);
        let store = match store {
            Ok(store) => store,
            Err(error) => return (Err(of_store(error)), None),
        };
        let (tools, host) = match &self.run.tools {
            ToolSource::Replayed { cassette, recorder } => {
                (Tools::replayed(Arc::clone(cassette), store, recorder.clone()), None)
            }
            ToolSource::Live { host: shared, recorder } => {
                let of_all = |reason| Unavailable::Run(RunError::Servers(reason));
                let of_host = |reason| Unavailable::Task(FailureClass::ServerLost, reason);
                if let Some(unavailable) = self.failed_servers(shared, of_all).await {
                    return (Err(unavailable), None);
                }
                let host = tokio::select! {
                    host = shared.for_task(&workspace) => Arc::new(host),
                    () = self.stop.cancelled() => {
                        let record = nothing(FinishReason::Interrupted, FailureClass::Other, None);
                        return (Ok(AttemptEnd::Interrupted(Box::new(record))), None);
                    }
                };
                if let Some(unavailable) = self.failed_servers(&host, of_host).await {
                    return (Err(unavailable), Some(host));
                }
                (Tools::live(Arc::clone(&host), store, recorder.clone()), Some(host))
            }
        };
        let task = self.task();
        let scope = Scope {
            task: task.task.id.clone(),
            repeat: self.item.repeat,
            attempt: self.item.attempt,
            workspace: Some(workspace.clone()),
        };
        let attempted = attempt(Attempt {
            task: &task.task,
            image,
            workspace: &workspace,
            tools: &tools,
            offered: Arc::clone(&task.offered),
            model: &self.run.model,
            options: &self.run.options,
            scope,
            events: Arc::clone(&self.events),
            stop: self.stop.clone(),
            redactor: &self.run.redactor,
        })
        .await;
        (Ok(attempted), host)
    }

    /// Why some of the host's servers cannot be called; `None` if all can. The whole run fails if the system can start
    /// nothing more.
    async fn failed_servers(
        &self,
        host: &Host,
        unavailable: impl Fn(String) -> Unavailable,
    ) -> Option<Unavailable> {
        let statuses = host.statuses().await;
        let is_exhausted = statuses.iter().any(|status| {
            matches!(status.state, ServerState::Failed(StartError::Spawn { is_exhausted: true, .. }))
        });
        let failed = statuses.iter().filter_map(|status| match &status.state {
            ServerState::Failed(error) => Some(format!("server `{}` failed: {error}", status.server)),
            // A server that has died since is started again by the first call.
            _ => None,
        });
        let failed: Vec<String> = failed.collect();
        if failed.is_empty() {
            return None;
        }
        let reason = self.run.redactor.text(&failed.join("; ")).into_owned();
        Some(if is_exhausted { Unavailable::Run(RunError::Exhausted(reason)) } else { unavailable(reason) })
    }

    /// Writes the prediction of an attempt, unless its failure concerns the whole run or may still do so.
    async fn conclude(
        &self,
        attempted: Result<AttemptEnd, Unavailable>,
        began: Instant,
    ) -> Result<ItemEnd, RunError> {
        let record = match attempted {
            Ok(AttemptEnd::Done(record)) => record,
            Ok(AttemptEnd::Blocked(blocker, record)) => {
                let RunBlocker::Model(model) = &blocker else { return Err(blocker.into()) };
                match self.breaker.failed(&self.asked(model), model) {
                    FailureScope::Model => return Err(blocker.into()),
                    FailureScope::Unknown => {
                        return Ok(ItemEnd::Open(Box::new(OpenTask { blocker, record: *record, began })));
                    }
                    FailureScope::Task => *record,
                }
            }
            Ok(AttemptEnd::Interrupted(record)) => {
                self.keep_interrupted(*record, began).await?;
                self.tell(Event::Interrupted);
                return Ok(ItemEnd::Interrupted);
            }
            Err(Unavailable::Task(class, reason)) => {
                let reason = self.run.redactor.text(&reason).into_owned();
                nothing(FinishReason::Error, class, Some(reason))
            }
            Err(Unavailable::Run(error)) => return Err(error),
        };
        self.finish(record, began).await
    }

    /// The name under which a blocker is counted. A refused request counts once for all repetitions of the task,
    /// because it would be refused again. A failure of the server counts for each repetition, because the next one may
    /// succeed.
    fn asked(&self, blocker: &ModelBlocker) -> String {
        let id = &self.task().task.id;
        if blocker.is_of_server() { format!("{id} {}", self.item.repeat) } else { id.clone() }
    }

    /// Removes the workspace. One that cannot be removed is left, and reported.
    async fn remove_workspace(&self) {
        let path = self.workspace();
        let removed = blocking(move || workspace::remove(&path)).await;
        let reason = match removed {
            Ok(Ok(())) => return,
            Ok(Err(cause)) => cause.to_string(),
            Err(error) => error.to_string(),
        };
        self.tell(Event::WorkspaceLeft { reason });
    }

    /// Makes the prediction of a record.
    fn prediction(&self, record: Record, began: Instant) -> Prediction {
        let task = self.task();
        Prediction::new(
            record,
            Circumstances {
                task: &task.task,
                model: self.run.model.name().to_string(),
                prompts: prompts_hash(self.run.options.mode),
                tools: task.offered.hash().to_owned(),
                run: RunReport {
                    facts: RunFacts {
                        key: self.item.key.clone(),
                        repeat: self.item.repeat,
                        attempt: self.item.attempt,
                        milliseconds: milliseconds(began.elapsed()),
                        no_images: self.run.options.no_images,
                    },
                    options: self.run.options.clone(),
                },
            },
        )
    }

    /// Writes the record of an interrupted task beside the predictions, if there is anything in it.
    async fn keep_interrupted(&self, record: Record, began: Instant) -> Result<(), RunError> {
        if record.turns.is_empty() {
            return Ok(());
        }
        let prediction = self.prediction(record, began);
        let (run, id, repeat) = (Arc::clone(&self.run), self.task().task.id.clone(), self.item.repeat);
        Ok(blocking(move || run.output.write_interrupted(&id, repeat, &prediction.to_line())).await??)
    }

    /// Records as failed a task that the model did not answer.
    pub(super) async fn finish_open(&self, task: OpenTask) -> Result<ItemEnd, RunError> {
        self.finish(task.record, task.began).await
    }

    /// Writes the prediction, then sends its event: whoever reads about the prediction in the journal can find it.
    async fn finish(&self, record: Record, began: Instant) -> Result<ItemEnd, RunError> {
        let prediction = self.prediction(record, began);
        let finish = prediction.finish;
        let event = Event::Finished {
            finish,
            steps: count(prediction.steps.len()),
            calls: count(prediction.steps.iter().map(|step| step.calls.len()).sum()),
            usage: prediction.usage,
            error: prediction.reason.clone().filter(|_| finish.is_failure()),
        };
        let (run, id, repeat) = (Arc::clone(&self.run), self.task().task.id.clone(), self.item.repeat);
        blocking(move || run.output.write_prediction(&id, repeat, &prediction.to_line())).await??;
        self.tell(event);
        Ok(ItemEnd::Done(finish))
    }
}

fn of_store(error: StoreError) -> Unavailable {
    match RunBlocker::of_results(error) {
        Ok(blocker) => Unavailable::Run(blocker.into()),
        Err(error) => of_task(error.to_string()),
    }
}

/// A failure of the machine or the files, not of a server.
fn of_task(reason: String) -> Unavailable {
    Unavailable::Task(FailureClass::Other, reason)
}

/// The record of a task whose model was never asked, because something was missing or the run was stopped.
fn nothing(finish: FinishReason, failure: FailureClass, reason: Option<String>) -> Record {
    Record {
        steps: Vec::new(),
        final_reply: String::new(),
        finish,
        failure: Some(failure),
        reason,
        dialogue: Vec::new(),
        turns: Vec::new(),
        images: Vec::new(),
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Runs work that waits for the disk, or takes long, on a thread of its own, so that it delays no network task.
pub(super) async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RunError> {
    tokio::task::spawn_blocking(act).await.map_err(|error| RunError::BrokeOff(error.to_string()))
}
