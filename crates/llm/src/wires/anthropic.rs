//! Anthropic messages.
//!
//! Sources: Anthropic's API reference, "Create a Message", "Errors", and its guides "Vision", "Tool use" and
//! "Extended thinking".

use std::borrow::Cow;

use m3_support::text::shortened;
use serde_json::{Map, Value, json};

use super::blocks::{self, BlockForm};
use super::reading::{self, Calls, Oddities};
use super::writing::{self, SentAnswer, SentCall};
use super::{ImageData, ReplyError, TOOLS, Target, Wire, WireRequest};
use crate::{Picture, PictureLimits, Reply, Request, RequestLimits, StopReason, WireKind};

/// The wire of Anthropic messages.
#[derive(Debug)]
pub(super) struct Anthropic;

/// The keys of the token counts (source: "Prompt caching").
const TOKENS: [&str; 4] =
    ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];

/// The default of `max_tokens`, which is required; all models since Claude 3.5 can write this many tokens.
const MAX_TOKENS: u32 = 8192;

const FORM: BlockForm = BlockForm {
    call_id,
    text: text_block,
    image: image_block,
    is_call: |block| block["type"] == "tool_use",
    is_empty: |block| block["type"] == "text" && block["text"].as_str().unwrap_or_default().trim().is_empty(),
    call: tool_use,
    result: tool_result,
};

impl Wire for Anthropic {
    fn base_url(&self) -> Cow<'static, str> {
        "https://api.anthropic.com".into()
    }

    fn key_variables(&self) -> &'static [&'static str] {
        &["ANTHROPIC_API_KEY"]
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let version = ("anthropic-version", "2023-06-01".to_owned());
        key.map(|key| ("x-api-key", key.to_owned())).into_iter().chain([version]).collect()
    }

    fn request(&self, target: Target<'_>, request: &Request, images: ImageData) -> WireRequest {
        let settings = &request.settings;
        let messages = blocks::messages(&FORM, request, images);
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(target.model));
        body.insert("max_tokens".to_owned(), json!(settings.max_output_tokens.unwrap_or(MAX_TOKENS)));
        if !request.system.is_empty() {
            body.insert("system".to_owned(), json!(request.system));
        }
        writing::set(&mut body, "temperature", settings.temperature);
        if request.tools.is_empty() {
            // Calls in a conversation without tools are refused.
            let called = blocks::called(&messages, name_of_call);
            if !called.is_empty() {
                let tools = called.iter().map(|name| tool(name, "", &Map::new()));
                body.insert(TOOLS.to_owned(), tools.collect());
                body.insert("tool_choice".to_owned(), json!({ "type": "none" }));
            }
        }
        body.insert("messages".to_owned(), Value::Array(messages));
        writing::merge(&mut body, &settings.extra);
        // Anthropic's own tools take addresses without the version; servers of open models are often given with it.
        let has_version = target.base_url.is_some_and(|url| url.trim_end_matches('/').ends_with("/v1"));
        let path = if has_version { "messages" } else { "v1/messages" };
        let tools = request.tools.written(WireKind::Anthropic.as_str(), |tools| {
            tools.iter().map(|each| tool(&each.name, &each.description, &each.schema)).collect()
        });
        WireRequest::new(path.to_owned(), body, TOOLS, tools)
    }

    fn reply(&self, status: u16, body: &[u8]) -> Result<Reply, ReplyError> {
        let mut oddities = Oddities::default();
        let body = reading::body(status, body, &mut oddities)?;
        let mut content = content(&body, &mut oddities)?;
        let mut reply = read_blocks(&mut content, &mut oddities);
        reply.stop = stop(&body, !reply.calls.is_empty(), &mut oddities);
        reading::note_end(&mut reply, body.get("stop_reason"), &mut oddities);
        if reply.text.is_empty() && reply.calls.is_empty() {
            oddities.note("the reply had neither text nor calls");
        }
        reply.usage = blocks::usage(&body, TOKENS, &mut oddities);
        reply.model = reading::text_at(&body, &["model"]).map(|model| shortened(model, 200));
        reply.raw = Some(json!({ "role": "assistant", "content": content }));
        reply.oddities = oddities.into_list();
        Ok(reply)
    }

    fn image_limits(&self) -> PictureLimits {
        // "Vision": images over 1568 pixels on a side are scaled down; an image may have 5 MB, of which base64 takes
        // a quarter.
        PictureLimits { max_side: 1568, max_bytes: 5 * 1024 * 1024 / 4 * 3 }
    }

    fn request_limits(&self) -> RequestLimits {
        // "Vision": 100 images for a request; "Errors": a request of more than 32 MB is too large.
        RequestLimits { images: 100, image_bytes: 22_000_000 }
    }
}

fn tool(name: &str, description: &str, schema: &Map<String, Value>) -> Value {
    let mut tool = Map::from_iter([("name".to_owned(), json!(name))]);
    if !description.is_empty() {
        tool.insert("description".to_owned(), json!(description));
    }
    tool.insert("input_schema".to_owned(), Value::Object(blocks::object_schema(schema)));
    Value::Object(tool)
}

/// The tool of a block that is a call.
fn name_of_call(block: &Value) -> Option<&str> {
    block["name"].as_str().filter(|_| block["type"] == "tool_use")
}

/// An id with only the characters that Anthropic accepts, `^[a-zA-Z0-9_-]+$`.
fn call_id(id: &str) -> String {
    let fine = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    if id.is_empty() { "call".to_owned() } else { id.chars().map(fine).collect() }
}

fn tool_use(call: &SentCall<'_>, raw: Option<&Value>) -> Value {
    let mut block = raw.and_then(Value::as_object).cloned().unwrap_or_default();
    block.insert("type".to_owned(), json!("tool_use"));
    block.insert("id".to_owned(), json!(call.id));
    block.insert("name".to_owned(), json!(call.name));
    block.insert("input".to_owned(), writing::arguments_object(call.arguments));
    Value::Object(block)
}

fn tool_result(answer: &SentAnswer<'_>, images: ImageData) -> Value {
    let mut content = Vec::new();
    // A result marked as an error may only have text.
    let is_marked = answer.is_error() && answer.images().is_empty();
    let text = if answer.is_error() && !is_marked { answer.text_with_error() } else { answer.text().into() };
    if !text.trim().is_empty() {
        content.push(text_block(&text));
    }
    content.extend(answer.images().iter().map(|picture| image_block(picture, images)));
    let mut block = Map::new();
    block.insert("type".to_owned(), json!("tool_result"));
    block.insert("tool_use_id".to_owned(), json!(answer.call.id));
    if !content.is_empty() {
        block.insert("content".to_owned(), Value::Array(content));
    }
    if is_marked {
        block.insert("is_error".to_owned(), json!(true));
    }
    Value::Object(block)
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn image_block(picture: &Picture, images: ImageData) -> Value {
    let data = writing::image_data(picture, images);
    json!({ "type": "image", "source": { "type": "base64", "media_type": picture.mime_type, "data": data } })
}

fn content(body: &Map<String, Value>, oddities: &mut Oddities) -> Result<Vec<Value>, ReplyError> {
    match body.get("content") {
        Some(Value::Array(blocks)) => Ok(blocks.clone()),
        Some(Value::String(text)) => {
            oddities.note("the content was a string instead of blocks; it was taken as text");
            Ok(vec![text_block(text)])
        }
        Some(block @ Value::Object(_)) => {
            oddities.note("the content was one block instead of a list; it was read");
            Ok(vec![block.clone()])
        }
        Some(Value::Null) | None if body.contains_key("stop_reason") => {
            oddities.note("the content was null or missing");
            Ok(Vec::new())
        }
        _ => Err(reading::without_reply("it has no `content`", body)),
    }
}

/// Reads the blocks, and gives an id to those without one.
fn read_blocks(blocks: &mut [Value], oddities: &mut Oddities) -> Reply {
    let mut calls = Calls::default();
    let (mut texts, mut thinking) = (String::new(), Vec::new());
    let mut uses = Vec::new();
    for (place, block) in blocks.iter().enumerate() {
        match block["type"].as_str().unwrap_or_default() {
            "text" => texts.push_str(block["text"].as_str().unwrap_or_default()),
            "thinking" => thinking.extend(block["thinking"].as_str().map(str::to_owned)),
            "redacted_thinking" => {}
            "tool_use" => {
                uses.push(place);
                blocks::add_call(block["id"].as_str(), block, &mut calls, oddities);
            }
            "" if block["text"].is_string() || block.is_string() => {
                oddities.note("a block of the content had no `type`; it was taken for text");
                texts.push_str(block["text"].as_str().or(block.as_str()).unwrap_or_default());
            }
            other => {
                let other = shortened(other, 60);
                oddities
                    .note(format!("the content had a block of type `{other}`; it was left out of the text"));
            }
        }
    }
    let reply = blocks::reply(&texts, thinking, calls, oddities);
    for (place, call) in uses.into_iter().zip(&reply.calls) {
        if let Some(block) = blocks[place].as_object_mut() {
            block.insert("id".to_owned(), json!(call.id));
        }
    }
    reply
}

/// Why the reply ended, by the reasons that "Handling stop reasons" documents.
fn stop(body: &Map<String, Value>, has_calls: bool, oddities: &mut Oddities) -> StopReason {
    let key = "stop_reason";
    let reason = body.get(key).and_then(Value::as_str).unwrap_or_default();
    blocks::stop(reason, key, has_calls, oddities).unwrap_or_else(|| match reason {
        "refusal" => StopReason::Refused,
        "pause_turn" => StopReason::Other(reason.to_owned()),
        other => reading::undocumented(key, other, oddities),
    })
}

#[cfg(test)]
mod tests;
