//! Arguments and results as the spans of tools hold them: within the values of the function that ran, in Python's
//! writing, or as a message.

use super::cut;
use crate::content::{of_text_or_parts, result_of};
use crate::formats::prelude::*;
use crate::literal::literal;

/// Members beside the arguments of a Python function.
const FUNCTION_MEMBERS: [&str; 3] = ["args", "kwargs", "sanitize_inputs_outputs"];

/// The arguments in the value of a tool's span. LangChain writes a single argument as a bare value; the tool's parameters
/// then tell its name.
pub(super) fn arguments(value: Option<&Json>, parameters: Option<&Json>, notes: &mut Notes) -> Option<Json> {
    let read = cut::arguments(value, notes)?;
    let text = match read {
        Json::Object(_) => return Some(function_arguments(read, notes)),
        Json::String(text) => text,
        _ => return None,
    };
    if let Some(object @ Json::Object(_)) = literal(&text) {
        return Some(function_arguments(object, notes));
    }
    let parameters = cut::value(parameters, notes);
    let names =
        parameters.as_ref().map(|it| members(it.member("properties").unwrap_or(it))).unwrap_or_default();
    if let [(name, _)] = names {
        return Some(Json::Object(vec![(name.clone(), Json::String(text))]));
    }
    notes.add("the span of a tool has a bare value instead of arguments");
    None
}

/// The arguments with names, of the values of a Python function, or of what a handler of LangChain writes.
fn function_arguments(value: Json, notes: &mut Notes) -> Json {
    let is_function = members(&value).iter().all(|(key, _)| FUNCTION_MEMBERS.contains(&key.as_str()));
    let named = match value.member("kwargs") {
        Some(named @ Json::Object(_)) if is_function => Some(named),
        _ if value.has("input_str") => value.member("inputs").filter(|it| matches!(it, Json::Object(_))),
        _ => None,
    };
    if is_function && named.is_some() && !value.list("args").is_empty() {
        notes.add("arguments of a tool without names stay as they are");
        return value;
    }
    named.cloned().unwrap_or(value)
}

/// Reads the result in the value of a tool's span. LangChain's is a tool message, which also tells the call and whether it
/// failed.
pub(super) fn outcome(call: &mut TracedCall, value: Option<&Json>, notes: &mut Notes) {
    let Some(value) = value else { return };
    let parsed = value.as_str().and_then(|text| parse(text.as_bytes()).ok()).map(|(parsed, _)| parsed);
    let message = parsed.as_ref().unwrap_or(value);
    // A handler of LangChain writes the result beside its own values.
    let message = message.member("output").filter(|_| message.has("kwargs")).unwrap_or(message);
    let inner = message.first(&["data", "kwargs"]).unwrap_or(message);
    if inner.has("tool_call_id") {
        call.id = call.id.take().or_else(|| call_id(inner.member("tool_call_id")));
        call.is_error |= inner.says("status", "error");
        call.result = match inner.member("content") {
            Some(Json::String(text)) => cut::shown(text, notes).map(|text| of_text_or_parts(text).to_json()),
            Some(parts) => Some(Content::from_json(parts).to_json()),
            None => Some(Content::of_text("").to_json()),
        };
        return;
    }
    call.result = match message {
        // Without wrapping, a text stays as it was written.
        same if parsed.as_ref().is_some_and(|parsed| std::ptr::eq(parsed, same)) => {
            cut::result(Some(value), notes)
        }
        other => cut::result(Some(other), notes).map(|other| result_of(&other)),
    };
}
