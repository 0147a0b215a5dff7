//! A comparison as JUnit's XML: a case for each task, and one for the decision.

use std::io::{self, Write};

use super::{Case, Document, Outcome, Reason, Suite};
use crate::leaderboard::{ChangedTrajectory, Comparison, Decision};

/// Writes a case for each task, which fails if the task is done worse, and one for the decision, which is skipped if it is
/// inconclusive.
///
/// # Errors
/// The writer's reason.
pub fn write_comparison_as_junit(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let mut document = Document::new(out)?;
    let mut suite = Suite::new();
    suite.add(&decision(comparison))?;
    for task in &comparison.all_tasks {
        suite.add(&case(task, &comparison.metric))?;
    }
    document.suite(&format!("{} -> {}", comparison.first, comparison.second), suite)?;
    document.finish()
}

fn decision(comparison: &Comparison) -> Case {
    let message = comparison.reason();
    let outcome = match comparison.decision {
        Decision::Pass => Outcome::Passed,
        Decision::Inconclusive => Outcome::Skipped(message.clone()),
        Decision::Regress => Outcome::Failed(Reason::new("regression", message.clone())),
    };
    Case {
        class: "m3".to_owned(),
        name: format!("{} of all tasks", comparison.metric),
        outcome,
        output: message,
    }
}

fn case(task: &ChangedTrajectory, metric: &str) -> Case {
    let message = task.words(metric);
    let class = task.task_type.as_deref().unwrap_or("m3").to_owned();
    let (outcome, output) = if task.is_lower() {
        (Outcome::Failed(Reason::new("lower-task", message)), String::new())
    } else {
        (Outcome::Passed, message)
    };
    Case { class, name: task.id.clone(), outcome, output }
}
