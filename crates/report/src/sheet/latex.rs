//! Tables in LaTeX, with the rules of the `booktabs` package.

use std::io::{self, Write};

use m3_support::text::visible;

use super::Sheet;

/// Writes tables.
pub(super) fn write(sheets: &[Sheet], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "% Needs \\usepackage{{booktabs}}.")?;
    for sheet in sheets {
        let sides: String =
            sheet.columns.iter().map(|column| if column.is_text { 'l' } else { 'r' }).collect();
        writeln!(out, "\\begin{{table}}\n\\centering\n\\begin{{tabular}}{{{sides}}}\n\\toprule")?;
        let line = |cells: Vec<String>| format!("{} \\\\", cells.join(" & "));
        writeln!(
            out,
            "{}\n\\midrule",
            line(sheet.columns.iter().map(|column| escape(&column.name)).collect())
        )?;
        for row in &sheet.rows {
            let cell = |cell: &super::Cell| {
                let text = escape(&cell.text);
                if cell.is_best { format!("\\textbf{{{text}}}") } else { text }
            };
            writeln!(out, "{}", line(row.iter().map(cell).collect()))?;
        }
        let note = |note: &String| format!("{}.", escape(note).trim_end_matches('.'));
        let notes: Vec<String> = [&sheet.title].into_iter().chain(&sheet.notes).map(note).collect();
        let notes = notes.join(" ");
        writeln!(out, "\\bottomrule\n\\end{{tabular}}\n\\caption{{{notes}}}\n\\end{{table}}\n")?;
    }
    out.flush()
}

/// Escapes characters with a meaning in LaTeX.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text, false).chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("\\textquotedbl{}"),
            c => out.push(c),
        }
    }
    out
}
