//! Converts JavaScript source text to values, like `js_type_converter.py` of the published program.

use m3_trajectory::json::Json;

use super::java::{boolean, object as last_of_each};
use super::pattern::{find, first, firsts};
use super::python::{float, inner, int, is_decimal, is_whole, line, number, strip, strip_start};

/// The value of a source text; `None` if it is not a value of that type, and stays a text.
pub(super) fn convert(text: &str, kind: &str, items: Option<&str>) -> Option<Json> {
    match kind {
        "String" => quoted(text),
        "integer" => Some(line(text)).filter(|text| is_whole(text)).and_then(int),
        "float" => Some(line(text)).filter(|text| is_decimal(text)).and_then(float),
        "Bigint" => line(text).strip_suffix('n').filter(|digits| is_whole(digits)).and_then(int),
        "Boolean" => boolean(text),
        "array" => Some(list(strip(text), items)),
        "dict" => Some(object(strip(text))),
        _ => None,
    }
}

/// A text in quotes, without them.
fn quoted(text: &str) -> Option<Json> {
    let is_in = |quote| text.starts_with(quote) && text.ends_with(quote);
    (is_in('"') || is_in('\'')).then(|| Json::String(inner(text).to_owned()))
}

/// A list, or a list of lists, whose items are read without types. A text that is not a list stays a text, without
/// blanks around it.
fn list(text: &str, items: Option<&str>) -> Json {
    if let Some(captures) = find("js_rows", text) {
        let rows = captures.get(0).map_or("", |captures| captures.as_str());
        let rows = firsts("js_row", rows).into_iter().enumerate().map(|(at, row)| {
            let row = strip(row);
            // The match of the first row includes the bracket around all rows.
            let row = if at == 0 { row.strip_prefix('[').unwrap_or(row) } else { row };
            Json::Array(row.split(',').map(|text| value(strip(text))).collect())
        });
        return Json::Array(rows.collect());
    }
    let Some(captures) = find("js_list", text) else { return Json::String(text.to_owned()) };
    let written = strip(captures.get(1).or_else(|| captures.get(2)).map_or("", |group| group.as_str()));
    if written.is_empty() {
        return Json::Array(Vec::new());
    }
    Json::Array(written.split(',').map(|text| item(strip(text), items)).collect())
}

fn item(text: &str, kind: Option<&str>) -> Json {
    match kind {
        Some(kind) => convert(text, kind, None).unwrap_or_else(|| Json::String(text.to_owned())),
        None => value(text),
    }
}

/// An object up to its first closing brace, so an object in it is a text. A text that is not an object stays a text.
fn object(text: &str) -> Json {
    if text == "{}" {
        return Json::Object(Vec::new());
    }
    let Some(captures) = find("js_object", text) else { return Json::String(text.to_owned()) };
    let quotes = ['\'', '"'];
    let members = pairs(first(&captures).unwrap_or_default()).into_iter().map(|(key, written)| {
        let written = strip(written);
        let is_list = written.starts_with('[') && written.ends_with(']');
        let value = if is_list { list(written, None) } else { value(written.trim_matches(quotes)) };
        (strip(key).trim_matches(quotes), value)
    });
    last_of_each(members)
}

/// Keys and values. A value ends at a comma if a colon, and so the next pair, follows before the next comma.
fn pairs(text: &str) -> Vec<(&str, &str)> {
    let mut pairs = Vec::new();
    let mut rest = text;
    while let Some((key, after)) = rest.trim_start_matches(':').split_once(':') {
        let after = strip_start(after);
        let mut ends = after.match_indices(',');
        let next = ends.find_map(|(at, _)| {
            let (value, next) = (after.get(..at)?, after.get(at + 1..)?);
            Some((value, next_pair(next)?))
        });
        let (value, next) = next.unwrap_or((after, ""));
        pairs.push((key, value));
        rest = next;
    }
    pairs
}

/// The text from the next pair on, if one follows a comma. A key has at least one character, if only a blank.
fn next_pair(text: &str) -> Option<&str> {
    let colon = text.split(',').next()?.rfind(':')?;
    let begin = strip_start(text);
    if text.len() - begin.len() < colon {
        return Some(begin);
    }
    let (last_blank, _) = text.get(..colon)?.char_indices().next_back()?;
    text.get(last_blank..)
}

/// A value of a type that is not known.
fn value(text: &str) -> Json {
    let text = strip(text);
    let known = boolean(text).or_else(|| quoted(text)).or_else(|| number(text));
    known.unwrap_or_else(|| Json::String(text.to_owned()))
}
