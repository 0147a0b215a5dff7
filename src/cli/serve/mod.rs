//! `m3 serve`: each server's options have their own file; this one serves them.

mod simulated;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use m3_mcp::Toolbox;
use m3_mcp::serve::{Ended, HttpOptions, HttpServer, ServeError, http, stdio};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};

use super::Common;
use super::failure::{Failure, code};
use super::printer::Printer;

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
    /// Play the servers of any catalog, from recorded results and made-up ones
    Simulated(Box<simulated::SimulatedArgs>),
}

/// What a server that reads files takes.
#[derive(Debug, Args)]
struct WorkspaceArgs {
    /// The folder whose files the tools may use, and no others
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
}

/// How clients reach the server.
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
pub(super) fn run(args: ServeArgs, common: &Common, printer: Printer) -> Result<(), Failure> {
    let toolboxes = match args.server {
        Server::Barcode(files) => vec![builtin("barcode", &files.workspace)?],
        Server::Image(files) => vec![builtin("image", &files.workspace)?],
        Server::Math => vec![builtin("math", Path::new("."))?],
        Server::Simulated(simulated) => {
            match simulated::toolboxes(&simulated, args.reach.http.is_some(), common, printer)? {
                Some(toolboxes) => toolboxes,
                None => return Ok(()),
            }
        }
    };
    let options =
        args.reach.http.map(|address| HttpOptions { address, allowed_hosts: args.reach.allow_remote });
    serve(toolboxes, options, printer)
}

/// One of the servers that need only a workspace.
fn builtin(name: &str, workspace: &Path) -> Result<Arc<dyn Toolbox>, Failure> {
    match m3_servers::builtin(name, workspace) {
        Ok(Some(toolbox)) => Ok(toolbox),
        Ok(None) => Err(Failure::new(code::INPUT, format!("there is no server `{name}`"))),
        Err(error) => Err(Failure::new(code::INPUT, error.to_string())),
    }
}

/// Serves toolboxes over HTTP, or the only one over standard input and output.
fn serve(
    toolboxes: Vec<Arc<dyn Toolbox>>,
    http: Option<HttpOptions>,
    printer: Printer,
) -> Result<(), Failure> {
    // On a single thread, calls begin in the order in which they arrive; long work runs on other threads.
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Failure::new(code::UNAVAILABLE, format!("failed to start: {error}")))?;
    let ended = match (http, <[Arc<dyn Toolbox>; 1]>::try_from(toolboxes)) {
        (Some(options), Ok([toolbox])) => over_http(&runtime, vec![toolbox], &options, printer),
        (Some(options), Err(toolboxes)) => over_http(&runtime, toolboxes, &options, printer),
        (None, Ok([toolbox])) => runtime.block_on(stdio(toolbox)).map_err(|error| failed(&error)),
        (None, Err(toolboxes)) => Err(Failure::new(
            code::INPUT,
            format!(
                "{} servers cannot share standard input\nhint: serve them with `--http`",
                toolboxes.len()
            ),
        )),
    };
    // A thread may still wait for input that never comes.
    runtime.shutdown_background();
    match ended? {
        Ended::InputClosed => Ok(()),
        Ended::Crashed => Err(Failure::silent(code::CRASHED)),
    }
}

fn over_http(
    runtime: &Runtime,
    toolboxes: Vec<Arc<dyn Toolbox>>,
    options: &HttpOptions,
    printer: Printer,
) -> Result<Ended, Failure> {
    runtime.block_on(async {
        let server = http(toolboxes, options).await.map_err(|error| failed(&error))?;
        announce(&server, printer)?;
        asked_to_end().await;
        server.stop().await;
        Ok(Ended::InputClosed)
    })
}

/// Prints the servers' addresses: a line of JSON for programs, and lines for people.
fn announce(server: &HttpServer, printer: Printer) -> Result<(), Failure> {
    let endpoints: Map<String, Value> =
        server.endpoints().map(|(name, url)| (name.to_owned(), Value::String(url))).collect();
    let line = json!({ "address": server.address().to_string(), "servers": endpoints });
    let mut out = Printer::out();
    let written = writeln!(out, "{line}").and_then(|()| out.flush());
    written.map_err(|cause| Failure::output("standard output", &cause))?;
    for (name, url) in server.endpoints() {
        printer.note(&format!("`{name}` is served at {url}"));
    }
    if !server.address().ip().is_loopback() {
        printer.warn("other machines may call these tools, and nobody asks them who they are");
    }
    printer.note("Ctrl-C ends it");
    Ok(())
}

/// Returns when the user, or the program that started this, asks for the end.
pub(super) async fn asked_to_end() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        () = interrupted => {}
        () = terminated => {}
    }
}

fn failed(error: &ServeError) -> Failure {
    let code = match error {
        ServeError::Remote { .. } | ServeError::DuplicateName { .. } => code::INPUT,
        _ => code::UNAVAILABLE,
    };
    let cause = std::error::Error::source(error).map(|cause| format!("\ncause: {cause}")).unwrap_or_default();
    Failure::new(code, format!("{error}{cause}"))
}
