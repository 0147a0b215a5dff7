//! A call's result as text: images and other files by their names.

use m3_support::text::counted;
use m3_trajectory::json::{Json, Keys};

use super::bounded;

/// The most characters of a file's name.
const NAME: usize = 300;

/// The text of a recorded result, which is a text, the parts of a tool's answer in order, or any JSON.
pub(super) fn text(result: &Json) -> String {
    if let Json::String(text) = result {
        return text.clone();
    }
    let parts = match result {
        Json::Array(parts) => Some(parts),
        result => match result.get("content") {
            Some(Json::Array(parts)) => Some(parts),
            _ => None,
        },
    };
    let parts = parts.filter(|parts| !parts.is_empty() && parts.iter().all(|part| kind(part).is_some()));
    match (parts, result.get("structuredContent")) {
        (Some(parts), _) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
        (None, Some(structured)) => structured.to_text(Keys::AsRead),
        (None, None) => result.to_text(Keys::AsRead),
    }
}

/// An image that was sent, or that a dialogue names: its path, its size, and how it was changed.
pub(super) fn image(image: &Json) -> String {
    let text = |key: &str| image.get(key).and_then(Json::as_str).map(|text| bounded(text, NAME));
    let number = |key: &str| image.get(key).and_then(Json::as_count);
    let Some(path) = text("image").or_else(|| text("file")).or_else(|| text("path")) else {
        return bounded(&image.to_text(Keys::AsRead), NAME);
    };
    let size = number("width").zip(number("height")).map(|(width, height)| format!("{width} x {height}"));
    let changes = match image.get("changes") {
        Some(Json::Array(changes)) => changes.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(", "),
        _ => String::new(),
    };
    let facts = [
        size,
        text("mime_type"),
        number("bytes").map(|bytes| format!("{bytes} bytes")),
        text("sha256").map(|hash| format!("sha256 {}", hash.chars().take(12).collect::<String>())),
        (!changes.is_empty()).then(|| bounded(&changes, NAME)),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    if facts.is_empty() { path } else { format!("{path} ({})", facts.join(", ")) }
}

/// The kind of a part of a result, if it is one.
fn kind(part: &Json) -> Option<&str> {
    part.get("type").and_then(Json::as_str)
}

fn part(part: &Json) -> String {
    let kind = kind(part).unwrap_or_default();
    if let Some(text) = part.get("text").and_then(Json::as_str) {
        return text.to_owned();
    }
    let resource = part.get("resource").unwrap_or(part);
    if let Some(text) = resource.get("text").and_then(Json::as_str) {
        return text.to_owned();
    }
    let named = ["file", "path", "name", "uri"].iter().find_map(|key| {
        let of_part = part.get(key).and_then(Json::as_str);
        of_part.or_else(|| resource.get(key).and_then(Json::as_str))
    });
    if let Some(name) = named {
        return format!("[{kind}: {name}]");
    }
    let mime_type = part.get("mimeType").and_then(Json::as_str).unwrap_or("of an unknown kind");
    match part.get("data").and_then(Json::as_str) {
        Some(data) => format!("[{kind}: {mime_type}, {} of Base64]", counted(data.len(), "character")),
        None => part.to_text(Keys::AsRead),
    }
}
