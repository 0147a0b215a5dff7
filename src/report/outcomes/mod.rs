//! The outcomes of calls in every form: the JSON `m3.outcomes/1`, and tables made from it.

mod csv;
mod gather;
mod tables;
mod terminal;
mod wire;

use std::io::{self, Write};

pub(crate) use gather::OutcomesGatherer;
use m3_report::{Format, Json, SheetForm, write_sheets};
pub(crate) use wire::{
    ArgumentProblemReport, CallOutcomeReport, NotJudgedCounts, OutcomesReport, OutcomesSummary, RateReport,
    RuleReport, SetOutcomesReport, TallyReport, ToolOutcomesReport, TrajectoryOutcomesReport,
    UnavailableServerReport,
};

use self::csv::Csv;
use self::terminal::Terminal;

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
