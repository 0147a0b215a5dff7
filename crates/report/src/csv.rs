//! Comma-separated values (RFC 4180): a row for each trajectory, then each type, then the whole. With `--match` a
//! column `match` counts the row's trajectories that pass; with `--suite` further columns have the suite's values.
//! Control characters in ids and types are made visible, because people also look at tables in terminals.

use std::io::{self, Write};

use m3_score::Metric;

use super::{
    AggregateReport, ScoreRenderer, ScoreSummary, SuiteTrial, SuiteValue, TrajectoryReport, visible,
};

/// Writes rows as they come. The last column says why a task failed; it is empty if it did not.
pub struct Csv<W: Write> {
    writer: csv::Writer<W>,
    has_header: bool,
    /// Whether rows give the repetition of a task; the first row decides.
    has_repeats: bool,
    /// Whether rows say how many trajectories pass; the first row decides.
    has_match: bool,
    /// The columns of suites, each a suite and its metric; the first trajectory decides.
    of_suites: Vec<(String, String)>,
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
            of_suites: Vec::new(),
        }
    }

    fn row(
        &mut self,
        scope: &str,
        (id, repeat, failure): (&str, Option<usize>, Option<&str>),
        task_type: &str,
        (numbers, passed): (&AggregateReport, Option<u64>),
        suites: &dyn Fn(&str, &str) -> Option<SuiteValue>,
    ) -> io::Result<()> {
        if !std::mem::replace(&mut self.has_header, true) {
            self.has_repeats = repeat.is_some();
            self.has_match = passed.is_some();
            let repeat = self.has_repeats.then_some("repeat");
            let passed = self.has_match.then_some("match");
            let columns = FIRST.into_iter().chain(Metric::of_scores().map(Metric::name)).chain(LAST);
            let suites = self.of_suites.iter().map(|(suite, metric)| format!("{suite}.{metric}"));
            let columns = columns.chain(repeat).chain(passed).map(str::to_owned).chain(suites);
            self.writer.write_record(columns.chain(["failure".to_owned()]))?;
        }
        let repeat = self.has_repeats.then(|| repeat.map(|repeat| repeat.to_string()).unwrap_or_default());
        let passed = self.has_match.then(|| passed.unwrap_or_default().to_string());
        let a = numbers;
        let counts = [a.trajectories, a.reference_calls, a.predicted_calls, a.matched].map(|n| n.to_string());
        let metrics = Metric::of_scores().map(|metric| a.metrics.get(metric));
        let metrics = metrics.chain([Some(a.average_steps), Some(a.average_calls)]);
        let metrics: Vec<String> = metrics.map(|x| x.map_or_else(String::new, |x| x.to_string())).collect();
        let names = [scope, id, task_type].map(|name| visible(name, false).into_owned());
        let value = |(suite, metric): &(String, String)| match suites(suite, metric) {
            Some(SuiteValue::Number(Some(value))) => value.to_string(),
            Some(SuiteValue::Text(text)) => visible(&text, false).into_owned(),
            Some(SuiteValue::Number(None)) | None => String::new(),
        };
        let suites: Vec<String> = self.of_suites.iter().map(value).collect();
        let failure = [failure.unwrap_or_default().to_owned()];
        let fields = names
            .iter()
            .chain(&counts)
            .chain(&metrics)
            .chain(&repeat)
            .chain(&passed)
            .chain(&suites)
            .chain(&failure);
        Ok(self.writer.write_record(fields)?)
    }
}

impl<W: Write> ScoreRenderer for Csv<W> {
    fn trajectory(&mut self, report: &TrajectoryReport) -> io::Result<()> {
        if !self.has_header {
            let names = |(suite, values): &(String, SuiteTrial)| {
                values.0.iter().map(|(metric, _)| (suite.clone(), metric.clone())).collect::<Vec<_>>()
            };
            self.of_suites = report.suites.0.iter().flat_map(names).collect();
        }
        self.row(
            "trajectory",
            (&report.id, report.repeat, report.failure.as_deref()),
            report.task_type.as_deref().unwrap_or_default(),
            (&report.metrics, report.verdict.as_ref().map(|verdict| u64::from(verdict.passed))),
            &|suite, metric| report.suites.get(suite)?.get(metric).cloned(),
        )
    }

    fn finish(&mut self, summary: &ScoreSummary) -> io::Result<()> {
        let passed = |numbers: &AggregateReport| numbers.matched_whole.map(|found| found.passed);
        for (name, numbers) in &summary.by_type {
            self.row("type", ("", None, None), name, (numbers, passed(numbers)), &|_, _| None)?;
        }
        self.row(
            "all",
            ("", None, None),
            "",
            (&summary.aggregate, passed(&summary.aggregate)),
            &|suite, metric| {
                summary.suites.get(suite)?.aggregate.get(metric).copied().map(SuiteValue::Number)
            },
        )?;
        self.writer.flush()
    }
}
