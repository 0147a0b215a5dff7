//! Outcomes and grades that are copied into a score.

use m3_report::{GradesByTrajectory, OutcomesByTrajectory, TrajectoryReport};
use m3_support::text::counted;

use super::args::ScoreArgs;
use crate::cli::common::failure::{Failure, code};

/// Outcomes and grades to copy into a score: a file for each repetition, or no file.
pub(super) struct Beside {
    outcomes: Vec<OutcomesByTrajectory>,
    grades: Vec<GradesByTrajectory>,
}

impl Beside {
    /// Reads the files of `--outcomes` and `--grades`: none, or one for each repetition.
    pub(super) fn read(args: &ScoreArgs, repetitions: usize) -> Result<Self, Failure> {
        for (option, files) in [("--outcomes", &args.outcomes), ("--grades", &args.grades)] {
            if !files.is_empty() && files.len() != repetitions {
                let (files, repetitions) = (counted(files.len(), "file"), counted(repetitions, "repetition"));
                let message = format!(
                    "`{option}` has {files} for {repetitions}\n\
                     hint: give it once for each repetition, in their order"
                );
                return Err(Failure::new(code::INPUT, message));
            }
        }
        let invalid = |message: String| Failure::new(code::INPUT, message);
        let outcomes = args.outcomes.iter().map(|path| OutcomesByTrajectory::read(path));
        let grades = args.grades.iter().map(|path| GradesByTrajectory::read(path));
        Ok(Self {
            outcomes: outcomes.collect::<Result<_, _>>().map_err(|error| invalid(error.to_string()))?,
            grades: grades.collect::<Result<_, _>>().map_err(|error| invalid(error.to_string()))?,
        })
    }

    /// Adds the data about a trajectory of repetition `repeat`, from 1, to its report.
    pub(super) fn add_to(&self, report: &mut TrajectoryReport, repeat: usize) -> Result<(), String> {
        let calls = usize::try_from(report.metrics.predicted_calls).unwrap_or(usize::MAX);
        if let Some(outcomes) = self.outcomes.get(repeat - 1) {
            report.outcomes = outcomes.get(&report.id, calls).map_err(|error| error.to_string())?;
        }
        if let Some(grades) = self.grades.get(repeat - 1) {
            report.grades = grades.get(&report.id, calls).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}
