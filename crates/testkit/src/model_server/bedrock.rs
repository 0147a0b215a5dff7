//! Checks for the form of Amazon Bedrock's Converse, after its API reference ("Converse", `ContentBlock`, `ToolResultBlock`,
//! `ToolSpecification`).

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::checks::{Checks, OpenCall};
use super::{INPUT_TOKENS, OUTPUT_TOKENS, SeenRequest};

const KEYS: [&str; 10] = [
    "messages",
    "system",
    "inferenceConfig",
    "toolConfig",
    "guardrailConfig",
    "additionalModelRequestFields",
    "additionalModelResponseFieldPaths",
    "requestMetadata",
    "performanceConfig",
    "serviceTier",
];

pub(super) fn check(path: &str, headers: &HeaderMap, key: Option<&str>, body: &Value, checks: &mut Checks) {
    let model = path.strip_prefix("/model/").and_then(|rest| rest.strip_suffix("/converse"));
    let is_one = model.is_some_and(|model| !model.is_empty() && !model.contains('/'));
    checks.that(is_one, "the path", "names no model and converse");
    model.unwrap_or_default().clone_into(&mut checks.seen.model);
    checks.key(headers, "authorization", "Bearer ", key);
    checks.keys(body, "the body", &KEYS);
    let config = &body["inferenceConfig"];
    checks.keys(config, "inferenceConfig", &["maxTokens", "temperature", "topP", "stopSequences"]);
    checks.whole(&config["maxTokens"], "maxTokens");
    checks.number(&config["temperature"], "temperature", 0.0, 1.0);
    if !body["system"].is_null() {
        let blocks = checks.list(&body["system"], "system");
        let texts: Vec<_> = blocks.iter().map(|block| checks.text(&block["text"], "system", false)).collect();
        checks.seen.system = texts.join("\n");
    }
    if !body["toolConfig"].is_null() {
        for (index, tool) in checks.list(&body["toolConfig"]["tools"], "toolConfig").iter().enumerate() {
            let (place, tool) = (format!("tools[{index}]"), &tool["toolSpec"]);
            checks.that(tool["description"] != "", &place, "has an empty description");
            checks.tool(&tool["name"], &tool["description"], &tool["inputSchema"]["json"], &place);
        }
    }
    let messages = checks.list(&body["messages"], "messages");
    let mut open = Vec::new();
    let mut previous = "assistant";
    for (index, message) in messages.iter().enumerate() {
        let place = format!("messages[{index}]");
        let blocks = checks.list(&message["content"], &place);
        let role = message["role"].as_str().unwrap_or_default();
        checks.that(role != previous, &place, "has the role of the one before");
        previous = role;
        match role {
            "user" => user(blocks, &mut open, &place, checks),
            "assistant" => {
                checks.all_answered(&mut open, &place);
                open = assistant(blocks, &place, checks);
            }
            other => checks.fail(&place, format!("has the role {other:?}")),
        }
    }
    checks.end(&mut open, messages, (&body["toolConfig"], "toolConfig is"));
}

/// The only member of a block, which says what it is.
fn kind(block: &Value) -> &str {
    let members = block.as_object().filter(|block| block.len() == 1);
    members.and_then(|block| block.keys().next()).map_or("", String::as_str)
}

fn user(blocks: &[Value], open: &mut Vec<OpenCall>, place: &str, checks: &mut Checks) {
    let mut texts = Vec::new();
    let mut results = 0;
    for (index, block) in blocks.iter().enumerate() {
        let place = format!("{place}.content[{index}]");
        if kind(block) == "toolResult" {
            results += 1;
            tool_result(&block["toolResult"], open, &place, checks);
            continue;
        }
        checks.all_answered(open, &place);
        match kind(block) {
            "text" => texts.push(checks.text(&block["text"], &place, false)),
            "image" => image(&block["image"], &place, checks),
            other => checks.fail(&place, format!("is of type {other:?}")),
        }
    }
    checks.all_answered(open, place);
    checks.seen.last_user_text = texts.join("\n");
    checks.seen.user_turns += usize::from(results == 0);
}

fn tool_result(result: &Value, open: &mut Vec<OpenCall>, place: &str, checks: &mut Checks) {
    checks.keys(result, place, &["toolUseId", "content", "status"]);
    let status = result["status"].as_str();
    checks.that(
        result["status"].is_null() || matches!(status, Some("success" | "error")),
        place,
        "has another status",
    );
    let mut texts = Vec::new();
    for inner in checks.list(&result["content"], place) {
        match kind(inner) {
            "text" => texts.push(checks.text(&inner["text"], place, false)),
            "image" => image(&inner["image"], place, checks),
            other => checks.fail(place, format!("has a block of type {other:?}")),
        }
    }
    let id = result["toolUseId"].as_str().unwrap_or_default();
    checks.answered(open, id, texts.join("\n"), place);
}

fn image(image: &Value, place: &str, checks: &mut Checks) {
    checks.keys(image, place, &["format", "source"]);
    let format = image["format"].as_str().unwrap_or_default();
    checks.image(&format!("image/{format}"), image["source"]["bytes"].as_str().unwrap_or_default(), place);
}

fn assistant(blocks: &[Value], place: &str, checks: &mut Checks) -> Vec<OpenCall> {
    let mut open = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let place = format!("{place}.content[{index}]");
        match kind(block) {
            "text" => {
                checks.text(&block["text"], &place, false);
            }
            "reasoningContent" => {}
            "toolUse" => {
                let call = &block["toolUse"];
                checks.keys(call, &place, &["toolUseId", "name", "input"]);
                let id = checks.plain_call_id(&call["toolUseId"], &place, (64, "_.:-"));
                let name = checks.tool_name(&call["name"], &place);
                checks.that(call["input"].is_object(), &place, "has an input that is no object");
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
        content.push(json!({ "text": text }));
    }
    content.extend(calls.iter().enumerate().map(|(index, (name, arguments))| {
        let id = format!("tooluse_{}x{index}", seen.turn);
        json!({ "toolUse": { "toolUseId": id, "name": name, "input": arguments } })
    }));
    let stop = if calls.is_empty() { "end_turn" } else { "tool_use" };
    json!({
        "output": { "message": { "role": "assistant", "content": content } },
        "stopReason": stop,
        "usage": {
            "inputTokens": INPUT_TOKENS, "outputTokens": OUTPUT_TOKENS, "totalTokens": INPUT_TOKENS + OUTPUT_TOKENS,
        },
        "metrics": { "latencyMs": 1 },
    })
}
