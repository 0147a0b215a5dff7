//! `m3 compare`

use clap::Args;
use m3_report::comparison_sheets;
use m3_report::leaderboard::{Comparison, ModelResult, Numbers};

use super::failure::{Failure, code};
use super::printer::Printer;
use super::results::{NamedFile, SelectArgs, TablesArgs, read_all};

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
    /// Exit with code 1 if the second is worse: the interval of the difference of averages lies below zero
    #[arg(long)]
    fail_if_worse: bool,
    #[command(flatten)]
    tables: TablesArgs,
}

const EXAMPLES: &str = "\
Examples:
  m3 compare before.json after.json
  m3 compare main=main.json change=branch.json --fail-if-worse --format markdown";

/// Compares two results.
pub(super) fn run(args: &CompareArgs, printer: Printer) -> Result<(), Failure> {
    let invalid = |message: String| Failure::new(code::INPUT, message);
    let models = read_all(&[args.first.clone(), args.second.clone()], &[])?;
    if models.len() != 2 || models.iter().any(|model| matches!(model.numbers, Numbers::Row(_))) {
        let message = "a table of finished numbers cannot be compared task by task\n\
            hint: give two results of `m3 score --format json`";
        return Err(invalid(message.to_owned()));
    }
    let selection = args.selection.select(&models)?;
    let selection = selection.ok_or_else(|| invalid("there is nothing to compare".to_owned()))?;
    let inputs = [args.first.path.as_path(), args.second.path.as_path()];
    let mut output = args.tables.form.open(&inputs, printer)?;
    if args.fail_if_worse {
        output = output.outliving_its_reader();
    }
    let comparison = Comparison::new((&models[0].name, &models[1].name), &selection, &args.tables.draws())
        .map_err(|error| invalid(error.to_string()))?;
    args.tables.form.write(&comparison, || comparison_sheets(&comparison), &mut output, printer)?;
    output.commit()?;
    if let Some(worth) = worth_of_images(&models) {
        printer.note(worth);
    }
    if args.fail_if_worse && comparison.average_difference().is_none_or(|average| average.high.is_none()) {
        printer.warn("--fail-if-worse tested nothing: one task has no interval");
    }
    if args.fail_if_worse && comparison.is_worse() {
        let difference = comparison.average_difference().map_or(0.0, |average| average.difference);
        Printer::error(&format!(
            "the second is worse: the interval of the difference of averages, {difference:+.4}, lies below zero"
        ));
        return Err(Failure::silent(code::NOT_MET));
    }
    Ok(())
}

/// What the difference means if one of two models was shown no images (`m3 run --no-images`).
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
