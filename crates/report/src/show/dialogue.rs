//! The dialogue between the executor and the model.

use m3_trajectory::json::{Json, Keys};

use super::{Row, ShownMessage, arguments, bounded, more, output};

/// The most characters of each text that are shown.
const TEXT: usize = 4_000;

/// The most messages that are shown.
const MESSAGES: usize = 500;

pub(super) fn messages(dialogue: &[Json]) -> Vec<ShownMessage> {
    let mut messages: Vec<ShownMessage> = dialogue.iter().take(MESSAGES).map(message).collect();
    let hidden = more(dialogue.len().saturating_sub(MESSAGES), "message");
    messages.extend(hidden.map(|title| ShownMessage { title, rows: Vec::new() }));
    messages
}

fn message(message: &Json) -> ShownMessage {
    let text = |key: &str| message.get(key).and_then(Json::as_str).filter(|text| !text.is_empty());
    let name = |key: &str| text(key).map(|text| bounded(text, 200));
    let role = name("role").unwrap_or_else(|| "message".to_owned());
    let details = [name("purpose"), name("name")].into_iter().flatten();
    let title = details.fold(role, |title, detail| format!("{title}: {detail}"));
    let failed = message.get("is_error") == Some(&Json::Bool(true));
    let title = if failed { format!("{title} (failed)") } else { title };
    let mut rows = Vec::new();
    let mut push = |label, text: String| rows.push(Row { label, text });
    if let Some(thoughts) = text("thoughts") {
        push("THINK", bounded(thoughts, TEXT));
    }
    match message.get("content") {
        None | Some(Json::Null) => {}
        Some(Json::String(text)) if text.is_empty() => {}
        Some(content) if content.get("image").is_some() => push("IMG", output::image(content)),
        Some(content) => push("TEXT", bounded(&output::text(content), TEXT)),
    }
    if let Some(Json::Array(calls)) = message.get("tool_calls") {
        for call in calls {
            let tool = call.get("name").and_then(Json::as_str).unwrap_or_default();
            push("Tool", bounded(tool, 200));
            push("ARG", arguments(call.get("arguments")));
        }
    }
    if let Some(Json::Array(images)) = message.get("images") {
        for image in images {
            push("IMG", output::image(image));
        }
    }
    match message.get("stop") {
        Some(Json::String(stop)) if stop != "ended" && stop != "calls" => push("STOP", bounded(stop, 200)),
        Some(stop @ Json::Object(_)) => push("STOP", bounded(&stop.to_text(Keys::AsRead), 200)),
        _ => {}
    }
    ShownMessage { title, rows }
}
