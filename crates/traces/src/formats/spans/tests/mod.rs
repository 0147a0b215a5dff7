#![expect(clippy::needless_pass_by_value, reason = "literals are shorter so")]

mod instrumentation;
mod openinference;
mod otel;
mod otel_events;
mod other_envelopes;
mod vercel;

use serde_json::{Value, json};

use crate::testing::{read_text, shown};
use crate::trace::Trace;

/// A span; parents are named, times are in seconds.
fn span(id: &str, parent: &str, times: (u64, u64), attributes: Value) -> Value {
    let value = |value: &Value| match value {
        Value::String(text) => json!({"stringValue": text}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        other => json!({"stringValue": other.to_string()}),
    };
    let attributes = attributes.as_object().unwrap().iter();
    let attributes: Vec<Value> =
        attributes.map(|(key, it)| json!({"key": key, "value": value(it)})).collect();
    json!({"traceId": "t", "spanId": id, "parentSpanId": parent, "name": id, "attributes": attributes,
        "startTimeUnixNano": times.0 * 1_000_000_000, "endTimeUnixNano": times.1 * 1_000_000_000})
}

fn failed(mut span: Value, message: &str) -> Value {
    span["status"] = json!({"code": 2, "message": message});
    span
}

/// Adds an event whose attributes are texts.
fn with_event(mut span: Value, name: &str, attributes: &[(&str, Value)]) -> Value {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let attributes: Vec<Value> = attributes
        .iter()
        .map(|(key, value)| json!({"key": key, "value": {"stringValue": text(value)}}))
        .collect();
    let event = json!({"name": name, "attributes": attributes});
    match span["events"].as_array_mut() {
        Some(events) => events.push(event),
        None => span["events"] = json!([event]),
    }
    span
}

fn document(spans: &[Value]) -> String {
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string()
}

fn all(spans: &[Value]) -> (&'static str, Vec<Trace>) {
    let (format, kept) = read_text("spans.json", &document(spans)).unwrap();
    (format, kept.traces)
}

fn one(spans: &[Value]) -> Trace {
    let (_, mut traces) = all(spans);
    assert_eq!(traces.len(), 1);
    traces.remove(0)
}

fn notes(trace: &Trace) -> Vec<&str> {
    trace.notes.iter().map(|(note, _)| note).collect()
}

fn user(text: &str) -> Value {
    json!({"role": "user", "parts": [{"type": "text", "content": text}]})
}

fn assistant(parts: Value) -> Value {
    json!({"role": "assistant", "parts": parts})
}

fn call(id: &str, name: &str, arguments: Value) -> Value {
    json!({"type": "tool_call", "id": id, "name": name, "arguments": arguments})
}

fn response(id: &str, text: &str) -> Value {
    json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": id, "response": text}]})
}

fn chat(id: &str, parent: &str, times: (u64, u64), input: Value, output: Value) -> Value {
    let mut attributes = json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": input});
    if !output.is_null() {
        attributes["gen_ai.output.messages"] = output;
    }
    span(id, parent, times, attributes)
}

fn tool(id: &str, parent: &str, times: (u64, u64), name: &str, more: Value) -> Value {
    let mut attributes = json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name});
    for (key, value) in more.as_object().unwrap() {
        attributes[format!("gen_ai.tool.call.{key}")] = value.clone();
    }
    span(id, parent, times, attributes)
}

fn agent(id: &str, parent: &str, times: (u64, u64), more: Value) -> Value {
    let mut attributes = json!({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": id});
    for (key, value) in more.as_object().unwrap() {
        attributes[key] = value.clone();
    }
    span(id, parent, times, attributes)
}

fn llm(id: &str, times: (u64, u64), more: Value) -> Value {
    let mut attributes = json!({"openinference.span.kind": "LLM"});
    for (key, value) in more.as_object().unwrap() {
        attributes[format!("llm.{key}")] = value.clone();
    }
    span(id, "", times, attributes)
}

#[test]
fn lists_of_messages_are_told_from_others_with_parts() {
    let messages = json!([user("Go"), assistant(json!([call("1", "a", json!({}))])), response("1", "fine")]);
    let (format, kept) = read_text("messages.json", &messages.to_string()).unwrap();
    assert_eq!((format, shown(&kept.traces[0])), ("otel-genai-messages", vec!["a({})=fine".to_owned()]));
    for other in [
        json!([{"role": "user", "parts": [{"text": "Go"}]}]),
        json!([{"role": "user", "parts": [{"type": "text", "text": "Go"}]}]),
    ] {
        assert_ne!(read_text("messages.json", &other.to_string()).unwrap().0, "otel-genai-messages");
    }
}

#[test]
fn spans_without_a_model_are_refused_and_those_without_content_reported() {
    let reason = read_text("spans.json", &document(&[span("x", "", (1, 2), json!({"http.method": "GET"}))]))
        .unwrap_err();
    assert!(reason.contains("without any of a model or a tool"), "{reason}");
    let empty = document(&[span("x", "", (1, 2), json!({"gen_ai.operation.name": "chat"}))]);
    let (_, kept) = read_text("spans.json", &empty).unwrap();
    assert!(kept.traces.is_empty() && kept.warnings.len() == 1, "{kept:?}");
}

/// Every value of a document in turn is something else.
#[test]
fn wrong_types_are_no_reason_to_fail() {
    let whole = document(&[
        agent("boss", "", (1, 9), json!({"pydantic_ai.all_messages": [user("Go")]})),
        chat(
            "r",
            "boss",
            (1, 2),
            json!([user("Go")]),
            json!([assistant(json!([call("1", "a", json!({}))]))]),
        ),
        tool("a", "boss", (3, 4), "a", json!({"id": "1", "arguments": "{}", "result": "x"})),
        llm(
            "l",
            (5, 6),
            json!({"output_messages.0.message.tool_calls.0.tool_call.function.name": "a", "token_count.prompt": 1}),
        ),
    ]);
    let whole: Value = serde_json::from_str(&whole).unwrap();
    let mut paths = Vec::new();
    collect(&whole, String::new(), &mut paths);
    for path in paths {
        for odd in [json!(null), json!(-1), json!([[[]]]), json!({"": {}}), json!("é"), json!(1e300)] {
            let mut changed = whole.clone();
            *changed.pointer_mut(&path).unwrap() = odd;
            let _ = read_text("spans.json", &changed.to_string());
        }
    }
}

fn collect(value: &Value, path: String, paths: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(number, item)| collect(item, format!("{path}/{number}"), paths));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, item)| collect(item, format!("{path}/{key}"), paths));
        }
        _ => {}
    }
    paths.push(path);
}

#[test]
fn a_document_that_breaks_off_keeps_the_spans_before() {
    let whole = document(&[
        tool("a", "", (1, 2), "a", json!({"id": "1", "arguments": "{}", "result": "x"})),
        tool("b", "", (3, 4), "b", json!({"id": "2", "arguments": "{}", "result": "x"})),
    ]);
    let second = whole.rfind("\"spanId\"").unwrap();
    let (_, kept) = read_text("spans.json", &whole[..second]).unwrap();
    assert_eq!((kept.traces.len(), kept.traces[0].call_count(), kept.warnings.len()), (1, 1, 1));
    assert!(kept.warnings[0].contains("breaks off"), "{:?}", kept.warnings);
}
