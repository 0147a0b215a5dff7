//! A validation as SARIF: a result for each problem.

use std::io::{self, Write};
use std::path::Path;

use m3_trajectory::Severity;

use super::{Finding, Location, Log, LogicalLocation, PhysicalLocation, Properties};
use crate::faults::Rule;
use crate::{FilePlace, FileReport, ProblemReport, ValidationReport, file_uri};

const INPUT_PROBLEM: Rule = Rule {
    id: "input-problem",
    level: Severity::Error,
    title: "A file of trajectories has a problem",
    help: "Errors make a file unusable. Warnings are odd, and read as the message says. Notes are worth knowing.",
    lowers: None,
};

const RULES: &[Rule] = &[INPUT_PROBLEM];

/// Writes the problems of files; addresses of files are relative to `folder`.
///
/// # Errors
/// The writer's reason.
pub fn write_validation_as_sarif(
    report: &ValidationReport,
    folder: &Path,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut log = Log::new(out, RULES)?;
    for file in &report.files {
        for problem in &file.problems {
            log.add(&finding(&log, file, problem, folder))?;
        }
    }
    log.finish()
}

fn finding<W: Write>(log: &Log<W>, file: &FileReport, problem: &ProblemReport, folder: &Path) -> Finding {
    let place =
        file.path.as_deref().map(|path| FilePlace { uri: file_uri(path, folder).into(), line: problem.line });
    // The pointer says more than a line.
    let pointer = (!problem.pointer.is_empty()).then(|| format!("{}: ", problem.pointer));
    let message = format!("{}{}", pointer.unwrap_or_default(), problem.message);
    Finding {
        level: problem.severity.clone(),
        locations: vec![Location {
            physical: place.as_ref().map(PhysicalLocation::of),
            logical: problem.id.iter().map(|id| LogicalLocation::of(id, None)).collect(),
            message: None,
        }],
        properties: Properties { trajectory: problem.id.clone(), ..Properties::default() },
        ..log.finding(&INPUT_PROBLEM, &message)
    }
}
