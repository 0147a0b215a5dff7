//! The text of a result for a model, or for a reader at a terminal.

use std::borrow::Cow;

use m3_support::canonical::canonical;
use m3_support::text::{is_hidden, push_visible};
use serde_json::{Map, Value};

use super::save::SavedFile;
use crate::{Content, ToolResult};

/// The whole text of a result: its parts in order, each on lines of its own; files by their names; structured content
/// if it says more than the text. Control characters are made visible ([`readable`]).
#[must_use]
pub fn result_text(result: &ToolResult, files: &[SavedFile]) -> String {
    let mut parts: Vec<String> = Vec::with_capacity(result.content.len());
    for (index, content) in result.content.iter().enumerate() {
        let file = files.iter().find(|file| file.part == index);
        parts.push(part_text(content, file));
    }
    if says_more(result)
        && let Some(structured) = structured_without_data(result, files)
    {
        parts.push(format!("[structured content]\n{structured}"));
    }
    if parts.is_empty() {
        parts.push("[the result is empty]".to_owned());
    }
    readable(&parts.join("\n")).into_owned()
}

fn part_text(content: &Content, file: Option<&SavedFile>) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Image { mime_type, .. } => file_text("image", mime_type, file),
        Content::Audio { mime_type, .. } => file_text("audio", mime_type, file),
        Content::ResourceLink(link) => format!("[resource link: {}]", described(link)),
        Content::Resource(resource) => {
            let what = described(resource);
            if let Some(text) = resource.get("text").and_then(Value::as_str) {
                format!("[resource: {what}]\n{text}")
            } else {
                file_text(&format!("resource {what}"), "a resource without text", file)
            }
        }
        Content::Other(value) => value.to_string(),
    }
}

fn file_text(what: &str, claimed: &str, file: Option<&SavedFile>) -> String {
    let Some(file) = file else {
        return format!("[{what}: {claimed}, and its data cannot be read]");
    };
    let size = match file.pixels {
        Some((width, height)) => format!("{width} x {height} pixels, {} bytes", file.bytes),
        None => format!("{} bytes", file.bytes),
    };
    format!("[{what}: saved as {}, {}, {size}]", file.name, file.mime_type)
}

/// A resource on one line: those of its name, address, type and description that are given.
fn described(resource: &Map<String, Value>) -> String {
    let words: Vec<&str> = ["name", "uri", "mimeType", "description"]
        .iter()
        .filter_map(|key| resource.get(*key).and_then(Value::as_str))
        .collect();
    words.join(", ")
}

/// The structured content, in which servers repeat the data of files, with the names of the saved files instead.
#[must_use]
pub fn structured_without_data(result: &ToolResult, files: &[SavedFile]) -> Option<Value> {
    let mut structured = result.structured_content.clone()?;
    let data: Vec<(&str, &str)> = files
        .iter()
        .filter_map(|file| Some((result.content.get(file.part)?.data()?, file.name.as_str())))
        .collect();
    if !data.is_empty() {
        replace(&mut structured, &data);
    }
    Some(structured)
}

/// Replaces each text that is the first of a pair by `[saved as ..]` with the second.
fn replace(value: &mut Value, data: &[(&str, &str)]) {
    match value {
        Value::String(text) => {
            if let Some((_, name)) = data.iter().find(|(data, _)| text == data) {
                *text = format!("[saved as {name}]");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, data)),
        Value::Object(members) => members.values_mut().for_each(|member| replace(member, data)),
        _ => {}
    }
}

/// Whether the structured content says more than the parts of the result. Servers repeat it as JSON text. `FastMCP`
/// wraps a value that is not an object as `{"result": ..}`, whose items become one text each. The protocol project's
/// own server for files repeats a text, or all parts, as `{"content": ..}`.
fn says_more(result: &ToolResult) -> bool {
    let Some(structured) = &result.structured_content else { return false };
    let texts: Vec<&str> = result.content.iter().filter_map(Content::as_text).collect();
    // If a part has other keys, such as a score beside its text, only the structured content holds them.
    let is_part = |value: &Value, part: &Content| {
        !matches!(part, Content::Other(_)) && without_nulls(value) == without_nulls(&part.to_wire())
    };
    let are_parts = |value: &Value| match value {
        Value::Array(items) => {
            items.len() == result.content.len()
                && items.iter().zip(&result.content).all(|(item, part)| is_part(item, part))
        }
        value => matches!(result.content.as_slice(), [part] if is_part(value, part)),
    };
    let are_texts = |items: &Vec<Value>| {
        items.len() == texts.len() && items.iter().zip(&texts).all(|(item, text)| says(text, item))
    };
    let is_in_parts = |value: &Value| {
        are_parts(value)
            || says(&texts.join("\n"), value)
            || texts.iter().any(|text| says(text, value))
            || value.as_array().is_some_and(are_texts)
    };
    let single = structured.as_object().filter(|all| all.len() == 1);
    let wrapped = single.and_then(|members| members.get("result").or_else(|| members.get("content")));
    !is_in_parts(structured) && !wrapped.is_some_and(is_in_parts)
}

/// A value without members that are `null`, which some servers write for missing values.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            members.map(|(key, value)| (key.clone(), without_nulls(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        value => value.clone(),
    }
}

/// Whether a text is this value, literally or as JSON.
fn says(text: &str, value: &Value) -> bool {
    if value.as_str() == Some(text) {
        return true;
    }
    match serde_json::from_str::<Value>(text) {
        Ok(parsed) => canonical(&parsed) == canonical(value),
        // Python's spellings of these values.
        Err(_) => matches!(
            (text, value),
            ("True", Value::Bool(true)) | ("False", Value::Bool(false)) | ("None", Value::Null)
        ),
    }
}

/// The text with everything made visible that would act on a terminal or hide from a reader. Line breaks, tabs and
/// the joiners of scripts and emoji stay.
#[must_use]
pub fn readable(text: &str) -> Cow<'_, str> {
    let stays = |c: char| matches!(c, '\n' | '\t' | '\u{ad}' | '\u{200c}'..='\u{200f}');
    let mut out = String::new();
    let mut is_changed = false;
    let mut chars = text.char_indices().peekable();
    while let Some((index, c)) = chars.next() {
        // Windows' line breaks count as line breaks.
        let is_line_break = c == '\r' && chars.peek().is_some_and(|(_, next)| *next == '\n');
        let is_shown = !stays(c) && (is_line_break || is_hidden(c));
        if is_shown && !is_changed {
            is_changed = true;
            out.push_str(&text[..index]);
        }
        if !is_changed || is_line_break {
            continue;
        }
        if is_shown { push_visible(&mut out, c) } else { out.push(c) }
    }
    if is_changed { Cow::Owned(out) } else { Cow::Borrowed(text) }
}

/// At most `limit` characters of a text: its start and its end, with a note that says how much was cut and where the
/// whole text is. Three quarters are taken from the start. If the limit leaves room for nothing else, only the note
/// remains.
#[must_use]
pub fn shortened_text<'t>(text: &'t str, limit: usize, whole: &str) -> Cow<'t, str> {
    let length = text.chars().count();
    if length <= limit {
        return Cow::Borrowed(text);
    }
    let note = |cut: usize| {
        format!("\n[... {cut} of {length} characters are cut here; the whole is in {whole} ...]\n")
    };
    let kept = limit.saturating_sub(note(length).chars().count());
    let tail = kept / 4;
    let head_end = byte_of(text, kept - tail);
    let tail_start = byte_of(text, length - tail);
    Cow::Owned(format!("{}{}{}", &text[..head_end], note(length - kept), &text[tail_start..]))
}

/// The byte at which this character begins.
fn byte_of(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(byte, _)| byte)
}
