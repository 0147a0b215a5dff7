//! Tables as a separate page: without scripts or network access, in light and dark.

use std::io::{self, Write};

use m3_support::text::visible;

use super::Sheet;

const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>TITLE</title>
<style>
:root { color-scheme: light dark; --line: #8886; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
thead th { white-space: normal; vertical-align: bottom; }
th.text, td.text { text-align: left; }
tbody th { font-weight: normal; }
p { margin: .25rem 0; }
</style>
</head>
<body>
<main>
"#;

/// Writes tables.
pub(super) fn write(sheets: &[Sheet], out: &mut dyn Write) -> io::Result<()> {
    let title = sheets.first().map_or_else(String::new, |sheet| escape(&sheet.title));
    out.write_all(HEAD.replace("TITLE", &title).as_bytes())?;
    writeln!(out, "<h1>{title}</h1>")?;
    for (index, sheet) in sheets.iter().enumerate() {
        let title = escape(&sheet.title);
        if index > 0 {
            writeln!(out, "<h2>{title}</h2>")?;
        }
        writeln!(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">")?;
        writeln!(out, "<table>\n<thead><tr>")?;
        let class = |column: usize| match sheet.columns.get(column) {
            Some(column) if column.is_text => " class=\"text\"",
            _ => "",
        };
        for (index, column) in sheet.columns.iter().enumerate() {
            writeln!(out, "<th scope=\"col\"{}>{}</th>", class(index), escape(&column.name))?;
        }
        writeln!(out, "</tr></thead>\n<tbody>")?;
        for row in &sheet.rows {
            write!(out, "<tr>")?;
            for (index, cell) in row.iter().enumerate() {
                let text = escape(&cell.text);
                let text = if cell.is_best { format!("<strong>{text}</strong>") } else { text };
                if index == 0 {
                    write!(out, "<th scope=\"row\"{}>{text}</th>", class(index))?;
                } else {
                    write!(out, "<td{}>{text}</td>", class(index))?;
                }
            }
            writeln!(out, "</tr>")?;
        }
        writeln!(out, "</tbody>\n</table>\n</div>")?;
        for note in &sheet.notes {
            writeln!(out, "<p>{}</p>", escape(note))?;
        }
    }
    writeln!(out, "</main>\n</body>\n</html>")?;
    out.flush()
}

/// Escapes text for HTML, in elements and in quoted attributes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text, false).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
