//! The servers of a run, and the tools that each task is offered: all, the nearest to its text, or candidates with
//! those that it needs.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use m3_embedding::Embedder;
use m3_encoder::AssetOptions;
use m3_executor::nearest::nearest_tools;
use m3_executor::run::RunTask;
use m3_executor::{Instruction, OfferedTools};
use m3_mcp::config::HostConfig;
use m3_mcp::{Host, ServerState, ServerStatus, ServerTools, ToolCatalog};
use m3_outcomes::KnownTools;
use m3_servers::candidates::Candidates;
use m3_servers::distractors::DistractorKind;
use m3_support::redact::Redactor;
use m3_support::text::shortened;
use m3_trajectory::{Duplicates, Task, TrajectoryFile};
use tokio_util::sync::CancellationToken;

use crate::cli::Common;
use crate::cli::common::{
    EncoderArgs, Failure, Printer, Result, StartNotes, candidates_message,
    configuration as configuration_of_servers, interrupted, open_all, select, shown_lines,
    start as start_all, warn_of_schemas,
};
use crate::cli::run::RunArgs;
use crate::cli::run::tasks::{self, CheckedTask};

/// Opens the references that say which tools tasks need, if candidates are asked for.
pub(super) fn references(args: &RunArgs, printer: Printer) -> Result<Option<TrajectoryFile>> {
    let Some(path) = args.asking.candidates.references.as_deref() else { return Ok(None) };
    let [references] = open_all([path], Duplicates::Last, printer)?;
    Ok(Some(references))
}

/// The tools that may be offered, and their schemas. Warns of tools whose calls cannot be checked, and leaves them out
/// if `--only-checkable-tools` asks for that.
///
/// # Errors
/// The interruption of the run; the work on schemas, which come from servers, is left behind on its thread.
pub(super) async fn checkable(
    args: &RunArgs,
    mut catalog: ToolCatalog,
    (stop, printer): (&CancellationToken, Printer),
) -> Result<(ToolCatalog, KnownTools)> {
    let known = Arc::new(KnownTools::new(&catalog));
    let preparing = Arc::clone(&known);
    let preparing = tokio::task::spawn_blocking(move || drop(preparing.all_unusable_schemas()));
    tokio::select! {
        () = stop.cancelled() => return Err(interrupted()),
        _ = preparing => {}
    }
    let unusable = known.unusable_schemas();
    let is_left_out = args.asking.only_checkable_tools;
    warn_of_schemas(
        &unusable,
        if is_left_out { "not offered" } else { "its calls are not checked" },
        printer,
    );
    if is_left_out {
        let is_unusable = |server: &str, tool: &str| {
            unusable.binary_search_by_key(&format!("{server}/{tool}").as_str(), |(name, _)| name).is_ok()
        };
        for server in &mut catalog.servers {
            let ServerTools { server, tools, .. } = server;
            tools.retain(|tool| !is_unusable(server, &tool.name));
        }
    }
    drop(unusable);
    let known = known.among(&catalog);
    Ok((catalog, known))
}

/// The names of the tools whose schemas are known to be unusable.
pub(super) fn names_of_unusable(known: &KnownTools) -> HashSet<String> {
    known.unusable_schemas().into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// Warns of tools whose calls were made without a check, except for those that were named before.
pub(super) fn warn_of_unchecked(known: &KnownTools, named: &HashSet<String>, printer: Printer) {
    let mut unchecked = known.unusable_schemas();
    unchecked.retain(|(name, _)| !named.contains(*name));
    warn_of_schemas(&unchecked, "some of its calls were not checked", printer);
}

/// Decides which tools each task is offered.
pub(super) async fn offer(
    args: &RunArgs,
    assets: AssetOptions,
    (tasks, references): (Vec<CheckedTask>, Option<TrajectoryFile>),
    (catalog, known): (ToolCatalog, KnownTools),
    (stop, printer): (&CancellationToken, Printer),
) -> Result<Vec<RunTask>> {
    let nearest = args.asking.top_tools.map(|count| count as usize).filter(|count| *count < catalog.len());
    let rule = match (args.asking.candidates.choice().zip(references), nearest) {
        (Some((candidates, references)), _) => {
            Rule::Candidates { candidates, references: Box::new(references) }
        }
        (None, Some(count)) => Rule::Nearest { instruction: args.options().instruction, count },
        (None, None) => {
            let all = Arc::new(OfferedTools::among(catalog, &known));
            return Ok(tasks.into_iter().map(|task| run_task(task, Arc::clone(&all))).collect());
        }
    };
    let choice = Choice { encoder: args.encoder.clone(), rule, known, printer };
    let cancelled = stop.clone();
    let choosing = tokio::task::spawn_blocking(move || choice.choose(assets, tasks, &catalog, &cancelled));
    tokio::select! {
        // The encoder may be downloading, which cannot be stopped early.
        () = stop.cancelled() => Err(interrupted()),
        chosen = choosing => chosen.unwrap_or_else(|error| Err(Failure::unavailable(error))),
    }
}

/// The rule by which a task is offered some of all tools.
enum Rule {
    /// The tools nearest to the task's text.
    Nearest { instruction: Instruction, count: usize },
    /// The tools that the task's reference calls, and distractors.
    Candidates { candidates: Candidates, references: Box<TrajectoryFile> },
}

impl Rule {
    fn needs_encoder(&self) -> bool {
        match self {
            Self::Nearest { .. } => true,
            Self::Candidates { candidates, .. } => candidates.kind == DistractorKind::Near,
        }
    }

    /// The tools of a task, or the reason why it has none.
    fn choose(
        &self,
        task: &Task,
        catalog: &ToolCatalog,
        embedder: Option<&mut Embedder>,
        stop: &CancellationToken,
    ) -> Result<Result<ToolCatalog, String>> {
        match (self, embedder) {
            (Self::Nearest { instruction, count }, Some(embedder)) => {
                let text = instruction.text_of(task).unwrap_or_default();
                let nearest = nearest_tools(embedder, text, catalog, *count, &mut |_| !stop.is_cancelled())?;
                nearest.map(Ok).ok_or_else(interrupted)
            }
            (Self::Nearest { .. }, None) => Ok(Ok(catalog.clone())),
            (Self::Candidates { candidates, references }, embedder) => {
                let Some(index) = references.find(&task.id) else {
                    let name = references.name();
                    return Ok(Err(format!(
                        "`{name}` has no reference for it\nhint: `--references` should hold every task, to say which tools \
                         it needs"
                    )));
                };
                let chosen = candidates.for_task(&references.read(index)?, catalog, embedder);
                Ok(chosen.map_err(|error| candidates_message(&error)))
            }
        }
    }
}

/// Chooses the tools of tasks.
struct Choice {
    encoder: EncoderArgs,
    rule: Rule,
    /// All tools, with their schemas.
    known: KnownTools,
    printer: Printer,
}

impl Choice {
    /// The tools of each task. This takes a while, so do not call it on asynchronous threads.
    fn choose(
        &self,
        assets: AssetOptions,
        tasks: Vec<CheckedTask>,
        catalog: &ToolCatalog,
        stop: &CancellationToken,
    ) -> Result<Vec<RunTask>> {
        let mut embedder =
            self.rule.needs_encoder().then(|| self.encoder.open(assets, self.printer)).transpose()?;
        let bar = self.printer.bar();
        let total = tasks.len() as u64;
        let (mut offered, mut problems) = (Vec::with_capacity(tasks.len()), Vec::new());
        let mut choices = HashMap::new();
        for (done, checked) in (0..).zip(tasks) {
            bar.set("choosing tools", done, total);
            if stop.is_cancelled() {
                return Err(interrupted());
            }
            let chosen = match self.rule.choose(&checked.task, catalog, embedder.as_mut(), stop)? {
                Ok(chosen) => chosen,
                Err(problem) if checked.is_selected => {
                    problems.push(tasks::of_task(&checked.task, &problem));
                    continue;
                }
                // The task is not run, so its tools do not matter.
                Err(_) => ToolCatalog::default(),
            };
            // Tasks with the same tools share them.
            let chosen = OfferedTools::among(chosen, &self.known);
            let same = choices.entry(chosen.hash().to_owned()).or_insert_with(|| Arc::new(chosen));
            offered.push(run_task(checked, Arc::clone(same)));
        }
        drop(bar);
        if !problems.is_empty() {
            return Err(tasks::say_problems(&problems));
        }
        for warning in embedder.iter_mut().flat_map(Embedder::take_warnings) {
            self.printer.warn(&warning);
        }
        Ok(offered)
    }
}

fn run_task(checked: CheckedTask, offered: Arc<OfferedTools>) -> RunTask {
    let CheckedTask { task, image, is_selected } = checked;
    RunTask { task, image, is_selected, offered }
}

/// Reads the configuration, if there is one.
pub(super) fn configuration(args: &RunArgs, common: &Common, printer: Printer) -> Result<Option<HostConfig>> {
    let Some(path) = &args.servers else { return Ok(None) };
    let refusal = format!(
        "`{}` is a catalog; a run needs servers\nhint: a configuration with `{{\"simulated\": {{\"catalog\": ..}}}}` \
         plays it",
        path.display()
    );
    let mut config = configuration_of_servers(path, &args.encoder, &refusal, (common, printer))?;
    select(&mut config, &args.server)?;
    Ok(Some(config))
}

/// Starts all servers, to know their tools, which every task may be offered. Returns the tools, and the host of the
/// servers that tasks share, which keep running.
pub(super) async fn start(
    config: &HostConfig,
    workspace: &Path,
    redactor: &Redactor,
    stop: &CancellationToken,
    printer: Printer,
) -> Result<(ToolCatalog, Host)> {
    let hosted = start_all(config, workspace, redactor, (printer, StartNotes::Slow), stop).await?;
    let statuses = hosted.host.statuses().await;
    if let Err(failure) = all_started(&statuses, redactor) {
        hosted.host.close().await;
        return Err(failure);
    }
    let catalog = sorted(hosted.host.catalog().without_secrets(redactor));
    if catalog.is_empty() {
        hosted.host.close().await;
        return Err(Failure::input("the servers offer no tool\nhint: `m3 tools CONFIG` lists them"));
    }
    for server in &catalog.servers {
        for rejected in &server.rejected {
            let name = shortened(&format!("{}/{}", server.server, rejected.name), 100);
            printer.warn(&format!("a tool is left out: {name}: {}", shortened(&rejected.reason, 200)));
        }
    }
    Ok((catalog, hosted.host.into_shared().await))
}

/// Fails if one of the servers is not available; prints the reason for each.
fn all_started(statuses: &[ServerStatus], redactor: &Redactor) -> Result {
    let failed = statuses.iter().filter_map(|status| match &status.state {
        ServerState::Failed(error) => {
            Some(format!("{} failed: {}", status.server, shown_lines(&redactor.text(&error.to_string()))))
        }
        // A server that has died since is started again by the first call.
        _ => None,
    });
    let failed: Vec<String> = failed.collect();
    if failed.is_empty() {
        return Ok(());
    }
    for reason in &failed {
        Printer::error(reason);
    }
    Err(Failure::unavailable(
        "not all servers can be started, and tasks should be offered the same tools\nhint: `--server NAME` \
                   names those to use, and `\"disabled\": true` leaves one out",
    ))
}

/// Sorts servers by name, so that the order of a configuration does not matter.
pub(super) fn sorted(mut catalog: ToolCatalog) -> ToolCatalog {
    catalog.servers.sort_by(|a, b| a.server.cmp(&b.server));
    catalog
}
