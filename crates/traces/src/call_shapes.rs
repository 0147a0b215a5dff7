//! Calls and results as any dialect writes them, found by the names of members and types: `toolUse`, `tool_call`,
//! `toolRequest`. Names are compared without case and punctuation.

use m3_trajectory::json::{Json, parse};

use crate::arguments::{arguments, call_id, tool};
use crate::content::result_of;
use crate::fields::{Fields, members, names, plain};
use crate::outcome::Outcome;
use crate::trace::TracedCall;

/// Members that hold a call or a list of calls, and types of parts that are calls.
const CALLS: &[&str] = names![
    builtintoolcall functioncall functioncalls mcptooluse servertooluse toolcall toolcalls toolscalled
    toolinvocation toolinvocations toolrequest toolrequests tooluse tooluses
];

/// Types of parts that are calls, beside those of [`CALLS`].
const CALL_TYPES: &[&str] = &["dynamictool", "tool"];

/// Members that hold a result or a list of results, and types of parts that are results.
const RESULTS: &[&str] = names![
    builtintoolreturn functioncalloutput functioncallresult functionresponse functionresult mcptoolresult
    toolcalloutput toolcallresult toolcallresults toolcallstates tooloutput tooloutputs toolresponse
    toolresponses toolresult toolresults toolreturn toolreturns
];

/// Members with the name of the called tool.
const NAMES: &[&str] = &["name", "toolname", "functionname", "tool", "function", "action"];

/// Members with the name of the tool's server.
const SERVERS: &[&str] = &["server", "servername", "mcpserver", "serverlabel"];

/// Members with the arguments.
pub(crate) const ARGUMENTS: &[&str] = names![
    arguments args actioninput input parameters params kwargs toolinput toolargs toolarguments toolkwargs
    inputparameters
];

/// Members that a call, or the value of a result, stands in.
const WRAPPERS: &[&str] = &["function", "custom", "call", "params", "value", "state", "origin"];

/// Members with the id that a result and its call have in common, the surest first.
const IDS: &[&str] = &["toolcallid", "tooluseid", "callid", "functioncallid", "toolid", "id"];

/// Members with what a call returned.
const RETURNED: &[&str] =
    &["result", "output", "content", "response", "returnvalue", "value", "text", "observation", "toolreturn"];

/// The deepest wrapper that is looked into.
const DEPTH: usize = 4;

/// The first member with one of these plain names, in their order; null counts as missing.
pub(crate) fn pick<'j>(value: &'j Json, names: &[&str]) -> Option<&'j Json> {
    let with_name = |name: &&str| {
        let mut all = members(value).iter();
        all.find(|(key, value)| *value != Json::Null && plain(key) == **name).map(|(_, value)| value)
    };
    names.iter().find_map(with_name)
}

/// A member, or a type of a part, that says what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallShape {
    /// A call, or several.
    Call,
    /// A result, or several.
    Outcome,
}

/// Tells a member by its name.
pub(crate) fn shape_of_member(key: &str) -> Option<CallShape> {
    let key = plain(key);
    match () {
        () if CALLS.contains(&&*key) => Some(CallShape::Call),
        () if RESULTS.contains(&&*key) => Some(CallShape::Outcome),
        () => None,
    }
}

/// The type of a part, under the names that dialects have for it.
pub(crate) fn part_type(part: &Json) -> Option<&str> {
    part.first_text(&["type", "kind", "part_kind", "block_type", "content_type", "$type"])
}

/// Tells a part by its type; `FunctionCallContent` is a `FunctionCall`.
pub(crate) fn shape_of_type(kind: &str) -> Option<CallShape> {
    let kind = plain(kind);
    let kind = kind.strip_suffix("content").unwrap_or(&kind);
    let is_call = CALL_TYPES.contains(&kind);
    shape_of_member(kind).or_else(|| is_call.then_some(CallShape::Call))
}

/// The objects in a member: itself, the items of a list, or what a text of JSON holds. Items may be texts of JSON, too.
pub(crate) fn objects(value: &Json) -> Vec<Json> {
    let parsed = |value: &Json| match value {
        Json::String(text) if text.trim_start().starts_with(['{', '[']) => {
            parse(text.as_bytes()).ok().map(|(inner, _)| inner)
        }
        other => Some(other.clone()),
    };
    let is_object = |item: &Json| matches!(item, Json::Object(_));
    match parsed(value) {
        Some(Json::Array(items)) => items.iter().filter_map(parsed).filter(is_object).collect(),
        Some(Json::Object(all)) if is_by_id(&all) => {
            all.into_iter().map(|(key, inner)| with_key(&key, &inner)).collect()
        }
        Some(object @ Json::Object(_)) => vec![object],
        _ => Vec::new(),
    }
}

/// Whether members are calls or results by their ids or by the tools: `{"call_1": {"method": .., "params": {"name": ..}}}`,
/// `{"readToolCall": {"args": ..}}`.
fn is_by_id(all: &[(String, Json)]) -> bool {
    let is_one = |(key, inner): &(String, Json)| {
        let is_known = shape_of_member(key).is_some()
            || [NAMES, ARGUMENTS, WRAPPERS, RETURNED, IDS].iter().any(|names| names.contains(&&*plain(key)));
        !is_known && matches!(inner, Json::Object(_))
    };
    !all.is_empty() && all.iter().all(is_one)
}

/// A call or a result with the key of its member: what has arguments and no name of its own is named by it.
fn with_key(key: &str, value: &Json) -> Json {
    let is_named = call(value).is_some() || pick(value, ARGUMENTS).is_none();
    let own = if is_named { "tool_call_id" } else { "name" };
    let own = (own.to_owned(), Json::String(key.to_owned()));
    Json::Object([own].into_iter().chain(members(value).iter().cloned()).collect())
}

/// Returns the call in a value, with its result if that stands beside it; `None` if it names no tool.
pub(crate) fn call(value: &Json) -> Option<TracedCall> {
    call_within(value, None, 0)
}

fn call_within(value: &Json, outer: Option<String>, depth: usize) -> Option<TracedCall> {
    if depth > DEPTH {
        return None;
    }
    let id = call_id(pick(value, IDS)).or(outer);
    let name = NAMES.iter().find_map(|name| pick(value, &[*name])?.as_str().filter(|name| !name.is_empty()));
    let Some(name) = name else {
        let is_wrapper =
            |key: &str| WRAPPERS.contains(&&*plain(key)) || shape_of_member(key) == Some(CallShape::Call);
        let mut inner =
            members(value).iter().filter(|(key, inner)| is_wrapper(key) && matches!(inner, Json::Object(_)));
        return inner.find_map(|(_, inner)| call_within(inner, id.clone(), depth + 1));
    };
    let state = pick(value, &["state"]).filter(|state| matches!(state, Json::Object(_)));
    let holder = if pick(value, ARGUMENTS).is_some() { value } else { state.unwrap_or(value) };
    let has_outcome = |holder: &&Json| {
        let result = pick(holder, &["result", "output"]);
        let is_empty = matches!(result, Some(Json::String(text)) if text.is_empty());
        has_failed(holder) || result.is_some() && !is_empty
    };
    let outcome = state.into_iter().chain([value]).find(has_outcome).map(outcome).unwrap_or_default();
    let server = pick(value, SERVERS).and_then(Json::as_str).filter(|_| !name.contains('/'));
    Some(TracedCall {
        result: outcome.result,
        is_error: outcome.is_error,
        ..TracedCall::new(id, tool(server, name), arguments(pick(holder, ARGUMENTS)))
    })
}

/// The result in a value: of a message, a part, or a member that is named like one.
pub(crate) fn outcome(value: &Json) -> Outcome {
    outcome_within(value, 0)
}

fn outcome_within(value: &Json, depth: usize) -> Outcome {
    let inner = members(value).iter().find(|(key, inner)| {
        depth < DEPTH && shape_of_member(key) == Some(CallShape::Outcome) && matches!(inner, Json::Object(_))
    });
    let origin =
        pick(value, &["origin", "call", "request", "toolcall", "additionalkwargs"]).unwrap_or(&Json::Null);
    let id = call_id(pick(value, IDS)).or_else(|| call_id(pick(origin, IDS)));
    let name = ["toolname", "name", "functionname"];
    let tool_name = pick(value, &name).or_else(|| pick(origin, &name)).and_then(Json::as_str);
    let mut read = match inner {
        Some((_, inner)) => {
            let mut read = outcome_within(inner, depth + 1);
            // The value itself, if nothing in it says what came back.
            let is_value = read.result.is_none() && pick(inner, IDS).is_none() && !has_failed(inner);
            read.result = read.result.or_else(|| is_value.then(|| inner.clone()));
            read
        }
        None => Outcome::new(None, returned(value)),
    };
    let is_failed = |value: &Json| pick(value, &["iserror"]) == Some(&Json::Bool(true));
    read.is_error |= has_failed(value) || pick(value, RETURNED).is_some_and(is_failed);
    read.id = id.or(read.id);
    read.tool = tool_name.map(|name| tool(None, name)).or(read.tool);
    read
}

/// What came back. A failure may be told in place of a result.
fn returned(value: &Json) -> Option<Json> {
    let is_told = |error: &&Json| matches!(error, Json::String(_) | Json::Object(_));
    let holder = pick(value, RETURNED).or_else(|| pick(value, &["error"]).filter(is_told))?;
    // `[{"functionResponse": {"response": ..}}]`.
    if let [item] = holder.items()
        && let [(key, inner)] = members(item)
        && shape_of_member(key) == Some(CallShape::Outcome)
    {
        return pick(inner, RETURNED).map(result_of);
    }
    // `{"status": "success", "value": ..}`, `{"content": ".."}`.
    let is_alone = members(holder).len() == 1;
    let is_marked = holder.has("status") || pick(holder, &["iserror"]).is_some();
    let is_text = |inner: &Json| matches!(inner, Json::String(_)) || texts(inner).is_some();
    let is_wrapper = |inner: &&Json| is_marked || is_alone && is_text(inner);
    let inner = pick(holder, &["value", "content"]).filter(is_wrapper);
    let value = inner.unwrap_or(holder);
    Some(texts(value).map_or_else(|| result_of(value), Json::String))
}

/// The text of a list that holds parts with texts and nothing else.
fn texts(value: &Json) -> Option<String> {
    let is_mark = |key: &str| matches!(key, "type" | "text" | "annotations" | "cache_prompt" | "citations");
    let text = |part: &Json| {
        part.text("text").filter(|_| members(part).iter().all(|(key, _)| is_mark(key))).map(str::to_owned)
    };
    let all: Option<Vec<String>> = value.items().iter().map(text).collect();
    all.filter(|all| !all.is_empty()).map(|all| all.join("\n"))
}

/// Whether a result says that the call failed.
fn has_failed(value: &Json) -> bool {
    let is_true = pick(value, &["iserror"]) == Some(&Json::Bool(true))
        || pick(value, &["success"]) == Some(&Json::Bool(false));
    let error = pick(value, &["error"]);
    let is_told = match error {
        Some(Json::Bool(is_error)) => *is_error,
        Some(Json::String(text)) => !text.is_empty(),
        Some(Json::Object(_)) => true,
        _ => false,
    };
    let status = pick(value, &["status"]).and_then(Json::as_str).map(plain);
    is_true || is_told || status.is_some_and(|status| matches!(&*status, "error" | "failed" | "failure"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        parse(text.as_bytes()).unwrap().0
    }

    #[test]
    fn calls_of_any_dialect_have_a_name_an_id_and_arguments() {
        for text in [
            r#"{"toolUseId": "1", "name": "f", "input": {"a": 2}}"#,
            r#"{"id": "1", "toolCall": {"status": "success", "value": {"name": "f", "arguments": {"a": 2}}}}"#,
            r#"{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 2}"}}"#,
            r#"{"type": "tool", "callID": "1", "tool": "f", "state": {"input": {"a": 2}}}"#,
            r#"{"tool_name": "f", "args": {"a": 2}, "id": "1"}"#,
        ] {
            let call = call(&json(text)).unwrap();
            let arguments =
                call.arguments.map(|arguments| arguments.to_text(m3_trajectory::json::Keys::AsRead));
            assert_eq!((call.id.as_deref(), call.tool.as_str()), (Some("1"), "f"), "{text}");
            assert_eq!((arguments.as_deref(), call.result), (Some(r#"{"a":2}"#), None), "{text}");
        }
        assert!(call(&json(r#"{"id": "1", "arguments": {}}"#)).is_none());
        // What is not in the file is not made up.
        assert_eq!(call(&json(r#"{"name": "f", "output": ""}"#)).unwrap().arguments, None);
        let deep = format!("{}{{}}{}", r#"{"call": "#.repeat(100), "}".repeat(100));
        assert!(call(&json(&deep)).is_none());
    }

    #[test]
    fn results_of_any_dialect_have_an_id_a_value_and_a_mark_of_failure() {
        for (text, is_error) in [
            (r#"{"toolUseId": "1", "status": "success", "content": [{"text": "r"}]}"#, false),
            (r#"{"id": "1", "toolResult": {"status": "error", "value": "r"}}"#, true),
            (r#"{"tool_call_result": {"result": "r", "error": true, "origin": {"id": "1"}}}"#, true),
            (r#"{"role": "tool", "tool_call_id": "1", "content": "r"}"#, false),
            (r#"{"call_id": "1", "error": "r"}"#, true),
        ] {
            let outcome = outcome(&json(text));
            assert_eq!((outcome.id.as_deref(), outcome.is_error), (Some("1"), is_error), "{text}");
            assert!(outcome.result.is_some_and(|result| result.to_plain_text().contains('r')), "{text}");
        }
    }
}
