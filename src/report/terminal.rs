//! A score for people at a terminal: 80 columns, readable without colour and through a pipe.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::{ScoreRenderer, ScoreSummary, TrajectoryReport, arguments, tables};

/// Writes the summary; trajectories are for the other forms.
pub struct Terminal<W> {
    writer: W,
    bold: Style,
    bar: Style,
}

/// The width of everything, in columns.
const WIDTH: usize = 80;

/// The length of a full bar, in characters.
const BAR_WIDTH: usize = 10;

impl<W: Write> Terminal<W> {
    /// Writes to `writer`, with colours and bold type if `is_styled`.
    pub fn new(writer: W, is_styled: bool) -> Self {
        let style = |style| if is_styled { style } else { Style::new() };
        Self { writer, bold: style(Style::new().bold()), bar: style(AnsiColor::Cyan.on_default()) }
    }
}

impl<W: Write> ScoreRenderer for Terminal<W> {
    fn trajectory(&mut self, _: &TrajectoryReport) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, summary: &ScoreSummary) -> io::Result<()> {
        let Self { writer: out, bold, bar: color } = self;
        for line in tables::provenance_lines(summary, WIDTH) {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
        for row in tables::metrics(summary) {
            let style = if row.label == "average" { *bold } else { Style::new() };
            let (value, bar) = (row.value, bar(row.value));
            writeln!(
                out,
                "{style}{:<20} {value:.4}{style:#}  {color}{bar}{color:#}  {}",
                row.label, row.note
            )?;
        }
        let (header, rows) = tables::weakest_types(summary);
        if !rows.is_empty() {
            let all = summary.by_type.len();
            writeln!(out, "\n{bold}weakest types{bold:#} ({} of {all})", rows.len())?;
            writeln!(out, "{}", table(header, rows))?;
        }
        let lists = arguments::findings(summary, arguments::ARGUMENT_WIDTH);
        for list in &lists {
            writeln!(out, "\n{bold}{}{bold:#}", list.title)?;
            for line in list.lines() {
                writeln!(out, "{line}")?;
            }
        }
        if !lists.is_empty() {
            writeln!(out, "\n{}", arguments::POINTER)?;
        }
        writeln!(out)?;
        for line in tables::ledger(summary) {
            writeln!(out, "{line}")?;
        }
        out.flush()
    }
}

fn table(header: Vec<&str>, rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header).add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let text = table.trim_fmt();
    // The preset pads the first column too.
    text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// A bar in eighths of a character, padded to its full width.
pub(super) fn bar(value: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in [0, 8 x width]")]
    let eighths = (value.clamp(0.0, 1.0) * (8 * BAR_WIDTH) as f64).round() as usize;
    let bar = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    let padding = BAR_WIDTH - bar.chars().count();
    bar + &" ".repeat(padding)
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn bars_have_one_width() {
        for (value, start) in [(0.0, " "), (1.0, "██████████"), (0.5, "█████ "), (0.51, "█████▏")]
        {
            assert_eq!(bar(value).chars().count(), 10);
            assert!(bar(value).starts_with(start), "{value}");
        }
    }
}
