//! The command `m3 compare-traces`: compares a new trace with an old one, task by task.

use clap::Args;
use m3_report::TrajectoryReport;

use super::Common;
use crate::cli::common::{Failure, FormArgs, Printer, Result, ScoringArgs, check_aligned, code};
use crate::report::{ChangesReport, TaskState, changes_sheets};

/// Options of `m3 compare-traces`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("predictions", |arg| arg.value_name("BEFORE").help(
    "The old trace, which the new one is held to: any format of docs/import.md, or m3's own trajectories")))]
#[command(mut_arg("references", |arg| arg.value_name("AFTER").help("The new trace, of the same tasks")))]
pub(super) struct CompareTracesArgs {
    #[command(flatten)]
    scoring: ScoringArgs,
    #[command(flatten)]
    form: FormArgs,
    /// Exit with code 1 if a task is missing or changed
    #[arg(long)]
    fail_if_changed: bool,
}

const EXAMPLES: &str = "\
Examples:
  m3 compare-traces before.eval after.eval
  m3 compare-traces good-run.jsonl traces/today.jsonl --fail-if-changed
  m3 compare-traces before.json after.json --similarity typed --format markdown

Tasks are joined by their ids. `m3 audit AFTER BEFORE` shows every call.";

/// Scores the new trace against the old one, task by task.
pub(super) fn run(args: CompareTracesArgs, common: &Common, printer: Printer) -> Result {
    let CompareTracesArgs { scoring, form, fail_if_changed } = args;
    scoring.ask.check()?;
    let scoring = scoring.exchanged();
    let mut output = form.open(&scoring.inputs(), printer)?;
    let asking = scoring.ask.open(&scoring.inputs(), printer)?;
    let mut opened = scoring.open(&[], common, printer)?;
    let asked = asking.map(|asking| opened.ask(&asking)).transpose()?;
    let mut tasks = Vec::new();
    let profile = opened.profile;
    let (summary, score) = opened.run(false, &mut |scored| {
        tasks.push(TrajectoryReport::new(scored.score, profile));
        Ok(())
    })?;
    let report = ChangesReport::new(score, tasks);
    form.write(&report, || changes_sheets(&report), &mut output, printer)?;
    output.commit()?;
    check_aligned(&summary)?;
    asked.map_or(Ok(()), |asked| asked.end(printer))?;
    let is_same = report.count(TaskState::Same) == report.tasks.len();
    if is_same || !fail_if_changed { Ok(()) } else { Err(Failure::silent(code::NOT_MET)) }
}
