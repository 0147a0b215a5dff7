//! Content in attributes of instrumentations. The shapes are those that langfuse 5.0.4, mlflow-skinny 3.17.2, google-adk
//! 1.15.1 and 2.13.0, and openinference-instrumentation-smolagents 0.1.43 write.

use super::*;

const ASKED: &str = r#"[{"role": "user", "content": "q"}]"#;
const CALLED: &str = r#"{"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}, {"id": "2", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 2}"}}]}"#;
const HISTORY: &str = r#"[{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "1", "content": "r"}]"#;

/// A request with two calls, the tools that ran, and the answer.
fn run(kinds: [&str; 3], keys: [&str; 3]) -> Trace {
    let [key, input, output] = keys;
    let values = |kind: &str, request: &str, reply: &str| json!({key: kind, input: request, output: reply});
    one(&[
        span("agent", "", (0, 90), values(kinds[0], r#"{"question": "q"}"#, "done")),
        span("llm", "agent", (1, 2), values(kinds[1], ASKED, CALLED)),
        span("f", "agent", (3, 4), values(kinds[2], r#"{"a": 1}"#, "r")),
        span("f2", "agent", (5, 6), values("chain", "x", "y")),
        span("llm2", "agent", (7, 8), values(kinds[1], HISTORY, "done")),
    ])
}

#[test]
fn requests_and_replies_are_read_whatever_the_attributes_are_called() {
    for (kinds, keys) in [
        (
            ["agent", "generation", "tool"],
            ["langfuse.observation.type", "langfuse.observation.input", "langfuse.observation.output"],
        ),
        (
            [r#""AGENT""#, r#""CHAT_MODEL""#, r#""TOOL""#],
            ["mlflow.spanType", "mlflow.spanInputs", "mlflow.spanOutputs"],
        ),
    ] {
        let trace = run(kinds, keys);
        assert_eq!(shown(&trace), [r#"f({"a":1})=r f({"a":2})=-"#], "{keys:?}");
        assert_eq!(
            (trace.final_reply.as_deref(), trace.question.is_some()),
            (Some("done"), true),
            "{keys:?}"
        );
    }
}

#[test]
fn values_of_functions_are_taken_out_of_what_is_around_them() {
    for (input, expected) in [
        (r#"{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"a": 1}}"#, r#"{"a":1}"#),
        (r#"{"kwargs": {"a": 1}}"#, r#"{"a":1}"#),
        (r#"{"input_str": "{'a': 1}", "tags": [], "inputs": {"a": 1}}"#, r#"{"a":1}"#),
        ("{'a': 1}", r#"{"a":1}"#),
        // An argument that is named like those of Python's functions.
        (r#"{"kwargs": {"a": 1}, "b": 2}"#, r#"{"kwargs":{"a":1},"b":2}"#),
        // The names of the arguments are not there.
        (r#"{"args": [1], "kwargs": {}}"#, r#"{"args":[1],"kwargs":{}}"#),
    ] {
        let attributes = json!({"openinference.span.kind": "TOOL", "tool.name": "f", "input.value": input});
        assert_eq!(shown(&one(&[span("t", "", (1, 2), attributes)])), [format!("f({expected})=-")]);
    }
}

#[test]
fn spans_of_the_agent_development_kit_have_contents_and_no_call_for_merged_results() {
    let response = r#"{"content": {"parts": [{"function_call": {"id": "1", "name": "f", "args": {"a": 1}}}], "role": "model"}}"#;
    let request = r#"{"model": "m", "contents": [{"parts": [{"text": "q"}], "role": "user"}]}"#;
    let tool = |id: &str, name: &str, arguments: &str| {
        json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.id": id,
            "gcp.vertex.agent.tool_call_args": arguments, "gcp.vertex.agent.tool_response": r#"{"r": 2}"#,
            "gcp.vertex.agent.llm_request": "{}", "gcp.vertex.agent.llm_response": "{}"})
    };
    let trace = one(&[
        span(
            "call_llm",
            "",
            (1, 2),
            json!({"gcp.vertex.agent.llm_request": request, "gcp.vertex.agent.llm_response": response}),
        ),
        span("t", "", (3, 4), tool("1", "f", r#"{"a": 1}"#)),
        span("m", "", (5, 6), tool("2", "(merged tools)", "N/A")),
    ]);
    assert_eq!(shown(&trace), [r#"f({"a":1})={"r": 2}"#]);
    assert_eq!((trace.model.as_deref(), trace.question.is_some()), (Some("m"), true));
}

#[test]
fn requests_with_messages_of_other_roles_are_not_the_same() {
    let reply = |id: &str, times, role: &str| {
        let mut attributes = json!({"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "q", "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": id,
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": id});
        attributes["llm.input_messages.1.message.role"] = json!(role);
        attributes["llm.input_messages.1.message.content"] = json!("x");
        span(id, "", times, attributes)
    };
    assert_eq!(one(&[reply("a", (1, 2), "system"), reply("b", (3, 4), "tool-response")]).steps.len(), 2);
    // The first reply was tried again.
    assert_eq!(one(&[reply("a", (1, 2), "system"), reply("b", (3, 4), "system")]).steps.len(), 1);
}

/// The steps of a text, in the format with this name.
fn steps(format: &str, text: &str) -> Vec<String> {
    let (name, kept) = read_text("spans.json", text).unwrap();
    assert_eq!((name, kept.traces.len()), (format, 1), "{text}");
    shown(&kept.traces[0])
}

#[test]
fn other_envelopes_of_spans_hold_the_same() {
    // The shapes of Jaeger's API, of Python's console exporter, of a data frame of Phoenix and of Langfuse's API.
    let jaeger = r#"{"data": [{"traceID": "t", "spans": [{"traceID": "t", "spanID": "b", "operationName": "execute_tool f",
        "references": [{"refType": "CHILD_OF", "traceID": "t", "spanID": "a"}], "startTime": 5, "duration": 2,
        "tags": [{"key": "gen_ai.operation.name", "type": "string", "value": "execute_tool"},
        {"key": "gen_ai.tool.call.arguments", "type": "string", "value": "{\"a\": 1}"}, {"key": "error", "type": "bool", "value": true}],
        "logs": [{"timestamp": 6, "fields": [{"key": "event", "value": "exception"}, {"key": "exception.message", "value": "no"}]}]}],
        "processes": {}}]}"#;
    assert_eq!(steps("otel-genai", jaeger), [r#"f({"a":1})=no!"#]);
    let console = r#"{
        "name": "execute_tool f", "context": {"trace_id": "0xaa", "span_id": "0x2"}, "parent_id": "0x1",
        "start_time": "2026-01-01T00:00:00Z", "status": {"status_code": "ERROR", "description": "no"},
        "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": "{\"a\": 1}"}
    }
    A line that the program printed.
    {
        "name": "x", "context": {"trace_id": "0xaa", "span_id": "0x1"}, "parent_id": null, "attributes": {}
    }"#;
    assert_eq!(steps("otel-genai", console), [r#"f({"a":1})=no!"#]);
    let row = r#"[{"name": "f", "context.trace_id": "t", "context.span_id": "s", "start_time": 1767225600000, "status_code": "OK",
        "attributes.openinference.span.kind": "TOOL", "attributes.input.value": "{\"a\": 1}", "attributes.output.value": "r"}]"#;
    assert_eq!(steps("openinference", row), [r#"f({"a":1})=r"#]);
    let langfuse = r#"{"trace": {"id": "t"}, "observations": [{"id": "1", "traceId": "t", "type": "TOOL", "name": "f",
        "startTime": "2026-01-01T00:00:00Z", "level": "ERROR", "statusMessage": "no", "input": {"a": 1}}]}"#;
    assert_eq!(steps("langfuse", langfuse), [r#"f({"a":1})=no!"#]);
    let mlflow = r#"{"info": {"trace_id": "tr-1"}, "data": {"spans": [{"trace_id": "AQIDBAUGBwgJCgsMDQ4PEA==", "span_id": "obLD1OX2Bxg=",
        "name": "f_1", "start_time_unix_nano": 5, "status": {"code": "STATUS_CODE_OK"}, "attributes": {"mlflow.spanType": "\"TOOL\"",
        "mlflow.spanFunctionName": "\"f\"", "mlflow.spanInputs": "{\"a\": 1}", "mlflow.spanOutputs": "\"r\""}}]}}"#;
    assert_eq!(steps("mlflow", mlflow), [r#"f({"a":1})=r"#]);
    let tempo = r#"{"batches": [{"scopeSpans": [{"spans": [{"traceId": "t", "spanId": "s", "name": "execute_tool f",
        "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}}]}]}]}]}"#;
    assert_eq!(steps("otel-genai", tempo), ["f(-)=-"]);
}

#[test]
fn the_span_of_a_function_that_runs_tools_is_one_of_the_call_within() {
    let reply = r#"{"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]}"#;
    let asked = r#"[{"role": "user", "content": "q"}]"#;
    let observation = |id: u8, kind: &str, name: &str, input: &str, output: &str| {
        format!(
            r#"{{"id": "{id}", "traceId": "t", "type": "{kind}", "name": "{name}", "startTime": "2026-01-01T00:00:0{id}Z",
            "endTime": "2026-01-01T00:00:0{id}.5Z", "input": {input}, "output": {output}}}"#
        )
    };
    for (input, expected) in [
        (r#"{"args": ["f", {"a": 1}], "kwargs": {}}"#, vec![r#"f({"a":1})=r"#]),
        (r#"{"name": "f", "arguments": "{\"a\": 1}"}"#, vec![r#"f({"a":1})=r"#]),
        // Other arguments are those of another call.
        (
            r#"{"name": "f", "arguments": {"a": 2}}"#,
            vec![r#"f({"a":1})=-"#, r#"run({"name":"f","arguments":{"a":2}})=r"#],
        ),
    ] {
        let model = observation(1, "GENERATION", "m", asked, reply);
        let text = format!(
            r#"{{"id": "t", "observations": [{model}, {}]}}"#,
            observation(2, "TOOL", "run", input, "\"r\"")
        );
        assert_eq!(steps("langfuse", &text), expected, "{input}");
    }
}

#[test]
fn what_stands_beside_the_spans_of_one_trace_is_said_of_it() {
    let observation = |trace: &str| {
        format!(
            r#"{{"id": "{trace}1", "traceId": "{trace}", "type": "TOOL", "name": "f", "startTime": "2026-01-01T00:00:00Z", "input": {{}}}}"#
        )
    };
    let score = r#""scores": [{"name": "right", "value": 1}]"#;
    let langfuse = |trace: &str, more: &str| {
        format!(r#"{{"id": "{trace}", "observations": [{}]{more}}}"#, observation(trace))
    };
    let labels = |text: &str| {
        let (_, kept) = read_text("spans.json", text).unwrap();
        kept.traces.iter().map(|trace| trace.label.as_ref()?.pass).collect::<Vec<_>>()
    };
    let with_score = langfuse("a", &format!(", {score}"));
    assert_eq!(labels(&format!("[{with_score}, {}]", langfuse("b", ""))), [Some(true), None]);
    // Lines are read in parts.
    assert_eq!(labels(&format!("{with_score}\n{}", langfuse("b", ""))), [Some(true), None]);
    let page = format!(r#"{{"data": [{}, {}], {score}}}"#, observation("a"), observation("b"));
    assert_eq!(labels(&page), [None, None]);
    let braintrust = |id: &str, scores: &str| {
        format!(
            r#"{{"root_span_id": "t", "span_id": "{id}", "span_parents": null, "span_attributes": {{"name": "f", "type": "tool"}},
            "metrics": {{"start": 1, "end": 2}}, "input": {{}}, "scores": {scores}}}"#
        )
    };
    let rows =
        |second: &str| format!("[{}, {}]", braintrust("1", r#"{"right": 0}"#), braintrust("2", second));
    assert_eq!(labels(&rows("null")), [Some(false)]);
    // Two verdicts say nothing.
    assert_eq!(labels(&rows(r#"{"right": 1}"#)), [None]);
}

#[test]
fn definitions_of_tools_among_messages_are_no_results() {
    let messages = r#"[{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": [{"name": "f", "args": {}, "id": "1", "type": "tool_call"}]},
        {"role": "tool", "content": {"type": "function", "function": {"name": "f", "parameters": {}}}}]"#;
    let attributes = json!({"langfuse.observation.type": "generation", "langfuse.observation.input": messages,
        "langfuse.observation.output": "done"});
    let first = json!({"langfuse.observation.type": "generation", "langfuse.observation.input": ASKED,
        "langfuse.observation.output": {"role": "assistant", "tool_calls": [{"name": "f", "args": {}, "id": "1", "type": "tool_call"}]}});
    assert_eq!(shown(&one(&[span("a", "", (1, 2), first), span("b", "", (3, 4), attributes)])), ["f({})=-"]);
}
