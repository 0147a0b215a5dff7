//! Calls of chat completions: reads them from replies, and writes them into requests.

use m3_support::text::shortened;
use serde_json::{Map, Value, json};

use super::super::reading::{self, Calls, Oddities};
use super::super::writing::{self, SentCall};
use crate::{Arguments, Assistant, ReplyCall};

/// The calls of a message, in `tool_calls` or in `function_call`, the form before November 2023.
pub(super) fn read(message: &Map<String, Value>, oddities: &mut Oddities) -> Vec<ReplyCall> {
    let mut calls = Calls::default();
    match message.get("tool_calls") {
        None | Some(Value::Null) => {}
        Some(Value::Array(list)) => list.iter().for_each(|call| add(call, &mut calls, oddities)),
        Some(one @ Value::Object(_)) => {
            oddities.note("`tool_calls` was one call instead of a list; it was read");
            add(one, &mut calls, oddities);
        }
        Some(other) => {
            oddities.note("`tool_calls` was no list; it was taken as one call without a name");
            calls.add(None, "", reading::arguments_of(Some(other), "", oddities), oddities);
        }
    }
    if calls.is_empty()
        && let Some(function @ Value::Object(_)) = message.get("function_call")
    {
        oddities.note("the call was in `function_call`, the way of before; it was read");
        let name = function["name"].as_str().unwrap_or_default();
        let arguments = arguments(function.get("arguments"), name, oddities);
        calls.add(None, name, arguments, oddities);
    }
    calls.into_list()
}

fn add(call: &Value, calls: &mut Calls, oddities: &mut Oddities) {
    let number = call["id"].as_number().map(ToString::to_string);
    let id = call["id"].as_str().or(number.as_deref());
    if id.is_none_or(str::is_empty) {
        oddities.note("a call had no id; it was given one by its place");
    }
    match call["type"].as_str() {
        Some("function" | "custom") => {}
        None => oddities.note("a call had no `type`; it was taken for a function"),
        Some(other) => {
            let other = shortened(other, 60);
            oddities.note(format!("a call was of type `{other}`; it was taken for a function"));
        }
    }
    let function = match (call.get("function"), call.get("custom")) {
        (Some(function @ Value::Object(_)), _) | (_, Some(function @ Value::Object(_))) => function,
        _ => {
            oddities.note("a call had no `function`; its name and arguments were looked for beside it");
            call
        }
    };
    let name = function["name"].as_str().unwrap_or_default();
    let written = function.get("arguments").or_else(|| function.get("input"));
    calls.add(id, name, arguments(written, name, oddities), oddities);
}

fn arguments(written: Option<&Value>, name: &str, oddities: &mut Oddities) -> Arguments {
    if let Some(Value::Object(_)) = written {
        let name = shortened(name, 60);
        oddities
            .note(format!("the arguments of `{name}` were an object instead of a string; they were read"));
    }
    reading::arguments_of(written, name, oddities)
}

/// The model's message as it is sent back to it: its text without thoughts, and its calls with all additional keys
/// (Gemini signs calls in `extra_content` on this wire).
///
/// `reasoning_content` goes back with calls only: DeepSeek ("Thinking mode") and Moonshot refuse calls without the
/// thoughts that led to them, and DeepSeek's older models refuse thoughts anywhere. `reasoning_details` are
/// OpenRouter's, which requires them unchanged.
///
/// OpenAI takes any string for the arguments of an earlier call. Other servers parse it for the template of the model
/// (vLLM refuses the request if it cannot), so malformed arguments are sent to them inside an object.
pub(super) fn written(message: &Assistant, calls: &[SentCall<'_>], takes_any_string: bool) -> Value {
    let mut written = Map::new();
    written.insert("role".to_owned(), json!("assistant"));
    let has_calls = !calls.is_empty();
    let content = if message.text.is_empty() && has_calls { Value::Null } else { json!(message.text) };
    written.insert("content".to_owned(), content);
    if has_calls {
        let raw = message.raw.as_ref().and_then(|raw| raw["tool_calls"].as_array());
        let raw = raw.filter(|raw| raw.len() == calls.len());
        let calls = calls.iter().enumerate();
        let calls = calls.map(|(place, call)| {
            let raw = raw.and_then(|raw| raw[place].as_object());
            written_call(call, raw, takes_any_string)
        });
        written.insert("tool_calls".to_owned(), calls.collect());
    }
    for (key, goes_back) in [("reasoning_content", has_calls), ("reasoning_details", true)] {
        if let Some(thoughts) = message.raw.as_ref().and_then(|raw| raw.get(key)).filter(|_| goes_back)
            && !thoughts.is_null()
        {
            written.insert(key.to_owned(), thoughts.clone());
        }
    }
    Value::Object(written)
}

fn written_call(call: &SentCall<'_>, raw: Option<&Map<String, Value>>, takes_any_string: bool) -> Value {
    let mut written = Map::new();
    written.insert("id".to_owned(), json!(call.id));
    written.insert("type".to_owned(), json!("function"));
    let arguments = raw.and_then(|raw| raw.get("function")?.get("arguments")?.as_str());
    let arguments = match (call.arguments, arguments) {
        (Arguments::Object(_), Some(arguments)) => arguments.to_owned(),
        (Arguments::Malformed(text), _) if takes_any_string => text.clone(),
        (malformed_or_not, _) => writing::arguments_object(malformed_or_not).to_string(),
    };
    written.insert("function".to_owned(), json!({ "name": call.name, "arguments": arguments }));
    for (key, value) in raw.into_iter().flatten() {
        if !matches!(key.as_str(), "id" | "type" | "function" | "custom" | "index" | "name" | "arguments") {
            written.insert(key.clone(), value.clone());
        }
    }
    Value::Object(written)
}
