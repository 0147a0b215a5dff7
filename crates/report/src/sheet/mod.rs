//! Tables in any form: a [`Sheet`] is the content of a table, a [`SheetForm`] how it is written.
//!
//! Names in cells are untrusted; every form escapes them in its own way.

mod csv;
mod html;
mod latex;
mod markdown;
mod terminal;

use std::io::{self, Write};

pub(super) use markdown::{escape as escape_markdown, table as markdown_table};

/// A table with its title.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sheet {
    /// The content in a few words.
    pub title: String,
    /// Notes for the reader, one line each.
    pub notes: Vec<String>,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a [`Sheet`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The heading in full.
    pub name: String,
    /// The heading for little room.
    pub short_name: String,
    /// Whether the column holds names, which are set to the left; else it holds numbers.
    pub is_text: bool,
    /// Whether only programs need the column: it is in CSV, but not in forms for people.
    pub is_for_programs: bool,
}

/// A cell of a [`Sheet`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// The content of the cell.
    pub text: String,
    /// Whether the cell has the best value of its column.
    pub is_best: bool,
}

impl Column {
    /// A column of names.
    #[must_use]
    pub fn text(name: &str) -> Self {
        Self { name: name.to_owned(), short_name: name.to_owned(), is_text: true, is_for_programs: false }
    }

    /// A column of numbers.
    #[must_use]
    pub fn number(name: &str, short_name: &str) -> Self {
        let (name, short_name) = (name.to_owned(), short_name.to_owned());
        Self { name, short_name, is_text: false, is_for_programs: false }
    }
}

impl Sheet {
    /// The table without the columns that are for programs.
    fn for_people(&self) -> Self {
        let kept = |index: usize| self.columns.get(index).is_none_or(|column| !column.is_for_programs);
        let row = |row: &Vec<Cell>| {
            let cells = row.iter().enumerate().filter(|(index, _)| kept(*index));
            cells.map(|(_, cell)| cell.clone()).collect()
        };
        Self {
            title: self.title.clone(),
            notes: self.notes.clone(),
            columns: self.columns.iter().filter(|column| !column.is_for_programs).cloned().collect(),
            rows: self.rows.iter().map(row).collect(),
        }
    }
}

impl Cell {
    /// A plain cell.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_best: false }
    }

    /// A number in three digits; `-` where it is not known.
    #[must_use]
    pub fn number(value: Option<f64>) -> Self {
        Self::new(value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}")))
    }
}

/// The form that tables are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SheetForm {
    /// For people at a terminal; the best values in bold if styled, or else marked by `*`.
    Terminal {
        /// The width that tables fit into if possible, in columns; at least 80.
        columns: usize,
        /// Whether colours and bold type are allowed.
        is_styled: bool,
    },
    /// Markdown tables, for a pull request.
    Markdown,
    /// The first table and all others with the same columns, as one table with their titles in a first column.
    Csv,
    /// A separate page.
    Html,
    /// Tables of the `booktabs` package.
    Latex,
}

/// Writes tables, one after the other.
///
/// # Errors
/// The writer's reason.
pub fn write_sheets(form: SheetForm, sheets: &[Sheet], out: &mut dyn Write) -> io::Result<()> {
    let for_people = || sheets.iter().map(Sheet::for_people).collect::<Vec<_>>();
    match form {
        SheetForm::Terminal { columns, is_styled } => terminal::write(&for_people(), columns, is_styled, out),
        SheetForm::Markdown => markdown::write(&for_people(), out),
        SheetForm::Csv => csv::write(sheets, out),
        SheetForm::Html => html::write(&for_people(), &[], out),
        SheetForm::Latex => latex::write(&for_people(), out),
    }
}

/// Writes tables as a page, with figures under the first of them: names and SVG.
///
/// # Errors
/// The writer's reason.
pub fn write_page(sheets: &[Sheet], figures: &[(&str, &str)], out: &mut dyn Write) -> io::Result<()> {
    let for_people: Vec<Sheet> = sheets.iter().map(Sheet::for_people).collect();
    html::write(&for_people, figures, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let best = Cell { text: "0.900".to_owned(), is_best: true };
        Sheet {
            title: "Models & <tasks>".to_owned(),
            notes: vec!["100 % of $5".to_owned()],
            columns: vec![Column::text("model"), Column::number("recall", "rec.")],
            rows: vec![
                vec![Cell::new("a_b|<script>\u{202e}"), best],
                vec![Cell::new("=2+2, \"x\""), Cell::new("0.5")],
            ],
        }
    }

    fn written(form: SheetForm) -> String {
        let mut out = Vec::new();
        write_sheets(form, &[sheet()], &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_form_escapes_names() {
        insta::assert_snapshot!("terminal", written(SheetForm::Terminal { columns: 80, is_styled: false }));
        insta::assert_snapshot!("markdown", written(SheetForm::Markdown));
        insta::assert_snapshot!("csv", written(SheetForm::Csv));
        let page = written(SheetForm::Html);
        // Style and script are looked at in a browser.
        let (_, content) = page.split_once("<body>").unwrap();
        insta::assert_snapshot!("html", content.split_once("<script>").unwrap().0);
        insta::assert_snapshot!("latex", written(SheetForm::Latex));
    }
}
