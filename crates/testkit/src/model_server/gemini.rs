//! Checks for the form of Gemini's `generateContent`, after the Gemini API reference ("Generating content",
//! `Content`, `Part`) and its guide "Function calling".

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::checks::{Checks, OpenCall};
use super::{INPUT_TOKENS, OUTPUT_TOKENS, SeenRequest};

const KEYS: [&str; 7] = [
    "contents",
    "tools",
    "toolConfig",
    "safetySettings",
    "systemInstruction",
    "generationConfig",
    "cachedContent",
];

pub(super) fn check(path: &str, headers: &HeaderMap, key: Option<&str>, body: &Value, checks: &mut Checks) {
    let model = path.strip_prefix("/v1beta/models/").and_then(|rest| rest.strip_suffix(":generateContent"));
    checks.that(
        model.is_some_and(|model| !model.is_empty()),
        "the path",
        "names no model and generateContent",
    );
    model.unwrap_or_default().clone_into(&mut checks.seen.model);
    checks.key(headers, "x-goog-api-key", "", key);
    checks.keys(body, "the body", &KEYS);
    let config = &body["generationConfig"];
    checks.whole(&config["maxOutputTokens"], "maxOutputTokens");
    checks.whole(&config["seed"], "seed");
    checks.number(&config["temperature"], "temperature", 0.0, 2.0);
    if !body["systemInstruction"].is_null() {
        let parts = checks.list(&body["systemInstruction"]["parts"], "systemInstruction");
        let texts: Vec<_> =
            parts.iter().map(|part| checks.text(&part["text"], "systemInstruction", false)).collect();
        checks.seen.system = texts.join("\n");
    }
    if !body["tools"].is_null() {
        let tools = checks.list(&body["tools"], "tools");
        for (index, tool) in
            tools.iter().filter_map(|tool| tool["functionDeclarations"].as_array()).flatten().enumerate()
        {
            let place = format!("functionDeclarations[{index}]");
            checks.keys(tool, &place, &["name", "description", "parametersJsonSchema"]);
            checks.tool(&tool["name"], &tool["description"], &tool["parametersJsonSchema"], &place);
        }
    }
    let contents = checks.list(&body["contents"], "contents");
    let mut open = Vec::new();
    let mut role = "";
    for (index, content) in contents.iter().enumerate() {
        let place = format!("contents[{index}]");
        checks.keys(content, &place, &["role", "parts"]);
        let before = std::mem::replace(&mut role, content["role"].as_str().unwrap_or_default());
        checks.that(before != role, &place, "has the role of the one before");
        let parts = checks.list(&content["parts"], &place);
        match role {
            "user" => user(parts, &mut open, &place, checks),
            "model" => {
                checks.that(index > 0, &place, "is the first, but not the user's");
                open = model_turn(parts, &place, checks);
            }
            other => checks.fail(&place, format!("has the role `{other}`")),
        }
    }
    checks.that(role == "user", "the last content", "is not the user's");
    checks.count_turns(contents, "model");
}

/// The single kind of content in a part.
fn kind<'a>(part: &'a Value, place: &str, checks: &mut Checks) -> &'a str {
    checks.keys(
        part,
        place,
        &["text", "inlineData", "functionCall", "functionResponse", "thought", "thoughtSignature"],
    );
    let keys = part.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let kinds: Vec<&str> = keys.filter(|key| !key.starts_with("thought")).collect();
    checks.that(kinds.len() == 1, place, "is not one thing");
    kinds.first().copied().unwrap_or_default()
}

fn user(parts: &[Value], open: &mut Vec<OpenCall>, place: &str, checks: &mut Checks) {
    let mut texts = Vec::new();
    let answers_calls = !open.is_empty();
    for (index, part) in parts.iter().enumerate() {
        let place = format!("{place}.parts[{index}]");
        match kind(part, &place, checks) {
            "text" => texts.push(checks.text(&part["text"], &place, true)),
            "inlineData" => {
                let text = |key: &str| part["inlineData"][key].as_str().unwrap_or_default();
                checks.image(text("mimeType"), text("data"), &place);
            }
            "functionResponse" => response(&part["functionResponse"], open, &place, checks),
            other => checks.fail(&place, format!("is a `{other}` of the user")),
        }
    }
    checks.all_answered(open, &format!("the end of {place}"));
    checks.seen.last_user_text = texts.join("\n");
    checks.seen.user_turns += usize::from(!answers_calls);
}

/// Checks a response: it belongs to a call by its id, or, if calls have no ids, by its name and order.
fn response(response: &Value, open: &mut Vec<OpenCall>, place: &str, checks: &mut Checks) {
    checks.keys(response, place, &["id", "name", "response"]);
    let name = checks.tool_name(&response["name"], place);
    let content = &response["response"];
    checks.that(content.is_object(), place, "has a response that is no object");
    let text = ["output", "error"].into_iter().find_map(|key| content[key].as_str()).unwrap_or_default();
    checks.seen.texts.push(text.to_owned());
    let by_name = || open.iter().find(|call| call.name == name).map(|call| call.id.clone());
    let id = response["id"].as_str().map(str::to_owned).or_else(by_name).unwrap_or_default();
    let is_other = open.iter().any(|call| call.id == id && call.name != name);
    checks.that(!is_other, place, "has the id of one call and the name of another");
    checks.answered(open, &id, text.to_owned(), place);
}

fn model_turn(parts: &[Value], place: &str, checks: &mut Checks) -> Vec<OpenCall> {
    let mut open = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let place = format!("{place}.parts[{index}]");
        match kind(part, &place, checks) {
            "text" => {
                checks.text(&part["text"], &place, true);
            }
            "functionCall" => {
                let call = &part["functionCall"];
                checks.keys(call, &place, &["id", "name", "args"]);
                // An id is optional.
                let made_up = json!(format!("{place} without an id"));
                let id = checks.call_id(call.get("id").unwrap_or(&made_up), &place);
                let name = checks.tool_name(&call["name"], &place);
                checks.that(
                    call["args"].is_null() || call["args"].is_object(),
                    &place,
                    "has args that are no object",
                );
                open.push(OpenCall { id, name });
            }
            "inlineData" => {}
            other => checks.fail(&place, format!("is a `{other}` of the model")),
        }
    }
    open
}

/// A reply without ids of calls, as the API itself usually gives.
pub(super) fn rendered(seen: &SeenRequest, text: &str, calls: &[(String, Value)]) -> Value {
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(json!({ "text": text }));
    }
    parts.extend(calls.iter().map(|(name, args)| json!({ "functionCall": { "name": name, "args": args } })));
    json!({
        "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": {
            "promptTokenCount": INPUT_TOKENS, "candidatesTokenCount": OUTPUT_TOKENS,
            "totalTokenCount": INPUT_TOKENS + OUTPUT_TOKENS,
        },
        "modelVersion": seen.model, "responseId": format!("r{}", seen.turn),
    })
}
