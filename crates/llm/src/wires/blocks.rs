//! Shared parts of Anthropic's and Bedrock's wires: messages that are blocks of content, calls, stop reasons, tokens.

use m3_support::text::shortened;
use serde_json::{Map, Value, json};

use super::reading::{self, Calls, Oddities};
use super::writing::{self, NOTHING, SentAnswer, SentCall, Turn};
use super::{ImageData, thoughts};
use crate::{Arguments, Assistant, Part, Picture, Reply, Request, StopReason, Usage};

/// The form of blocks at one provider.
pub(super) struct BlockForm {
    /// An id of a call with only the characters that the provider accepts.
    pub(super) call_id: fn(&str) -> String,
    pub(super) text: fn(&str) -> Value,
    pub(super) image: fn(&Picture, ImageData) -> Value,
    /// Whether a block is a call.
    pub(super) is_call: fn(&Value) -> bool,
    /// Whether a block is a text with only blanks, which providers refuse.
    pub(super) is_empty: fn(&Value) -> bool,
    /// The block of a call; the other block is that of the reply, if it is known.
    pub(super) call: fn(&SentCall<'_>, Option<&Value>) -> Value,
    pub(super) result: fn(&SentAnswer<'_>, ImageData) -> Value,
}

/// The messages of a request.
pub(super) fn messages(form: &BlockForm, request: &Request, images: ImageData) -> Vec<Value> {
    let mut messages = Vec::new();
    for turn in writing::turns(&request.messages, form.call_id) {
        let (role, mut blocks) = match turn {
            Turn::User(parts) => {
                let blocks = parts.iter().map(|part| match part {
                    Part::Text(text) => (form.text)(text),
                    Part::Image(picture) => (form.image)(picture, images),
                });
                ("user", blocks.filter(|block| !(form.is_empty)(block)).collect())
            }
            Turn::Assistant { message, calls } => ("assistant", assistant(form, message, &calls)),
            Turn::Results(answers) => {
                ("user", answers.iter().map(|answer| (form.result)(answer, images)).collect())
            }
        };
        if blocks.is_empty() {
            blocks.push((form.text)(NOTHING));
        }
        writing::push_merged(&mut messages, role, "content", blocks);
    }
    messages
}

/// The model's message, with its thoughts and their signatures, and with the calls that are sent back.
fn assistant(form: &BlockForm, message: &Assistant, calls: &[SentCall<'_>]) -> Vec<Value> {
    let raw = message.raw.as_ref().and_then(|raw| raw["content"].as_array().cloned());
    let raw = raw.unwrap_or_else(|| vec![(form.text)(&message.text)]);
    let mut rest = calls.iter();
    let mut blocks = Vec::new();
    for block in raw {
        if (form.is_call)(&block) {
            blocks.extend(rest.next().map(|call| (form.call)(call, Some(&block))));
        } else if !(form.is_empty)(&block) {
            blocks.push(block);
        }
    }
    blocks.extend(rest.map(|call| (form.call)(call, None)));
    blocks
}

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
    calls.add(id, name, object_arguments(call.get("input"), name, oddities), oddities);
}

/// Arguments that should be an object; those in a string are read and noted.
pub(super) fn object_arguments(input: Option<&Value>, name: &str, oddities: &mut Oddities) -> Arguments {
    let arguments = reading::arguments_of(input, name, oddities);
    if let (Arguments::Object(_), Some(Value::String(_))) = (&arguments, input) {
        let name = shortened(name, 60);
        oddities
            .note(format!("the arguments of `{name}` were a string instead of an object; they were read"));
    }
    arguments
}

/// A reply with a text, thoughts and calls; the text may have thoughts in it too.
pub(super) fn reply(texts: &str, thinking: Vec<String>, calls: Calls, oddities: &mut Oddities) -> Reply {
    let calls = calls.into_list();
    let (text, thoughts) = thoughts::of_reply(texts, thinking, oddities);
    Reply { text, thoughts, calls, ..Reply::default() }
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
