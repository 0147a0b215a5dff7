//! Outcomes for people at a terminal: 80 columns, readable without colour and through a pipe.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use m3_outcomes::NotJudged;
use m3_report::audit::wrapped;
use m3_report::terminal::bar;
use m3_report::{SheetForm, write_sheets};
use m3_support::text::shortened;

use super::tables::{self, FailedCalls};
use super::{OutcomesRenderer, OutcomesSummary, TrajectoryOutcomesReport};

/// The width of a line, in columns.
const WIDTH: usize = 80;

/// The smallest width of the names of outcomes, reasons and rates.
const NAMES: usize = 20;

/// Writes the summary and the calls that failed.
pub(super) struct Terminal<W> {
    writer: W,
    has_types: bool,
    is_styled: bool,
    failed: FailedCalls,
}

impl<W: Write> Terminal<W> {
    /// Writes to `writer`, with colours and bold type if `is_styled`.
    pub(super) fn new(writer: W, has_types: bool, is_styled: bool) -> Self {
        Self { writer, has_types, is_styled, failed: FailedCalls::default() }
    }

    /// Writes a text, with its lines broken.
    fn lines(&mut self, text: &str) -> io::Result<()> {
        wrapped(text, WIDTH).iter().try_for_each(|line| writeln!(self.writer, "{line}"))
    }

    fn shares(&mut self, summary: &OutcomesSummary, color: Style) -> io::Result<()> {
        let tally = &summary.aggregate.tally;
        let is_empty = tally.judged + tally.not_executed == 0;
        let shares = tables::shares(tally);
        let width = shares.iter().map(|(name, ..)| name.len()).max().unwrap_or_default().max(NAMES);
        for (name, count, share) in shares {
            let percent = tables::percent(share, is_empty);
            let line = format!("{name:<width$} {count:>7} {percent:>8}  {color}{}{color:#}", bar(share));
            writeln!(self.writer, "{}", line.trim_end())?;
        }
        for (why, count) in NotJudged::ALL.iter().zip(tally.not_judged.all()) {
            if count > 0 {
                let name = why.name().replace('_', " ");
                writeln!(self.writer, "{name:<width$} {count:>7}           not judged")?;
            }
        }
        writeln!(self.writer)?;
        for (name, value, of) in tables::rate_rows(summary) {
            let (value, counts) = tables::rate(value);
            let counts = if value == "-" { counts } else { format!("{counts} {of}") };
            writeln!(self.writer, "{name:<width$} {value:>7}  {counts}")?;
        }
        Ok(())
    }

    fn failed(&mut self, bold: Style) -> io::Result<()> {
        if self.failed.count == 0 {
            return Ok(());
        }
        writeln!(self.writer, "\n{bold}Calls without success{bold:#}")?;
        for failed in &self.failed.calls {
            let tool = failed.call.tool.as_deref().unwrap_or("no tool");
            let head = format!(
                "{} {}, {}: {}",
                shortened(&failed.id, 24),
                failed.place(),
                shortened(tool, 60),
                failed.verdict()
            );
            for line in wrapped(&head, WIDTH) {
                writeln!(self.writer, "{line}")?;
            }
            let evidence = &failed.call.evidence;
            let separator = if evidence.is_empty() { "" } else { ": " };
            for line in wrapped(&format!("{}{separator}{evidence}", failed.call.rule), WIDTH - 4) {
                writeln!(self.writer, "    {line}")?;
            }
        }
        if let Some(rest) = self.failed.rest() {
            writeln!(self.writer, "{rest}")?;
        }
        Ok(())
    }
}

impl<W: Write> OutcomesRenderer for Terminal<W> {
    fn trajectory(&mut self, report: &TrajectoryOutcomesReport) -> io::Result<()> {
        self.failed.add(report);
        Ok(())
    }

    fn finish(&mut self, summary: &OutcomesSummary) -> io::Result<()> {
        let style = |style| if self.is_styled { style } else { Style::new() };
        let (bold, color) = (style(Style::new().bold()), style(AnsiColor::Cyan.on_default()));
        self.lines(&tables::headline(summary))?;
        writeln!(self.writer)?;
        self.shares(summary, color)?;
        self.failed(bold)?;
        let sheets = tables::details(summary, self.has_types);
        if !sheets.is_empty() {
            writeln!(self.writer)?;
            let form = SheetForm::Terminal { columns: WIDTH, is_styled: self.is_styled };
            write_sheets(form, &sheets, &mut self.writer)?;
        }
        // The servers are written as lines, because a table would cut the reasons.
        if !summary.unavailable_servers.is_empty() {
            writeln!(self.writer, "\n{bold}Servers that were not available{bold:#}")?;
        }
        for server in &summary.unavailable_servers {
            self.lines(&format!("{}: {}", shortened(&server.server, 60), server.reason))?;
        }
        if !summary.notes.is_empty() {
            writeln!(self.writer)?;
        }
        for note in &summary.notes {
            self.lines(note)?;
        }
        self.writer.flush()
    }
}
