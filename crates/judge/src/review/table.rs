//! Reviews as a table: a line for each call, to be edited in a spreadsheet and read back by the same rules.
//!
//! Spreadsheets take a cell that begins with `=`, `+`, `-` or `@` (or a tab or a carriage return) for a formula. Such
//! a cell gets an apostrophe in front, and so does one that begins with an apostrophe; reading removes one
//! apostrophe.

use std::io;

use m3_support::text::json_without_hidden;
use m3_trajectory::Call;
use m3_trajectory::json::Keys;

use super::arrangement::{arguments, original};
use super::reviews::Reviews;

/// The columns. `call` counts the calls of the reference in the file of references from 1, whatever step they are in
/// now; `name` and `time` say who decided and when, and `version` how many decisions there had been. `reference`
/// names the reference by its content: spreadsheets turn an id such as `00050000` into a number.
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
        let before = original(reference);
        let arrangement = reviews.arrangement(index).unwrap_or(&before);
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
        for (step, placed) in arrangement
            .iter()
            .zip(1..)
            .flat_map(|(calls, step)| calls.iter().map(move |placed| (step, placed)))
        {
            let Some(call) = calls.get(placed.call) else { continue };
            let arguments =
                arguments(call, placed).map(|found| found.to_text(Keys::AsRead)).unwrap_or_default();
            let arguments = json_without_hidden(&arguments).into_owned();
            let step: i32 = step;
            row([step.to_string(), (placed.call + 1).to_string(), call.tool.clone(), arguments])?;
        }
        if arrangement.iter().all(Vec::is_empty) {
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
