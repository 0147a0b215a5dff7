//! A comparison as SARIF: a result for each task that is done worse, and one for the decision unless it is to pass.

use std::io::{self, Write};
use std::path::Path;

use m3_trajectory::Severity;

use super::{Finding, Location, Log, LogicalLocation, PhysicalLocation, Properties};
use crate::faults::Rule;
use crate::leaderboard::{Comparison, Decision};
use crate::{FilePlace, file_uri};

const LOWER_TASK: Rule = Rule {
    id: "lower-task",
    level: Severity::Note,
    title: "A task is done worse",
    help: "The task alone is lower than before in the metric that decides. One task alone may well be lower by chance.",
    lowers: None,
};
const REGRESSION: Rule = Rule {
    id: "regression",
    level: Severity::Error,
    title: "The second is worse",
    help: "The interval of the difference in the metric that decides lies below zero, or below the margin.",
    lowers: None,
};
const INCONCLUSIVE: Rule = Rule {
    id: "inconclusive",
    level: Severity::Warning,
    title: "The tasks do not tell",
    help: "The interval of the difference in the metric that decides lies on both sides of zero, or of the margin, or there are too few tasks.",
    lowers: None,
};

const RULES: &[Rule] = &[LOWER_TASK, REGRESSION, INCONCLUSIVE];

/// Writes the decision and the tasks that became worse; the second result is in `file`, and its address is relative to
/// `folder`.
///
/// # Errors
/// The writer's reason.
pub fn write_comparison_as_sarif(
    comparison: &Comparison,
    file: &Path,
    folder: &Path,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut log = Log::new(out, RULES)?;
    let place = FilePlace { uri: file_uri(file, folder).into(), line: None };
    let at = |id: Option<&str>| {
        vec![Location {
            physical: Some(PhysicalLocation::of(&place)),
            logical: id.map(|id| LogicalLocation::of(id, None)).into_iter().collect(),
            message: None,
        }]
    };
    let rule = match comparison.decision {
        Decision::Pass => None,
        Decision::Regress => Some(&REGRESSION),
        Decision::Inconclusive => Some(&INCONCLUSIVE),
    };
    if let Some(rule) = rule {
        let finding = log.finding(rule, &comparison.reason());
        log.add(&Finding { locations: at(None), ..finding })?;
    }
    for task in comparison.all_tasks.iter().filter(|task| task.is_lower()) {
        let finding = log.finding(&LOWER_TASK, &task.words(&comparison.metric));
        let properties = Properties { trajectory: Some(task.id.clone()), ..Properties::default() };
        log.add(&Finding { locations: at(Some(&task.id)), properties, ..finding })?;
    }
    log.finish()
}
