//! OpenAI chat completions, spoken by OpenAI and by most servers of open models.
//!
//! Sources: OpenAI's API reference, "Create chat completion" and "The chat completion object"; differences between
//! servers are named where they are handled.

mod calls;

use std::borrow::Cow;

use m3_support::text::shortened;
use serde_json::{Map, Value, json};

use super::reading::{self, Oddities};
use super::writing::{self, SentAnswer, Turn};
use super::{ImageData, ReplyError, TOOLS, Target, Wire, WireRequest, thoughts};
use crate::{
    Part, Picture, PictureLimits, Reply, Request, RequestLimits, StopReason, ToolDefinition, Usage, WireKind,
};

/// The wire of OpenAI chat completions.
#[derive(Debug)]
pub(super) struct OpenAi;

impl Wire for OpenAi {
    fn base_url(&self) -> Cow<'static, str> {
        "https://api.openai.com/v1".into()
    }

    fn key_variables(&self) -> &'static [&'static str] {
        &["OPENAI_API_KEY"]
    }

    /// "Create chat completion", `tools`: "A max of 128 functions are supported".
    fn most_tools(&self) -> Option<usize> {
        Some(128)
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
    }

    fn request(&self, target: Target<'_>, request: &Request, images: ImageData) -> WireRequest {
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(target.model));
        body.insert("messages".to_owned(), Value::Array(messages(target, request, images)));
        let settings = &request.settings;
        // Models that reason refuse `max_tokens` at OpenAI; other servers know no other name.
        let limit = if target.base_url.is_none() { "max_completion_tokens" } else { "max_tokens" };
        writing::set(&mut body, limit, settings.max_output_tokens);
        writing::set(&mut body, "temperature", settings.temperature);
        writing::set(&mut body, "seed", settings.seed);
        writing::merge(&mut body, &settings.extra);
        let tools = request.tools.written(WireKind::OpenAi.as_str(), tools);
        WireRequest::new("chat/completions".to_owned(), body, TOOLS, tools)
    }

    fn reply(&self, status: u16, body: &[u8]) -> Result<Reply, ReplyError> {
        let mut oddities = Oddities::default();
        let body = reading::body(status, body, &mut oddities)?;
        let choice = choice(&body)?;
        // OpenRouter marks the choice where a provider failed on the way.
        if choice.get("finish_reason").and_then(Value::as_str) == Some("error")
            && let Some(error) = choice.get("error").filter(|error| !error.is_null())
        {
            return Err(reading::error_of(error));
        }
        let message = message(choice, &mut oddities);
        let mut reply = Reply { raw: Some(Value::Object(message.clone())), ..Reply::default() };
        let (text, mut thinking) = content(message.get("content"), &mut oddities);
        thinking.extend(reading::text_at(&message, &["reasoning_content", "reasoning"]).map(str::to_owned));
        (reply.text, reply.thoughts) = thoughts::of_reply(&text, thinking, &mut oddities);
        reply.calls = calls::read(&message, &mut oddities);
        reply.stop = stop(choice, !reply.calls.is_empty(), &mut oddities);
        reading::note_end(&mut reply, choice.get("finish_reason"), &mut oddities);
        if let Some(refusal) = reading::text_at(&message, &["refusal"]) {
            reply.stop = StopReason::Refused;
            if reply.text.is_empty() {
                refusal.clone_into(&mut reply.text);
                oddities.note("the model refused; its refusal was taken as its text");
            }
        }
        if reply.text.is_empty() && reply.calls.is_empty() {
            oddities.note("the reply had neither text nor calls");
        }
        reply.usage = usage(&body, choice, &mut oddities);
        reply.model = reading::text_at(&body, &["model"]).map(|model| shortened(model, 200));
        reply.oddities = oddities.into_list();
        Ok(reply)
    }

    fn image_limits(&self) -> PictureLimits {
        // "Images and vision": images are scaled to fit 2048 x 2048 before anything else is done with them. 20 MB
        // is the least that any of OpenAI's documents has allowed for one image.
        PictureLimits { max_side: 2048, max_bytes: 20_000_000 }
    }

    fn request_limits(&self) -> RequestLimits {
        // "Images and vision": 500 images and 50 MB for a request.
        RequestLimits { images: 500, image_bytes: 35_000_000 }
    }
}

fn tools(tools: &[ToolDefinition]) -> Value {
    let tools = tools.iter().map(|tool| {
        let mut function = Map::new();
        function.insert("name".to_owned(), json!(tool.name));
        if !tool.description.is_empty() {
            function.insert("description".to_owned(), json!(tool.description));
        }
        function.insert("parameters".to_owned(), json!(tool.schema));
        json!({ "type": "function", "function": function })
    });
    tools.collect()
}

fn messages(target: Target<'_>, request: &Request, images: ImageData) -> Vec<Value> {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({ "role": "system", "content": request.system }));
    }
    for turn in writing::turns(&request.messages, str::to_owned) {
        match turn {
            Turn::User(parts) => {
                let parts = parts.iter().map(|part| match part {
                    Part::Text(text) => text_part(text),
                    Part::Image(picture) => image_part(picture, images),
                });
                writing::push_merged(&mut messages, "user", "content", parts.collect());
            }
            Turn::Assistant { message, calls } => {
                messages.push(calls::written(message, &calls, target.base_url.is_none()));
            }
            Turn::Results(answers) => push_results(&mut messages, &answers, images),
        }
    }
    // Text alone is sent as a string, as servers without images require.
    for message in &mut messages {
        if let Some([part]) = message["content"].as_array().map(Vec::as_slice)
            && part["type"] == "text"
        {
            message["content"] = part["text"].clone();
        }
    }
    messages
}

/// Tool messages can only hold text; images of the results follow in one message of the user.
fn push_results(messages: &mut Vec<Value>, answers: &[SentAnswer<'_>], images: ImageData) {
    let mut shown = Vec::new();
    for answer in answers {
        let text =
            if answer.is_error() { format!("Error: {}", answer.text()) } else { answer.text().to_owned() };
        messages.push(json!({ "role": "tool", "tool_call_id": answer.call.id, "content": text }));
        if !answer.images().is_empty() {
            shown.push(text_part(&writing::images_of(&answer.call, answer.images().len())));
            shown.extend(answer.images().iter().map(|picture| image_part(picture, images)));
        }
    }
    if !shown.is_empty() {
        writing::push_merged(messages, "user", "content", shown);
    }
}

fn text_part(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn image_part(picture: &Picture, images: ImageData) -> Value {
    let url = format!("data:{};base64,{}", picture.mime_type, writing::image_data(picture, images));
    json!({ "type": "image_url", "image_url": { "url": url } })
}

fn choice(body: &Map<String, Value>) -> Result<&Map<String, Value>, ReplyError> {
    match body.get("choices") {
        None | Some(Value::Null) => Err(reading::without_reply("it has no `choices`", body)),
        Some(Value::Array(choices)) if choices.is_empty() => {
            Err(reading::without_reply("its `choices` are empty", body))
        }
        Some(choices) => choices
            .get(0)
            .and_then(Value::as_object)
            .ok_or_else(|| reading::without_reply("its `choices` are no list of objects", body)),
    }
}

fn message(choice: &Map<String, Value>, oddities: &mut Oddities) -> Map<String, Value> {
    for key in ["message", "delta"] {
        if let Some(message) = choice.get(key).and_then(Value::as_object) {
            if key == "delta" {
                oddities.note("the choice had a `delta` instead of a `message`; it was read as one");
            }
            return message.clone();
        }
    }
    let Some(text) = choice.get("text").or_else(|| choice.get("message")).and_then(Value::as_str) else {
        oddities.note("the choice had no message");
        return Map::new();
    };
    oddities.note("the choice had a text instead of a message; it was read as one");
    Map::from_iter([("role".to_owned(), json!("assistant")), ("content".to_owned(), json!(text))])
}

/// Text and thoughts: a string, null, or a list of parts (Mistral, and OpenAI's documentation for refusals).
fn content(content: Option<&Value>, oddities: &mut Oddities) -> (String, Vec<String>) {
    let parts = match content {
        None | Some(Value::Null) => return (String::new(), Vec::new()),
        Some(Value::String(text)) => return (text.clone(), Vec::new()),
        Some(Value::Array(parts)) => parts.as_slice(),
        Some(Value::Object(object)) if object.contains_key("type") => {
            std::slice::from_ref(content.unwrap_or(&Value::Null))
        }
        Some(other) => {
            oddities.note("the content was neither text nor parts; it was taken as the JSON it is");
            return (other.to_string(), Vec::new());
        }
    };
    oddities.note("the content was a list of parts instead of a string; their texts were joined");
    let (mut text, mut thinking) = (String::new(), Vec::new());
    for part in parts {
        let kind = part["type"].as_str().unwrap_or("text");
        match (kind, part) {
            (_, Value::String(piece)) => text.push_str(piece),
            ("text" | "output_text", _) => text.push_str(part["text"].as_str().unwrap_or_default()),
            ("refusal", _) => text.push_str(part["refusal"].as_str().unwrap_or_default()),
            ("thinking" | "reasoning", _) => {
                let inner = [&part["thinking"], &part["text"]];
                let pieces = inner.into_iter().flat_map(|inner| match inner {
                    Value::Array(pieces) => {
                        pieces.iter().filter_map(|piece| piece["text"].as_str()).collect()
                    }
                    other => other.as_str().into_iter().collect::<Vec<_>>(),
                });
                thinking.extend(pieces.map(str::to_owned));
            }
            (other, _) => {
                oddities.note(format!(
                    "the content had a part of type `{}`; it was left out",
                    shortened(other, 60)
                ));
            }
        }
    }
    (text, thinking)
}

/// Why the reply ended, as OpenAI documents it; `model_length` is Mistral's.
fn stop(choice: &Map<String, Value>, has_calls: bool, oddities: &mut Oddities) -> StopReason {
    let reason = choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default();
    match reason {
        "" => {
            oddities.note("no `finish_reason` was given");
            if has_calls { StopReason::Calls } else { StopReason::Ended }
        }
        "stop" | "tool_calls" | "function_call" if has_calls => StopReason::Calls,
        "stop" => StopReason::Ended,
        "tool_calls" | "function_call" => {
            oddities.note(format!("the `finish_reason` was `{reason}`, but there were no calls"));
            StopReason::Ended
        }
        "length" | "model_length" => StopReason::Length,
        "content_filter" => StopReason::Refused,
        other => reading::undocumented("finish_reason", other, oddities),
    }
}

fn usage(body: &Map<String, Value>, choice: &Map<String, Value>, oddities: &mut Oddities) -> Usage {
    // Moonshot puts the usage into the choice, Groq into `x_groq`.
    let places =
        [body.get("usage"), choice.get("usage"), body.get("x_groq").and_then(|groq| groq.get("usage"))];
    let usage = places.into_iter().flatten().find(|usage| !usage.is_null());
    if usage.is_some() && usage != body.get("usage") {
        oddities.note("the usage was in another place than documented; it was read there");
    }
    let Some(usage) = reading::usage_object(usage, oddities) else { return Usage::default() };
    let mut tokens = |places: &[&[&str]]| reading::tokens(usage, places, oddities);
    let input_tokens = tokens(&[&["prompt_tokens"], &["input_tokens"]]);
    let cached_input_tokens = tokens(&[
        &["prompt_tokens_details", "cached_tokens"],
        &["input_tokens_details", "cached_tokens"],
        // The names of DeepSeek and Moonshot.
        &["prompt_cache_hit_tokens"],
        &["cached_tokens"],
    ]);
    let reasoning_tokens = tokens(&[
        &["completion_tokens_details", "reasoning_tokens"],
        &["output_tokens_details", "reasoning_tokens"],
        &["reasoning_tokens"],
    ]);
    let mut output_tokens = tokens(&[&["completion_tokens"], &["output_tokens"]]);
    // xAI does not include thoughts in the completion; the total reveals it.
    if let (Some(input), Some(output), Some(reasoning), Some(total)) =
        (input_tokens, output_tokens, reasoning_tokens, tokens(&[&["total_tokens"]]))
        && reasoning > 0
        && input.checked_add(output).and_then(|sum| sum.checked_add(reasoning)) == Some(total)
    {
        output_tokens = Some(output + reasoning);
    }
    Usage { input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, ..Usage::default() }
}

#[cfg(test)]
mod tests;
