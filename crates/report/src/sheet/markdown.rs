//! Tables in Markdown.

use std::io::{self, Write};

use m3_support::text::visible;

use super::Sheet;

/// Writes tables.
pub(super) fn write(sheets: &[Sheet], out: &mut dyn Write) -> io::Result<()> {
    for sheet in sheets {
        writeln!(out, "### {}\n", escape(&sheet.title))?;
        let cell = |cell: &super::Cell| {
            let text = escape(&cell.text);
            if cell.is_best { format!("**{text}**") } else { text }
        };
        let columns = sheet.columns.iter().map(|column| (column.name.as_str(), column.is_text));
        table(columns, sheet.rows.iter().map(|row| row.iter().map(cell).collect()), out)?;
        for note in &sheet.notes {
            writeln!(out, "- {}", escape(note))?;
        }
        if !sheet.notes.is_empty() {
            writeln!(out)?;
        }
    }
    out.flush()
}

/// Writes one table and an empty line: columns by name and whether they hold text, which is set to the left; cells
/// are Markdown.
pub(crate) fn table<'a>(
    columns: impl Iterator<Item = (&'a str, bool)> + Clone,
    mut rows: impl Iterator<Item = Vec<String>>,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let mut line = |cells: Vec<String>| writeln!(out, "| {} |", cells.join(" | "));
    line(columns.clone().map(|(name, _)| escape(name)).collect())?;
    line(columns.map(|(_, is_text)| if is_text { "---" } else { "---:" }.to_owned()).collect())?;
    rows.try_for_each(line)?;
    writeln!(out)
}

/// Escapes characters with a meaning in Markdown or HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text, false).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}
