//! Tables in CSV: a heading with the names of the columns, and a row for each task, or for each call.

use m3_trajectory::json::Json;

use super::members::has_column_of_calls;
use super::rows::Rows;
use crate::input::{At, Input, LONGEST, ReadError, Sink};

/// The most columns of a table.
const MOST_COLUMNS: usize = 1000;

/// What may separate the cells of a row.
const SEPARATORS: [u8; 4] = *b",;\t|";

/// Whether a text begins with the heading of a table that has a column of calls.
pub(super) fn has_calls(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some((heading, _)) = text.split_once('\n') else { return false };
    let names = heading_of(heading);
    let is_name = |name: &String| name.chars().all(|c| c.is_alphanumeric() || "_ .-".contains(c));
    (2..=MOST_COLUMNS).contains(&names.len()) && names.iter().all(is_name) && has_column_of_calls(&names)
        // A table of messages has a row for each.
        && !names.iter().any(|name| name == "role")
}

/// The separator that divides a heading into the most cells.
fn separator(heading: &str) -> u8 {
    let count = |separator: &u8| heading.bytes().filter(|byte| byte == separator).count();
    // The first of equal ones.
    SEPARATORS.into_iter().rev().max_by_key(count).unwrap_or(b',')
}

fn reader<R: std::io::Read>(separator: u8, input: R) -> csv::Reader<R> {
    csv::ReaderBuilder::new().delimiter(separator).has_headers(false).flexible(true).from_reader(input)
}

fn cells(record: &csv::ByteRecord) -> Vec<String> {
    record.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect()
}

/// The names of the columns.
fn heading_of(heading: &str) -> Vec<String> {
    let mut record = csv::ByteRecord::new();
    let read = reader(separator(heading), heading.as_bytes()).read_byte_record(&mut record);
    if read.is_ok() { cells(&record) } else { Vec::new() }
}

/// Reads all rows.
pub(super) fn read(input: &Input<'_>, sink: &mut dyn Sink, rows: &mut Rows) -> Result<(), ReadError> {
    if input.source.length() > LONGEST {
        return Err(ReadError::refused("a table of more than 256 MB; write its rows as JSON Lines"));
    }
    let text = input.source.start(LONGEST)?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let heading = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut reader = reader(separator(&String::from_utf8_lossy(heading)), text);
    let mut record = csv::ByteRecord::new();
    let broken = |error: csv::Error| ReadError::refused(format!("not a table: {error}"));
    reader.read_byte_record(&mut record).map_err(broken)?;
    let names = cells(&record);
    let mut number = 0;
    while reader.read_byte_record(&mut record).map_err(broken)? {
        let line = record.position().map(csv::Position::line);
        let cells = cells(&record);
        if cells.len() > names.len() {
            let message = format!(
                "a row of {} cells below a heading of {}: cells that hold the separator need quotes; it is left out",
                cells.len(),
                names.len()
            );
            sink.lost(line, &message);
        } else if cells.iter().any(|cell| !cell.trim_matches(['-', ':']).is_empty()) {
            let cells = names.iter().cloned().zip(cells.into_iter().map(Json::String));
            rows.add(sink, At { index: Some(number), line }, &Json::Object(cells.collect()))?;
        }
        number += 1;
    }
    Ok(())
}
