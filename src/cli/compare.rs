//! The command `m3 compare`: compares two results of `m3 score`.

use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use m3_report::leaderboard::{Comparison, Decision, ModelResult, Numbers};
use m3_report::{comparison_sheets, write_comparison_as_junit, write_comparison_as_sarif};
use m3_score::Metric;

use crate::cli::common::{
    DrawsArgs, Failure, FormatArg, NamedFile, Output, Printer, Result, SelectArgs, WidthArgs, code, form,
    read_all, working_folder,
};
use crate::cli::leaderboard::parse_metric;

/// Options of `m3 compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompareArgs {
    /// The result to compare with, such as that of the last release; NAME=FILE names the model
    first: NamedFile,
    /// The new result
    second: NamedFile,
    #[command(flatten)]
    selection: SelectArgs,
    /// Metric that decides [default: verdict; average where that is not known of both]
    #[arg(long, value_name = "METRIC", value_parser = parse_metric)]
    metric: Option<Metric>,
    /// How much lower the second may be in that metric and still pass; decides between pass, regress and inconclusive
    #[arg(long, value_name = "M", default_value_t = 0.0, value_parser = parse_margin)]
    margin: f64,
    /// Exit with code 1 if the decision is regress: the interval of the difference in that metric lies below zero, or below
    /// minus --margin
    #[arg(long)]
    fail_if_worse: bool,
    #[command(flatten)]
    draws: DrawsArgs,
    /// Form of the report [default: by the file extension of --out, else table]
    #[arg(long, value_enum)]
    format: Option<CompareFormArg>,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    width: WidthArgs,
}

const EXAMPLES: &str = "\
Examples:
  m3 compare before.json after.json
  m3 compare before.json after.json --format json | jq -r .decision
  m3 compare main=main.json change=branch.json --fail-if-worse --format markdown
  m3 compare main.json branch.json --margin 0.02 --fail-if-worse --out junit.xml
  m3 compare main.json branch.json --metric average";

/// The form of a comparison.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum CompareFormArg {
    /// For people
    Table,
    /// Everything, with intervals
    Json,
    /// For a pull request
    Markdown,
    /// The first table and others with its columns, as numbers; notes go to standard error
    Csv,
    /// A page
    Html,
    /// For a paper
    Latex,
    /// JUnit's XML, for build servers: a test case for each task, and one for the decision
    Junit,
    /// SARIF 2.1.0, for code hosts: the decision, and tasks that are done worse
    Sarif,
}

impl CompareArgs {
    fn write(
        &self,
        form: CompareFormArg,
        comparison: &Comparison,
        output: &mut Output,
        printer: Printer,
    ) -> io::Result<()> {
        let tables = match form {
            CompareFormArg::Junit => return write_comparison_as_junit(comparison, output),
            CompareFormArg::Sarif => {
                return write_comparison_as_sarif(comparison, &self.second.path, &working_folder(), output);
            }
            CompareFormArg::Table => FormatArg::Table,
            CompareFormArg::Json => FormatArg::Json,
            CompareFormArg::Markdown => FormatArg::Markdown,
            CompareFormArg::Csv => FormatArg::Csv,
            CompareFormArg::Html => FormatArg::Html,
            CompareFormArg::Latex => FormatArg::Latex,
        };
        tables.write(comparison, || comparison_sheets(comparison), (output, &self.width), printer)
    }
}

/// Reads the margin, a difference in a metric.
fn parse_margin(text: &str) -> Result<f64, String> {
    let margin = text.parse().ok().filter(|margin| (0.0..=1.0).contains(margin));
    margin.ok_or_else(|| "it should be a number between 0 and 1, such as 0.02".to_owned())
}

/// Compares two results.
pub(super) fn run(args: &CompareArgs, printer: Printer) -> Result {
    let models = read_all(&[args.first.clone(), args.second.clone()], &[])?;
    if models.len() != 2 || models.iter().any(|model| matches!(model.numbers, Numbers::Row(_))) {
        let message = "a table of finished numbers cannot be compared task by task\n\
            hint: give two results of `m3 score --format json`";
        return Err(Failure::input(message));
    }
    let selection = args.selection.select(&models)?;
    let selection = selection.ok_or_else(|| Failure::input("there is nothing to compare"))?;
    let inputs = [args.first.path.as_path(), args.second.path.as_path()];
    let mut output = Output::open(args.out.as_deref(), &inputs, printer)?;
    let form = form(args.format, args.out.as_deref())?;
    if args.fail_if_worse {
        output = output.outliving_its_reader();
    }
    let names = (models[0].name.as_str(), models[1].name.as_str());
    let comparison = Comparison::new(names, &selection, &args.draws.draws(), (args.metric, args.margin))
        .map_err(Failure::input)?;
    args.write(form, &comparison, &mut output, printer)?;
    output.commit()?;
    if let Some(worth) = worth_of_images(&models) {
        printer.note(worth);
    }
    if args.fail_if_worse && comparison.has_too_few_tasks() {
        printer.warn(&format!("--fail-if-worse decided nothing: {}", comparison.reason()));
    }
    if args.fail_if_worse && comparison.decision == Decision::Regress {
        Printer::error(&format!("the second is worse: {}", comparison.reason()));
        return Err(Failure::silent(code::NOT_MET));
    }
    Ok(())
}

/// The meaning of the difference if one of two models was shown no images (`m3 run --no-images`).
fn worth_of_images(models: &[ModelResult]) -> Option<&'static str> {
    let is_blind =
        |model: &ModelResult| matches!(model.numbers, Numbers::Trajectories { no_images: true, .. });
    match models {
        [first, second] if is_blind(first) && !is_blind(second) => Some(
            "the first was shown no image: where all else is the same, the difference is what seeing the image is worth",
        ),
        [first, second] if is_blind(second) && !is_blind(first) => Some(
            "the second was shown no image: where all else is the same, the difference, its sign turned, is what seeing \
             the image is worth",
        ),
        _ => None,
    }
}
