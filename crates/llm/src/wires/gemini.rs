//! Gemini `generateContent`.
//!
//! Sources: Google's Gemini API reference, "Generating content", "Caching" (`Content`, `Part`, `FunctionCall`,
//! `FunctionResponse`), and its guides "Function calling" and "Thought signatures".

use std::borrow::Cow;

use m3_support::text::shortened;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::reading::{self, Calls, Oddities};
use super::writing::{self, NOTHING, SentAnswer, SentCall, Turn};
use super::{ImageData, ReplyError, TOOLS, Target, Wire, WireRequest, blocks};
use crate::{
    Arguments, Assistant, Part, Picture, PictureLimits, Reply, Request, RequestLimits, StopReason,
    ToolDefinition, Usage, WireKind,
};

/// The wire of Gemini's `generateContent`.
#[derive(Debug)]
pub(super) struct Gemini;

/// Escapes everything except the characters of model names, so that no name can lead to another address.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'/').remove(b'@');

impl Wire for Gemini {
    fn base_url(&self) -> Cow<'static, str> {
        "https://generativelanguage.googleapis.com/v1beta".into()
    }

    fn key_variables(&self) -> &'static [&'static str] {
        &["GEMINI_API_KEY", "GOOGLE_API_KEY"]
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("x-goog-api-key", key.to_owned())).into_iter().collect()
    }

    fn request(&self, target: Target<'_>, request: &Request, images: ImageData) -> WireRequest {
        let mut body = Map::new();
        if !request.system.is_empty() {
            body.insert("systemInstruction".to_owned(), json!({ "parts": [{ "text": request.system }] }));
        }
        body.insert("contents".to_owned(), Value::Array(contents(request, images)));
        let settings = &request.settings;
        let mut config = Map::new();
        writing::set(&mut config, "maxOutputTokens", settings.max_output_tokens);
        writing::set(&mut config, "temperature", settings.temperature);
        writing::set(&mut config, "seed", settings.seed);
        if !config.is_empty() {
            body.insert("generationConfig".to_owned(), Value::Object(config));
        }
        writing::merge(&mut body, &settings.extra);
        // A tuned model's name includes its collection.
        let is_whole =
            ["models/", "tunedModels/"].iter().any(|collection| target.model.starts_with(collection));
        let collection = if is_whole { "" } else { "models/" };
        let path = format!("{collection}{}:generateContent", utf8_percent_encode(target.model, PATH));
        WireRequest::new(path, body, TOOLS, request.tools.written(WireKind::Gemini.as_str(), tools))
    }

    fn reply(&self, status: u16, body: &[u8]) -> Result<Reply, ReplyError> {
        let mut oddities = Oddities::default();
        let body = reading::body(status, body, &mut oddities)?;
        let Some(candidate) = candidate(&body)? else {
            return Ok(blocked(&body, oddities));
        };
        let mut content = content(candidate, &mut oddities);
        let mut reply = read_parts(&mut content, &mut oddities);
        reply.stop = stop(candidate, !reply.calls.is_empty(), &mut oddities);
        reading::note_end(&mut reply, candidate.get("finishReason"), &mut oddities);
        if reply.text.is_empty() && reply.calls.is_empty() {
            oddities.note("the reply had neither text nor calls");
        }
        reply.raw = Some(Value::Object(content));
        Ok(finished(reply, &body, oddities))
    }

    fn image_limits(&self) -> PictureLimits {
        // "Image understanding": images are scaled to fit 3072 x 3072. Vertex AI documents 7 MB for an image within a
        // request, the Gemini API 20 MB for the whole request.
        PictureLimits { max_side: 3072, max_bytes: 7_000_000 }
    }

    fn request_limits(&self) -> RequestLimits {
        // "Image understanding": 20 MB for a request with images in it, and 3,600 images.
        RequestLimits { images: 3600, image_bytes: 13_500_000 }
    }
}

fn tools(tools: &[ToolDefinition]) -> Value {
    let declaration = |tool: &ToolDefinition| {
        json!({
            "name": tool.name,
            "description": tool.description,
            "parametersJsonSchema": tool.schema,
        })
    };
    let declarations: Vec<Value> = tools.iter().map(declaration).collect();
    json!([{ "functionDeclarations": declarations }])
}

fn contents(request: &Request, images: ImageData) -> Vec<Value> {
    let mut contents = Vec::new();
    for turn in writing::turns(&request.messages, str::to_owned) {
        let (role, mut parts) = match turn {
            Turn::User(parts) => ("user", parts.iter().map(|part| user_part(part, images)).collect()),
            Turn::Assistant { message, calls } => ("model", assistant(message, &calls)),
            Turn::Results(answers) => ("user", results(&answers, images)),
        };
        if parts.is_empty() {
            parts.push(text_part(NOTHING));
        }
        writing::push_merged(&mut contents, role, "parts", parts);
    }
    contents
}

fn user_part(part: &Part, images: ImageData) -> Value {
    match part {
        Part::Text(text) => text_part(text),
        Part::Image(picture) => image_part(picture, images),
    }
}

fn text_part(text: &str) -> Value {
    json!({ "text": text })
}

fn image_part(picture: &Picture, images: ImageData) -> Value {
    let data = writing::image_data(picture, images);
    json!({ "inlineData": { "mimeType": picture.mime_type, "data": data } })
}

/// The model's message, with the signatures of its thoughts, and with the calls that are sent back.
fn assistant(message: &Assistant, calls: &[SentCall<'_>]) -> Vec<Value> {
    let raw = message.raw.as_ref().and_then(|raw| raw["parts"].as_array());
    let mut parts = Vec::new();
    let mut rest = calls.iter();
    match raw {
        Some(raw) => {
            for part in raw {
                if part.get("functionCall").is_some() {
                    parts.extend(rest.next().map(|call| function_call(call, Some(part))));
                } else if part.as_object().is_some_and(|part| !part.is_empty()) {
                    parts.push(part.clone());
                }
            }
        }
        None if message.text.is_empty() => {}
        None => parts.push(text_part(&message.text)),
    }
    parts.extend(rest.map(|call| function_call(call, None)));
    parts
}

fn function_call(call: &SentCall<'_>, raw: Option<&Value>) -> Value {
    let mut part = raw.and_then(Value::as_object).cloned().unwrap_or_default();
    let args = writing::arguments_object(call.arguments);
    part.insert("functionCall".to_owned(), json!({ "id": call.id, "name": call.name, "args": args }));
    Value::Object(part)
}

/// The responses to all calls, then the images of the results: there must be as many responses as calls.
fn results(answers: &[SentAnswer<'_>], images: ImageData) -> Vec<Value> {
    let responses = answers.iter().map(|answer| {
        let key = if answer.is_error() { "error" } else { "output" };
        json!({ "functionResponse": {
            "id": answer.call.id,
            "name": answer.call.name,
            "response": { key: answer.text() },
        } })
    });
    let mut parts: Vec<Value> = responses.collect();
    for answer in answers.iter().filter(|answer| !answer.images().is_empty()) {
        parts.push(text_part(&writing::images_of(&answer.call, answer.images().len())));
        parts.extend(answer.images().iter().map(|picture| image_part(picture, images)));
    }
    parts
}

/// The first candidate; `None` if the prompt was held back.
fn candidate(body: &Map<String, Value>) -> Result<Option<&Map<String, Value>>, ReplyError> {
    let candidate = body.get("candidates").and_then(|candidates| candidates.get(0)?.as_object());
    if candidate.is_some() || block_reason(body).is_some_and(Value::is_string) {
        return Ok(candidate);
    }
    Err(reading::without_reply("it has no `candidates`", body))
}

fn block_reason(body: &Map<String, Value>) -> Option<&Value> {
    body.get("promptFeedback")?.get("blockReason")
}

fn blocked(body: &Map<String, Value>, mut oddities: Oddities) -> Reply {
    let mut reply = Reply { stop: StopReason::Refused, ..Reply::default() };
    reading::note_end(&mut reply, block_reason(body), &mut oddities);
    finished(reply, body, oddities)
}

fn finished(mut reply: Reply, body: &Map<String, Value>, mut oddities: Oddities) -> Reply {
    reply.usage = usage(body, &mut oddities);
    reply.model = reading::text_at(body, &["modelVersion"]).map(|model| shortened(model, 200));
    reply.oddities = oddities.into_list();
    reply
}

/// The candidate's `content` with its parts; an empty one if it has none.
fn content(candidate: &Map<String, Value>, oddities: &mut Oddities) -> Map<String, Value> {
    let mut content = candidate.get("content").and_then(Value::as_object).cloned().unwrap_or_else(|| {
        oddities.note("the candidate had no content");
        Map::new()
    });
    content.insert("role".to_owned(), json!("model"));
    let parts = match content.remove("parts") {
        Some(Value::Array(parts)) => parts,
        Some(part @ Value::Object(_)) => {
            oddities.note("`parts` was one part instead of a list; it was read");
            vec![part]
        }
        Some(Value::String(text)) => {
            oddities.note("`parts` was a string instead of a list; it was taken as text");
            vec![text_part(&text)]
        }
        // A reply that ends within thoughts has no parts.
        _ => Vec::new(),
    };
    content.insert("parts".to_owned(), Value::Array(parts));
    content
}

/// Reads the parts, and gives an id to calls without one, because the API leaves ids out.
fn read_parts(content: &mut Map<String, Value>, oddities: &mut Oddities) -> Reply {
    let mut calls = Calls::default();
    let (mut texts, mut thinking) = (String::new(), Vec::new());
    let Some(Value::Array(parts)) = content.get_mut("parts") else { return Reply::default() };
    for part in parts.iter() {
        if let Some(call) = part.get("functionCall") {
            add_call(call, &mut calls, oddities);
        } else if let Some(text) = part["text"].as_str() {
            if part["thought"].as_bool() == Some(true) {
                thinking.push(text.to_owned());
            } else {
                texts.push_str(text);
            }
        } else if let Some(key) =
            part.as_object().and_then(|part| part.keys().find(|key| *key != "thoughtSignature"))
        {
            let key = shortened(key, 60);
            oddities.note(format!("the content had a part `{key}`; it was left out of the text"));
        }
    }
    let reply = blocks::reply(&texts, thinking, calls, oddities);
    let called = parts.iter_mut().filter_map(|part| part.get_mut("functionCall"));
    for (call, given) in called.zip(&reply.calls) {
        if let Some(call) = call.as_object_mut() {
            call.insert("id".to_owned(), json!(given.id));
        }
    }
    reply
}

/// Adds a call. `args` is documented as optional: without it the call has no arguments.
fn add_call(call: &Value, calls: &mut Calls, oddities: &mut Oddities) {
    let name = call["name"].as_str().unwrap_or_default();
    let args = call.get("args");
    let arguments = match args {
        None | Some(Value::Null) if call.is_object() => Arguments::Object(Map::new()),
        None => reading::arguments_of(Some(call), name, oddities),
        Some(_) => blocks::object_arguments(args, name, oddities),
    };
    calls.add(call["id"].as_str(), name, arguments, oddities);
}

/// Why the reply ended: `FinishReason` of the reference.
fn stop(candidate: &Map<String, Value>, has_calls: bool, oddities: &mut Oddities) -> StopReason {
    let reason = candidate.get("finishReason").and_then(Value::as_str).unwrap_or_default();
    match reason {
        "" => {
            oddities.note("no `finishReason` was given");
            if has_calls { StopReason::Calls } else { StopReason::Ended }
        }
        "STOP" if has_calls => StopReason::Calls,
        "STOP" => StopReason::Ended,
        "MAX_TOKENS" => StopReason::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
        | "IMAGE_SAFETY" => StopReason::Refused,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" | "OTHER" => {
            let message = candidate.get("finishMessage").and_then(Value::as_str).unwrap_or("no reason given");
            let message = shortened(message, 200);
            oddities.note(format!("the `finishReason` was `{reason}` ({message})"));
            StopReason::Other(reason.to_owned())
        }
        other => reading::undocumented("finishReason", other, oddities),
    }
}

/// The tokens of `UsageMetadata`, which counts thoughts and results of the provider's own tools separately.
fn usage(body: &Map<String, Value>, oddities: &mut Oddities) -> Usage {
    let usage = body.get("usageMetadata").filter(|usage| !usage.is_null());
    let Some(usage) = reading::usage_object(usage, oddities) else { return Usage::default() };
    let mut tokens = |key: &str| reading::tokens(usage, &[&[key]], oddities);
    let tool_use = tokens("toolUsePromptTokenCount").unwrap_or(0);
    let input_tokens = tokens("promptTokenCount").map(|prompt| prompt.saturating_add(tool_use));
    let reasoning_tokens = tokens("thoughtsTokenCount");
    let output_tokens = match (tokens("candidatesTokenCount"), reasoning_tokens) {
        (Some(candidates), Some(thoughts)) => Some(candidates.saturating_add(thoughts)),
        (candidates, thoughts) => candidates.or(thoughts),
    };
    let cached_input_tokens = tokens("cachedContentTokenCount");
    Usage { input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, ..Usage::default() }
}

#[cfg(test)]
mod tests;
