//! The command `m3 serve`: serves m3's own servers. The options of `score` and `simulated` are in modules of their own.

mod score;
mod simulated;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use m3_mcp::Toolbox;
use m3_mcp::serve::{EndReason, HttpOptions, HttpServer, ServeError, http as http_of_tools, stdio};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use super::Common;
use crate::cli::common::{Failure, Printer, Result, asked_to_end, code, print, single_thread_runtime};

/// Options of `m3 serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ServeArgs {
    #[command(subcommand)]
    server: Server,
    #[command(flatten)]
    reach: Reach,
}

const EXAMPLES: &str = "\
Over standard input and output unless --http is given. A client's configuration then says:
  {\"mcpServers\": {\"math\": {\"command\": \"m3\", \"args\": [\"serve\", \"math\"]}}}

Examples:
  m3 serve math
  m3 serve image --workspace ~/pictures
  m3 serve barcode --http 127.0.0.1:8080";

#[derive(Debug, Subcommand)]
enum Server {
    /// Read barcodes and QR codes in images
    Barcode(WorkspaceArgs),
    /// Crop, draw on, blur, resize and otherwise edit images
    Image(WorkspaceArgs),
    /// Calculate with numbers and lists of numbers
    Math,
    /// Score trajectories: as tools, and over HTTP for trainers
    Score(Box<score::ScoreServerArgs>),
    /// Play the servers of any catalog, from recorded results and made-up ones
    Simulated(Box<simulated::SimulatedArgs>),
}

/// The options of a server that reads files.
#[derive(Debug, Args)]
struct WorkspaceArgs {
    /// The folder whose files the tools may use, and no others
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
}

/// Options on how clients reach the server.
#[derive(Debug, Args)]
struct Reach {
    /// Serve streamable HTTP at this address instead; port 0 takes a free one. The first line of standard output
    /// is JSON with the address
    #[arg(long, value_name = "ADDRESS:PORT", global = true)]
    http: Option<SocketAddr>,
    /// Let other machines connect, which reach this one as HOST (a name or an address; may be repeated). There is no
    /// authentication
    #[arg(long, value_name = "HOST", global = true, requires = "http")]
    allow_remote: Vec<String>,
}

/// Serves until the client ends the connection or the user stops it.
pub(super) fn run(args: ServeArgs, common: &Common, printer: Printer) -> Result {
    let http = args.reach.http.map(|address| HttpOptions { address, allowed_hosts: args.reach.allow_remote });
    // On a single thread, calls begin in the order in which they arrive; long work runs on other threads.
    let runtime = single_thread_runtime()?;
    let ended = match (args.server, http) {
        (Server::Score(score), Some(options)) => {
            let desk = score::open(*score, common, printer)?;
            let ending = async |server| desk.end(server).await;
            over_http(&runtime, score::serve(&desk, &options), ending, printer)
        }
        (server, http) => {
            let Some(toolboxes) = toolboxes(server, http.is_some(), common, printer)? else {
                return Ok(());
            };
            match (http, toolboxes.as_slice()) {
                (Some(options), _) => {
                    over_http(&runtime, http_of_tools(toolboxes, &options), HttpServer::stop, printer)
                }
                (None, [toolbox]) => {
                    runtime.block_on(stdio(Arc::clone(toolbox))).map_err(|error| failed(&error))
                }
                (None, several) => Err(Failure::input(format!(
                    "{} servers cannot share standard input\nhint: serve them with `--http`",
                    several.len()
                ))),
            }
        }
    };
    // A thread may still wait for input that never comes.
    runtime.shutdown_background();
    match ended? {
        EndReason::InputClosed => Ok(()),
        EndReason::Crashed => Err(Failure::silent(code::CRASHED)),
    }
}

/// The servers to serve; `None` if a configuration was printed instead.
fn toolboxes(
    server: Server,
    is_http: bool,
    common: &Common,
    printer: Printer,
) -> Result<Option<Vec<Arc<dyn Toolbox>>>> {
    Ok(Some(vec![match server {
        Server::Barcode(files) => builtin("barcode", &files.workspace)?,
        Server::Image(files) => builtin("image", &files.workspace)?,
        Server::Math => builtin("math", Path::new("."))?,
        Server::Score(score) => score::toolbox(&score::open(*score, common, printer)?),
        Server::Simulated(simulated) => return simulated::toolboxes(&simulated, is_http, common, printer),
    }]))
}

/// One of the servers that need only a workspace.
fn builtin(name: &str, workspace: &Path) -> Result<Arc<dyn Toolbox>> {
    match m3_servers::builtin(name, workspace) {
        Ok(Some(toolbox)) => Ok(toolbox),
        Ok(None) => Err(Failure::input(format!("there is no server `{name}`"))),
        Err(error) => Err(Failure::input(error)),
    }
}

fn over_http(
    runtime: &Runtime,
    starting: impl Future<Output = Result<HttpServer, ServeError>>,
    ending: impl AsyncFnOnce(HttpServer),
    printer: Printer,
) -> Result<EndReason> {
    runtime.block_on(async {
        let server = starting.await.map_err(|error| failed(&error))?;
        announce(&server, printer)?;
        asked_to_end().await;
        // A user who asks twice does not want to wait.
        tokio::select! {
            () = ending(server) => {}
            () = asked_to_end() => {}
        }
        Ok(EndReason::InputClosed)
    })
}

/// Prints the servers' addresses: a line of JSON for programs, and lines for people.
fn announce(server: &HttpServer, printer: Printer) -> Result {
    let endpoints: Map<String, Value> =
        server.endpoints().map(|(name, url)| (name.to_owned(), Value::String(url))).collect();
    let line = json!({ "address": server.address().to_string(), "servers": endpoints });
    print(format!("{line}\n"))?;
    for (name, url) in server.endpoints() {
        printer.note(&format!("`{name}` is served at {url}"));
    }
    if !server.address().ip().is_loopback() {
        printer.warn("other machines may call these tools, and nobody asks them who they are");
    }
    printer.note("Ctrl-C stops the server");
    Ok(())
}

fn failed(error: &ServeError) -> Failure {
    let code = match error {
        ServeError::Remote { .. } | ServeError::DuplicateName { .. } => code::INPUT,
        _ => code::UNAVAILABLE,
    };
    let cause = std::error::Error::source(error).map(|cause| format!("\ncause: {cause}")).unwrap_or_default();
    Failure::new(code, format!("{error}{cause}"))
}
