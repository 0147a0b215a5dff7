//! A validation as JUnit's XML: a suite for each file, with a case for the whole file and one for each trajectory that has an
//! error.

use std::collections::BTreeMap;
use std::io::{self, Write};

use m3_trajectory::Severity;

use super::{Case, Document, Outcome, Reason, Suite};
use crate::{FileReport, ProblemReport, ValidationReport};

/// The name of the case for a whole file.
const WHOLE: &str = "the whole file";

/// Writes the problems of files.
///
/// # Errors
/// The writer's reason.
pub fn write_validation_as_junit(report: &ValidationReport, out: &mut dyn Write) -> io::Result<()> {
    let mut document = Document::new(out)?;
    for file in &report.files {
        let mut suite = Suite::new();
        for case in cases(file) {
            suite.add(&case)?;
        }
        document.suite(&file.file, suite)?;
    }
    document.finish()
}

/// The case of the file, and those of trajectories with errors in their order.
fn cases(file: &FileReport) -> Vec<Case> {
    let is_error = |problem: &&ProblemReport| problem.severity == Severity::Error.to_string();
    let mut order = Vec::new();
    let mut broken: BTreeMap<String, Vec<&ProblemReport>> = BTreeMap::new();
    for problem in file.problems.iter().filter(is_error) {
        if let Some(name) = trajectory(problem) {
            if !broken.contains_key(&name) {
                order.push(name.clone());
            }
            broken.entry(name).or_default().push(problem);
        }
    }
    let of_file: Vec<&ProblemReport> =
        file.problems.iter().filter(is_error).filter(|problem| trajectory(problem).is_none()).collect();
    let others = file.problems.iter().filter(|problem| !is_error(problem));
    let others = others.map(|problem| problem.text.clone());
    let class = &file.file;
    let whole = Case {
        class: class.clone(),
        name: WHOLE.to_owned(),
        outcome: of_file.first().map_or(Outcome::Passed, |_| Outcome::Errored(reason(&of_file))),
        output: std::iter::once(file.headline()).chain(others).collect::<Vec<_>>().join("\n"),
    };
    let of_trajectories = order.into_iter().map(|name| {
        let problems = broken.remove(&name).unwrap_or_default();
        let outcome = Outcome::Failed(reason(&problems));
        Case { class: class.clone(), name, outcome, output: String::new() }
    });
    std::iter::once(whole).chain(of_trajectories).collect()
}

/// The trajectory that a problem is in: by its id, or else by its place in the file.
fn trajectory(problem: &ProblemReport) -> Option<String> {
    let line = || problem.line.map(|line| format!("line {line}"));
    let item = || problem.pointer.split('/').nth(1).map(|item| format!("/{item}"));
    problem.id.clone().or_else(item).or_else(line)
}

fn reason(problems: &[&ProblemReport]) -> Reason {
    let lines: Vec<&str> = problems.iter().map(|problem| problem.text.as_str()).collect();
    Reason {
        kind: "input-problem".to_owned(),
        message: problems.first().map(|problem| problem.message.clone()).unwrap_or_default(),
        text: lines.join("\n"),
    }
}
