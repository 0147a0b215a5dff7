//! Tables in CSV: a heading with the names of the columns, and a row for each task, or for each call.

use super::members::has_column_of_calls;
use super::rows::Rows;
use crate::formats::prelude::*;
use crate::table::{each_row, heading};

/// Whether a text begins with the heading of a table that has a column of calls.
pub(super) fn has_calls(text: &str) -> bool {
    // A table of messages has a row for each.
    let is_task = |names: &Vec<String>| !names.iter().any(|name| name == "role");
    heading(text).filter(is_task).is_some_and(|names| has_column_of_calls(&names))
}

/// Reads all rows.
pub(super) fn read(input: &Input<'_>, sink: &mut dyn Sink, rows: &mut Rows) -> Result<(), ReadError> {
    each_row(input.source, sink, |sink, at, row| {
        let cells = row.into_iter().map(|(name, cell)| (name, Json::String(cell)));
        rows.add(sink, at, &Json::Object(cells.collect()))
    })
}
