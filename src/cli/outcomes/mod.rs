//! The command `m3 outcomes`: classifies the outcome of every predicted call.

mod sink;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgGroup, Args};
use m3_mcp::ToolCatalog;
use m3_outcomes::{CallCounts, KnownTools, Rate, classify_trajectory, recorded_reply};
use m3_report::Format;
use m3_support::text::counted;
use m3_trajectory::catalog::Catalog;
use m3_trajectory::{Duplicates, TrajectoryFile};

use crate::cli::Common;
use crate::cli::common::{
    Failure, Inputs, Output, PredictionsArg, Printer, ReplayArgs, Result, code, form, input,
    warn_of_rejected, warn_of_schemas,
};
use crate::cli::outcomes::sink::AskArgs;
use crate::cli::outcomes::sink::Sink;
use crate::report::{OutcomesGatherer, outcomes_renderer};

/// Options of `m3 outcomes`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group(ArgGroup::new("classified_by").args(["tools", "servers"]).required(true).multiple(true)))]
pub(crate) struct OutcomesArgs {
    /// Predicted trajectories: JSON, JSON Lines, either in gzip or zstd; the folder of a run; a trace of another program
    /// (docs/import.md), or a folder of traces; `-` for standard input
    predictions: PredictionsArg,
    /// Catalog of the tools that were offered: names and arguments are judged by it
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Configuration of MCP servers: replay every trajectory against fresh instances of them
    #[arg(long, value_name = "CONFIG")]
    servers: Option<PathBuf>,
    #[command(flatten)]
    replay: ReplayArgs,
    #[command(flatten)]
    asking: AskArgs,
    /// What to do when an id stands twice with different content [default: error]
    #[arg(long, value_enum, hide_default_value = true, default_value_t = Duplicates::Error)]
    duplicates: Duplicates,
    /// Add a table for each type of task
    #[arg(long)]
    by_type: bool,
    /// Form of the report [default: by the file extension of --out, else table]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write the report to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Exit with code 1 if a share of the whole set is lower, such as success=0.9; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_floor)]
    fail_under: Vec<Floor>,
}

const EXAMPLES: &str = "\
Examples:
  m3 outcomes predictions.json --tools tools.json
  m3 outcomes predictions.json --tools tools.json --out outcomes.json
  m3 outcomes predictions.json --tools tools.json \\
      --fail-under schema_compliance=0.95
  m3 outcomes predictions.json --tools tools.json --llm openai:gpt-5
  m3 outcomes predictions.json --servers servers/local.json --images images

docs/outcomes.md explains the rules. To have outcomes in a leaderboard:
  m3 score predictions.json references.json --outcomes outcomes.json \\
      --out MODEL.json";

/// The rates that can have a floor, in addition to the shares of outcomes.
const RATES: [&str; 3] = ["tool_name_validity", "schema_compliance", "execution_success"];

/// A share, and the smallest value that it may have.
type Floor = (&'static str, f64);

fn parse_floor(text: &str) -> Result<Floor, String> {
    let names = || RATES.into_iter().chain(["success"]);
    let (name, value) = text.split_once('=').ok_or("it should be NAME=VALUE, such as success=0.9")?;
    let known = names().find(|known| *known == name);
    let name = known
        .ok_or_else(|| format!("`{name}` is none of these: {}", names().collect::<Vec<_>>().join(", ")))?;
    match value.parse() {
        Ok(least) if (0.0..=1.0).contains(&least) => Ok((name, least)),
        _ => Err(format!("`{value}` should be a number between 0 and 1")),
    }
}

/// Decides the outcome of every call of a file.
pub(crate) fn run(args: &OutcomesArgs, common: &Common, printer: Printer) -> Result {
    let format = form(args.format, args.out.as_deref())?;
    let catalog = args.tools.as_deref().map(Catalog::open).transpose()?.map(|it| ToolCatalog::from(&it));
    if let Some(catalog) = &catalog {
        warn_of_rejected(catalog, printer);
    }
    let tools = catalog.map(|catalog| Arc::new(KnownTools::new(&catalog)));
    let file = input::open_with_malformed(args.predictions.only_path(printer), args.duplicates, printer)?;
    let mut inputs: Vec<&Path> = vec![args.predictions.as_path()];
    inputs.extend(args.tools.as_deref());
    inputs.extend(args.servers.as_deref());
    let mut output = Output::open(args.out.as_deref(), &inputs, printer)?.outliving_its_reader();
    let is_styled = output.is_styled();
    let mut renderer = outcomes_renderer(format, &mut output, args.by_type, is_styled);
    let mut gatherer = OutcomesGatherer::default();
    let asking = args.asking.open(printer)?;
    let sink = &mut Sink { gatherer: &mut gatherer, renderer: renderer.as_mut(), asking };
    let known_tools = match args.servers.as_deref() {
        Some(servers) => {
            let (path, tools) = (args.predictions.as_path(), tools.as_ref());
            let inputs = Inputs { path, file: &file, tools, action: "replaying" };
            args.replay.run(servers, &inputs, &mut |found| sink.replayed(found), (common, printer))?
        }
        None => judge(&file, tools.as_deref().unwrap_or(&KnownTools::default()), sink, printer)?,
    };
    sink.decide_rest(printer)?;
    if let Some(tools) = &tools {
        warn_of_schemas(&tools.unusable_schemas(), "it accepts everything", printer);
    }
    let tally = *gatherer.tally();
    let is_replayed = args.servers.is_some();
    let summary = gatherer.finish(file.name(), known_tools, is_replayed);
    renderer.finish(&summary)?;
    drop(renderer);
    output.commit()?;
    check_floors(&args.fail_under, &tally)?;
    check_complete(&tally, is_replayed)
}

/// Fails if calls were not judged; in a replay without any judged call, the servers were missing.
fn check_complete(tally: &CallCounts, is_replayed: bool) -> Result {
    match (tally.unanswered(), tally.with_outcome() + tally.not_executed) {
        (0, _) => Ok(()),
        (_, 0) if is_replayed => {
            Printer::error("no call could be judged\nhint: the report names the servers and what they lack");
            Err(Failure::silent(code::UNAVAILABLE))
        }
        _ => Err(Failure::silent(code::FAILED)),
    }
}

/// Decides outcomes by the catalog and by the results in the file; returns the number of known tools.
fn judge(file: &TrajectoryFile, tools: &KnownTools, sink: &mut Sink<'_>, printer: Printer) -> Result<usize> {
    let bar = printer.bar();
    for index in 0..file.len() {
        let trajectory = file.read(index)?;
        let calls = classify_trajectory(&trajectory, tools, &mut |_, call| recorded_reply(call));
        sink.push(trajectory, calls)?;
        bar.set("judging", index as u64 + 1, file.len() as u64);
    }
    Ok(tools.len())
}

/// Fails if a share is below its floor, or unknown; names it.
fn check_floors(floors: &[Floor], tally: &CallCounts) -> Result {
    let mut is_missed = false;
    for (name, least) in floors {
        let rate = match *name {
            "tool_name_validity" => Some(tally.tool_name_validity()),
            "schema_compliance" => Some(tally.schema_compliance()),
            _ => tally.execution_success(),
        };
        match rate.and_then(Rate::value) {
            Some(value) if value >= *least => continue,
            Some(value) => Printer::error(&format!("{name} is {value:.4}, below --fail-under {least}")),
            None => {
                let why = match tally.not_executed {
                    0 => String::new(),
                    count => format!(" ({count} of {} not executed)", counted(tally.calls, "call")),
                };
                Printer::error(&format!("{name} is not known{why}, and --fail-under asks for {least}"));
            }
        }
        is_missed = true;
    }
    if is_missed { Err(Failure::silent(code::NOT_MET)) } else { Ok(()) }
}
