//! The command `m3 validate`: lists every problem of files of trajectories or tasks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use m3_report::{
    FileReport, ValidationReport, visible, write_validation_as_junit, write_validation_as_sarif,
};
use m3_traces::TRACES;
use m3_trajectory::{Duplicates, Problems, Severity, SourceError, TrajectoryFile};

use crate::cli::common::{Failure, Output, Printer, Result, code, working_folder, write_json};

/// Options of `m3 validate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ValidateArgs {
    /// Files of trajectories or tasks; `-` for standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = FormatArg::Table)]
    format: FormatArg,
    /// What to do when an id stands twice with different content
    #[arg(long, value_enum, default_value_t = Duplicates::Error)]
    duplicates: Duplicates,
}

const EXAMPLES: &str = "\
Examples:
  m3 validate predictions.json
  m3 validate *.jsonl.gz --format json
  m3 validate predictions.json --format sarif > m3.sarif

Exits with 2 if any file has an error; warnings and notes are no errors.";

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatArg {
    /// A line for each problem
    Table,
    /// m3.validate/1
    Json,
    /// JUnit's XML: a test case for each file and each trajectory with an error
    Junit,
    /// SARIF 2.1.0: every problem with its place
    Sarif,
}

/// Lists every problem of every file.
pub(super) fn run(args: &ValidateArgs, printer: Printer) -> Result {
    let mut report = ValidationReport::default();
    for path in &args.files {
        match TrajectoryFile::scan(path, TRACES, args.duplicates, &mut printer.progress("reading")) {
            Ok(file) => {
                let mut problems = describe(&file)?;
                if matches!(args.format, FormatArg::Sarif) {
                    point_at(&mut problems, &file);
                }
                report.files.push(problems);
            }
            // An error of the temporary copy is not about the file.
            Err(error @ SourceError::Spool { .. }) => return Err(error.into()),
            Err(error) => report.files.push(FileReport::unreadable(path, &error.to_string())),
        }
    }
    let is_broken = report.files.iter().any(|file| file.errors > 0);
    let mut out = Output::open(None, &[], printer)?.outliving_its_reader();
    match args.format {
        FormatArg::Json => write_json(&report, &mut out),
        FormatArg::Table => write_lines(&report, &mut out),
        FormatArg::Junit => write_validation_as_junit(&report, &mut out),
        FormatArg::Sarif => write_validation_as_sarif(&report, &working_folder(), &mut out),
    }?;
    out.commit()?;
    if is_broken { Err(Failure::silent(code::INPUT)) } else { Ok(()) }
}

/// Adds the path of the file, and the lines on which trajectories with problems begin.
fn point_at(report: &mut FileReport, file: &TrajectoryFile) {
    report.path = file.path().map(Path::to_owned);
    let lines = file.lines();
    for problem in report.problems.iter_mut().filter(|problem| problem.line.is_none()) {
        let index = problem.id.as_deref().and_then(|id| file.find(id));
        problem.line = index.and_then(|index| lines.get(index).copied().flatten());
    }
}

/// Counts the content of a readable file.
fn describe(file: &TrajectoryFile) -> Result<FileReport> {
    let mut report = FileReport::new(file.name(), file.problems());
    report.is_tasks = file.is_tasks();
    report.entries = file.len();
    // A file with errors is not counted, because the counts would be wrong.
    if report.errors == 0 && !report.is_tasks {
        let mut tools = BTreeSet::new();
        for index in 0..file.len() {
            let trajectory = file.read(index)?;
            report.steps += trajectory.steps.len();
            report.calls += trajectory.call_count();
            tools.extend(trajectory.calls().map(|(_, call)| call.tool.clone()));
        }
        report.tools = tools.len();
    }
    Ok(report)
}

fn write_lines(report: &ValidationReport, out: &mut impl std::io::Write) -> std::io::Result<()> {
    for file in &report.files {
        for problem in &file.problems {
            writeln!(out, "{:<7} {}", problem.severity, visible(&problem.text, false))?;
        }
        for severity in [Severity::Error, Severity::Warning, Severity::Note] {
            let more = file.count(severity).saturating_sub(Problems::KEPT);
            if more > 0 {
                writeln!(out, "{severity:<7} {}: {more} more like these", visible(&file.file, false))?;
            }
        }
        writeln!(out, "{}", visible(&file.headline(), false))?;
    }
    Ok(())
}
