//! Tables: CSV with a heading, and data frames as pandas writes them. Their rows are records.

use m3_trajectory::Source;
use m3_trajectory::json::Json;

use crate::fields::{Fields, members};
use crate::input::{At, LONGEST, ReadError, Sink};
use crate::literal::literal;
use crate::values::opened;

/// The most columns of a table.
const MOST_COLUMNS: usize = 1000;

/// The longest name of a column, in bytes: every row repeats it.
const LONGEST_NAME: usize = 256;

fn is_long(name: &str) -> bool {
    name.len() > LONGEST_NAME
}

/// What may separate the cells of a row.
const SEPARATORS: [u8; 4] = *b",;\t|";

/// The names of the columns, if a text begins with the heading of a table.
pub(crate) fn heading(text: &str) -> Option<Vec<String>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (heading, _) = text.split_once('\n')?;
    let mut record = csv::ByteRecord::new();
    reader(heading.as_bytes(), heading.as_bytes()).read_byte_record(&mut record).ok()?;
    let names = cells(&record);
    let is_name =
        |name: &String| !is_long(name) && name.chars().all(|c| c.is_alphanumeric() || "_ .-".contains(c));
    ((2..=MOST_COLUMNS).contains(&names.len()) && names.iter().all(is_name)).then_some(names)
}

/// A reader whose cells are divided by the separator that divides the heading into the most cells.
fn reader<'t>(heading: &[u8], text: &'t [u8]) -> csv::Reader<&'t [u8]> {
    let heading = String::from_utf8_lossy(heading);
    let count = |separator: &u8| heading.matches(char::from(*separator)).count();
    // The first of equal ones.
    let separator = SEPARATORS.into_iter().rev().max_by_key(count).unwrap_or(b',');
    csv::ReaderBuilder::new().delimiter(separator).has_headers(false).flexible(true).from_reader(text)
}

fn cells(record: &csv::ByteRecord) -> Vec<String> {
    record.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect()
}

/// Calls `each` with every row of a table that has a cell with content: the names of the columns with the cells.
pub(crate) fn each_row(
    source: &Source,
    sink: &mut dyn Sink,
    mut each: impl FnMut(&mut dyn Sink, At, Vec<(String, String)>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    if source.length() > LONGEST {
        return Err(ReadError::refused("a table of more than 256 MB; write its rows as JSON Lines"));
    }
    let text = source.start(LONGEST)?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let heading = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut reader = reader(heading, text);
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
            each(sink, At { index: Some(number), line }, names.iter().cloned().zip(cells).collect())?;
        }
        number += 1;
    }
    Ok(())
}

/// A row as a record: cells with an object or a list, in JSON or in Python's writing, are values, empty ones are null.
pub(crate) fn record(row: Vec<(String, String)>) -> Json {
    let value = |cell: String| match opened(&Json::String(cell)).into_owned() {
        Json::String(text) if text.is_empty() => Json::Null,
        Json::String(text) if text.starts_with(['{', '[']) => literal(&text).unwrap_or(Json::String(text)),
        other => other,
    };
    Json::Object(row.into_iter().map(|(name, cell)| (name, value(cell))).collect())
}

/// The records at the beginning of a table; none if a text is not a table. The last row may be cut.
pub(crate) fn first_records(text: &str, most: usize) -> Vec<Json> {
    let Some(names) = heading(text) else { return Vec::new() };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (heading, rows) = text.split_once('\n').unwrap_or_default();
    let rows = reader(heading.as_bytes(), rows.as_bytes()).into_byte_records().map_while(Result::ok);
    rows.take(most).map(|row| record(names.iter().cloned().zip(cells(&row)).collect())).collect()
}

/// The rows of a data frame as pandas' `to_json` writes it: by columns, or divided into names and data.
pub(crate) fn frame(value: &Json) -> Option<Vec<Json>> {
    if let (names @ [Json::String(_), ..], rows @ [Json::Array(_), ..]) =
        (value.list("columns"), value.list("data"))
    {
        if names.len() > MOST_COLUMNS || names.iter().any(|name| name.as_str().is_some_and(is_long)) {
            return None;
        }
        let names = || names.iter().map(Json::to_plain_text);
        let row = |cells: &Json| Json::Object(names().zip(cells.items().iter().cloned()).collect());
        return Some(rows.iter().map(row).collect());
    }
    let columns = members(value);
    let (_, first) = columns.first()?;
    let keys = |column| members(column).iter().map(|(key, _)| key);
    // Records by their ids have lists or objects; of a frame, the cells of some column are plain.
    let is_plain = |(_, cell): &(String, Json)| !matches!(cell, Json::Object(_) | Json::Array(_));
    // The rows of a frame have numbers, unless its index says otherwise: then they look like records by their ids.
    let is_numbered = keys(first).all(|key| key.bytes().all(|sign| sign.is_ascii_digit()));
    let is_frame = columns.len() > 1
        && is_numbered
        && columns.len() <= MOST_COLUMNS
        && !columns.iter().any(|(name, _)| is_long(name))
        && columns.iter().all(|(_, column)| keys(column).eq(keys(first)))
        && columns.iter().any(|(_, column)| members(column).iter().all(is_plain));
    if !is_frame {
        return None;
    }
    let mut rows = vec![Vec::new(); members(first).len()];
    for (name, column) in columns {
        for (row, (_, cell)) in rows.iter_mut().zip(members(column)) {
            row.push((name.clone(), cell.clone()));
        }
    }
    Some(rows.into_iter().map(Json::Object).collect())
}
