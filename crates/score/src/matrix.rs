//! Numbers in rows and columns.

use std::ops::Index;

/// A matrix, [rows, columns], row after row.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix<T> {
    rows: usize,
    columns: usize,
    values: Vec<T>,
}

impl<T: Copy> Matrix<T> {
    /// A matrix of what `value` returns for each row and column.
    pub fn from_fn(rows: usize, columns: usize, mut value: impl FnMut(usize, usize) -> T) -> Self {
        let values = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        Self { rows, columns, values: values.map(|(row, column)| value(row, column)).collect() }
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The values of one row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = T> {
        (0..self.columns).map(move |column| self[(row, column)])
    }

    /// The values of one column.
    pub fn column(&self, column: usize) -> impl Iterator<Item = T> {
        (0..self.rows).map(move |row| self[(row, column)])
    }

    /// The matrix of what `of` returns for each value.
    #[must_use]
    pub fn map<U>(&self, of: impl Fn(T) -> U) -> Matrix<U> {
        let values = self.values.iter().map(|&value| of(value)).collect();
        Matrix { rows: self.rows, columns: self.columns, values }
    }
}

impl<T> Index<(usize, usize)> for Matrix<T> {
    type Output = T;

    fn index(&self, (row, column): (usize, usize)) -> &T {
        debug_assert!(column < self.columns, "column {column} of {}", self.columns);
        &self.values[row * self.columns + column]
    }
}

impl<T: Copy, const ROWS: usize, const COLUMNS: usize> From<[[T; COLUMNS]; ROWS]> for Matrix<T> {
    fn from(values: [[T; COLUMNS]; ROWS]) -> Self {
        Self { rows: ROWS, columns: COLUMNS, values: values.concat() }
    }
}
