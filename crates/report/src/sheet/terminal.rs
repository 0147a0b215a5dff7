//! Tables at a terminal, readable without colour and through a pipe.

use std::io::{self, Write};

use anstyle::Style;
use m3_support::text::{shortened, visible};
use unicode_width::UnicodeWidthStr as _;

use super::Sheet;
use crate::audit::wrapped;

/// The widest column of names: where there is room, where there is some, and where there is little.
const WIDE_NAME_WIDTH: usize = 48;
const NAME_WIDTH: usize = 24;
const LEAST_NAME_WIDTH: usize = 10;

/// The least width that tables fit into if possible.
const WIDTH: usize = 80;

/// Writes tables.
pub(super) fn write(
    sheets: &[Sheet],
    columns: usize,
    is_styled: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = columns.max(WIDTH);
    let bold = if is_styled { Style::new().bold() } else { Style::new() };
    for (index, sheet) in sheets.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{bold}{}{bold:#}", shortened(&sheet.title, columns - 2))?;
        let heads: Vec<&str> = sheet.columns.iter().map(|column| column.short_name.as_str()).collect();
        let Layout { rows, widths, gap } = Layout::new(sheet, &heads, columns, is_styled);
        let mut line = |cells: &mut dyn Iterator<Item = (&str, Style)>| {
            let mut text = String::new();
            for ((column, (cell, style)), width) in sheet.columns.iter().zip(cells).zip(&widths) {
                let padding = " ".repeat(width - cell.width().min(*width));
                let gap = if text.is_empty() { "" } else { gap };
                let cell = format!("{style}{cell}{style:#}");
                let (before, after) =
                    if column.is_text { ("", padding) } else { (padding.as_str(), String::new()) };
                text.extend([gap, before, &cell, &after]);
            }
            writeln!(out, "{}", text.trim_end())
        };
        line(&mut heads.iter().map(|head| (*head, Style::new())))?;
        for (row, cells) in rows.iter().zip(&sheet.rows) {
            let style = |is_best| if is_best { bold } else { Style::new() };
            line(&mut row.iter().zip(cells).map(|(text, cell)| (text.as_str(), style(cell.is_best))))?;
        }
        for note in &sheet.notes {
            for line in wrapped(&visible(note, false), columns) {
                writeln!(out, "{line}")?;
            }
        }
    }
    out.flush()
}

/// The cells as shown, and how wide their columns are.
struct Layout {
    rows: Vec<Vec<String>>,
    widths: Vec<usize>,
    gap: &'static str,
}

impl Layout {
    /// Columns as wide as their cells; if that is too wide, with shorter names, with smaller gaps, and then with the names
    /// that fit.
    fn new(sheet: &Sheet, heads: &[&str], columns: usize, is_styled: bool) -> Self {
        let with_names = |width, gap| Self::with_names(sheet, heads, is_styled, width, gap);
        let mut layout = with_names(WIDE_NAME_WIDTH, "  ");
        for gap in ["  ", " "] {
            if layout.width() > columns {
                layout = with_names(NAME_WIDTH, gap);
            }
        }
        if layout.width() > columns {
            let names = sheet.columns.iter().filter(|column| column.is_text).count().max(1);
            let excess = (layout.width() - columns).div_ceil(names);
            let text = |(column, width): (&super::Column, &usize)| column.is_text.then_some(*width);
            let widest = sheet.columns.iter().zip(&layout.widths).filter_map(text).max().unwrap_or(0);
            let name_width = widest.saturating_sub(excess).max(LEAST_NAME_WIDTH);
            layout = with_names(name_width, " ");
        }
        layout
    }

    fn with_names(
        sheet: &Sheet,
        heads: &[&str],
        is_styled: bool,
        name_width: usize,
        gap: &'static str,
    ) -> Self {
        let text = |(cell, column): (&super::Cell, &super::Column)| {
            let star = if cell.is_best && !is_styled { "*" } else { "" };
            let width = if column.is_text { name_width } else { NAME_WIDTH };
            format!("{star}{}", shortened(&cell.text, width))
        };
        let rows: Vec<Vec<String>> =
            sheet.rows.iter().map(|row| row.iter().zip(&sheet.columns).map(text).collect()).collect();
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width());
            cells.chain([heads[column].width()]).max().unwrap_or(0)
        };
        let widths = (0..heads.len()).map(width).collect();
        Self { rows, widths, gap }
    }

    fn width(&self) -> usize {
        self.widths.iter().sum::<usize>() + self.gap.len() * self.widths.len().saturating_sub(1)
    }
}
