//! `m3 score`

use std::path::PathBuf;

use clap::Args;

use super::Common;
use super::failure::{Failure, code};
use super::output::{FormatArg, Output};
use super::printer::Printer;
use super::scoring::ScoringArgs;
use crate::report::{Format, GradesByTrajectory, OutcomesByTrajectory, TrajectoryReport};
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
    /// What became of the predicted calls, written by `m3 outcomes --format json`: goes into the JSON, for
    /// leaderboards
    #[arg(long, value_name = "FILE")]
    outcomes: Option<PathBuf>,
    /// What a panel says of the predictions, written by `m3 grade -o`: goes into the JSON, for leaderboards
    #[arg(long, value_name = "FILE")]
    grades: Option<PathBuf>,
    /// Exit with code 1 if a metric of the whole set is lower, such as recall=0.8; repeatable
    #[arg(long, value_name = "METRIC=VALUE", value_parser = parse_floor)]
    fail_under: Vec<(MetricName, f64)>,
}

const EXAMPLES: &str = "\
Examples:
  m3 score predictions.json references.json
  m3 score predictions.jsonl.gz references.json --format json --out score.json
  m3 score predictions.json references.json --profile open-m3-bench
  m3 score predictions.json references.json --similarity typed --tools catalog.json
  m3 score predictions.json references.json \\
      --fail-under recall=0.8 --fail-under argument_fidelity=0.7";

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
    let outcomes = args.outcomes.as_deref().map(OutcomesByTrajectory::read).transpose();
    let outcomes = outcomes.map_err(|error| Failure::new(code::INPUT, error.to_string()))?;
    let grades = args.grades.as_deref().map(GradesByTrajectory::read).transpose();
    let grades = grades.map_err(|error| Failure::new(code::INPUT, error.to_string()))?;
    let format = FormatArg::or_by_ending(args.format, args.out.as_deref());
    for (option, is_given) in [("--outcomes", outcomes.is_some()), ("--grades", grades.is_some())] {
        if is_given && !matches!(format, Format::Json | Format::JsonLines) {
            printer.warn(&format!("`{option}` has no effect on this form; only JSON has a place for them"));
        }
    }
    let mut scoring = args.scoring.open(common, printer)?;
    let profile = scoring.profile;
    let mut inputs = args.scoring.inputs();
    inputs.extend(args.outcomes.as_deref());
    inputs.extend(args.grades.as_deref());
    let mut output = Output::open(args.out.as_deref(), &inputs, printer)?;
    if !args.fail_under.is_empty() {
        output = output.outliving_its_reader();
    }
    let is_styled = output.is_styled();
    let mut renderer = format.renderer(&mut output, is_styled);
    let mut other_calls = None;
    let scored = scoring.run(false, &mut |scored| {
        let mut report = TrajectoryReport::new(scored, profile);
        let calls = usize::try_from(report.metrics.predicted_calls).unwrap_or(usize::MAX);
        let mut refuse = |message: String| {
            other_calls = Some(Failure::new(code::INPUT, message));
            std::io::Error::other("what was given is of other calls")
        };
        if let Some(outcomes) = &outcomes {
            let found = outcomes.get(&report.id, calls);
            report.outcomes = found.map_err(|error| refuse(error.to_string()))?;
        }
        if let Some(grades) = &grades {
            report.grades = grades.get(&report.id, calls).map_err(|error| refuse(error.to_string()))?;
        }
        renderer.trajectory(&report)
    });
    let (summary, report) = match other_calls {
        Some(failure) => return Err(failure),
        None => scored?,
    };
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
