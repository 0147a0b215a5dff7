//! `m3 outcomes`

use std::path::{Path, PathBuf};

use clap::Args;

use super::failure::{Failure, code};
use super::input;
use super::output::{FormatArg, Output};
use super::printer::{Printer, Unit};
use crate::mcp::ToolCatalog;
use crate::outcomes::{KnownTools, Outcome, Rate, Tally, judge_trajectory, recorded_reply};
use crate::report::{OutcomesGatherer, OutcomesRenderer, outcomes_renderer};
use crate::trajectory::TrajectoryFile;
use crate::trajectory::catalog::Catalog;

/// Options of `m3 outcomes`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct OutcomesArgs {
    /// Predicted trajectories: JSON, JSON Lines, either with gzip; `-` for standard input
    predictions: PathBuf,
    /// Catalog of the tools that were offered: names and arguments are judged by it
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
    /// Add a table for each type of task
    #[arg(long)]
    by_type: bool,
    /// Form of the report [default: by the ending of --out, else table]
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// Write the report to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Exit with code 1 if a share of the whole set is lower, such as success=0.9; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_floor)]
    fail_under: Vec<Floor>,
}

const EXAMPLES: &str = "\
Examples:
  m3 outcomes predictions.json --tools tools.json
  m3 outcomes predictions.json --tools tools.json --out outcomes.json
  m3 outcomes predictions.json --tools tools.json --fail-under schema_compliance=0.95

docs/outcomes.md explains the rules. To have outcomes in a leaderboard:
  m3 score predictions.json references.json --outcomes outcomes.json --out MODEL.json";

/// The rates that have a floor beside the shares of outcomes.
const RATES: [&str; 3] = ["tool_name_validity", "schema_compliance", "execution_success"];

/// The least that a share may be.
#[derive(Debug, Clone)]
struct Floor {
    name: &'static str,
    least: f64,
}

fn parse_floor(text: &str) -> Result<Floor, String> {
    let names = || RATES.into_iter().chain(["success"]);
    let (name, value) = text.split_once('=').ok_or("it should be NAME=VALUE, such as success=0.9")?;
    let known = names().find(|known| *known == name);
    let name = known
        .ok_or_else(|| format!("`{name}` is none of these: {}", names().collect::<Vec<_>>().join(", ")))?;
    match value.parse() {
        Ok(least) if (0.0..=1.0).contains(&least) => Ok(Floor { name, least }),
        _ => Err(format!("`{value}` should be a number between 0 and 1")),
    }
}

/// Judges every call of a file.
pub(super) fn run(args: &OutcomesArgs, printer: Printer) -> Result<(), Failure> {
    let tools = KnownTools::new(&ToolCatalog::from(&Catalog::open(&args.tools)?));
    let file = input::open_predicted(&args.predictions, printer)?;
    let inputs: Vec<&Path> = vec![&args.predictions, &args.tools];
    let mut output = Output::open(args.out.as_deref(), &inputs, printer)?.outliving_its_reader();
    let (is_styled, format) = (output.is_styled(), FormatArg::or_by_ending(args.format, args.out.as_deref()));
    let mut renderer = outcomes_renderer(format, &mut output, args.by_type, is_styled);
    let mut gatherer = OutcomesGatherer::default();
    judge(&file, &tools, &mut gatherer, renderer.as_mut(), printer)?;
    say_unusable(&tools, printer);
    let tally = *gatherer.tally();
    let summary = gatherer.finish(file.name(), tools.len(), false);
    renderer.finish(&summary).map_err(|cause| Failure::written(&cause))?;
    drop(renderer);
    output.commit()?;
    check_floors(&args.fail_under, &tally)
}

/// Judges by the catalog and by what the file has recorded.
fn judge(
    file: &TrajectoryFile,
    tools: &KnownTools,
    gatherer: &mut OutcomesGatherer,
    renderer: &mut dyn OutcomesRenderer,
    printer: Printer,
) -> Result<(), Failure> {
    let mut bar = printer.bar(Unit::Trajectories);
    for index in 0..file.len() {
        let trajectory = file.read(index)?;
        let calls = judge_trajectory(&trajectory, tools, &mut |_, call| recorded_reply(call));
        let report = gatherer.add(&trajectory, &calls);
        renderer.trajectory(&report).map_err(|cause| Failure::written(&cause))?;
        bar.set("judging", index as u64 + 1, file.len() as u64);
    }
    Ok(())
}

/// Names that are said of schemas that judge nothing.
const NAMED: usize = 5;

fn say_unusable(tools: &KnownTools, printer: Printer) {
    let names = tools.unusable_schemas();
    if !names.is_empty() {
        let shown = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let more = if names.len() > NAMED { ", and others" } else { "" };
        printer.warn(&format!("{} input schemas cannot be used and accept everything: {shown}{more}", names.len()));
    }
}

/// Fails if a share is below its floor, or is not known, saying which.
fn check_floors(floors: &[Floor], tally: &Tally) -> Result<(), Failure> {
    let mut is_missed = false;
    for Floor { name, least } in floors {
        let rate = match *name {
            "tool_name_validity" => Some(tally.tool_name_validity()),
            "schema_compliance" => Some(tally.schema_compliance()),
            "execution_success" => tally.execution_success(),
            _ => Some(tally.share(Outcome::Success)),
        };
        match rate.and_then(Rate::value) {
            Some(value) if value >= *least => continue,
            Some(value) => Printer::error(&format!("{name} is {value:.4}, below --fail-under {least}")),
            None => Printer::error(&format!("{name} is not known, and --fail-under asks for {least}")),
        }
        is_missed = true;
    }
    if is_missed { Err(Failure::silent(code::NOT_MET)) } else { Ok(()) }
}
