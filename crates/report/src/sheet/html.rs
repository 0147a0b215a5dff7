//! Tables and figures as a separate page, in the style of all pages: one file that asks for nothing, in light and dark. Its one
//! script sorts the tables; without it they stand as they are.

use std::io::{self, Write};
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use m3_support::pages::{BASE_STYLE, OF_FILE, escaped, policy};
use m3_support::text::visible;

use super::Sheet;

static STYLE: LazyLock<String> = LazyLock::new(|| [BASE_STYLE, include_str!("sheet.css")].concat());
const SCRIPT: &str = include_str!("sort.js");

/// Writes tables, and figures under the first of them.
pub(super) fn write(sheets: &[Sheet], figures: &[(&str, &str)], out: &mut dyn Write) -> io::Result<()> {
    let title = sheets.first().map_or_else(String::new, |sheet| escape(&sheet.title));
    let policy = policy(&STYLE, SCRIPT, OF_FILE);
    writeln!(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(out, "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>")?;
    writeln!(out, "<style>{}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>", *STYLE)?;
    for (index, sheet) in sheets.iter().enumerate() {
        if index > 0 {
            writeln!(out, "<h2>{}</h2>", escape(&sheet.title))?;
        }
        table(sheet, out)?;
        for note in &sheet.notes {
            writeln!(out, "<p class=\"note\">{}</p>", escape(note))?;
        }
        for (name, svg) in figures.iter().filter(|_| index == 0) {
            let (name, svg) = (escape(&name.replace(['-', '_'], " ")), STANDARD.encode(svg));
            writeln!(out, "<p><img alt=\"Figure: {name}\" src=\"data:image/svg+xml;base64,{svg}\"></p>")?;
        }
    }
    writeln!(out, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>")?;
    out.flush()
}

fn table(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    let title = escape(&sheet.title);
    writeln!(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">")?;
    writeln!(out, "<table>\n<thead><tr>")?;
    let class = |column: usize| match sheet.columns.get(column) {
        Some(column) if !column.is_text => " class=\"amount\"",
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
    writeln!(out, "</tbody>\n</table>\n</div>")
}

/// Escapes text for HTML, in elements and in quoted attributes.
fn escape(text: &str) -> String {
    escaped(&visible(text, false))
}
