//! Checks for the form of Anthropic messages, after its API reference ("Create a Message") and its guide "Tool use".

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::checks::{Checks, OpenCall};
use super::{INPUT_TOKENS, OUTPUT_TOKENS, SeenRequest};

const KEYS: [&str; 13] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "thinking",
    "metadata",
    "service_tier",
];

pub(super) fn check(path: &str, headers: &HeaderMap, key: Option<&str>, body: &Value, checks: &mut Checks) {
    checks.that(path == "/v1/messages", "the path", "is not /v1/messages");
    checks.key(headers, "x-api-key", "", key);
    let version = headers.get("anthropic-version").and_then(|value| value.to_str().ok());
    checks.that(version == Some("2023-06-01"), "anthropic-version", "is not 2023-06-01");
    checks.keys(body, "the body", &KEYS);
    let model = body["model"].as_str().unwrap_or_default();
    checks.that(!model.is_empty(), "model", "is missing");
    model.clone_into(&mut checks.seen.model);
    checks.that(body["max_tokens"].as_u64().is_some_and(|most| most > 0), "max_tokens", "is missing");
    checks.number(&body["temperature"], "temperature", 0.0, 1.0);
    if !body["system"].is_null() {
        checks.seen.system = checks.text(&body["system"], "system", false);
    }
    if !body["tools"].is_null() {
        for (index, tool) in checks.list(&body["tools"], "tools").iter().enumerate() {
            let place = format!("tools[{index}]");
            checks.tool(&tool["name"], &tool["description"], &tool["input_schema"], &place);
        }
    }
    let messages = checks.list(&body["messages"], "messages");
    let mut open = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let place = format!("messages[{index}]");
        let content = &message["content"];
        let wrapped = [json!({ "type": "text", "text": content })];
        let blocks = if content.is_string() { &wrapped } else { checks.list(content, &place) };
        match message["role"].as_str() {
            Some("user") => user(blocks, &mut open, &place, checks),
            Some("assistant") => {
                checks.that(index > 0, &place, "is the first, but not the user's");
                checks.all_answered(&mut open, &place);
                open = assistant(blocks, &place, checks);
            }
            other => checks.fail(&place, format!("has the role {other:?}")),
        }
    }
    checks.end(&mut open, messages, (&body["tools"], "tools are"));
}

fn user(blocks: &[Value], open: &mut Vec<OpenCall>, place: &str, checks: &mut Checks) {
    let mut texts = Vec::new();
    let mut results = 0;
    for (index, block) in blocks.iter().enumerate() {
        let place = format!("{place}.content[{index}]");
        if block["type"] == "tool_result" {
            checks.that(results == index, &place, "comes after what is no result");
            results += 1;
            tool_result(block, open, &place, checks);
            continue;
        }
        checks.all_answered(open, &place);
        match block["type"].as_str() {
            Some("text") => texts.push(checks.text(&block["text"], &place, false)),
            Some("image") => image(block, &place, checks),
            other => checks.fail(&place, format!("is of type {other:?}")),
        }
    }
    checks.all_answered(open, place);
    checks.seen.last_user_text = texts.join("\n");
    checks.seen.user_turns += usize::from(results == 0);
}

fn tool_result(block: &Value, open: &mut Vec<OpenCall>, place: &str, checks: &mut Checks) {
    checks.keys(block, place, &["type", "tool_use_id", "content", "is_error", "cache_control"]);
    let mut texts = Vec::new();
    match &block["content"] {
        Value::Null => {}
        text @ Value::String(_) => texts.push(checks.text(text, place, true)),
        content => {
            for inner in checks.list(content, place) {
                match inner["type"].as_str() {
                    Some("text") => texts.push(checks.text(&inner["text"], place, false)),
                    Some("image") => {
                        checks.that(block["is_error"] != true, place, "is an error with an image");
                        image(inner, place, checks);
                    }
                    other => checks.fail(place, format!("has a block of type {other:?}")),
                }
            }
        }
    }
    let id = block["tool_use_id"].as_str().unwrap_or_default();
    checks.answered(open, id, texts.join("\n"), place);
}

fn image(block: &Value, place: &str, checks: &mut Checks) {
    let source = &block["source"];
    checks.that(source["type"] == "base64", place, "is not base64");
    let text = |key: &str| source[key].as_str().unwrap_or_default();
    checks.image(text("media_type"), text("data"), place);
}

fn assistant(blocks: &[Value], place: &str, checks: &mut Checks) -> Vec<OpenCall> {
    let mut open = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let place = format!("{place}.content[{index}]");
        match block["type"].as_str() {
            Some("text") => {
                checks.text(&block["text"], &place, false);
            }
            Some("thinking") => {
                checks.that(block["thinking"].is_string(), &place, "has no thoughts");
                checks.that(block["signature"].is_string(), &place, "has no signature");
            }
            Some("redacted_thinking") => checks.that(block["data"].is_string(), &place, "has no data"),
            Some("tool_use") => {
                checks.keys(block, &place, &["type", "id", "name", "input", "cache_control"]);
                let id = checks.plain_call_id(&block["id"], &place, (usize::MAX, "_-"));
                let name = checks.tool_name(&block["name"], &place);
                checks.that(block["input"].is_object(), &place, "has an input that is no object");
                open.push(OpenCall { id, name });
            }
            other => checks.fail(&place, format!("is of type {other:?}")),
        }
    }
    open
}

pub(super) fn rendered(seen: &SeenRequest, text: &str, calls: &[(String, Value)]) -> Value {
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(json!({ "type": "text", "text": text }));
    }
    content.extend(calls.iter().enumerate().map(|(index, (name, arguments))| {
        let id = format!("toolu_{}x{index}", seen.turn);
        json!({ "type": "tool_use", "id": id, "name": name, "input": arguments })
    }));
    let stop = if calls.is_empty() { "end_turn" } else { "tool_use" };
    json!({
        "id": format!("msg_{}", seen.turn), "type": "message", "role": "assistant", "model": seen.model, "content": content,
        "stop_reason": stop, "stop_sequence": null,
        "usage": {
            "input_tokens": INPUT_TOKENS, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            "output_tokens": OUTPUT_TOKENS,
        },
    })
}
