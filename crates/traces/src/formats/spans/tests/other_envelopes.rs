//! Spans in the exports of other programs, by their documentation: Zipkin, Braintrust, Weave, Opik, and `AgentCore`.

use crate::testing::{read_text, shown};

const CALLED: &str = r#"{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{\"x\": 1}"}}]}"#;

/// The calls, the question and the answer.
type Conversation = (Vec<String>, String, String);

/// The format, with the calls and the question and answer of each trajectory.
fn read(text: &str) -> (&'static str, Vec<Conversation>) {
    let (format, kept) = read_text("export.json", text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let conversation = |trace: &crate::Trace| {
        let question = trace.question.as_ref().map(crate::Content::text).unwrap_or_default();
        (shown(trace), question, trace.final_reply.clone().unwrap_or_default())
    };
    (format, kept.traces.iter().map(conversation).collect())
}

fn one(call: &str, question: &str, answer: &str) -> Vec<Conversation> {
    vec![(vec![call.to_owned()], question.to_owned(), answer.to_owned())]
}

#[test]
fn zipkin_has_spans_in_a_list_or_in_lists_of_traces() {
    let spans = |trace: &str| {
        format!(
            r#"[{{"traceId": "{trace}", "id": "1", "name": "run", "timestamp": 1000, "duration": 9000, "tags": {{"openinference.span.kind": "AGENT",
                "input.value": "Q?", "output.value": "A"}}}},
            {{"traceId": "{trace}", "id": "2", "parentId": "1", "name": "f", "timestamp": 2000, "tags": {{"openinference.span.kind": "TOOL",
                "tool.name": "f", "input.value": "{{\"x\": 1}}", "output.value": "r", "error": "timeout"}}}}]"#
        )
    };
    let expected = one(r#"f({"x":1})=r!"#, "Q?", "A");
    assert_eq!(read(&spans("a")), ("openinference", expected.clone()));
    let both = format!("[{}, {}]", spans("a"), spans("b"));
    assert_eq!(read(&both), ("openinference", [expected.clone(), expected].concat()));
}

#[test]
fn observations_of_other_programs() {
    let asked = r#"[{"role": "user", "content": "Q?"}]"#;
    let after = format!(
        r#"[{{"role": "user", "content": "Q?"}}, {CALLED}, {{"role": "tool", "tool_call_id": "1", "content": "r"}}]"#
    );
    let choice = |message: &str| format!(r#"[{{"index": 0, "message": {message}}}]"#);
    let last = r#"{"role": "assistant", "content": "A"}"#;
    let braintrust = |id: u64, kind: &str, input: &str, output: &str| {
        format!(
            r#"{{"id": "row{id}", "span_id": "{id}", "root_span_id": "1", "span_parents": ["1"], "input": {input}, "output": {output},
                "metrics": {{"start": {id}.5, "end": {id}.9}}, "span_attributes": {{"name": "f", "type": "{kind}"}}}}"#
        )
    };
    let spans = [
        braintrust(2, "llm", asked, &choice(CALLED)),
        braintrust(3, "tool", r#"{"x": 1}"#, r#""r""#),
        braintrust(4, "score", r#"{"x": 1}"#, r#""r""#),
        braintrust(5, "llm", &after, &choice(last)),
    ];
    let expected = ("observations", one(r#"f({"x":1})=r"#, "Q?", "A"));
    assert_eq!(read(&format!("[{}]", spans.join(","))), expected);
    assert_eq!(read(&format!(r#"{{"events": [{}]}}"#, spans.join(","))), expected);

    let opik = |id: u64, kind: &str, input: &str, output: &str| {
        format!(
            r#"{{"id": "{id}", "trace_id": "t", "parent_span_id": null, "name": "f", "type": "{kind}", "start_time": "2025-01-01T00:00:0{id}Z",
                "input": {input}, "output": {output}}}"#
        )
    };
    let spans = [
        opik(
            2,
            "llm",
            &format!(r#"{{"messages": {asked}}}"#),
            &format!(r#"{{"choices": {}}}"#, choice(CALLED)),
        ),
        opik(3, "tool", r#"{"x": 1}"#, r#"{"output": "r"}"#),
        opik(
            5,
            "llm",
            &format!(r#"{{"messages": {after}}}"#),
            &format!(r#"{{"choices": {}}}"#, choice(last)),
        ),
    ];
    assert_eq!(read(&format!(r#"{{"trace": {{"id": "t"}}, "spans": [{}]}}"#, spans.join(","))), expected);
    assert_eq!(read(&format!(r#"{{"page": 1, "content": [{}]}}"#, spans.join(","))), expected);

    let weave = |id: u64, name: &str, input: &str, output: &str| {
        format!(
            r#"{{"id": "{id}", "op_name": "weave:///e/p/op/{name}:h", "trace_id": "t", "parent_id": null, "started_at": "2025-01-01T00:00:0{id}Z",
                "exception": null, "inputs": {input}, "output": {output}}}"#
        )
    };
    let request = |messages: &str| format!(r#"{{"model": "m", "messages": {messages}}}"#);
    let reply = |message: &str| format!(r#"{{"object": "chat.completion", "choices": {}}}"#, choice(message));
    let calls = [
        weave(1, "run", r#"{"query": "Q?"}"#, r#""A""#),
        weave(2, "create", &request(asked), &reply(CALLED)),
        weave(3, "f", r#"{"x": 1}"#, r#""r""#),
        weave(4, "create", &request(&after), &reply(last)),
    ];
    assert_eq!(read(&calls.map(|call| call.replace('\n', " ")).join("\n")), expected);
    // Without a request to a model nobody knows which operations are calls.
    assert!(read_text("weave.json", &weave(1, "run", r#"{"query": "Q?"}"#, r#""A""#)).is_err());
}

#[test]
fn log_records_beside_spans_have_all_messages_of_a_span() {
    let span = |id: &str, operation: &str| {
        format!(
            r#"{{"traceId": "t", "spanId": "{id}", "name": "{operation}", "startTimeUnixNano": 1, "endTimeUnixNano": 9,
                "attributes": {{"gen_ai.operation.name": "{operation}", "gen_ai.tool.name": "f"}}, "scope": {{"name": "strands"}}}}"#
        )
    };
    let record = |id: &str, role: &str, input: &str, output: &str| {
        format!(
            r#"{{"traceId": "t", "spanId": "{id}", "timeUnixNano": 5, "attributes": {{"event.name": "strands"}}, "body": {{
                "input": {{"messages": [{{"role": "{role}", "content": {{"content": {input}}}}}]}},
                "output": {{"messages": [{{"role": "assistant", "content": {{"message": {output}}}}}]}}}}}}"#
        )
    };
    let question = r#""[{\"text\": \"Q?\"}]""#;
    let all = [
        span("a", "invoke_agent"),
        span("x", "execute_tool").replace("\"scope\"", r#""parentSpanId": "a", "scope""#),
        record("x", "tool", r#""{\"x\": 1}""#, r#""[{\"text\": \"r\"}]""#),
        record("a", "user", question, r#""A""#),
    ];
    let text = format!(r#"{{"session_id": "s", "spans": [{}]}}"#, all.join(","));
    assert_eq!(read(&text), ("otel-genai", one(r#"f({"x":1})=r"#, "Q?", "A")));
}
