//! The servers of a run and what they offer.

use std::path::Path;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::RunArgs;
use super::tasks::Checked;
use crate::cli::Common;
use crate::cli::failure::{Failure, code};
use crate::cli::hosting::{
    Servers, Told, add_simulated, interrupted, select, shown_lines, start as start_all,
};
use crate::cli::printer::{Printer, Unit};
use crate::executor::nearest::nearest_tools;
use crate::executor::run::{Offered, RunTask};
use crate::mcp::config::HostConfig;
use crate::mcp::redact::Redactor;
use crate::mcp::{Host, HostOptions, Instances, ServerState, ToolCatalog};
use crate::text::shortened;

/// Reads the configuration, if there is one.
pub(super) fn configuration(
    args: &RunArgs,
    common: &Common,
    printer: Printer,
) -> Result<Option<HostConfig>, Failure> {
    let Some(path) = &args.servers else { return Ok(None) };
    let Servers::Configured(mut config) = Servers::open(path, printer)? else {
        let message = format!(
            "`{}` is a catalog; a run needs servers\nhint: a configuration with `{{\"simulated\": {{\"catalog\": ..}}}}` \
             plays it",
            path.display()
        );
        return Err(Failure::new(code::INPUT, message));
    };
    add_simulated(&mut config, || args.encoder.open(common.assets()?, printer), printer)?;
    select(&mut config, &args.server)?;
    Ok(Some(config))
}

/// Servers that tasks share, and the tools of all.
pub(super) struct Started {
    pub(super) catalog: ToolCatalog,
    pub(super) host: Host,
}

/// Starts all servers once, to know what every task will be offered, then those that tasks share.
pub(super) async fn start(
    config: &HostConfig,
    workspace: &Path,
    redactor: &Redactor,
    stop: &CancellationToken,
    printer: Printer,
) -> Result<Started, Failure> {
    let hosted = start_all(config, workspace, redactor, (printer, Told::Slow), stop).await?;
    let statuses = hosted.host.statuses().await;
    let catalog = sorted(hosted.host.catalog().without_secrets(redactor));
    hosted.host.close().await;
    let failed = statuses.iter().filter_map(|status| match &status.state {
        ServerState::Failed(error) => {
            Some(format!("{} failed: {}", status.server, shown_lines(&redactor.text(&error.to_string()))))
        }
        _ => None,
    });
    let failed: Vec<String> = failed.collect();
    if !failed.is_empty() {
        for reason in &failed {
            Printer::error(reason);
        }
        let message = "not all servers can be started, and tasks should be offered the same tools\nhint: `--server NAME` \
                       names those to use, and `\"disabled\": true` leaves one out";
        return Err(Failure::new(code::UNAVAILABLE, message));
    }
    if catalog.is_empty() {
        return Err(Failure::new(
            code::INPUT,
            "the servers offer no tool\nhint: `m3 tools CONFIG` lists them",
        ));
    }
    for rejected in catalog.servers.iter().flat_map(|server| &server.rejected) {
        printer.warn(&format!("a tool is left out: {}", shortened(&rejected.name, 100)));
    }
    let options = HostOptions { instances: Instances::Shared, ..HostOptions::new(workspace).guarded() };
    tokio::select! {
        host = Host::start(config, options, Arc::new(|_| ())) => Ok(Started { catalog, host }),
        () = stop.cancelled() => Err(interrupted()),
    }
}

/// In the order of the servers' names: the order of a configuration should change nothing.
pub(super) fn sorted(mut catalog: ToolCatalog) -> ToolCatalog {
    catalog.servers.sort_by(|a, b| a.server.cmp(&b.server));
    catalog
}

/// Decides which tools each task is offered.
pub(super) fn offer(
    args: &RunArgs,
    common: &Common,
    tasks: Vec<Checked>,
    catalog: ToolCatalog,
    printer: Printer,
) -> Result<Vec<RunTask>, Failure> {
    let count = args.asking.top_tools.map(|count| count as usize).filter(|count| *count < catalog.len());
    let Some(count) = count else {
        let all = Arc::new(Offered::new(catalog));
        return Ok(tasks.into_iter().map(|task| run_task(task, Arc::clone(&all))).collect());
    };
    let mut embedder = args.encoder.open(common.assets()?, printer)?;
    let mut bar = printer.bar(Unit::Trajectories);
    let total = tasks.len() as u64;
    let mut offered = Vec::with_capacity(tasks.len());
    for (done, checked) in (0..).zip(tasks) {
        bar.set("choosing tools", done, total);
        let text = args.options().instruction.text_of(&checked.task);
        let nearest = nearest_tools(&mut embedder, text.unwrap_or_default(), &catalog, count)?;
        offered.push(run_task(checked, Arc::new(Offered::new(nearest))));
    }
    for warning in embedder.take_warnings() {
        printer.warn(&warning);
    }
    Ok(offered)
}

fn run_task(checked: Checked, offered: Arc<Offered>) -> RunTask {
    let Checked { task, image, is_selected } = checked;
    RunTask { task, image, is_selected, offered }
}
