//! A score as Markdown tables, for a pull request or a page.

use std::io::{self, Write};

use super::arguments::{self, Findings};
use super::sheet::{SheetForm, escape_markdown as escape, write_sheets};
use super::{ScoreRenderer, ScoreSummary, TrajectoryReport, by_tool, ledger, repeats, shortened, tables};

/// The widest cell of a list of arguments, and what of it an argument's name may take, in columns.
const CELL_WIDTH: usize = 80;
const ARGUMENT_WIDTH: usize = 50;

/// Writes the summary; trajectories are for the other forms.
pub struct Markdown<W> {
    writer: W,
}

impl<W: Write> Markdown<W> {
    /// Writes to `writer`.
    pub fn new(writer: W) -> Self {
        Self { writer }
    }

    /// A table whose columns are aligned as `alignment` says: `l` left, `r` right.
    fn table(&mut self, alignment: &str, header: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
        let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let header: Vec<String> = header.iter().map(|cell| escape(cell)).collect();
        writeln!(self.writer, "{}", line(&header))?;
        let align = |side| if side == 'r' { "---:" } else { "---" };
        writeln!(self.writer, "| {} |", alignment.chars().map(align).collect::<Vec<_>>().join(" | "))?;
        for row in rows {
            writeln!(self.writer, "{}", line(&row.iter().map(|cell| escape(cell)).collect::<Vec<_>>()))?;
        }
        writeln!(self.writer)
    }

    /// A list with its title, if it has rows.
    fn list(&mut self, list: &Findings) -> io::Result<()> {
        if list.rows.is_empty() {
            return Ok(());
        }
        writeln!(self.writer, "{}:\n", capitalized(&list.title))?;
        let header: Vec<&str> = list.columns.iter().map(|column| column.name).collect();
        let alignment: String =
            list.columns.iter().map(|column| if column.is_number { 'r' } else { 'l' }).collect();
        let cells = |row: &Vec<String>| row.iter().map(|cell| shortened(cell, CELL_WIDTH)).collect();
        self.table(&alignment, &header, &list.rows.iter().map(cells).collect::<Vec<_>>())
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

fn capitalized(text: &str) -> String {
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    first.to_uppercase() + rest
}

impl<W: Write> ScoreRenderer for Markdown<W> {
    fn trajectory(&mut self, _: &TrajectoryReport) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, summary: &ScoreSummary) -> io::Result<()> {
        writeln!(self.writer, "**m3 score**: {}\n", escape(&tables::provenance(summary)))?;
        let warnings = ledger::warnings(summary);
        for line in &warnings {
            writeln!(self.writer, "> **Warning**: {}\n", escape(&line.replace("\n ", "")))?;
        }
        let rows: Vec<Vec<String>> = tables::metrics(summary)
            .into_iter()
            .map(|row| vec![row.label.trim().to_owned(), format!("{:.4}", row.value), row.note])
            .collect();
        self.table("lrl", &["metric", "score", "what it counts"], &rows)?;
        if let Some(repeats) = &summary.repeats {
            write_sheets(SheetForm::Markdown, &repeats::repeats_sheets(repeats), &mut self.writer)?;
        }
        if let Some(costs) = by_tool::costs_most(summary) {
            writeln!(self.writer, "What costs most: {}.\n", escape(&costs))?;
        }
        self.list(&by_tool::table(summary))?;
        let (header, rows) = tables::weakest_types(summary);
        if !rows.is_empty() {
            writeln!(self.writer, "Weakest types ({} of {}):\n", rows.len(), summary.by_type.len())?;
            self.table("lrrrrrrrrr", &header, &rows)?;
        }
        self.findings(&arguments::findings(summary, ARGUMENT_WIDTH))?;
        for line in ledger::ledger(summary) {
            writeln!(self.writer, "- {}", escape(&line.replace("\n ", "")))?;
        }
        writeln!(self.writer, "\n`{}`", summary.signature)?;
        self.writer.flush()
    }
}
