//! Shared parts of Anthropic's and Bedrock's wires: messages that are blocks of content, calls, stop reasons, tokens.

use m3_support::text::shortened;
use serde_json::{Map, Value, json};

use super::reading::{self, Calls, Oddities};
use super::thoughts;
use crate::{Arguments, Reply, StopReason, Usage};

/// The schema of a tool's arguments, with the two members that providers demand.
pub(super) fn object_schema(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut schema = schema.clone();
    schema.entry("type").or_insert_with(|| json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    schema
}

/// The tools that a conversation calls, each once; `name` gives the tool of a block that is a call.
pub(super) fn called<'m>(messages: &'m [Value], name: impl Fn(&'m Value) -> Option<&'m str>) -> Vec<&'m str> {
    let mut names = Vec::new();
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    for name in blocks.filter_map(name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Adds a call with `name` and `input`.
pub(super) fn add_call(id: Option<&str>, call: &Value, calls: &mut Calls, oddities: &mut Oddities) {
    if id.is_none_or(str::is_empty) {
        oddities.note("a call had no id; it was given one by its place");
    }
    let name = call["name"].as_str().unwrap_or_default();
    let input = call.get("input");
    let arguments = reading::arguments_of(input, name, oddities);
    if let (Arguments::Object(_), Some(Value::String(_))) = (&arguments, input) {
        let name = shortened(name, 60);
        oddities
            .note(format!("the arguments of `{name}` were a string instead of an object; they were read"));
    }
    calls.add(id, name, arguments, oddities);
}

/// A reply of these texts, thoughts and calls; thoughts may stand in the texts too.
pub(super) fn reply(texts: &str, mut thinking: Vec<String>, calls: Calls, oddities: &mut Oddities) -> Reply {
    let calls = calls.into_list();
    let (text, in_text) = thoughts::split(texts, oddities);
    thinking.push(in_text);
    thinking.retain(|thought| !thought.is_empty());
    Reply { text, thoughts: thinking.join("\n\n"), calls, ..Reply::default() }
}

/// The meaning of a stop reason that both providers have; `None` for other reasons. `key` is the key of the reason.
pub(super) fn stop(reason: &str, key: &str, has_calls: bool, oddities: &mut Oddities) -> Option<StopReason> {
    let stop = match reason {
        "" => {
            oddities.note(format!("no `{key}` was given"));
            if has_calls { StopReason::Calls } else { StopReason::Ended }
        }
        "end_turn" | "stop_sequence" | "tool_use" if has_calls => StopReason::Calls,
        "end_turn" | "stop_sequence" => StopReason::Ended,
        "tool_use" => {
            oddities.note(format!("the `{key}` was `tool_use`, but there were no calls"));
            StopReason::Ended
        }
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        _ => return None,
    };
    Some(stop)
}

/// The tokens of a provider that counts three kinds of input: neither read from nor written to a cache, read, and
/// written. `keys` names these counts and that of the output.
pub(super) fn usage(body: &Map<String, Value>, keys: [&str; 4], oddities: &mut Oddities) -> Usage {
    let usage = body.get("usage").filter(|usage| !usage.is_null());
    let Some(usage) = reading::usage_object(usage, oddities) else { return Usage::default() };
    let [input, read, written, output] = keys.map(|key| reading::tokens(usage, &[&[key]], oddities));
    let cached = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
    let input_tokens = input.map(|input| input.saturating_add(cached));
    Usage { input_tokens, cached_input_tokens: read, output_tokens: output, ..Usage::default() }
}
