//! Calls that a model writes as JSON: `{"tool_calls": [{"name": "server/tool", "arguments": {..}}]}`.

use serde_json::{Map, Value, json};

use super::json::{self as found_json, FoundJson};

/// A call as a model wrote it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedCall {
    /// The tool as it was written; empty if there is no name.
    pub(crate) name: String,
    /// The arguments as they were written; null if there are none. A text that holds an object has become that
    /// object.
    pub(crate) arguments: Value,
    /// Why this is not a valid call.
    pub(crate) illegal: Option<String>,
}

/// The calls that a reply contains.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(clippy::struct_field_names, reason = "the calls are what it is about")]
pub(crate) struct Calls {
    /// The calls in order, illegal ones included.
    pub(crate) calls: Vec<ParsedCall>,
    /// What was wrong with the form of calls that were understood all the same.
    pub(crate) oddities: Vec<String>,
    /// Why a part of the reply is not a call.
    pub(crate) problem: Option<String>,
}

impl ParsedCall {
    /// A part of a reply that is not a call at all.
    pub(crate) fn illegal(text: &str, reason: &str) -> Self {
        Self {
            name: String::new(),
            arguments: Value::String(text.to_owned()),
            illegal: Some(reason.to_owned()),
        }
    }
}

/// Reads the calls of a reply. A reply without any gives one illegal call.
pub(crate) fn calls(text: &str) -> Calls {
    let values = match found_json::find(text) {
        Ok(found) => found,
        Err(reason) => return no_calls(text, &reason),
    };
    let shaped: Vec<_> = values.iter().filter_map(|entry| Some((items(&entry.value)?, entry))).collect();
    let Some(((first, shape), FoundJson { oddities, .. })) = shaped.first() else {
        let reason = "it has JSON, but no `tool_calls` with objects that have a `name` and `arguments`";
        return no_calls(text, reason);
    };
    let (mut items, mut oddities) = (first.clone(), oddities.clone());
    oddities.extend(shape.map(str::to_owned));
    let further = &shaped[1..];
    if shaped.iter().all(|((_, shape), _)| *shape == Some(ONE_CALL)) {
        // Some chat templates put calls one after another.
        items.extend(further.iter().flat_map(|((items, _), _)| items));
    } else if !further.is_empty() {
        let count = further.len();
        oddities.push(format!("{count} further lists of calls stand in the reply; only the first counts"));
    }
    let mut calls = Calls { oddities, ..Calls::default() };
    for item in items {
        let call = wanted(item, &mut calls.oddities);
        if let Some(reason) = &call.illegal {
            calls.problem.get_or_insert_with(|| reason.clone());
        }
        calls.calls.push(call);
    }
    calls
}

fn no_calls(text: &str, reason: &str) -> Calls {
    Calls {
        calls: vec![ParsedCall::illegal(text, reason)],
        oddities: Vec::new(),
        problem: Some(reason.to_owned()),
    }
}

/// The oddity of a bare list, which the `react` mode asks for and the `staged` mode does not.
pub(super) const BARE_LIST: &str = "the reply is a list of calls without `tool_calls`";

const ONE_CALL: &str = "a call stands in the reply without `tool_calls`";

/// The items that should be calls, and what is odd about where they stand.
fn items(value: &Value) -> Option<(Vec<&Value>, Option<&'static str>)> {
    let is_call = |value: &Value| value.get("name").is_some();
    match value {
        Value::Object(members) => match members.get("tool_calls") {
            Some(Value::Array(items)) => Some((items.iter().collect(), None)),
            Some(item @ Value::Object(_)) => Some((vec![item], Some("`tool_calls` is one call and no list"))),
            Some(_) => None,
            None => is_call(value).then(|| (vec![value], Some(ONE_CALL))),
        },
        Value::Array(items) if items.iter().any(is_call) => Some((items.iter().collect(), Some(BARE_LIST))),
        _ => None,
    }
}

/// Notes an oddity once, however many calls have it.
pub(super) fn note(oddities: &mut Vec<String>, oddity: &str) {
    if !oddities.iter().any(|noted| noted == oddity) {
        oddities.push(oddity.to_owned());
    }
}

fn wanted(item: &Value, oddities: &mut Vec<String>) -> ParsedCall {
    let Some(name) = item.get("name").and_then(Value::as_str).filter(|name| !name.trim().is_empty()) else {
        return ParsedCall {
            name: String::new(),
            arguments: item.clone(),
            illegal: Some("a call has no `name` that is a text".to_owned()),
        };
    };
    let call =
        |arguments: Value, illegal: Option<String>| ParsedCall { name: name.to_owned(), arguments, illegal };
    match item.get("arguments") {
        None | Some(Value::Null) => {
            note(oddities, "a call has no `arguments`");
            call(Value::Null, None)
        }
        Some(Value::String(text)) if text.trim().is_empty() => {
            note(oddities, "the `arguments` of a call are empty");
            call(Value::Null, None)
        }
        Some(object @ Value::Object(_)) => call(object.clone(), None),
        Some(Value::String(text)) => match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(object) => {
                note(oddities, "the `arguments` of a call are JSON within a text");
                call(json!(object), None)
            }
            Err(_) => {
                call(json!(text), Some("the `arguments` of a call are a text and no object".to_owned()))
            }
        },
        Some(other) => call(other.clone(), Some("the `arguments` of a call are no object".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_and_arguments(calls: &Calls) -> Vec<(&str, Value)> {
        calls.calls.iter().map(|call| (call.name.as_str(), call.arguments.clone())).collect()
    }

    #[test]
    fn calls_are_read_as_they_are_asked_for() {
        let read = calls(
            r#"{"tool_calls": [{"name": "wiki/summary", "arguments": {"title": "American eel"}}, {"name": "a/b", "arguments": {}}]}"#,
        );
        assert_eq!(
            names_and_arguments(&read),
            [("wiki/summary", json!({"title": "American eel"})), ("a/b", json!({}))]
        );
        assert!(read.oddities.is_empty() && read.problem.is_none());
        assert_eq!(calls(r#"{"tool_calls": []}"#), Calls::default());
    }

    #[test]
    fn sloppy_calls_are_understood_and_noted() {
        for text in [
            r#"{"tool_calls": {"name": "a/b", "arguments": {"x": 1}}}"#,
            r#"[{"name": "a/b", "arguments": {"x": 1}}]"#,
            r#"{"name": "a/b", "arguments": {"x": 1}}"#,
            r#"{"tool_calls": [{"name": "a/b", "arguments": "{\"x\": 1}"}]}"#,
            r#"{"tool_calls": [{"name": "a/b", "arguments": {"x": 1},},]}"#,
            "Sure! I call it.\n```json\n{\"tool_calls\": [{\"name\": \"a/b\", \"arguments\": {\"x\": 1}}]}\n```\nDone.",
            r#"My plan: {"plan": "a"} {"tool_calls": [{"name": "a/b", "arguments": {"x": 1}}]}"#,
            r#"<tool_call>{"name": "a/b", "arguments": {"x": 1}}</tool_call>"#,
            r#"<|begin_of_box|>{"tool_calls":[{"name":"a/b","arguments":{"x":1}}]}<|end_of_box|>"#,
        ] {
            let read = calls(text);
            assert_eq!(names_and_arguments(&read), [("a/b", json!({"x": 1}))], "{text}");
            assert!(!read.oddities.is_empty() && read.problem.is_none(), "{text}: {read:?}");
        }
    }

    #[test]
    fn what_is_no_call_is_kept_as_it_is() {
        for (text, arguments) in [
            // M³-Bench, section 8: GLM-4.5v.
            (
                r#"<|begin_of_box|>"name":"food.mcp/get.nutrition" "arguments":{"query":"1 watermelon"}"<|end_of_box|>"#,
                None,
            ),
            ("I would look it up.", None),
            (r#"{"calls": [{"tool": "a/b"}]}"#, None),
            (r#"{"tool_calls": "a/b"}"#, None),
            (r#"{"tool_calls": [{"arguments": {"x": 1}}]}"#, Some(json!({"arguments": {"x": 1}}))),
            (r#"{"tool_calls": [{"name": "a/b", "arguments": "x=1"}]}"#, Some(json!("x=1"))),
            (r#"{"tool_calls": [{"name": "a/b", "arguments": "{\"x\": "}]}"#, Some(json!("{\"x\": "))),
            (r#"{"tool_calls": [{"name": "a/b", "arguments": [1]}]}"#, Some(json!([1]))),
            (r#"{"tool_calls": ["a/b"]}"#, Some(json!("a/b"))),
        ] {
            let read = calls(text);
            assert!(read.problem.is_some(), "{text}");
            assert_eq!(read.calls.len(), 1, "{text}");
            assert!(read.calls[0].illegal.is_some(), "{text}");
            assert_eq!(read.calls[0].arguments, arguments.unwrap_or_else(|| json!(text)), "{text}");
        }
    }

    #[test]
    fn calls_one_after_another_are_all_made() {
        let read = calls(
            "<tool_call>\n{\"name\": \"a/b\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n\
             {\"name\": \"c/d\", \"arguments\": {}}\n</tool_call>",
        );
        assert_eq!(names_and_arguments(&read), [("a/b", json!({})), ("c/d", json!({}))]);
        let list = r#"{"tool_calls": [{"name": "a/b", "arguments": {}}]}"#;
        let read = calls(&format!("{list} or {list}"));
        assert_eq!(read.calls.len(), 1);
        assert!(read.oddities.iter().any(|oddity| oddity.contains("only the first counts")));
    }

    #[test]
    fn what_many_calls_have_is_noted_once() {
        let items = r#"{"name": "a/b"}, {"name": "a/b", "arguments": "{}"}, "#.repeat(1000);
        let read = calls(&format!(r#"{{"tool_calls": [{items}{{"name": "c"}}]}}"#));
        assert_eq!(read.calls.len(), 2001);
        let expected = ["a call has no `arguments`", "the `arguments` of a call are JSON within a text"];
        assert_eq!(read.oddities, expected);
    }

    #[test]
    fn calls_beside_one_that_is_none_stay() {
        let read = calls(r#"{"tool_calls": [{"name": "a/b", "arguments": {}}, {"arguments": {}}]}"#);
        assert!(read.problem.is_some());
        assert!(read.calls[0].illegal.is_none() && read.calls[1].illegal.is_some());
    }
}
