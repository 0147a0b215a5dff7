//! Comma-separated values (RFC 4180): a row for each trajectory, then each type, then the whole; with `--match` a
//! column `match` says how many of the row's trajectories pass. Control characters
//! in ids and types are made visible, because people also look at tables in terminals.

use std::io::{self, Write};

use m3_score::Metric;

use super::{AggregateReport, ScoreRenderer, ScoreSummary, TrajectoryReport, visible};

/// Writes rows as they come. The last column says why a task failed; it is empty if it did not.
pub struct Csv<W: Write> {
    writer: csv::Writer<W>,
    has_header: bool,
    /// Whether rows give the repetition of a task; the first row decides.
    has_repeats: bool,
    /// Whether rows say how many trajectories pass, likewise.
    has_match: bool,
}

/// The columns before the metrics, and those after them.
const FIRST: [&str; 7] =
    ["scope", "id", "type", "trajectories", "reference_calls", "predicted_calls", "matched"];
const LAST: [&str; 2] = ["average_steps", "average_calls"];

impl<W: Write> Csv<W> {
    /// Writes to `writer`.
    pub fn new(writer: W) -> Self {
        Self {
            writer: csv::Writer::from_writer(writer),
            has_header: false,
            has_repeats: false,
            has_match: false,
        }
    }

    fn row(
        &mut self,
        scope: &str,
        (id, repeat, failure): (&str, Option<usize>, Option<&str>),
        task_type: &str,
        (numbers, passed): (&AggregateReport, Option<u64>),
    ) -> io::Result<()> {
        if !std::mem::replace(&mut self.has_header, true) {
            self.has_repeats = repeat.is_some();
            self.has_match = passed.is_some();
            let repeat = self.has_repeats.then_some("repeat");
            let passed = self.has_match.then_some("match");
            let columns = FIRST.into_iter().chain(Metric::of_scores().map(Metric::name)).chain(LAST);
            self.writer.write_record(columns.chain(repeat).chain(passed).chain(["failure"]))?;
        }
        let repeat = self.has_repeats.then(|| repeat.map(|repeat| repeat.to_string()).unwrap_or_default());
        let passed = self.has_match.then(|| passed.unwrap_or_default().to_string());
        let a = numbers;
        let counts = [a.trajectories, a.reference_calls, a.predicted_calls, a.matched].map(|n| n.to_string());
        let metrics =
            Metric::of_scores().map(|metric| a.metrics[metric]).chain([a.average_steps, a.average_calls]);
        let metrics: Vec<String> = metrics.map(|x| x.to_string()).collect();
        let names = [scope, id, task_type].map(|name| visible(name, false).into_owned());
        let failure = [failure.unwrap_or_default().to_owned()];
        let fields =
            names.iter().chain(&counts).chain(&metrics).chain(&repeat).chain(&passed).chain(&failure);
        Ok(self.writer.write_record(fields)?)
    }
}

impl<W: Write> ScoreRenderer for Csv<W> {
    fn trajectory(&mut self, report: &TrajectoryReport) -> io::Result<()> {
        self.row(
            "trajectory",
            (&report.id, report.repeat, report.failure.as_deref()),
            report.task_type.as_deref().unwrap_or_default(),
            (&report.metrics, report.verdict.as_ref().map(|verdict| u64::from(verdict.passed))),
        )
    }

    fn finish(&mut self, summary: &ScoreSummary) -> io::Result<()> {
        let passed = |numbers: &AggregateReport| numbers.matched_whole.map(|found| found.passed);
        for (name, numbers) in &summary.by_type {
            self.row("type", ("", None, None), name, (numbers, passed(numbers)))?;
        }
        self.row("all", ("", None, None), "", (&summary.aggregate, passed(&summary.aggregate)))?;
        self.writer.flush()
    }
}
