//! `m3 score`: scores predictions, and further repetitions of them.

mod args;
mod beside;
mod config;
pub(crate) mod floors;
pub(crate) mod forms;
pub(crate) mod repeats;

pub(crate) use args::ScoreArgs;
use config::ScoreConfig;

use crate::cli::Common;
use crate::cli::common::failure::Failure;
use crate::cli::common::printer::Printer;
use crate::cli::common::scoring::check_aligned;

/// Scores, and writes the report. Fails with the first of: a floor that is not met, a trajectory that could not be aligned, a model
/// that could not be asked.
pub(crate) fn run(args: &ScoreArgs, common: &Common, printer: Printer) -> Result<(), Failure> {
    let config = ScoreConfig::new(args, printer)?;
    let mut output = config.output(printer)?;
    let asking = args.scoring.ask().open(&config.inputs(), printer)?;
    let mut scoring = args.scoring.open(&config.further, common, printer)?;
    let asked = asking.map(|asking| scoring.ask(&asking)).transpose()?;
    let mut renderer = config.renderer(&mut output)?;
    let (summary, report) = config.score_all(&mut scoring, renderer.as_mut())?;
    drop(renderer);
    output.commit()?;
    let are_aligned = check_aligned(&summary);
    let are_asked = asked.map_or(Ok(()), |asked| asked.end(printer));
    config.check_floors(&scoring, &summary, &report).and(are_aligned).and(are_asked)
}
