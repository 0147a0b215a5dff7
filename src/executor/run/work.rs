//! One task from the start of its servers to its prediction on disk.

use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::output::OutputError;
use super::plan::Item;
use super::prediction::{Circumstances, Prediction, RunReport};
use super::workspace::{self, KeepWorkspaces, RESULTS};
use super::{Run, RunError, RunTask, ToolSource};
use crate::executor::event::milliseconds;
use crate::executor::{
    Attempt, Attempted, Event, Events, FinishReason, Record, Told, Tools, attempt, prompts_hash,
};
use crate::llm::{Picture, Scope};
use crate::mcp::results::ResultStore;
use crate::mcp::{Host, ServerState};
use crate::task_image::path_in_workspace;

/// What became of an [`Item`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worked {
    /// Its prediction is written.
    Done(FinishReason),
    /// It was interrupted, and will be run again.
    Interrupted,
}

/// A task on its way.
pub(super) struct Work {
    pub(super) run: Arc<Run>,
    pub(super) item: Item,
    pub(super) events: Events,
    pub(super) stop: CancellationToken,
}

/// What a task needs and could not be had: it ends with a record that says so.
struct Unavailable(String);

impl Work {
    /// Does it.
    pub(super) async fn work(self) -> Result<Worked, RunError> {
        let began = Instant::now();
        self.tell(Event::Started);
        self.make_workspace().await?;
        let tried = match self.image().await {
            Ok(image) => self.attempt(image).await?,
            Err(Unavailable(reason)) => (Attempted::Done(failed(reason)), None),
        };
        let (attempted, host) = tried;
        let worked = match attempted {
            Attempted::Done(record) => self.finish(record, began).await,
            Attempted::Interrupted => {
                self.tell(Event::Interrupted);
                Ok(Worked::Interrupted)
            }
        };
        if let Some(host) = host {
            host.close().await;
        }
        let is_kept = match self.run.keep {
            KeepWorkspaces::Always => true,
            KeepWorkspaces::Failed => matches!(worked, Ok(Worked::Done(FinishReason::Error))),
            KeepWorkspaces::Never => false,
        };
        if !is_kept {
            let path = self.workspace();
            let removed = path.clone();
            blocking(move || workspace::remove(&removed)).await?.map_err(OutputError::io("remove", &path))?;
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
        (self.events)(Told { task, repeat: self.item.repeat, attempt: self.item.attempt, event });
    }

    async fn make_workspace(&self) -> Result<(), RunError> {
        let path = self.workspace();
        let image = self.task().task.image.clone().zip(self.task().image.clone());
        let folder = path.clone();
        let act = move || {
            let image = image.as_ref().map(|(image, file)| (image.as_str(), file.source.as_path()));
            workspace::make(&folder, image)
        };
        Ok(blocking(act).await?.map_err(OutputError::io("make the workspace", &path))?)
    }

    /// The image: its path in the workspace, and what the model is shown.
    async fn image(&self) -> Result<Option<(String, Arc<Picture>)>, Unavailable> {
        let Some((image, file)) = self.task().task.image.as_ref().zip(self.task().image.as_ref()) else {
            return Ok(None);
        };
        let (run, source) = (Arc::clone(&self.run), file.source.clone());
        let picture = blocking(move || run.pictures.get(&source, &run.picture_limits()));
        let picture = picture.await.map_err(|error| Unavailable(error.to_string()))?;
        let picture = picture.map_err(|error| Unavailable(error.to_string()))?;
        Ok(Some((path_in_workspace(image), picture)))
    }

    /// Starts the servers and lets the model work. The host comes back to be closed.
    async fn attempt(
        &self,
        image: Option<(String, Arc<Picture>)>,
    ) -> Result<(Attempted, Option<Arc<Host>>), RunError> {
        let workspace = self.workspace();
        let store = ResultStore::open(workspace.join(RESULTS), &workspace, self.run.redactor.clone())
            .map_err(RunError::Results)?;
        let (tools, host) = match &self.run.tools {
            ToolSource::Replayed(cassette) => (Tools::replayed(Arc::clone(cassette), store), None),
            ToolSource::Live { host, recorder } => {
                let host = tokio::select! {
                    host = host.for_task(&workspace) => Arc::new(host),
                    () = self.stop.cancelled() => return Ok((Attempted::Interrupted, None)),
                };
                if let Some(reason) = self.missing_servers(&host).await {
                    return Ok((Attempted::Done(failed(reason)), Some(host)));
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
            offered: &task.offered.catalog,
            model: &self.run.model,
            options: &self.run.options,
            scope,
            events: Arc::clone(&self.events),
            stop: self.stop.clone(),
            redactor: &self.run.redactor,
        })
        .await;
        Ok((attempted, host))
    }

    /// Why servers could not be started that all tasks should have.
    async fn missing_servers(&self, host: &Host) -> Option<String> {
        let statuses = host.statuses().await;
        let failed = statuses.iter().filter_map(|status| match &status.state {
            ServerState::Failed(error) => Some(format!("server `{}` failed: {error}", status.server)),
            // One that has died since is started again by the first call.
            _ => None,
        });
        let failed: Vec<String> = failed.collect();
        (!failed.is_empty()).then(|| self.run.redactor.text(&failed.join("; ")).into_owned())
    }

    /// Writes the prediction, then tells of it: whoever reads of it in the journal finds it.
    async fn finish(&self, record: Record, began: Instant) -> Result<Worked, RunError> {
        let task = self.task();
        let mut prediction = Prediction::new(
            record,
            Circumstances {
                task: &task.task,
                model: self.run.model.name().to_string(),
                prompts: prompts_hash(self.run.options.mode),
                tools: task.offered.hash.clone(),
                run: RunReport {
                    key: self.item.key.clone(),
                    repeat: self.item.repeat,
                    attempt: self.item.attempt,
                    milliseconds: milliseconds(began.elapsed()),
                    options: self.run.options.clone(),
                },
            },
        );
        // Secrets of servers are gone already; the model's key may have come back from a tool.
        prediction.redact(self.run.model.redactor());
        let finish = prediction.finish;
        let event = Event::Finished {
            finish,
            steps: count(prediction.steps.len()),
            calls: count(prediction.steps.iter().map(|step| step.calls.len()).sum()),
            usage: prediction.usage,
            error: prediction.reason.clone().filter(|_| finish == FinishReason::Error),
        };
        let (run, id, repeat) = (Arc::clone(&self.run), task.task.id.clone(), self.item.repeat);
        blocking(move || run.output.write_prediction(&id, repeat, &prediction.to_line())).await??;
        self.tell(event);
        Ok(Worked::Done(finish))
    }
}

/// The record of a task that could not be begun.
fn failed(reason: String) -> Record {
    Record {
        steps: Vec::new(),
        final_reply: String::new(),
        finish: FinishReason::Error,
        reason: Some(reason),
        dialogue: Vec::new(),
        turns: Vec::new(),
        images: Vec::new(),
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Does what waits for the disk or takes long apart from the tasks that wait for the network.
pub(super) async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RunError> {
    tokio::task::spawn_blocking(act).await.map_err(|error| RunError::BrokeOff(error.to_string()))
}
