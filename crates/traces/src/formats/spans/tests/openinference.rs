use serde_json::{Value, json};

use super::{all, llm, one, span};
use crate::testing::{read_text, shown};

fn of_kind(id: &str, kind: &str, times: (u64, u64), more: Value) -> Value {
    let mut attributes = json!({"openinference.span.kind": kind});
    for (key, value) in more.as_object().unwrap() {
        attributes[key] = value.clone();
    }
    span(id, "", times, attributes)
}

#[test]
fn messages_of_one_reply_are_one_step_unless_they_are_choices() {
    let mut attributes = json!({
        "output_messages.0.message.role": "assistant",
        "output_messages.0.message.tool_calls.0.tool_call.function.name": "a",
        "output_messages.0.message.tool_calls.0.tool_call.id": "1",
        "output_messages.1.message.role": "assistant",
        "output_messages.1.message.tool_calls.0.tool_call.function.name": "b",
        "output_messages.1.message.tool_calls.0.tool_call.function.arguments": "{\"n\": 1}",
        "x": "y"});
    let (format, traces) = all(&[llm("r", (1, 2), attributes.clone())]);
    assert_eq!((format, shown(&traces[0])), ("openinference", vec![r#"a({})=- b({"n":1})=-"#.to_owned()]));
    let mut span = llm("r", (1, 2), attributes.take());
    let choices = json!({"key": "output.value", "value": {"stringValue": "{\"choices\": [{}, {}]}"}});
    span["attributes"].as_array_mut().unwrap().push(choices);
    assert_eq!(shown(&one(&[span])), ["a({})=-"]);
}

#[test]
fn spans_of_tools_tell_what_messages_do_not() {
    let failed_message =
        r#"{"type": "tool", "data": {"content": "no", "tool_call_id": "1", "status": "error"}}"#;
    let reply = llm(
        "r",
        (1, 2),
        json!({
        "output_messages.0.message.role": "assistant",
        "output_messages.0.message.function_call_name": "old",
        "output_messages.0.message.function_call_arguments_json": "{}",
        "output_messages.0.message.tool_calls.0.tool_call.function.name": "a",
        "output_messages.0.message.tool_calls.0.tool_call.id": "1"}),
    );
    let trace = one(&[
        reply.clone(),
        of_kind("o", "TOOL", (3, 4), json!({"tool.name": "old", "input.value": "x", "output.value": "7"})),
        of_kind(
            "t",
            "TOOL",
            (3, 5),
            json!({"tool.name": "a", "input.value": "A-1", "output.value": failed_message}),
        ),
    ]);
    assert_eq!(shown(&trace), ["a({})=no! old({})=7"]);
    // Alone, a bare value is an argument if the tool has one.
    let parameters = r#"{"type": "object", "properties": {"sku": {"type": "string"}}}"#;
    let trace = one(&[
        of_kind(
            "t",
            "TOOL",
            (3, 4),
            json!({"tool.name": "a", "input.value": "A-1", "tool.parameters": parameters}),
        ),
        of_kind(
            "u",
            "TOOL",
            (5, 6),
            json!({"tool.name": "b", "input.value": "A-1", "output.value": "__REDACTED__"}),
        ),
    ]);
    assert_eq!(shown(&trace), [r#"a({"sku":"A-1"})=-"#, "b(-)=-"]);
}

#[test]
fn messages_may_begin_at_one_be_nested_or_hidden() {
    let nested = json!({"data": [{"name": "r", "context": {"trace_id": "t", "span_id": "r"}, "span_kind": "LLM", "attributes": {
        "llm": {"input_messages": [{"message": {"role": "user", "contents": [
            {"message_content": {"type": "text", "text": "Look"}},
            {"message_content": {"type": "image", "image": {"image": {"url": "__REDACTED__"}}}}]}}],
            "output_messages": [{"message": {"role": "assistant", "tool_calls": [
                {"tool_call": {"id": "1", "function": {"name": "a", "arguments": "__REDACTED__"}}}]}}]}}}]});
    let (format, kept) = read_text("spans.json", &nested.to_string()).unwrap();
    let trace = &kept.traces[0];
    assert_eq!((format, shown(trace)), ("openinference", vec!["a(-)=-".to_owned()]));
    let question = trace.question.as_ref().unwrap();
    assert_eq!((question.text().as_str(), question.media().count()), ("Look", 1));
    let trace = one(&[
        llm(
            "r",
            (1, 2),
            json!({"input_messages.1.message.role": "user", "input_messages.1.message.content": "Go",
            "output_messages.0.message.role": "assistant", "output_messages.0.message.content": "Done"}),
        ),
        of_kind("e", "EVALUATOR", (3, 9), json!({})),
        {
            let mut judge = llm(
                "j",
                (4, 5),
                json!({"output_messages.0.message.role": "assistant",
                "output_messages.0.message.content": "8 of 10", "token_count.prompt": 5}),
            );
            judge["parentSpanId"] = json!("e");
            judge
        },
    ]);
    assert_eq!((trace.question.unwrap().text().as_str(), trace.final_reply.as_deref()), ("Go", Some("Done")));
    assert_eq!(trace.usage.input, None);
}

#[test]
fn a_span_of_a_hand_over_is_no_call_of_its_own() {
    let mut hand_over = of_kind("h", "TOOL", (3, 4), json!({}));
    hand_over["name"] = json!("handoff to helper");
    let reply = llm(
        "r",
        (1, 2),
        json!({"output_messages.0.message.role": "assistant",
        "output_messages.0.message.tool_calls.0.tool_call.function.name": "transfer_to_helper"}),
    );
    assert_eq!(shown(&one(&[reply, hand_over])), ["transfer_to_helper({})=-"]);
}

#[test]
fn of_two_hand_overs_the_one_that_was_carried_out_is_no_third_call() {
    let reply = llm(
        "r",
        (1, 2),
        json!({"output_messages.0.message.role": "assistant",
        "output_messages.0.message.tool_calls.0.tool_call.function.name": "transfer_to_weather_agent",
        "output_messages.0.message.tool_calls.1.tool_call.function.name": "transfer_to_news_agent"}),
    );
    let mut hand_over = of_kind("h", "TOOL", (3, 4), json!({"output.value": "Weather Agent"}));
    hand_over["name"] = json!("handoff to Weather Agent");
    let steps = shown(&one(&[reply, hand_over]));
    assert_eq!(steps, ["transfer_to_weather_agent({})=Weather Agent transfer_to_news_agent({})=-"]);
}
