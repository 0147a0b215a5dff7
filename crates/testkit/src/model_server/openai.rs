//! Checks for the form of chat completions, after OpenAI's API reference ("Create chat completion", "The chat
//! completion object").

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::checks::{Checks, OpenCall};
use super::{INPUT_TOKENS, OUTPUT_TOKENS, SeenRequest};

/// Keys of a body; servers of open models add those in the last row.
const KEYS: [&str; 22] = [
    "model",
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "seed",
    "stop",
    "n",
    "reasoning_effort",
    "response_format",
    "service_tier",
    "user",
    "metadata",
    "verbosity",
    "top_k",
    "min_p",
    "repetition_penalty",
    "chat_template_kwargs",
];

pub(super) fn check(path: &str, headers: &HeaderMap, key: Option<&str>, body: &Value, checks: &mut Checks) {
    checks.that(path == "/v1/chat/completions", "the path", "is not /v1/chat/completions");
    checks.key(headers, "authorization", "Bearer ", key);
    checks.keys(body, "the body", &KEYS);
    let model = body["model"].as_str().unwrap_or_default();
    checks.that(!model.is_empty(), "model", "is missing");
    model.clone_into(&mut checks.seen.model);
    checks.whole(&body["max_tokens"], "max_tokens");
    checks.whole(&body["max_completion_tokens"], "max_completion_tokens");
    checks.whole(&body["seed"], "seed");
    checks.number(&body["temperature"], "temperature", 0.0, 2.0);
    if !body["tools"].is_null() {
        let count = body["tools"].as_array().map_or(0, Vec::len);
        checks.that(
            count <= 128,
            "tools",
            "are more than the 128 that are supported (`array_above_max_length`)",
        );
        for (index, tool) in checks.list(&body["tools"], "tools").iter().enumerate() {
            let (place, function) = (format!("tools[{index}]"), &tool["function"]);
            checks.that(tool["type"] == "function", &place, "is no function");
            checks.tool(&function["name"], &function["description"], &function["parameters"], &place);
        }
    }
    let messages = checks.list(&body["messages"], "messages");
    let mut open = Vec::new();
    let mut role = "";
    for (index, message) in messages.iter().enumerate() {
        let place = format!("messages[{index}]");
        let before = std::mem::replace(&mut role, message["role"].as_str().unwrap_or_default());
        if role != "tool" {
            checks.all_answered(&mut open, &place);
        }
        match role {
            "system" | "developer" => {
                checks.that(index == 0, &place, "is of the system, but not the first");
                checks.seen.system = checks.text(&message["content"], &place, false);
            }
            "user" => {
                checks.seen.last_user_text = user(&message["content"], &place, checks);
                checks.seen.user_turns += usize::from(before != "tool");
            }
            "assistant" => open = assistant(message, &place, checks),
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                // The content of a tool's message is text; here it must be a string.
                let text = checks.text(&message["content"], &place, true);
                checks.answered(&mut open, id, text, &place);
            }
            other => checks.fail(&place, format!("has the role `{other}`")),
        }
    }
    checks.all_answered(&mut open, "the end");
    checks.that(role != "assistant", "the last message", "is the model's own");
    checks.count_turns(messages, "assistant");
}

fn user(content: &Value, place: &str, checks: &mut Checks) -> String {
    if content.is_string() {
        return checks.text(content, place, false);
    }
    let mut texts = Vec::new();
    for (index, part) in checks.list(content, place).iter().enumerate() {
        let place = format!("{place}.content[{index}]");
        match part["type"].as_str() {
            Some("text") => texts.push(checks.text(&part["text"], &place, true)),
            Some("image_url") => {
                let url = part["image_url"]["url"].as_str().unwrap_or_default();
                match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
                    Some((media_type, data)) => checks.image(media_type, data, &place),
                    None => checks.fail(&place, "has no data URL"),
                }
            }
            other => checks.fail(&place, format!("is of type {other:?}")),
        }
    }
    texts.join("\n")
}

fn assistant(message: &Value, place: &str, checks: &mut Checks) -> Vec<OpenCall> {
    // DeepSeek wants thoughts back only with the calls that they led to.
    let has_thoughts = message.get("reasoning_content").is_some();
    checks.that(!has_thoughts || !message["tool_calls"].is_null(), place, "repeats thoughts without calls");
    if !message["content"].is_null() || message["tool_calls"].is_null() {
        checks.text(&message["content"], place, true);
    }
    if message["tool_calls"].is_null() {
        return Vec::new();
    }
    let mut open = Vec::new();
    for (index, call) in checks.list(&message["tool_calls"], place).iter().enumerate() {
        let place = format!("{place}.tool_calls[{index}]");
        let id = checks.call_id(&call["id"], &place);
        checks.that(call["type"] == "function", &place, "is no function");
        let name = checks.tool_name(&call["function"]["name"], &place);
        let arguments = &call["function"]["arguments"];
        checks.that(arguments.is_string(), &place, "has arguments that are no string");
        open.push(OpenCall { id, name });
    }
    open
}

pub(super) fn rendered(seen: &SeenRequest, text: &str, calls: &[(String, Value)]) -> Value {
    let mut message = json!({ "role": "assistant", "content": text, "refusal": null });
    if !calls.is_empty() {
        let calls = calls.iter().enumerate().map(|(index, (name, arguments))| {
            let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            let id = format!("call_{}x{index}", seen.turn);
            json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
        });
        message["tool_calls"] = calls.collect();
        if text.is_empty() {
            message["content"] = Value::Null;
        }
    }
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    json!({
        "id": format!("chatcmpl-{}", seen.turn), "object": "chat.completion", "created": 1_700_000_000, "model": seen.model,
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": finish }],
        "usage": {
            "prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS,
            "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
            "prompt_tokens_details": { "cached_tokens": 0 }, "completion_tokens_details": { "reasoning_tokens": 0 },
        },
    })
}
