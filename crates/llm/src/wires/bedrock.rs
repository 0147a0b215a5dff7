//! Amazon Bedrock's Converse.
//!
//! Sources: the Amazon Bedrock API reference, "Converse", `ContentBlock`, `ToolResultBlock`, `ReasoningContentBlock`,
//! `InferenceConfiguration` and `TokenUsage`; its user guide, "Use API keys"; botocore's model of the service.

use std::borrow::Cow;

use m3_support::text::shortened;
use percent_encoding::utf8_percent_encode;
use serde_json::{Map, Value, json};

use super::blocks::{self, BlockForm};
use super::reading::{self, Calls, Oddities};
use super::writing::{self, NOTHING, SentAnswer, SentCall};
use super::{ImageData, ReplyError, Target, Wire, WireRequest};
use crate::aws::{self, SEGMENT};
use crate::{Picture, PictureLimits, Reply, Request, RequestLimits, StopReason, ToolDefinition, WireKind};

/// The wire of Amazon Bedrock's Converse.
#[derive(Debug)]
pub(super) struct Bedrock;

/// The keys of the token counts (source: `TokenUsage`).
const TOKENS: [&str; 4] = ["inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens", "outputTokens"];

/// The key of the tools in a body.
const TOOL_CONFIG: &str = "toolConfig";

const FORM: BlockForm = BlockForm {
    call_id,
    text: text_block,
    image: image_block,
    is_call: |block| block.get("toolUse").is_some(),
    is_empty: |block| block["text"].as_str().is_some_and(|text| text.trim().is_empty()),
    call: tool_use,
    result: tool_result,
};

impl Wire for Bedrock {
    fn base_url(&self) -> Cow<'static, str> {
        format!("https://bedrock-runtime.{}.amazonaws.com", aws::region()).into()
    }

    fn key_variables(&self) -> &'static [&'static str] {
        &["AWS_BEARER_TOKEN_BEDROCK"]
    }

    fn signing_name(&self) -> Option<&'static str> {
        Some("bedrock")
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
    }

    fn request(&self, target: Target<'_>, request: &Request, images: ImageData) -> WireRequest {
        let settings = &request.settings;
        let messages = blocks::messages(&FORM, request, images);
        let mut body = Map::new();
        if !request.system.is_empty() {
            body.insert("system".to_owned(), json!([text_block(&request.system)]));
        }
        let mut config = Map::new();
        writing::set(&mut config, "maxTokens", settings.max_output_tokens);
        writing::set(&mut config, "temperature", settings.temperature);
        if !config.is_empty() {
            body.insert("inferenceConfig".to_owned(), Value::Object(config));
        }
        if request.tools.is_empty() {
            // Calls in a conversation without tools are refused.
            let called = blocks::called(&messages, |block| block["toolUse"]["name"].as_str());
            if !called.is_empty() {
                let specifications = called.iter().map(|name| specification(name, "", &Map::new()));
                body.insert(TOOL_CONFIG.to_owned(), json!({ "tools": specifications.collect::<Vec<_>>() }));
            }
        }
        body.insert("messages".to_owned(), Value::Array(messages));
        writing::merge(&mut body, &settings.extra);
        let path = format!("model/{}/converse", utf8_percent_encode(target.model, SEGMENT));
        let tools = request.tools.written(WireKind::Bedrock.as_str(), tools);
        WireRequest::new(path, body, TOOL_CONFIG, tools)
    }

    fn reply(&self, status: u16, body: &[u8]) -> Result<Reply, ReplyError> {
        let mut oddities = Oddities::default();
        let body = reading::body(status, body, &mut oddities)?;
        let content = body.get("output").and_then(|output| output["message"]["content"].as_array());
        let mut content =
            content.cloned().ok_or_else(|| reading::without_reply("it has no `output`", &body))?;
        let mut reply = read_blocks(&mut content, &mut oddities);
        reply.stop = stop(&body, !reply.calls.is_empty(), &mut oddities);
        reading::note_end(&mut reply, body.get("stopReason"), &mut oddities);
        if reply.text.is_empty() && reply.calls.is_empty() {
            oddities.note("the reply had neither text nor calls");
        }
        reply.usage = blocks::usage(&body, TOKENS, &mut oddities);
        reply.raw = Some(json!({ "role": "assistant", "content": content }));
        reply.oddities = oddities.into_list();
        Ok(reply)
    }

    fn image_limits(&self) -> PictureLimits {
        // `ImageBlock`: 3.75 MB and 8,000 pixels on a side.
        PictureLimits { max_side: 8000, max_bytes: 3_750_000 }
    }

    fn request_limits(&self) -> RequestLimits {
        // "Converse": 20 images for a message; a request of more than 25 MB is too large.
        RequestLimits { images: 20, image_bytes: 18_000_000 }
    }
}

fn tools(tools: &[ToolDefinition]) -> Value {
    let specifications = tools.iter().map(|tool| specification(&tool.name, &tool.description, &tool.schema));
    json!({ "tools": specifications.collect::<Vec<_>>() })
}

fn specification(name: &str, description: &str, schema: &Map<String, Value>) -> Value {
    let mut tool = Map::from_iter([("name".to_owned(), json!(name))]);
    // A description must have at least one character.
    if !description.is_empty() {
        tool.insert("description".to_owned(), json!(description));
    }
    tool.insert("inputSchema".to_owned(), json!({ "json": blocks::object_schema(schema) }));
    json!({ "toolSpec": tool })
}

/// An id with only the characters that Bedrock accepts, `[a-zA-Z0-9_.:-]{1,64}`.
fn call_id(id: &str) -> String {
    let fine =
        |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-') { c } else { '_' };
    if id.is_empty() { "call".to_owned() } else { id.chars().take(60).map(fine).collect() }
}

fn tool_use(call: &SentCall<'_>, _: Option<&Value>) -> Value {
    let input = writing::arguments_object(call.arguments);
    json!({ "toolUse": { "toolUseId": call.id, "name": call.name, "input": input } })
}

fn tool_result(answer: &SentAnswer<'_>, images: ImageData) -> Value {
    let text = answer.text();
    let mut content = vec![text_block(if text.trim().is_empty() { NOTHING } else { text })];
    content.extend(answer.images().iter().map(|picture| image_block(picture, images)));
    let mut result = Map::new();
    result.insert("toolUseId".to_owned(), json!(answer.call.id));
    result.insert("content".to_owned(), Value::Array(content));
    if answer.is_error() {
        result.insert("status".to_owned(), json!("error"));
    }
    json!({ "toolResult": result })
}

fn text_block(text: &str) -> Value {
    json!({ "text": text })
}

fn image_block(picture: &Picture, images: ImageData) -> Value {
    let format = picture.mime_type.strip_prefix("image/").unwrap_or(picture.mime_type);
    let data = writing::image_data(picture, images);
    json!({ "image": { "format": format, "source": { "bytes": data } } })
}

/// Reads the blocks, and gives an id to calls without one.
fn read_blocks(blocks: &mut [Value], oddities: &mut Oddities) -> Reply {
    let mut calls = Calls::default();
    let (mut texts, mut thinking) = (String::new(), Vec::new());
    for block in blocks.iter() {
        if let Some(text) = block["text"].as_str() {
            texts.push_str(text);
        } else if let Some(call) = block.get("toolUse") {
            blocks::add_call(call["toolUseId"].as_str(), call, &mut calls, oddities);
        } else if let Some(reasoning) = block.get("reasoningContent") {
            thinking.extend(reasoning["reasoningText"]["text"].as_str().map(str::to_owned));
        } else {
            let kind =
                block.as_object().and_then(|block| block.keys().next()).map_or("nothing", String::as_str);
            let kind = shortened(kind, 60);
            oddities.note(format!("the content had a block `{kind}`; it was left out of the text"));
        }
    }
    let reply = blocks::reply(&texts, thinking, calls, oddities);
    let used = blocks.iter_mut().filter_map(|block| block.get_mut("toolUse")?.as_object_mut());
    for (block, call) in used.zip(&reply.calls) {
        block.insert("toolUseId".to_owned(), json!(call.id));
    }
    reply
}

/// Why the reply ended, by the reasons that "Converse" documents.
fn stop(body: &Map<String, Value>, has_calls: bool, oddities: &mut Oddities) -> StopReason {
    let key = "stopReason";
    let reason = body.get(key).and_then(Value::as_str).unwrap_or_default();
    blocks::stop(reason, key, has_calls, oddities).unwrap_or_else(|| match reason {
        "guardrail_intervened" | "content_filtered" => StopReason::Refused,
        "malformed_model_output" | "malformed_tool_use" => {
            oddities.note(format!("the `{key}` was `{reason}`"));
            StopReason::Other(reason.to_owned())
        }
        other => reading::undocumented(key, other, oddities),
    })
}

#[cfg(test)]
mod tests;
