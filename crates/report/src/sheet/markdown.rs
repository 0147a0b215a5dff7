//! Tables in Markdown.

use std::io::{self, Write};

use m3_support::text::visible;

use super::Sheet;

/// Writes tables.
pub(super) fn write(sheets: &[Sheet], out: &mut dyn Write) -> io::Result<()> {
    for sheet in sheets {
        writeln!(out, "### {}\n", escape(&sheet.title))?;
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        writeln!(out, "{}", line(sheet.columns.iter().map(|column| escape(&column.name)).collect()))?;
        let sides = sheet.columns.iter().map(|column| if column.is_text { "---" } else { "---:" }.to_owned());
        writeln!(out, "{}", line(sides.collect()))?;
        for row in &sheet.rows {
            let cell = |cell: &super::Cell| {
                let text = escape(&cell.text);
                if cell.is_best { format!("**{text}**") } else { text }
            };
            writeln!(out, "{}", line(row.iter().map(cell).collect()))?;
        }
        writeln!(out)?;
        for note in &sheet.notes {
            writeln!(out, "- {}", escape(note))?;
        }
        if !sheet.notes.is_empty() {
            writeln!(out)?;
        }
    }
    out.flush()
}

/// Takes their meaning from the characters that mean something in Markdown or HTML.
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
