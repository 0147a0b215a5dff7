//! The outcomes of calls in every form: the JSON `m3.outcomes/1`, and tables made from it.

mod gather;
mod tables;
mod terminal;
mod wire;

use std::io::{self, Write};

pub(crate) use gather::OutcomesGatherer;
use m3_outcomes::{NotJudged, Outcome, Verdict};
use m3_report::{Format, Json, SheetForm, write_sheets};
use m3_support::text::visible;
pub(crate) use wire::{
    CallOutcomeReport, NotJudgedCounts, OutcomesReport, OutcomesSummary, RateReport, RuleReport,
    SetOutcomesReport, TallyReport, ToolOutcomesReport, TrajectoryOutcomesReport, UnavailableServerReport,
};

use crate::report::outcomes::terminal::Terminal;

/// Writes outcomes in one form.
pub(crate) trait OutcomesRenderer {
    /// Takes the next trajectory, in the order of the file.
    ///
    /// # Errors
    /// The writer's reason.
    fn trajectory(&mut self, report: &TrajectoryOutcomesReport) -> io::Result<()>;

    /// Takes the summary, and writes the rest.
    ///
    /// # Errors
    /// The writer's reason.
    fn finish(&mut self, summary: &OutcomesSummary) -> io::Result<()>;
}

/// A renderer of a form. `has_types` adds a table of types of task, `is_styled` allows colours and bold type.
pub(crate) fn outcomes_renderer<'a>(
    format: Format,
    writer: impl Write + 'a,
    has_types: bool,
    is_styled: bool,
) -> Box<dyn OutcomesRenderer + 'a> {
    match format {
        Format::Table => Box::new(Terminal::new(writer, has_types, is_styled)),
        Format::Json => Box::new(Json::new(writer)),
        Format::JsonLines => Box::new(Lines(writer)),
        Format::Csv => Box::new(Csv::new(writer)),
        Format::Markdown => Box::new(Markdown { writer, failed: tables::FailedCalls::default(), has_types }),
    }
}

impl<W: Write> OutcomesRenderer for Json<W> {
    fn trajectory(&mut self, report: &TrajectoryOutcomesReport) -> io::Result<()> {
        self.push(report)
    }

    fn finish(&mut self, summary: &OutcomesSummary) -> io::Result<()> {
        self.close(summary)
    }
}

/// A trajectory on each line, the summary on the last.
struct Lines<W>(W);

impl<W: Write> OutcomesRenderer for Lines<W> {
    fn trajectory(&mut self, report: &TrajectoryOutcomesReport) -> io::Result<()> {
        writeln!(self.0, "{}", m3_support::text::json_without_hidden(&serde_json::to_string(report)?))
    }

    fn finish(&mut self, summary: &OutcomesSummary) -> io::Result<()> {
        writeln!(self.0, "{}", m3_support::text::json_without_hidden(&serde_json::to_string(summary)?))?;
        self.0.flush()
    }
}

/// Tables for a pull request.
struct Markdown<W> {
    writer: W,
    failed: tables::FailedCalls,
    has_types: bool,
}

impl<W: Write> OutcomesRenderer for Markdown<W> {
    fn trajectory(&mut self, report: &TrajectoryOutcomesReport) -> io::Result<()> {
        self.failed.add(report);
        Ok(())
    }

    fn finish(&mut self, summary: &OutcomesSummary) -> io::Result<()> {
        let mut sheets = vec![tables::outcomes(summary), tables::rates(summary)];
        sheets.extend(tables::details(summary, self.has_types));
        sheets.extend(Some(tables::servers(summary)).filter(|sheet| !sheet.rows.is_empty()));
        sheets.extend(self.failed.sheet());
        write_sheets(SheetForm::Markdown, &sheets, &mut self.writer)
    }
}

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
