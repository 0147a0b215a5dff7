//! `m3 serve score`: scores for trainers and agents, over HTTP and as tools.

mod desk;
mod service;
mod toolbox;

use std::sync::Arc;

use clap::Args;
use m3_mcp::Toolbox;

pub(super) use self::desk::Desk;
use self::desk::Limits;
pub(super) use self::service::serve;
use self::toolbox::ScoreServer;
use crate::cli::Common;
use crate::cli::common::{Printer, Result};
use crate::cli::library::pairs::PairArgs;

/// Options of `m3 serve score`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ScoreServerArgs {
    #[command(flatten)]
    pairs: PairArgs,
    /// Requests that are scored at the same time [default: one a core]
    #[arg(long, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Option<u16>,
    /// Pairs that may wait or be scored; beyond that requests are answered with 429
    #[arg(long, value_name = "N", help_heading = "Limits", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    queue: u32,
    /// Pairs in one request at most; more are answered with 413
    #[arg(long, value_name = "N", help_heading = "Limits", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_pairs: u32,
    /// Size of a request at most, in MiB; more is answered with 413
    #[arg(long, value_name = "MIB", help_heading = "Limits", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=512))]
    max_body: u16,
}

const EXAMPLES: &str = "\
Without --http it is an MCP server with the tools score_trajectory and explain_alignment. With --http it also answers:
  POST /score     {\"pairs\": [{\"prediction\": .., \"reference\": ..}, ..], \"detail\": false}
  GET  /healthz   200 while it takes requests
  GET  /metrics   counts for Prometheus

Examples:
  m3 serve score
  m3 serve score --http 127.0.0.1:8080
  m3 serve score --http 127.0.0.1:8080 --similarity typed --tools catalog.json
  curl --json '{\"pairs\": [{\"prediction\": {\"steps\": []}, \"reference\": {\"id\": \"a\", \"steps\": []}}]}' \\
      http://127.0.0.1:8080/score";

/// Opens the scorer, and makes the desk with its limits.
pub(super) fn open(args: ScoreServerArgs, common: &Common, printer: Printer) -> Result<Arc<Desk>> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let limits = Limits {
        workers: args.workers.map_or_else(cores, usize::from),
        queue: args.queue,
        pairs: args.max_pairs.min(args.queue) as usize,
        body: usize::from(args.max_body) << 20,
    };
    Ok(Arc::new(Desk::new(args.pairs.open(common, printer)?, limits)))
}

/// The desk as an MCP server.
pub(super) fn toolbox(desk: &Arc<Desk>) -> Arc<dyn Toolbox> {
    Arc::new(ScoreServer::new(Arc::clone(desk)))
}
