//! `m3 serve simulated`: simulates the servers of a catalog.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use m3_mcp::Toolbox;
use m3_servers::distractors::DistractorKind;
use m3_servers::simulated::{
    Behaviour, Delay, DistractorOptions, Faults, SimulatedOptions, SimulatedServer, Simulation,
};
use m3_support::text::{json_without_hidden, shortened};
use serde_json::{Map, Value, json};

use crate::cli::Common;
use crate::cli::common::{EncoderArgs, Failure, Printer, Result, print};

/// Options of `m3 serve simulated`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SimulatedArgs {
    /// The catalog of tools, as `m3 tools CONFIG --format json` prints it
    #[arg(long, value_name = "FILE")]
    catalog: PathBuf,
    /// Trajectories whose recorded results answer equal calls (several files, or the option several times)
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
    #[arg(long, value_enum, default_value_t = DistractorKind::Near, help_heading = "Offered tools")]
    distractor_kind: DistractorKind,
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
  m3 serve simulated --catalog tools.json --trajectories references.json \\
      --http 127.0.0.1:8080
  m3 serve simulated --catalog tools.json --server wiki --strict \\
      --trajectories references.json
  m3 serve simulated --catalog tools.json --print-config > simulated.json
  m3 serve simulated --catalog tools.json --trajectories references.json \\
      --only 00050000 --distractors 20 --http 127.0.0.1:8080

Results are marked under `_meta`: `m3/recorded`, or `m3/simulated` for all that was made up. Faults are drawn from the
seed, the call, and how often this process got it: a process that is started again draws the same again.";

/// The servers to serve; `None` if a configuration was printed instead.
pub(super) fn toolboxes(
    args: &SimulatedArgs,
    is_http: bool,
    common: &Common,
    printer: Printer,
) -> Result<Option<Vec<Arc<dyn Toolbox>>>> {
    let options = args.options();
    let embedder = options.needs_encoder().then(|| args.encoder.open(common.assets()?, printer));
    let simulation = options.open(embedder.transpose()?.as_mut())?;
    tell(&simulation, args, printer);
    let mut servers = simulation.servers;
    if let Some(name) = &args.server {
        let known = names(&servers);
        servers.retain(|server| server.name() == name);
        if servers.is_empty() {
            let name = shortened(name, 80);
            return Err(Failure::input(format!(
                "there is no server `{name}` to simulate\nhint: the servers are {known}"
            )));
        }
    }
    if args.print_config {
        let text = serde_json::to_string_pretty(&configuration(args, &servers)).unwrap_or_default();
        print(format!("{}\n", json_without_hidden(&text)))?;
        return Ok(None);
    }
    if servers.len() > 1 && !is_http {
        return Err(Failure::input(format!(
            "{} servers cannot share standard input and output\nhint: choose one with `--server` ({}), serve all \
             with `--http 127.0.0.1:0`, or print a configuration with an entry for each with `--print-config`",
            servers.len(),
            names(&servers),
        )));
    }
    Ok(Some(servers.into_iter().map(|server| server as Arc<dyn Toolbox>).collect()))
}

/// Warns about the parts of the files that cannot be used, and says how many recorded calls can.
fn tell(simulation: &Simulation, args: &SimulatedArgs, printer: Printer) {
    for (server, tool) in &simulation.rejected {
        let name = shortened(&format!("{server}/{}", tool.name), 200);
        printer.warn(&format!("`{name}` is left out: {}", shortened(&tool.reason, 200)));
    }
    let counts = simulation.recordings;
    if !args.trajectories.is_empty() {
        printer.note(&format!("{} recorded calls can be given again", counts.recorded));
    }
    if counts.recorded == 0 && args.strict {
        printer.warn("without recorded calls a strict server answers every call with an error");
    }
    if counts.unknown_tool > 0 {
        printer.warn(&format!(
            "{} recorded calls are of tools that the catalog does not have",
            counts.unknown_tool
        ));
    }
    if counts.unusable > 0 {
        printer.warn(&format!(
            "{} recorded calls have arguments or results that are no JSON object",
            counts.unusable
        ));
    }
}

/// An `mcpServers` configuration with an entry for each server, which starts this program as that server.
fn configuration(args: &SimulatedArgs, servers: &[Arc<SimulatedServer>]) -> Value {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let path = |path: &PathBuf| absolute(path).to_string_lossy().into_owned();
    let mut common =
        vec!["serve".to_owned(), "simulated".to_owned(), "--catalog".to_owned(), path(&args.catalog)];
    let mut add = |name: &str, value: String| common.extend([name.to_owned(), value]);
    for file in &args.trajectories {
        add("--trajectories", path(file));
    }
    for name in &args.offer.only {
        add("--only", name.clone());
    }
    if let Some(count) = args.offer.distractors {
        add("--distractors", count.to_string());
        let kind = if matches!(args.offer.distractor_kind, DistractorKind::Near) { "near" } else { "random" };
        add("--distractor-kind", kind.to_owned());
    }
    add("--seed", args.seed.to_string());
    match args.faults.delay {
        Some(Delay::Mean(mean)) => add("--delay", mean.to_string()),
        Some(Delay::Between(low, high)) => add("--delay", format!("{low}..{high}")),
        Some(Delay::None) | None => {}
    }
    let rates = [
        ("--failure-rate", args.faults.failure_rate),
        ("--crash-rate", args.faults.crash_rate),
        ("--hang-rate", args.faults.hang_rate),
    ];
    for (name, rate) in rates.into_iter().filter(|(_, rate)| *rate > 0.0) {
        add(name, rate.to_string());
    }
    if args.strict {
        common.push("--strict".to_owned());
    }
    let entry = |server: &Arc<SimulatedServer>| {
        let mut arguments = common.clone();
        // Written with `=`, so that a name that begins with a hyphen is still a value.
        arguments.push(format!("--server={}", server.name()));
        (server.name().to_owned(), json!({"command": "m3", "args": arguments}))
    };
    json!({"mcpServers": servers.iter().map(entry).collect::<Map<_, _>>()})
}

/// The servers' names, for a message.
fn names(servers: &[Arc<SimulatedServer>]) -> String {
    const SHOWN: usize = 40;
    let named = servers.iter().take(SHOWN).map(|server| format!("`{}`", shortened(server.name(), 80)));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = if servers.len() > SHOWN { " and others" } else { "" };
    format!("{named}{more}")
}

impl SimulatedArgs {
    fn options(&self) -> SimulatedOptions {
        let FaultArgs { delay, failure_rate, crash_rate, hang_rate } = self.faults;
        let faults = Faults { delay: delay.unwrap_or_default(), failure_rate, crash_rate, hang_rate };
        let kind = self.offer.distractor_kind;
        let distractors = self.offer.distractors.map(|count| DistractorOptions { count, kind });
        SimulatedOptions {
            catalog: self.catalog.clone(),
            trajectories: self.trajectories.clone(),
            behaviour: Behaviour { seed: self.seed, is_strict: self.strict, faults },
            only: self.offer.only.clone(),
            distractors,
        }
    }
}

/// Reads a mean, or a range written `LEAST..MOST`.
fn read_delay(text: &str) -> Result<Delay, String> {
    let seconds =
        |text: &str| text.trim().parse::<f64>().map_err(|_| format!("`{text}` is no number of seconds"));
    match text.split_once("..") {
        None => Ok(Delay::Mean(seconds(text)?)),
        Some((low, high)) => Ok(Delay::Between(seconds(low)?, seconds(high)?)),
    }
}
