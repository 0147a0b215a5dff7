//! `m3 serve simulated`: a catalog's servers, played.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use crate::cli::Common;
use crate::cli::encoder::EncoderArgs;
use crate::cli::failure::{Failure, code};
use crate::cli::printer::Printer;
use crate::mcp::Toolbox;
use crate::mcp::ToolName;
use crate::servers::simulated::distractors::DistractorKind;
use crate::servers::simulated::{
    Behaviour, Delay, DistractorOptions, Faults, SimulatedOptions, SimulatedServer, Simulation, SimulationError,
};
use crate::text::shortened;
use crate::trajectory::OpenError;

/// Options of `m3 serve simulated`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SimulatedArgs {
    /// The catalog of tools, as `m3 tools CONFIG --format json` prints it
    #[arg(long, value_name = "FILE")]
    catalog: PathBuf,
    /// Trajectories whose results are given again to equal calls (several files, or the option several times)
    #[arg(long, value_name = "FILE", num_args = 1..)]
    trajectories: Vec<PathBuf>,
    /// Serve this server of the catalog alone; over standard input and output there can be only one
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Calls that were not recorded fail instead of getting a made-up result
    #[arg(long)]
    strict: bool,
    /// The same seed gives the same results, faults, distractors and order
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Print a configuration with one entry for each server and serve nothing
    #[arg(long, conflicts_with = "http")]
    print_config: bool,
    #[command(flatten)]
    offer: Offer,
    #[command(flatten)]
    faults: FaultArgs,
    #[command(flatten)]
    encoder: EncoderArgs,
}

/// Which tools are offered.
#[derive(Debug, Args)]
struct Offer {
    /// Offer only these: tools (`server/tool`), servers, or ids of trajectories for the tools that they call
    #[arg(long, value_name = "NAME", num_args = 1.., help_heading = "Offered tools")]
    only: Vec<String>,
    /// Offer N tools of other servers beside those of --only, all in an order that tells nothing
    #[arg(long, value_name = "N", requires = "only", help_heading = "Offered tools")]
    distractors: Option<usize>,
    /// Which tools distract
    #[arg(long, value_enum, default_value_t = KindArg::Near, help_heading = "Offered tools")]
    distractor_kind: KindArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum KindArg {
    /// The most similar ones to the tools of --only, by the encoder
    Near,
    /// Any
    Random,
}

/// How a server misbehaves.
#[derive(Debug, Args)]
struct FaultArgs {
    /// Answer late: a mean in seconds, or a range such as 0.1..0.5
    #[arg(long, value_name = "SECONDS", value_parser = read_delay, help_heading = "Faults")]
    delay: Option<Delay>,
    /// Share of the calls that fail, from 0 to 1, in the ways in which real tools fail
    #[arg(long, value_name = "RATE", default_value_t = 0.0, help_heading = "Faults")]
    failure_rate: f64,
    /// Share of the calls at which the server dies
    #[arg(long, value_name = "RATE", default_value_t = 0.0, help_heading = "Faults")]
    crash_rate: f64,
    /// Share of the calls that are never answered
    #[arg(long, value_name = "RATE", default_value_t = 0.0, help_heading = "Faults")]
    hang_rate: f64,
}

const EXAMPLES: &str = "\
Examples:
  m3 serve simulated --catalog tools.json --trajectories references.json --http 127.0.0.1:8080
  m3 serve simulated --catalog tools.json --server wiki --strict --trajectories references.json
  m3 serve simulated --catalog tools.json --print-config > simulated.json
  m3 serve simulated --catalog tools.json --trajectories references.json --only 00050000 \\
      --distractors 20 --http 127.0.0.1:8080

Results are marked under `_meta`: `m3/recorded`, or `m3/simulated` for all that was made up. What befalls a call is
drawn from the seed, the call, and how often this process got it: one that is started again draws the same again.";

/// The servers to serve; none if a configuration was printed instead.
pub(super) fn toolboxes(
    args: &SimulatedArgs,
    is_http: bool,
    common: &Common,
    printer: Printer,
) -> Result<Vec<Arc<dyn Toolbox>>, Failure> {
    let options = args.options();
    let simulation = open(&options, args, common, printer)?;
    tell(&simulation, args, printer);
    let mut servers = simulation.servers;
    if let Some(name) = &args.server {
        let known = names(&servers);
        servers.retain(|server| server.name() == name);
        if servers.is_empty() {
            let name = shortened(name, 80);
            return Err(Failure::new(code::INPUT, format!("there is no server `{name}` to simulate\nhint: {known}")));
        }
    }
    if servers.len() > 1 && !is_http {
        let message = format!(
            "{} servers cannot share standard input and output\nhint: choose one with `--server` ({}), serve all \
             with `--http 127.0.0.1:0`, or print a configuration with an entry for each with `--print-config`",
            servers.len(),
            names(&servers),
        );
        return Err(Failure::new(code::INPUT, message));
    }
    Ok(servers.into_iter().map(|server| server as Arc<dyn Toolbox>).collect())
}
