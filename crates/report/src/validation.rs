//! The JSON of a validation, `m3.validate/1`.

use std::path::{Path, PathBuf};

use m3_support::text::counted;
use m3_trajectory::{Problem, Problems, Severity};
use schemars::JsonSchema;
use serde::Serialize;

/// What `m3 validate --format json` writes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "m3.validate/1")]
pub struct ValidationReport {
    /// Always `m3.validate/1`.
    pub schema: String,
    /// The files in the order they were named.
    pub files: Vec<FileReport>,
}

/// One file and what is wrong with it.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct FileReport {
    /// The file as it was named.
    pub file: String,
    /// True if it holds tasks, not trajectories.
    pub is_tasks: bool,
    /// The number of different ids in the file.
    pub entries: usize,
    /// Steps of all trajectories; 0 if the file has errors.
    pub steps: usize,
    /// Calls of all trajectories; 0 if the file has errors.
    pub calls: usize,
    /// Different tools; 0 if the file has errors.
    pub tools: usize,
    /// The number of errors: problems that make the file unusable.
    pub errors: usize,
    /// The number of warnings: unusual content. Each message says how it is read.
    pub warnings: usize,
    /// The number of notes: facts that are worth knowing, and no problem.
    pub notes: usize,
    /// The problems: the first 1000 of each severity.
    pub problems: Vec<ProblemReport>,
    /// The path of the file, for report forms that point to it; `None` for standard input.
    #[serde(skip)]
    pub path: Option<PathBuf>,
}

/// One problem.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ProblemReport {
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// JSON pointer (RFC 6901) from the top of the file, or of the line in JSON Lines.
    pub pointer: String,
    /// The line, counted from 1, if the pointer alone does not lead there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Column in bytes, from 1, of a syntax error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// The id of the trajectory, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What is wrong and what to do.
    pub message: String,
    /// Place and message as one line.
    #[serde(skip)]
    pub text: String,
}

/// A report without files.
impl Default for ValidationReport {
    fn default() -> Self {
        Self { schema: "m3.validate/1".to_owned(), files: Vec::new() }
    }
}

impl FileReport {
    /// A file with these problems; its counts are still 0.
    #[must_use]
    pub fn new(file: &str, problems: &Problems) -> Self {
        Self {
            file: file.to_owned(),
            errors: problems.count(Severity::Error),
            warnings: problems.count(Severity::Warning),
            notes: problems.count(Severity::Note),
            problems: problems.iter().map(ProblemReport::from).collect(),
            ..Self::default()
        }
    }

    /// A file that could not be read at all.
    #[must_use]
    pub fn unreadable(file: &Path, message: &str) -> Self {
        let problem = ProblemReport {
            severity: Severity::Error.to_string(),
            message: message.to_owned(),
            text: message.to_owned(),
            ..ProblemReport::default()
        };
        Self {
            file: file.display().to_string(),
            errors: 1,
            problems: vec![problem],
            path: Some(file.to_owned()),
            ..Self::default()
        }
    }

    /// How many problems of this severity were found.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        match severity {
            Severity::Error => self.errors,
            Severity::Warning => self.warnings,
            Severity::Note => self.notes,
        }
    }

    /// One line on the whole file.
    #[must_use]
    pub fn headline(&self) -> String {
        let Self { file, entries, steps, calls, tools, errors, warnings, notes, .. } = self;
        let content = if *errors > 0 {
            "not usable".to_owned()
        } else if self.is_tasks {
            counted(*entries, "task")
        } else {
            let trajectories = counted(*entries, "trajectory");
            let (steps, calls, tools) =
                (counted(*steps, "step"), counted(*calls, "call"), counted(*tools, "tool"));
            format!("{trajectories}, {steps}, {calls} of {tools}")
        };
        let problems = [counted(*errors, "error"), counted(*warnings, "warning"), counted(*notes, "note")];
        format!("{file}: {content}; {}", problems.join(", "))
    }
}

impl From<&Problem> for ProblemReport {
    fn from(problem: &Problem) -> Self {
        let place = &problem.place;
        Self {
            severity: problem.severity.to_string(),
            pointer: place.pointer.clone(),
            line: place.line,
            column: place.column,
            id: place.id.clone(),
            message: problem.message.clone(),
            text: problem.to_string(),
        }
    }
}
