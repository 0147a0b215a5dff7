//! A score as Markdown tables, for a pull request or a page.

use std::io::{self, Write};

use super::arguments::{self, Findings};
use super::sheet::{SheetForm, escape_markdown as escape, markdown_table, write_sheets};
use super::tables::capitalized;
use super::{
    ScoreRenderer, ScoreSummary, TrajectoryReport, by_tool, ledger, repeats, shortened, suites, tables,
};

/// The widest cell of a list of arguments, and the share of it for an argument's name, in columns.
const CELL_WIDTH: usize = 80;
const ARGUMENT_WIDTH: usize = 50;

/// Writes the summary only.
pub struct Markdown<W> {
    writer: W,
}

impl<W: Write> Markdown<W> {
    /// Writes to `writer`.
    pub fn new(writer: W) -> Self {
        Self { writer }
    }

    /// Writes a list with its title, unless the list is empty.
    fn list(&mut self, list: &Findings) -> io::Result<()> {
        if list.rows.is_empty() {
            return Ok(());
        }
        writeln!(self.writer, "{}:\n", capitalized(&list.title))?;
        let columns = list.columns.iter().map(|column| (column.name, !column.is_number));
        let cells = |row: &Vec<String>| row.iter().map(|cell| escape(&shortened(cell, CELL_WIDTH))).collect();
        markdown_table(columns, list.rows.iter().map(cells), &mut self.writer)
    }

    fn findings(&mut self, lists: &[Findings]) -> io::Result<()> {
        for list in lists {
            self.list(list)?;
        }
        if !lists.is_empty() {
            writeln!(self.writer, "{}.\n", escape(arguments::POINTER))?;
        }
        Ok(())
    }
}

impl<W: Write> ScoreRenderer for Markdown<W> {
    fn trajectory(&mut self, _: &TrajectoryReport) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, summary: &ScoreSummary) -> io::Result<()> {
        writeln!(self.writer, "**m3 score**: {}\n", escape(&tables::provenance(summary)))?;
        if let Some(asked) = tables::asked(summary) {
            writeln!(self.writer, "{}\n", escape(&asked))?;
        }
        let warnings = ledger::warnings(summary);
        for line in &warnings {
            writeln!(self.writer, "> **Warning**: {}\n", escape(&line.replace("\n ", "")))?;
        }
        let columns = [("metric", true), ("score", false), ("what it counts", true)];
        let rows = tables::metrics(summary).into_iter().map(|row| {
            vec![escape(row.metric.label().trim()), format!("{:.4}", row.value), escape(&row.note)]
        });
        let passed = tables::matched(summary).map(|(label, count)| vec![label, String::new(), count]);
        let rows = rows.chain(passed);
        markdown_table(columns.into_iter(), rows, &mut self.writer)?;
        if let Some(repeats) = &summary.repeats {
            write_sheets(SheetForm::Markdown, &repeats::repeats_sheets(repeats), &mut self.writer)?;
        }
        if !summary.suites.is_empty() {
            write_sheets(SheetForm::Markdown, &suites::suite_sheets(summary), &mut self.writer)?;
        }
        if let Some(costs) = by_tool::costs_most(summary) {
            writeln!(self.writer, "What costs most: {}.\n", escape(&costs))?;
            if let Some(extra) = by_tool::extra_calls(summary) {
                writeln!(self.writer, "{}.\n", escape(&extra))?;
            }
        }
        self.list(&by_tool::table(summary))?;
        self.list(&tables::weakest_types(summary))?;
        self.findings(&arguments::findings(summary, ARGUMENT_WIDTH))?;
        for line in ledger::ledger(summary) {
            writeln!(self.writer, "- {}", escape(&line.replace("\n ", "")))?;
        }
        writeln!(self.writer, "\n`{}`", summary.signature)?;
        self.writer.flush()
    }
}
