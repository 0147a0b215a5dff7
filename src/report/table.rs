//! Tables that are made column by column.

use m3_report::{Cell, Column, Sheet};

/// A table with a row for each item. Each column is added with its heading and the function that makes its cells.
pub(crate) struct Table<T> {
    items: Vec<T>,
    sheet: Sheet,
}

impl<T> Table<T> {
    pub(crate) fn new(items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<T> = items.into_iter().collect();
        let sheet = Sheet { rows: items.iter().map(|_| Vec::new()).collect(), ..Sheet::default() };
        Self { items, sheet }
    }

    /// Adds a column of texts.
    pub(crate) fn text(self, name: &str, cell: impl Fn(&T) -> String) -> Self {
        self.column(Column::text(name), |item| Cell::new(cell(item)))
    }

    /// Adds a column of numbers in any form; tables for people use the short name.
    pub(crate) fn number(self, name: &str, short_name: &str, cell: impl Fn(&T) -> String) -> Self {
        self.column(Column::number(name, short_name), |item| Cell::new(cell(item)))
    }

    /// Adds a column of numbers in three digits; `-` where one is not known.
    pub(crate) fn value(self, name: &str, short_name: &str, cell: impl Fn(&T) -> Option<f64>) -> Self {
        self.column(Column::number(name, short_name), |item| Cell::number(cell(item)))
    }

    fn column(mut self, column: Column, cell: impl Fn(&T) -> Cell) -> Self {
        self.sheet.columns.push(column);
        for (row, item) in self.sheet.rows.iter_mut().zip(&self.items) {
            row.push(cell(item));
        }
        self
    }

    pub(crate) fn sheet(self, title: impl Into<String>, notes: Vec<String>) -> Sheet {
        Sheet { title: title.into(), notes, ..self.sheet }
    }
}
