//! Tables as comma-separated values (RFC 4180). Programs expect one table, so the rows of the first table and of all
//! others with the same columns are written as one; its first column, `table`, has the title of each row's table.

use std::io::{self, Write};

use m3_support::text::visible;

use super::Sheet;

/// Writes the first table and all others with the same columns.
pub(super) fn write(sheets: &[Sheet], out: &mut dyn Write) -> io::Result<()> {
    let Some(first) = sheets.first() else { return out.flush() };
    let mut writer = csv::WriterBuilder::new().from_writer(&mut *out);
    let header = ["table"].into_iter().chain(first.columns.iter().map(|column| column.name.as_str()));
    writer.write_record(header)?;
    for sheet in sheets.iter().filter(|sheet| sheet.columns == first.columns) {
        for row in &sheet.rows {
            let cells = [sheet.title.as_str()].into_iter().chain(row.iter().map(|cell| cell.text.as_str()));
            writer.write_record(cells.map(|cell| visible(cell, false).into_owned()))?;
        }
    }
    writer.flush()
}
