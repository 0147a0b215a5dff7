//! A score as JUnit's XML: a case for each trajectory, and one for each `--fail-under`.

use std::io::{self, Write};

use m3_score::{JobVerdict, Metric};
use m3_support::text::visible;
use m3_trajectory::Severity;

use super::{Case, Document, Outcome, Reason, Suite};
use crate::faults::{Fault, faults};
use crate::{AggregateReport, Floor, ScoreRenderer, ScoreSummary, TrajectoryReport};

/// Writes a case for each trajectory. It fails if the trajectory does not pass beside its reference (with `--match`) or
/// if a metric is below a floor (with `--fail-under`). Where neither is asked for, it fails if the trajectory did not
/// do its job by the verdict, and is skipped if the verdict cannot tell. Without a verdict, it fails if a needed call
/// is missing or a call asks for something else. A task that came to nothing is an error.
pub struct Junit<W: Write> {
    document: Document<W>,
    suite: Suite,
    floors: Vec<Floor>,
}

/// The class of trajectories without a type, and of floors.
const NO_TYPE: &str = "m3";
const FLOORS: &str = "--fail-under";

impl<W: Write> Junit<W> {
    /// Writes to `writer`; trajectories and the set have to reach these floors.
    ///
    /// # Errors
    /// The writer's reason.
    pub fn new(writer: W, floors: Vec<Floor>) -> io::Result<Self> {
        Ok(Self { document: Document::new(writer)?, suite: Suite::new(), floors })
    }

    fn outcome(&self, report: &TrajectoryReport, faults: &[Fault], text: &str) -> Outcome {
        let reason =
            |kind: &str, message: String| Reason { kind: kind.to_owned(), message, text: text.to_owned() };
        if let (Some(class), Some(fault)) = (&report.failure, faults.first()) {
            return Outcome::Errored(reason(class, fault.message.clone()));
        }
        let no_match = faults.iter().find(|fault| fault.rule.id == "no-match");
        if let Some(fault) = no_match {
            return Outcome::Failed(reason(fault.rule.id, fault.message.clone()));
        }
        let below = self.floors.iter().filter_map(|floor| floor.below_message(floor.of_trajectory(report)?));
        let below: Vec<String> = below.collect();
        if !below.is_empty() {
            return Outcome::Failed(reason("below-floor", below.join("; ")));
        }
        if report.verdict.is_some() || !self.floors.is_empty() {
            return Outcome::Passed;
        }
        match &report.job {
            Some(job) if job.verdict == JobVerdict::Did.name() => Outcome::Passed,
            Some(job) if job.verdict == JobVerdict::DidNot.name() => {
                Outcome::Failed(reason("did-not-do-the-job", job.sentence()))
            }
            Some(job) => Outcome::Skipped(job.sentence()),
            None => match faults.iter().find(|fault| fault.level == Severity::Error) {
                Some(fault) => Outcome::Failed(reason(fault.rule.id, fault.message.clone())),
                None => Outcome::Passed,
            },
        }
    }
}

impl<W: Write> ScoreRenderer for Junit<W> {
    fn trajectory(&mut self, report: &TrajectoryReport) -> io::Result<()> {
        let (faults, more) = faults(report);
        let lines = lines(&faults, more);
        let outcome = self.outcome(report, &faults, &lines);
        let numbers = numbers(&report.metrics);
        // The text of a failure names the faults already.
        let output = if outcome == Outcome::Passed && !lines.is_empty() {
            format!("{numbers}\n{lines}")
        } else {
            numbers
        };
        let repeat = report.repeat.map(|repeat| format!(" (repetition {repeat})")).unwrap_or_default();
        self.suite.add(&Case {
            class: report.task_type.as_deref().unwrap_or(NO_TYPE).to_owned(),
            name: format!("{}{repeat}", report.id),
            outcome,
            output,
        })
    }

    fn finish(&mut self, summary: &ScoreSummary) -> io::Result<()> {
        for floor in &self.floors {
            let failed = |message| Outcome::Failed(Reason::new("below-floor", message));
            let outcome = floor.failure_of_set(summary).map_or(Outcome::Passed, failed);
            let output =
                floor.of_set(summary).map(|value| format!("{} {value:.4}", floor.name)).unwrap_or_default();
            let name = format!("{} of the whole set, at least {}", floor.name, floor.least);
            self.suite.add(&Case { class: FLOORS.to_owned(), name, outcome, output })?;
        }
        let suite = std::mem::replace(&mut self.suite, Suite::new());
        self.document.suite(&summary.inputs.predictions.name, suite)?;
        self.document.finish()
    }
}

/// The faults, one on each line.
fn lines(faults: &[Fault], more: usize) -> String {
    let line =
        |fault: &Fault| format!("{} {}: {}", fault.level, fault.rule.id, visible(&fault.message, false));
    let rest = (more > 0).then(|| format!("{more} more are not named"));
    faults.iter().map(line).chain(rest).collect::<Vec<_>>().join("\n")
}

/// The metrics of a trajectory on a line.
fn numbers(metrics: &AggregateReport) -> String {
    let value = |metric: Metric| Some(format!("{} {:.4}", metric.name(), metrics.metrics.get(metric)?));
    let values = Metric::of_scores().filter_map(value);
    values.collect::<Vec<_>>().join(", ")
}
