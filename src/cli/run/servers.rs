//! The servers of a run and their tools.

use std::path::Path;

use m3_mcp::config::HostConfig;
use m3_mcp::{Host, ServerState, ServerStatus, ToolCatalog};
use m3_support::redact::Redactor;
use m3_support::text::shortened;
use tokio_util::sync::CancellationToken;

use super::RunArgs;
use crate::cli::Common;
use crate::cli::common::failure::{Failure, code};
use crate::cli::common::hosting::{
    Servers, StartNotes, add_simulated, select, shown_lines, start as start_all,
};
use crate::cli::common::printer::Printer;

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

/// The servers that tasks share, and the tools of all servers.
pub(super) struct StartedServers {
    pub(super) catalog: ToolCatalog,
    pub(super) host: Host,
}

/// Starts all servers, to know which tools every task will be offered; those that tasks share keep running.
pub(super) async fn start(
    config: &HostConfig,
    workspace: &Path,
    redactor: &Redactor,
    stop: &CancellationToken,
    printer: Printer,
) -> Result<StartedServers, Failure> {
    let hosted = start_all(config, workspace, redactor, (printer, StartNotes::Slow), stop).await?;
    let statuses = hosted.host.statuses().await;
    if let Err(failure) = all_started(&statuses, redactor) {
        hosted.host.close().await;
        return Err(failure);
    }
    let catalog = sorted(hosted.host.catalog().without_secrets(redactor));
    if catalog.is_empty() {
        hosted.host.close().await;
        return Err(Failure::new(
            code::INPUT,
            "the servers offer no tool\nhint: `m3 tools CONFIG` lists them",
        ));
    }
    for server in &catalog.servers {
        for rejected in &server.rejected {
            let name = shortened(&format!("{}/{}", server.server, rejected.name), 100);
            printer.warn(&format!("a tool is left out: {name}: {}", shortened(&rejected.reason, 200)));
        }
    }
    let host = hosted.host.into_shared().await;
    Ok(StartedServers { catalog, host })
}

/// Fails if one of the servers is not available; prints the reason for each.
fn all_started(statuses: &[ServerStatus], redactor: &Redactor) -> Result<(), Failure> {
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
    let message = "not all servers can be started, and tasks should be offered the same tools\nhint: `--server NAME` \
                   names those to use, and `\"disabled\": true` leaves one out";
    Err(Failure::new(code::UNAVAILABLE, message))
}

/// Sorts servers by name, so that the order of a configuration does not matter.
pub(super) fn sorted(mut catalog: ToolCatalog) -> ToolCatalog {
    catalog.servers.sort_by(|a, b| a.server.cmp(&b.server));
    catalog
}
