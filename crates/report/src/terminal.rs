//! A score for people at a terminal: 80 columns, or more if there is room, readable without colour and through a
//! pipe.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use m3_score::Metric;

use super::arguments::Findings;
use super::audit::wrapped;
use super::sheet::{SheetForm, write_sheets};
use super::{
    ScoreRenderer, ScoreSummary, TrajectoryReport, arguments, by_tool, ledger, repeats, suites, tables,
};

/// Writes the summary only.
pub struct Terminal<W> {
    writer: W,
    columns: usize,
    is_styled: bool,
    bold: Style,
    warning: Style,
    bar: Style,
}

/// The smallest width, in columns.
const WIDTH: usize = 80;

/// The indent of ids and rates.
const INDENT: &str = "  ";

/// The length of a full bar, in characters.
const BAR_WIDTH: usize = 10;

impl<W: Write> Terminal<W> {
    /// Writes to `writer`, on this many columns, at least 80, with colours and bold type if
    /// `is_styled`.
    pub fn new(writer: W, columns: usize, is_styled: bool) -> Self {
        let style = |style| if is_styled { style } else { Style::new() };
        Self {
            writer,
            columns: columns.max(WIDTH),
            is_styled,
            bold: style(Style::new().bold()),
            warning: style(AnsiColor::Yellow.on_default().bold()),
            bar: style(AnsiColor::Cyan.on_default()),
        }
    }
}

impl<W: Write> ScoreRenderer for Terminal<W> {
    fn trajectory(&mut self, _: &TrajectoryReport) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, summary: &ScoreSummary) -> io::Result<()> {
        let Self { writer: out, columns, is_styled, bold, warning, bar: color } = self;
        let columns = *columns;
        for line in tables::provenance_lines(summary, columns) {
            writeln!(out, "{line}")?;
        }
        for line in tables::asked(summary).iter().flat_map(|asked| wrapped(asked, columns)) {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
        warnings(out, *warning, &ledger::warnings(summary), columns)?;
        for row in tables::metrics(summary) {
            let style =
                if matches!(row.metric, Metric::Average | Metric::Verdict) { *bold } else { Style::new() };
            let (value, bar) = (row.value, bar(row.value));
            writeln!(
                out,
                "{style}{:<20} {value:.4}{style:#}  {color}{bar}{color:#}  {}",
                row.metric.label(),
                row.note
            )?;
        }
        if let Some((label, count)) = tables::matched(summary) {
            writeln!(out, "{label:<20} {count}")?;
        }
        for line in tables::results(summary).iter().flat_map(|results| wrapped(results, columns)) {
            writeln!(out, "{line}")?;
        }
        let form = SheetForm::Terminal { columns, is_styled: *is_styled };
        if let Some(repeats) = &summary.repeats {
            writeln!(out)?;
            write_sheets(form, &repeats::repeats_sheets(repeats), out)?;
        }
        if !summary.suites.is_empty() {
            writeln!(out)?;
            write_sheets(form, &suites::suite_sheets(summary), out)?;
        }
        if let Some(costs) = by_tool::costs_most(summary) {
            writeln!(out, "\n{bold}what costs most{bold:#}")?;
            let extra = by_tool::extra_calls(summary);
            for line in [costs].iter().chain(&extra).flat_map(|sentence| wrapped(sentence, columns)) {
                writeln!(out, "{line}")?;
            }
        }
        list(out, *bold, &by_tool::table(summary), columns)?;
        list(out, *bold, &tables::weakest_types(summary), columns)?;
        let lists = arguments::findings(summary, arguments::ARGUMENT_WIDTH);
        for found in &lists {
            list(out, *bold, found, columns)?;
        }
        if !lists.is_empty() {
            writeln!(out, "\n{}", arguments::POINTER)?;
        }
        writeln!(out)?;
        for line in ledger::ledger(summary) {
            writeln!(out, "{line}")?;
        }
        writeln!(out, "\n{}", summary.signature)?;
        out.flush()
    }
}

/// Writes warnings, and an empty line below them.
fn warnings(out: &mut impl Write, style: Style, warnings: &[String], columns: usize) -> io::Result<()> {
    for text in warnings {
        let mut lines = text.lines();
        writeln!(out, "{style}warning{style:#}: {}", lines.next().unwrap_or_default())?;
        for line in lines.flat_map(|line| wrapped(line.trim_start(), columns - INDENT.len())) {
            writeln!(out, "{INDENT}{line}")?;
        }
    }
    if warnings.is_empty() { Ok(()) } else { writeln!(out) }
}

/// Writes a list with its title, unless the list is empty.
fn list(out: &mut impl Write, bold: Style, list: &Findings, columns: usize) -> io::Result<()> {
    if list.rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{bold}{}{bold:#}", list.title)?;
    for line in list.lines(columns) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// A bar in eighths of a character, padded to its full width.
#[must_use]
pub fn bar(value: f64) -> String {
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
