//! Outcomes as comma-separated values (RFC 4180): a row for each trajectory, then each type, each tool and the whole.

use std::io::{self, Write};

use m3_outcomes::{NotJudged, Outcome, Verdict};
use m3_support::text::visible;

use super::TrajectoryOutcomesReport;
use super::{OutcomesRenderer, OutcomesSummary, RateReport, TallyReport};

/// Writes rows as they come.
pub(super) struct Csv<W: Write> {
    writer: csv::Writer<W>,
    has_header: bool,
}

impl<W: Write> Csv<W> {
    /// Writes to `writer`.
    pub(super) fn new(writer: W) -> Self {
        Self { writer: csv::Writer::from_writer(writer), has_header: false }
    }

    fn row(&mut self, names: [&str; 3], tally: &TallyReport) -> io::Result<()> {
        let rates = [Some(tally.tool_name_validity), Some(tally.schema_compliance), tally.execution_success];
        let rate = |rate: Option<RateReport>| {
            rate.and_then(|rate| rate.rate).map_or_else(String::new, |rate| rate.to_string())
        };
        let rates = rates.map(rate);
        let counts = [tally.calls].into_iter().chain(tally.outcomes.all()).chain([tally.not_executed]);
        self.counts(names, counts.chain(tally.not_judged.all()), &rates)
    }

    fn counts(
        &mut self,
        names: [&str; 3],
        counts: impl Iterator<Item = u64>,
        rates: &[String; 3],
    ) -> io::Result<()> {
        if !std::mem::replace(&mut self.has_header, true) {
            let outcomes = Outcome::ALL.map(Verdict::Outcome).into_iter().chain([Verdict::NotExecuted]);
            let verdicts = outcomes.chain(NotJudged::ALL.map(Verdict::NotJudged));
            let counts = verdicts.map(Verdict::name);
            let header = ["scope", "id", "type", "calls"].into_iter().chain(counts);
            let rates = ["tool_name_validity", "schema_compliance", "execution_success"];
            self.writer.write_record(header.chain(rates))?;
        }
        let names = names.map(|name| visible(name, false).into_owned());
        let numbers = counts.map(|number| number.to_string());
        Ok(self.writer.write_record(names.into_iter().chain(numbers).chain(rates.iter().cloned()))?)
    }
}

impl<W: Write> OutcomesRenderer for Csv<W> {
    fn trajectory(&mut self, report: &TrajectoryOutcomesReport) -> io::Result<()> {
        self.row(["trajectory", &report.id, report.task_type.as_deref().unwrap_or_default()], &report.tally)
    }

    fn finish(&mut self, summary: &OutcomesSummary) -> io::Result<()> {
        for (name, set) in &summary.by_type {
            self.row(["type", "", name], &set.tally)?;
        }
        let no_rates = [const { String::new() }; 3];
        for (tool, found) in &summary.by_tool {
            let counts = [found.calls].into_iter().chain(found.outcomes.all()).chain([found.not_executed]);
            self.counts(["tool", tool, ""], counts.chain(found.not_judged.all()), &no_rates)?;
        }
        self.row(["all", "", ""], &summary.aggregate.tally)?;
        self.writer.flush()
    }
}
