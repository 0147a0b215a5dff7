//! The command `m3 judge`: makes references from runs that succeeded.

mod args;
mod end;
mod inputs;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

pub(super) use args::JudgeArgs;
use args::Targets;
use inputs::{Inputs, Runs};
use m3_executor::run::RunError;
use m3_judge::reference::{
    Asker, JudgeEnd, JudgeError, JudgeJournal, JudgeWork, JudgedTask, Status, Verifier, leave_out_results,
    seal,
};
use m3_llm::{Model, Pictures, Recorder, Retry, Settings};
use m3_mcp::config::HostConfig;
use m3_mcp::{HostOptions, ToolCatalog};
use m3_outcomes::{KnownTools, Replay, ReplayOptions};
use m3_support::text::hash_of_bytes;
use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::Keys;
use tokio_util::sync::CancellationToken;

use super::Common;
use crate::cli::common::{
    Bar, Failure, Output, Printer, Result, Signals, check_record, commit_all, interrupted, open_model,
    record, redactor, replay_configuration, runtime, said_of_retry, warn_of_schemas,
};

/// The inputs, model, servers and journal, opened and checked before anything is started.
struct Ready {
    inputs: Inputs,
    model: Option<Model>,
    recorder: Option<Arc<Recorder>>,
    tools: KnownTools,
    /// The servers of the replay, and the hash of their file.
    servers: Option<(HostConfig, String)>,
    journal: Option<Arc<JudgeJournal>>,
}

/// Makes references from runs.
pub(super) fn run(args: &JudgeArgs, common: &Common, printer: Printer) -> Result {
    let began = Instant::now();
    if args.rules_only && args.replies.settings() != Settings::default() {
        return Err(Failure::input(
            "`--temperature` and `--max-output-tokens` are for a judge, and `--rules-only` asks none",
        ));
    }
    let targets = Targets::of(&args.out)?;
    let files = inputs::files(&args.predictions)?;
    let mut read: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    read.extend(args.tools.as_deref().into_iter().chain(args.verify.as_deref()));
    targets.check_apart(&read, args.record.as_deref())?;
    let outputs = [&targets.references, &targets.rejected];
    let [references, rejected] = outputs.map(|path| Output::open(Some(path), &read, printer));
    let (references, rejected) = (references?, rejected?);
    targets.check_replaced(args.overwrite)?;
    let ready = prepare(args, &files, &targets, common, printer)?;
    let has_judge = ready.model.is_some();
    let runs = Runs::of(&ready.inputs);
    let runtime = runtime()?;
    let signals = Signals::listen(&runtime);
    let judged = runtime.block_on(signals.until_second(judge(args, ready, &signals.first, printer)));
    // Tasks that still wait must not keep the program running: servers end with their hosts.
    runtime.shutdown_background();
    let mut end = signals.settle_failure(judged)?;
    if end.is_interrupted {
        let saved = if has_judge || args.verify.is_some() { "what was answered is saved, and " } else { "" };
        printer.note(&format!("interrupted: {saved}the same command continues; no references were written"));
        return Err(interrupted());
    }
    // A person may have begun to review in the meantime; the answers are safe in the journal.
    targets.check_replaced(args.overwrite)?;
    let is_accepted = |task: &&mut JudgedTask| task.provenance.status == Status::Accepted;
    let (mut accepted, mut others): (Vec<_>, Vec<_>) = end.tasks.iter_mut().partition(is_accepted);
    if args.without_results {
        for task in &mut accepted {
            leave_out_results(&mut task.trajectory);
        }
    }
    let results = runs.keep_files(&mut accepted, &targets.references)?;
    for tasks in [&mut accepted, &mut others] {
        seal(tasks);
    }
    commit_all([write(&others, rejected)?, write(&accepted, references)?])?;
    end::say(&end, &targets, (has_judge, began.elapsed(), &results), printer)
}

/// Opens and checks everything before the first server is started and the first request is sent.
fn prepare(
    args: &JudgeArgs,
    files: &[PathBuf],
    targets: &Targets,
    common: &Common,
    printer: Printer,
) -> Result<Ready> {
    let catalog = args.tools.as_deref().map(Catalog::open).transpose()?;
    let tools = catalog.map(|catalog| KnownTools::new(&ToolCatalog::from(&catalog)));
    if let Some(tools) = &tools {
        warn_of_schemas(&tools.all_unusable_schemas(), "its calls are not checked", printer);
    }
    let model = args.llm.as_deref().map(|llm| {
        let (model, played) =
            open_model(llm, args.llm_key_from.as_deref(), (args.workers.into(), None), printer)?;
        check_record(args.record.as_ref(), played.as_deref())?;
        Ok::<_, Failure>(model)
    });
    let model = model.transpose()?;
    let inputs = inputs::open(args, files, printer)?;
    // Without a catalog, outcomes are decided by answers alone, and no tool counts as unknown.
    let tools = tools.unwrap_or_default();
    let servers = args.verify.as_deref().map(|path| configuration(args, path, &inputs, common, printer));
    let servers = servers.transpose()?;
    // Rules alone need no journal.
    let journal = (model.is_some() || servers.is_some()).then(|| JudgeJournal::open(&targets.journal));
    let journal = journal.transpose()?.map(Arc::new);
    let model = model.map(|model| record(model, args.record.as_ref())).transpose()?;
    let (model, recorder) = model.unzip();
    let recorder = recorder.flatten();
    Ok(Ready { inputs, model, recorder, tools, servers, journal })
}

/// Reads the configuration of the replay's servers; servers that no call names are left out.
fn configuration(
    args: &JudgeArgs,
    path: &Path,
    inputs: &Inputs,
    common: &Common,
    printer: Printer,
) -> Result<(HostConfig, String)> {
    let mut config = replay_configuration(path, &args.encoder, (common, printer))?;
    let content = std::fs::read(path).unwrap_or_default();
    config.servers.retain(|server| inputs.servers.contains(&server.name));
    Ok((config, hash_of_bytes(&content)))
}

/// Starts the servers, if a replay is wanted, and judges all tasks.
async fn judge(
    args: &JudgeArgs,
    ready: Ready,
    stop: &CancellationToken,
    printer: Printer,
) -> Result<JudgeEnd> {
    let Ready { inputs, model, recorder, tools, servers, journal } = ready;
    let Inputs { tasks, images, .. } = inputs;
    // The folder in which shared servers work; it is removed after they are closed.
    let workspace = tempfile::tempdir().map_err(|cause| Failure::temporary(&cause))?;
    let secrets: Vec<String> = servers
        .iter()
        .flat_map(|(config, _)| &config.servers)
        .flat_map(|server| server.secrets.iter().map(ToString::to_string))
        .collect();
    let verifier = match (servers, &journal) {
        (Some(servers), Some(journal)) => {
            let options = ReplayOptions { images, host: HostOptions::new(workspace.path()).guarded() };
            Some(verifier(servers, options, journal, stop).await?)
        }
        _ => None,
    };
    let (bar, done) = (Arc::new(printer.bar()), Arc::new(AtomicUsize::new(0)));
    let asker = match (model, journal) {
        (Some(model), Some(journal)) => {
            let redactor = model.redactor_with(secrets.iter().map(String::as_str)).map_err(Failure::input)?;
            let (bar, done, all) = (Arc::clone(&bar), Arc::clone(&done), tasks.len() as u64);
            let on_retry = move |retry: Retry| {
                bar.aside(|| printer.note(&said_of_retry("the judge", &retry)));
                bar.set("judging", done.load(Ordering::Relaxed) as u64, all);
            };
            let settings = args.replies.settings();
            Some(Asker::new(model, settings, journal, redactor, stop.clone(), Arc::new(on_retry)))
        }
        _ => None,
    };
    let workers = args.workers.into();
    let work =
        JudgeWork { tasks, asker, pictures: Pictures::new(), tools, verifier, workers, stop: stop.clone() };
    let ended = watched(&work, &bar, &done, printer).await;
    if let Some(verifier) = &work.verifier {
        verifier.close().await;
    }
    match recorder.and_then(|recorder| recorder.failure()) {
        Some(error) => Err(error.into()),
        None => Ok(ended?),
    }
}

/// Starts the servers that make the calls again.
async fn verifier(
    (config, hash): (HostConfig, String),
    options: ReplayOptions,
    journal: &Arc<JudgeJournal>,
    stop: &CancellationToken,
) -> Result<Verifier> {
    // This fails if the secrets of the servers cannot be redacted.
    redactor(&config)?;
    let replay = tokio::select! {
        replay = Replay::start(config, None, options) => replay.map_err(Failure::input)?,
        () = stop.cancelled() => return Err(interrupted()),
    };
    Ok(Verifier::new(replay, Arc::clone(journal), hash, stop.clone()))
}

/// Does the work, and shows its progress meanwhile: a bar on a terminal, else a line for each task.
async fn watched(
    work: &JudgeWork,
    bar: &Bar,
    done: &AtomicUsize,
    printer: Printer,
) -> Result<JudgeEnd, JudgeError> {
    let all = work.tasks.len();
    let mut show = |task: &JudgedTask| {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if !printer.is_watched() {
            printer.event(&end::line(task, (done, all)));
        }
        bar.set("judging", done as u64, all as u64);
    };
    let mut going = std::pin::pin!(work.go(&mut show));
    tokio::select! {
        biased;
        () = work.stop.cancelled() => {}
        ended = &mut going => return ended,
    }
    bar.aside(|| printer.note("waiting for replies that are under way; Ctrl-C again stops at once"));
    going.await
}

/// Writes trajectories as a list, one on each line; the file is not complete yet.
fn write(tasks: &[&mut JudgedTask], mut output: Output) -> Result<Output> {
    output.write_list(tasks.iter().map(|task| Ok(task.trajectory.to_json().to_text(Keys::AsRead))))?;
    Ok(output)
}

impl From<JudgeError> for Failure {
    fn from(error: JudgeError) -> Self {
        match error {
            JudgeError::Journal(error) => error.into(),
            JudgeError::Blocked(blocker) => RunError::RunBlocker(blocker.into()).into(),
            JudgeError::Source(error) => error.into(),
            JudgeError::Interrupted => interrupted(),
            error @ JudgeError::Replay(_) => Self::unavailable(error),
        }
    }
}
