//! `m3 score`

use std::path::PathBuf;

use clap::Args;

use super::Common;
use super::failure::{Failure, code};
use super::output::{FormatArg, Output};
use super::printer::Printer;
use super::scoring::ScoringArgs;
use crate::report::TrajectoryReport;
use crate::score::{self, MetricName};

/// Options of `m3 score`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ScoreArgs {
    #[command(flatten)]
    scoring: ScoringArgs,
    /// Form of the report [default: by the ending of --out, else table]
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// Write the report to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Exit with code 1 if a metric of the whole set is lower, such as recall=0.8; repeatable
    #[arg(long, value_name = "METRIC=VALUE", value_parser = parse_floor)]
    fail_under: Vec<(MetricName, f64)>,
}

const EXAMPLES: &str = "\
Examples:
  m3 score predictions.json references.json
  m3 score predictions.jsonl.gz references.json --format json --out score.json
  m3 score predictions.json references.json --profile open-m3-bench
  m3 score predictions.json references.json --fail-under recall=0.8 --fail-under average=0.7";

fn parse_floor(text: &str) -> Result<(MetricName, f64), String> {
    let names = || MetricName::ALL.map(MetricName::name).join(", ");
    let (name, value) = text.split_once('=').ok_or("it should be METRIC=VALUE, such as recall=0.8")?;
    let metric = MetricName::from_name(name)
        .ok_or_else(|| format!("`{name}` is no metric; these are: {}", names()))?;
    match value.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok((metric, value)),
        _ => Err(format!("`{value}` should be a number between 0 and 1")),
    }
}

/// Scores two files.
pub(super) fn run(args: &ScoreArgs, common: &Common, printer: Printer) -> Result<(), Failure> {
    let mut scoring = args.scoring.open(common, printer)?;
    let profile = scoring.profile;
    let mut output = Output::open(args.out.as_deref(), &args.scoring.inputs(), printer)?;
    if !args.fail_under.is_empty() {
        output = output.outliving_its_reader();
    }
    let is_styled = output.is_styled();
    let mut renderer = FormatArg::or_by_ending(args.format, args.out.as_deref()).renderer(&mut output, is_styled);
    let (summary, report) =
        scoring.run(false, &mut |scored| renderer.trajectory(&TrajectoryReport::new(scored, profile)))?;
    renderer.finish(&report).map_err(|cause| Failure::written(&cause))?;
    drop(renderer);
    output.commit()?;
    check_floors(&args.fail_under, &summary.aggregate.metrics(profile))
}

/// Fails if a metric is below its floor, saying which.
fn check_floors(floors: &[(MetricName, f64)], metrics: &score::Metrics) -> Result<(), Failure> {
    let missed: Vec<_> = floors.iter().filter(|(metric, floor)| metric.of(metrics) < *floor).collect();
    for (metric, floor) in &missed {
        Printer::error(&format!(
            "{} is {:.4}, below --fail-under {floor}",
            metric.name(),
            metric.of(metrics)
        ));
    }
    if missed.is_empty() { Ok(()) } else { Err(Failure::silent(code::NOT_MET)) }
}
