//! Replays a trajectory: makes its calls again, step after step, all calls of a step at once, in a separate workspace
//! and with servers that no other trajectory has used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::join_all;
use m3_images::task_image::{self, Copies};
use m3_mcp::config::HostConfig;
use m3_mcp::results::{file_of, put_file};
use m3_mcp::{CallError, Events, Host, HostOptions, ServerState, StartError, ToolName, ToolResult};
use m3_support::redact::{Redactor, RedactorError};
use m3_trajectory::json::Json;
use m3_trajectory::{Call, Trajectory, file_names};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::call_result::{CallResult, message, without_secrets};
use super::check::{CallChecker, ClassifiedCall, Reply, classify_trajectory, excuse_missing_image};
use super::known::KnownTools;
use super::outcome::Outcome;

/// Makes the calls of trajectories again.
pub struct Replay {
    config: HostConfig,
    /// Servers that trajectories may share.
    shared: Arc<Host>,
    /// The tools that were offered, if a catalog gives them; else the servers' lists count.
    offered: Option<Arc<KnownTools>>,
    options: ReplayOptions,
    /// Removes the secrets of the configuration, which must not get into a report.
    redactor: Arc<Redactor>,
}

/// Options of a replay: where images are, and how servers are started.
#[derive(Debug, Clone)]
pub struct ReplayOptions {
    /// The only folders that are searched for the images of trajectories.
    pub images: Vec<PathBuf>,
    /// How servers are started; the workspace is for the servers that trajectories share.
    pub host: HostOptions,
}

/// A trajectory that was replayed.
#[derive(Debug)]
pub struct ReplayedTrajectory {
    /// The trajectory, with the new results and outcomes in place of the recorded ones.
    pub trajectory: Trajectory,
    /// The calls of the trajectory with their outcomes.
    pub calls: Vec<ClassifiedCall>,
    /// Servers that the trajectory needed but that were not available, with the reason.
    pub unavailable: BTreeMap<String, String>,
    /// The tools against which the calls were checked.
    pub tools: Arc<KnownTools>,
    /// Whether the trajectory names an image that was not found.
    pub lacks_image: bool,
}

/// Why a replay is impossible.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// No workspace could be created.
    #[error("failed to make a workspace in the folder for temporary files (TMPDIR): {}\nhint: {}", .0, m3_support::files::hint(.0))]
    Workspace(#[source] std::io::Error),
    /// The machine cannot start any further server.
    #[error("{0}")]
    Exhausted(String),
    /// The user stopped the replay.
    #[error("the replay was cancelled")]
    Cancelled,
}

impl Replay {
    /// Starts the servers that trajectories may share. `offered` are the tools that the model had, if they are known;
    /// otherwise those in the servers' lists count as offered.
    ///
    /// # Errors
    /// [`RedactorError`] for secrets that cannot be searched for.
    pub async fn start(
        config: HostConfig,
        offered: Option<Arc<KnownTools>>,
        options: ReplayOptions,
    ) -> Result<Self, RedactorError> {
        let secrets: Vec<&str> =
            config.servers.iter().flat_map(|server| &server.secrets).map(String::as_str).collect();
        let redactor = Arc::new(Redactor::new(secrets)?);
        let mut stateless = config.clone();
        stateless.servers.retain(|server| server.is_stateless);
        let shared = Host::start(&stateless, options.host.clone(), silent()).await;
        Ok(Self { config, shared: Arc::new(shared), offered, options, redactor })
    }

    /// Ends the servers that trajectories share.
    pub async fn close(&self) {
        self.shared.close().await;
    }

    /// Replays one trajectory.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub async fn replay(
        &self,
        mut trajectory: Trajectory,
        cancel: &CancellationToken,
    ) -> Result<ReplayedTrajectory, ReplayError> {
        let folder =
            tempfile::Builder::new().prefix("m3-replay-").tempdir().map_err(ReplayError::Workspace)?;
        // Servers repeat the folder's name in messages, which should be the same on every run.
        let workspace = folder.path().join("workspace");
        std::fs::create_dir(&workspace).map_err(ReplayError::Workspace)?;
        let lacks_image = self.copy_image(&trajectory, &workspace).await.map_err(ReplayError::Workspace)?;
        let mut config = self.config.clone();
        config.servers.retain(|server| {
            !server.is_stateless && trajectory.calls().any(|(_, call)| is_of(call, &server.name))
        });
        let options = HostOptions { workspace: workspace.clone(), ..self.options.host.clone() };
        let own = tokio::select! {
            own = Host::start(&config, options, silent()) => Arc::new(own),
            () = cancel.cancelled() => return Err(ReplayError::Cancelled),
        };
        if let Some(reason) = self.exhausted(&own).await {
            own.close().await;
            return Err(ReplayError::Exhausted(reason));
        }
        let unavailable = self.unavailable(&own, &trajectory).await;
        let known = self.known(&own, &unavailable);
        let results = self.calls((&own, &workspace), &trajectory, &known, cancel).await;
        own.close().await;
        if cancel.is_cancelled() {
            return Err(ReplayError::Cancelled);
        }
        let results = results.map_err(ReplayError::Workspace)?;
        let mut replies: Vec<Option<Reply>> = Vec::with_capacity(results.len());
        let calls = trajectory.steps.iter_mut().flat_map(|step| &mut step.calls);
        for (call, result) in calls.zip(results) {
            record(call, &result);
            replies.push(Some(result.reply));
        }
        let mut calls = classify_trajectory(&trajectory, &known, &mut |index, _| {
            replies.get_mut(index).and_then(Option::take).unwrap_or(Reply::NotExecuted)
        });
        if lacks_image {
            excuse_missing_image(&trajectory, &mut calls);
        }
        record_outcomes(&mut trajectory, &calls);
        Ok(ReplayedTrajectory { trajectory, calls, unavailable, tools: known, lacks_image })
    }

    /// The first server that could not be started because the machine is exhausted, with the reason, on one line.
    async fn exhausted(&self, own: &Host) -> Option<String> {
        let mut statuses = own.statuses().await;
        statuses.extend(self.shared.statuses().await);
        statuses.into_iter().find_map(|status| match status.state {
            ServerState::Failed(error @ StartError::Spawn { is_exhausted: true, .. }) => {
                let reason = format!("server `{}` failed: {error}", status.server);
                Some(self.redactor.text(&reason).into_owned())
            }
            _ => None,
        })
    }

    /// The servers that the trajectory calls but that are not available.
    async fn unavailable(&self, own: &Host, trajectory: &Trajectory) -> BTreeMap<String, String> {
        let mut statuses = own.statuses().await;
        statuses.extend(self.shared.statuses().await);
        let is_called = |server: &str| trajectory.calls().any(|(_, call)| is_of(call, server));
        let reason = |state: ServerState| match state {
            // A server that died is started again by the first call.
            ServerState::Ready(_) | ServerState::Died { .. } => None,
            ServerState::Disabled => Some("it is disabled in the configuration".to_owned()),
            ServerState::Failed(error) => Some(message(&error, &self.redactor)),
        };
        statuses
            .into_iter()
            .filter(|status| is_called(&status.server))
            .filter_map(|status| Some((status.server, reason(status.state)?)))
            .collect()
    }

    /// The tools against which calls are checked.
    fn known(&self, own: &Host, unavailable: &BTreeMap<String, String>) -> Arc<KnownTools> {
        if let Some(offered) = &self.offered {
            return Arc::clone(offered);
        }
        let mut known = KnownTools::new(&own.catalog());
        known.add(&self.shared.catalog());
        for server in unavailable.keys() {
            known.add_silent_server(server);
        }
        Arc::new(known)
    }

    /// Makes the calls; returns their results in order. Fails if a result's file cannot be put into the workspace.
    async fn calls(
        &self,
        (own, workspace): (&Arc<Host>, &Path),
        trajectory: &Trajectory,
        known: &Arc<KnownTools>,
        cancel: &CancellationToken,
    ) -> std::io::Result<Vec<CallResult>> {
        let mut results = Vec::with_capacity(trajectory.call_count());
        for step in &trajectory.steps {
            let first = results.len();
            let mut running = Vec::with_capacity(step.calls.len());
            for (index, call) in step.calls.iter().enumerate() {
                results.push(CallResult { reply: Reply::NotExecuted, result: None });
                // Arguments that do not match the schema are sent too: many servers accept them, and later calls may
                // depend on the effects.
                let Some(arguments) = CallChecker::new(known).check(call).arguments else { continue };
                let Some(name) = ToolName::parse(&call.tool) else { continue };
                let names = call.result.as_ref().map(file_names).unwrap_or_default();
                let names: Vec<Option<String>> =
                    names.into_iter().map(|name| name.map(str::to_owned)).collect();
                let host = self.host_of(own, &name);
                running.push(async move {
                    let outcome = host.call(&name, arguments, cancel).await;
                    let (redactor, workspace) = (Arc::clone(&self.redactor), workspace.to_owned());
                    let take = move || given_by(&name, outcome.result, &redactor, (&names, &workspace));
                    let taken = tokio::task::spawn_blocking(take).await.map_err(std::io::Error::other);
                    (index, taken.flatten())
                });
            }
            // The requests are sent by one task, in their order: servers number files that have no name.
            for (index, answer) in join_all(running).await {
                if let Some(place) = results.get_mut(first + index) {
                    *place = answer?;
                }
            }
        }
        Ok(results)
    }

    fn host_of(&self, own: &Arc<Host>, name: &ToolName) -> Arc<Host> {
        let is_shared =
            self.config.servers.iter().any(|server| server.name == name.server && server.is_stateless);
        Arc::clone(if is_shared { &self.shared } else { own })
    }

    /// Puts the trajectory's image into the workspace. Returns true if an image is named but was not found.
    async fn copy_image(&self, trajectory: &Trajectory, workspace: &Path) -> std::io::Result<bool> {
        let Some(image) = trajectory.image.clone() else { return Ok(false) };
        let (folders, workspace) = (self.options.images.clone(), workspace.to_owned());
        let copied = tokio::task::spawn_blocking(move || match task_image::locate(&image, &folders) {
            Some(source) => task_image::put(&image, &source, &workspace, Copies::WithMedia).map(|()| false),
            None => Ok(true),
        });
        copied.await.map_err(std::io::Error::other)?
    }
}

/// The result of a call, with secrets removed. Its files are put into the workspace under the names that the run gave
/// them, where later calls expect them.
fn given_by(
    name: &ToolName,
    result: Result<ToolResult, CallError>,
    redactor: &Redactor,
    (names, workspace): (&[Option<String>], &Path),
) -> std::io::Result<CallResult> {
    let result = match result {
        Ok(result) => without_secrets(result, redactor),
        Err(error) => return Ok(CallResult::failed(name, &error, redactor)),
    };
    let files = result.content.iter().filter_map(file_of);
    for (name, bytes) in names.iter().zip(files) {
        if let (Some(name), Ok(bytes)) = (name, bytes) {
            put_file(workspace, name, &bytes)?;
        }
    }
    let mut call_result = CallResult::answered(&result);
    if let Some((value, _)) = &mut call_result.result {
        name_files(value, names);
    }
    Ok(call_result)
}

/// Keeps the names of files with the new result, so that it can be replayed like the old one.
fn name_files(result: &mut Value, names: &[Option<String>]) {
    let Some(Value::Array(parts)) = result.get_mut("content") else { return };
    let holders = parts.iter_mut().filter_map(|part| {
        let is_resource = part.get("resource").is_some();
        if is_resource { part.get_mut("resource")?.as_object_mut() } else { part.as_object_mut() }
    });
    let files = holders.filter(|holder| holder.contains_key("data") || holder.contains_key("blob"));
    for (file, name) in files.zip(names) {
        if let Some(name) = name {
            file.insert("name".to_owned(), Value::String(name.clone()));
        }
    }
}

/// Replaces the recorded result of a call, or records why it was not answered. The mark of a call that is not valid in
/// the protocol stays.
fn record(call: &mut Call, call_result: &CallResult) {
    let is_illegal = call.recorded_outcome() == Some(Outcome::IllegalFormat.name());
    // The recorded time belongs to the earlier run.
    let is_replaced =
        |key: &str| matches!(key, "is_error" | "isError" | "milliseconds") || key == "outcome" && !is_illegal;
    call.extra.retain(|(key, _)| !is_replaced(key));
    call.result = call_result.result.as_ref().map(|(value, _)| Json::from(value));
    if call_result.result.as_ref().is_some_and(|(_, is_error)| *is_error) {
        call.extra.push(("is_error".to_owned(), Json::Bool(true)));
    }
    if let Reply::NoAnswer(why, _) = &call_result.reply {
        call.extra.push(("outcome".to_owned(), Json::String(why.name().to_owned())));
    }
}

/// Records the outcome of each call, as a run does: a call that was not made is an error as well.
fn record_outcomes(trajectory: &mut Trajectory, classified: &[ClassifiedCall]) {
    let calls = trajectory.steps.iter_mut().flat_map(|step| &mut step.calls);
    let classified = classified.iter().filter(|classified| classified.tool.is_some());
    for (call, classified) in calls.zip(classified) {
        let verdict = classified.classification.verdict();
        call.extra.retain(|(key, _)| key != "outcome");
        if call.result.is_none() && verdict.outcome().is_some() && !call.is_error() {
            call.extra.push(("is_error".to_owned(), Json::Bool(true)));
        }
        call.extra.push(("outcome".to_owned(), Json::String(verdict.name().to_owned())));
    }
}

fn is_of(call: &Call, server: &str) -> bool {
    call.tool.strip_prefix(server).is_some_and(|rest| rest.starts_with('/'))
}

fn silent() -> Events {
    Arc::new(|_| ())
}
