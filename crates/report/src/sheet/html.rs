//! Tables and figures as a separate page, in the style of all pages: one file without further requests, in light and
//! dark. Its only script sorts the tables; without scripts the tables stay in their order.

use std::io::{self, Write};
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use m3_support::pages::{BASE_STYLE, OF_FILE, Shell, escaped};
use m3_support::text::visible;

use super::Sheet;

static STYLE: LazyLock<String> = LazyLock::new(|| [BASE_STYLE, include_str!("sheet.css")].concat());
const SCRIPT: &str = include_str!("sort.js");

/// Writes tables, and figures under the first of them.
pub(super) fn write(sheets: &[Sheet], figures: &[(&str, &str)], out: &mut dyn Write) -> io::Result<()> {
    let title = sheets.first().map_or_else(String::new, |sheet| visible(&sheet.title, false).into_owned());
    let body = String::from_utf8_lossy(&body(sheets, figures)?).into_owned();
    let head = format!("<h1>{}</h1>\n", escaped(&title));
    let page = Shell { title: &title, instead: "", head: &head, body: &body, style: &STYLE, script: SCRIPT };
    out.write_all(page.file(OF_FILE, "").as_bytes())?;
    out.flush()
}

fn body(sheets: &[Sheet], figures: &[(&str, &str)]) -> io::Result<Vec<u8>> {
    let mut out = b"<main id=\"main\" tabindex=\"-1\">\n".to_vec();
    for (index, sheet) in sheets.iter().enumerate() {
        if index > 0 {
            writeln!(out, "<h2>{}</h2>", escape(&sheet.title))?;
        }
        table(sheet, &mut out)?;
        for note in &sheet.notes {
            writeln!(out, "<p class=\"note\">{}</p>", escape(note))?;
        }
        for (name, svg) in figures.iter().filter(|_| index == 0) {
            let (name, svg) = (escape(&name.replace(['-', '_'], " ")), STANDARD.encode(svg));
            writeln!(out, "<p><img alt=\"Figure: {name}\" src=\"data:image/svg+xml;base64,{svg}\"></p>")?;
        }
    }
    writeln!(out, "</main>")?;
    Ok(out)
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
