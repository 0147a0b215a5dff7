//! Reviews as a table: a line for each call, to be edited in a spreadsheet and read back by the same rules.
//!
//! Spreadsheets take a cell that begins with `=`, `+`, `-` or `@` (or a tab or a carriage return) for a formula. Such
//! a cell gets an apostrophe in front, and so does one that begins with an apostrophe; reading removes one
//! apostrophe.

use std::io;

use m3_support::text::json_without_hidden;
use m3_trajectory::Call;
use m3_trajectory::json::Keys;

use super::reviews::Reviews;

/// The columns. `call` counts the calls of the reference in the file of references from 1, whatever step they are in
/// now, and then the added calls; `tool` is read back for added calls only. `name` and `time` are the person and the
/// time of the last decision, and `version` is the number of decisions so far. `reference` names the reference by its
/// content: spreadsheets turn an id such as `00050000` into a number.
pub const COLUMNS: [&str; 11] =
    ["id", "step", "call", "tool", "arguments", "decision", "note", "name", "time", "version", "reference"];

/// Writes all references.
///
/// # Errors
/// The writer's reason.
pub fn write_table(reviews: &Reviews, writer: impl io::Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(writer);
    table.write_record(COLUMNS)?;
    for (index, reference) in reviews.references().iter().enumerate() {
        let calls: Vec<&Call> = reference.calls().map(|(_, call)| call).collect();
        let steps = reviews.current(index).steps;
        let last = reviews.last(index);
        let decided = [
            reviews.state(index).name().to_owned(),
            last.map(|last| last.action.note().to_owned()).unwrap_or_default(),
            last.map(|last| last.name.clone()).unwrap_or_default(),
            last.map(|last| last.time.clone()).unwrap_or_default(),
            reviews.version(index).to_string(),
            reviews.key(index),
        ];
        let mut row = |place: [String; 4]| {
            let texts = std::iter::once(&reference.id).chain(&place).chain(&decided);
            table.write_record(texts.map(|text| guarded(text)))
        };
        let placed = steps.iter().enumerate();
        for (step, placed) in placed.flat_map(|(step, calls)| calls.iter().map(move |placed| (step, placed)))
        {
            let Some(call) = placed.as_it_stands(&calls) else { continue };
            let arguments =
                call.arguments.as_ref().map(|found| found.to_text(Keys::AsRead)).unwrap_or_default();
            let arguments = json_without_hidden(&arguments).into_owned();
            let tool = call.tool.clone();
            row([(step + 1).to_string(), placed.call.saturating_add(1).to_string(), tool, arguments])?;
        }
        if steps.iter().all(Vec::is_empty) {
            row([const { String::new() }; 4])?;
        }
    }
    table.flush()
}

/// A cell that no spreadsheet takes for a formula.
fn guarded(cell: &str) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\'']) {
        format!("'{cell}")
    } else {
        cell.to_owned()
    }
}

/// The cell without the apostrophe of [`guarded`].
pub(super) fn unguarded(cell: &str) -> &str {
    cell.strip_prefix('\'').unwrap_or(cell)
}

#[cfg(test)]
mod tests;
