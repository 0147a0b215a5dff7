//! Messages of dialects, the records around them, streams, and what is refused because its calls were not read.

mod ordinary;
mod programs;
use crate::testing::{CollectingSink, read_text, shown};

const USER: &str = r#"{"role": "user", "content": "q"}"#;
const ANSWER: &str = r#"{"role": "assistant", "content": "done"}"#;

/// The format, the steps and the answer of a file with one trajectory.
fn one(name: &str, text: &str) -> (&'static str, Vec<String>, Option<String>) {
    let (format, CollectingSink { traces, .. }) = read_text(name, text).unwrap();
    assert_eq!(traces.len(), 1, "{text}");
    (format, shown(&traces[0]), traces[0].final_reply.clone())
}

/// The steps of messages between a question and an answer, which is checked.
fn steps(messages: &str) -> Vec<String> {
    let (format, steps, answer) = one("m.json", &format!("[{USER}, {messages}, {ANSWER}]"));
    assert_eq!((format, answer.as_deref()), ("messages", Some("done")), "{messages}");
    steps
}

#[test]
fn calls_and_results_of_one_message_are_one_step() {
    for messages in [
        r#"{"role": "assistant", "content": [{"text": "ok"}, {"toolUse": {"toolUseId": "1", "name": "f", "input": {"a": 1}}},
            {"toolUse": {"toolUseId": "2", "name": "g", "input": {}}}]},
           {"role": "user", "content": [{"toolResult": {"toolUseId": "2", "status": "error", "content": [{"text": "no"}]}},
            {"toolResult": {"toolUseId": "1", "content": "r"}}]}"#,
        r#"{"info": {"role": "assistant"}, "parts": [{"type": "step-start"},
            {"type": "tool", "callID": "1", "tool": "f", "state": {"status": "completed", "input": {"a": 1}, "output": "r"}},
            {"type": "tool", "callID": "2", "tool": "g", "state": {"status": "error", "input": {}, "error": "no"}}]}"#,
        r#"{"role": "assistant", "toolCalls": [{"id": "1", "name": "f", "args": {"a": 1}}, {"id": "2", "name": "g", "args": {}}]},
           {"role": "tool", "toolCallId": "1", "content": "r"}, {"role": "tool", "toolCallId": "2", "content": "no", "isError": true}"#,
        r#"{"role": "tool_call", "content": "[{\"id\": \"1\", \"name\": \"f\", \"arguments\": {\"a\": 1}}, {\"id\": \"2\", \"name\": \"g\", \"arguments\": {}}]"},
           {"role": "tool_response", "tool_call_id": "1", "content": "r"},
           {"role": "tool_response", "tool_call_id": "2", "content": "no", "is_error": true}"#,
    ] {
        let read = steps(messages).join(" ").replace(r#"[{"type":"text","text":"no"}]"#, "no");
        assert_eq!(read.replace(r#"[{"text":"no"}]"#, "no"), r#"f({"a":1})=r g({})=no!"#, "{messages}");
    }
}

#[test]
fn a_result_beside_its_call_is_joined_to_no_other_call() {
    let calls = r#"{"role": "assistant", "tool_call": [{"name": "f", "args": {"a": 1}}, {"name": "f", "args": {"a": 2}, "result": "two"}]},
        {"role": "tool", "content": "one"}"#;
    assert_eq!(steps(calls), [r#"f({"a":1})=one f({"a":2})=two"#]);
}

#[test]
fn equal_calls_count_once_only_where_they_are_a_part_and_a_member() {
    let part = |id: &str, name: &str| {
        format!(r#"{{"toolUse": {{"toolUseId": "{id}", "name": "{name}", "input": {{}}}}}}"#)
    };
    let message = |parts: &str, member: &str| {
        one("m.json", &format!(r#"[{USER}, {{"role": "assistant", "content": [{parts}]{member}}}]"#)).1
    };
    let member = r#", "toolCalls": [{"id": "1", "name": "f", "args": {}}]"#;
    assert_eq!(message(&part("1", "f"), member), ["f({})=-"]);
    // Two tools under one id are two calls.
    assert_eq!(message(&format!("{}, {}", part("1", "f"), part("1", "g")), ""), ["f({})=- g({})=-"]);
    let nameless = r#"{"type": "tool_call", "name": "f", "args": {}}"#;
    assert_eq!(message(&format!("{nameless}, {nameless}"), ""), ["f({})=- f({})=-"]);
}

#[test]
fn a_text_after_the_results_of_a_message_begins_another_reply() {
    let text = format!(
        r#"[{USER}, {{"info": {{"role": "assistant"}}, "parts": [{{"type": "text", "text": "Let me look."}},
            {{"type": "tool", "callID": "1", "tool": "f", "state": {{"input": {{}}, "output": "r"}}}}, {{"type": "step-finish"}},
            {{"type": "text", "text": "done"}}]}}]"#
    );
    assert_eq!(one("m.json", &text), ("messages", vec!["f({})=r".to_owned()], Some("done".to_owned())));
}

#[test]
fn a_log_keeps_the_reply_in_a_member_of_its_own() {
    let call = r#"{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}"#;
    let message = format!(r#"{{"role": "assistant", "content": null, "tool_calls": [{call}]}}"#);
    for record in [
        format!(r#"{{"messages": [{USER}], "response": {{"choices": [{{"message": {message}}}]}}}}"#),
        format!(r#"{{"messages": [{USER}], "completion": {message}}}"#),
        format!(
            r#"{{"input": [{USER}], "output": [{{"type": "function_call", "call_id": "1", "name": "f", "arguments": "{{}}"}}]}}"#
        ),
        // The reply repeats the messages.
        format!(r#"{{"messages": [{USER}], "output": [{USER}, {message}]}}"#),
        format!(r#"{{"messages": [{USER}], "choices": [{{"message": {message}}}]}}"#),
        format!(r#"{{"traj": [{USER}, {message}]}}"#),
    ] {
        let (_, sink) = read_text("log.json", &record).unwrap();
        assert_eq!(shown(&sink.traces[0]), ["f({})=-"], "{record}");
        assert!(sink.traces[0].question.is_some(), "{record}");
    }
    // The right answer of a data set is no reply.
    let (_, sink) = read_text("d.json", &format!(r#"{{"messages": [{USER}], "answer": "42"}}"#)).unwrap();
    assert_eq!(sink.traces[0].final_reply, None);
}

#[test]
fn what_lost_all_its_calls_is_refused() {
    let unread = r#"{"role": "assistant", "content": "", "tool_calls": [{"arguments": {}}]}"#;
    let refused = read_text("m.json", &format!("[{USER}, {unread}, {ANSWER}]")).unwrap_err();
    assert!(refused.contains("none of its calls could be read"), "{refused}");
    // A record beside others is left out, and the file is refused after them.
    let good = format!("[{USER}, {ANSWER}]");
    let lines = format!("{good}\n[{USER}, {unread}]\n{good}\n");
    assert!(read_text("m.jsonl", &lines).unwrap_err().starts_with("a record is left out"));
    // A call in words is a call; a choice of the request is none.
    let words = r#"{"role": "assistant", "function_call": "f(x=1)"}"#;
    assert!(read_text("m.json", &format!("[{USER}, {words}, {ANSWER}]")).is_err());
    let choice = format!(
        r#"{{"messages": [{USER}, {ANSWER}], "function_call": {{"name": "f"}}, "tool_choice": "auto"}}"#
    );
    assert_eq!(read_text("m.json", &choice).unwrap().1.traces.len(), 1);
    // A stream is looked at to its end.
    let chunk = |delta: &str| {
        format!(
            "data: {{\"object\": \"chat.completion.chunk\", \"id\": \"1\", \"choices\": [{{\"index\": 0, \"delta\": {delta}}}]}}\n\n"
        )
    };
    let stream = chunk(r#"{"content": "x"}"#).repeat(20)
        + &chunk(r#"{"function_call": {"name": "f", "arguments": "{}"}}"#);
    assert!(read_text("s.sse", &stream).unwrap_err().contains("`function_call` once"));
}

#[test]
fn replies_of_several_providers_are_not_lost_without_a_word() {
    let gemini = r#"{"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "h", "args": {}}}]}}]}"#;
    let chat = r#"{"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}}]}"#;
    for lines in [format!("{chat}\n{gemini}\n"), format!("{gemini}\n{chat}\n")] {
        assert!(read_text("r.jsonl", &lines).unwrap_err().contains("left out"), "{lines}");
    }
}

#[test]
fn traces_within_records_have_the_ids_of_their_records() {
    let reply = r#"{"id": "x", "choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}}]}"#;
    let line =
        |id: &str| format!(r#"{{"custom_id": "{id}", "response": {{"status_code": 200, "body": {reply}}}}}"#);
    let failed = r#"{"custom_id": "c", "response": null, "error": {"message": "no"}}"#;
    let (format, sink) =
        read_text("b.jsonl", &[&line("a"), failed, &line("b")].map(String::from).join("\n")).unwrap();
    let ids: Vec<_> = sink.traces.iter().filter_map(|trace| trace.id.as_deref()).collect();
    assert_eq!((format, ids), ("openai-chat", vec!["a", "b"]));
    assert_eq!(sink.warnings, ["a record without `response.body` is left out"]);
    let gemini = |key: &str| {
        format!(
            r#"{{"key": "{key}", "response": {{"candidates": [{{"content": {{"role": "model", "parts": [{{"functionCall": {{"name": "f"}}}}]}}}}]}}}}"#
        )
    };
    let (_, sink) = read_text("g.jsonl", &format!("{}\n{}\n", gemini("a"), gemini("b"))).unwrap();
    assert_eq!(sink.traces.iter().map(shown).collect::<Vec<_>>(), [["f({})=-"], ["f({})=-"]]);
    // Prompts alone are no traces, and neither is what m3 writes.
    for other in [
        r#"{"data": [{"prompt": [{"role": "user", "content": "q"}]}]}"#,
        r#"{"schema": "m3.score/1", "data": [{"toolUse": {"name": "f"}, "role": "assistant"}]}"#,
    ] {
        let read = read_text("o.json", other).map(|(format, sink)| (format, sink.traces));
        assert!(read.is_err(), "{other} {read:?}");
    }
}

#[test]
fn streamed_calls_are_told_apart_whatever_their_index_is() {
    let piece = |index: &str, id: &str, name: &str, arguments: &str| {
        format!(r#"{{{index}"id": {id}, "function": {{"name": {name}, "arguments": {arguments}}}}}"#)
    };
    let read = |pieces: &[String]| {
        let chunk = |piece: &String| {
            format!(
                r#"data: {{"object": "chat.completion.chunk", "id": "c", "choices": [{{"index": 0, "delta": {{"tool_calls": [{piece}]}}}}]}}"#
            )
        };
        one("s.sse", &pieces.iter().map(chunk).collect::<Vec<_>>().join("\n\n")).1.join(" > ")
    };
    let zero = r#""index": 0, "#;
    let both = r#"f({"a":1})=- f({"a":2})=-"#;
    for index in [zero, "", r#""index": null, "#] {
        let whole = |id: &str, n: u8| piece(index, id, r#""f""#, &format!(r#""{{\"a\": {n}}}""#));
        assert_eq!(read(&[whole(r#""1""#, 1), whole(r#""2""#, 2)]), both);
        assert_eq!(read(&[whole("null", 1), whole("null", 2)]), both);
        // In pieces, of which the first alone has the id.
        let cut = |id: &str, n: u8| {
            [
                piece(index, id, r#""f""#, r#""{\"a\"""#),
                piece(index, "null", "null", &format!(r#"": {n}}}""#)),
            ]
        };
        assert_eq!(read(&[cut(r#""1""#, 1), cut(r#""2""#, 2)].concat()), both);
    }
    // The name comes with every piece, also with the last one, which is empty.
    let named = |arguments: &str| piece(zero, r#""1""#, r#""f""#, arguments);
    assert_eq!(read(&[named(r#""{\"a\":""#), named(r#""1}""#), named(r#""""#)]), r#"f({"a":1})=-"#);
    assert_eq!(
        read(&[piece(zero, "null", r#""f""#, r#"{"a": 1}"#), piece(zero, "null", r#""f""#, r#""""#)]),
        r#"f({"a":1})=-"#
    );
}

#[test]
fn arguments_of_gemini_come_in_parts_with_places() {
    let call = |members: &str| {
        format!(
            r#"{{"candidates": [{{"content": {{"role": "model", "parts": [{{"functionCall": {{{members}}}}}]}}}}]}}"#
        )
    };
    let part = |path: &str, value: &str| format!(r#"{{"jsonPath": "{path}", {value}}}"#);
    let first = call(&format!(r#""name": "f", "partialArgs": [{}]"#, part("$.n", r#""numberValue": 7"#)));
    let parts = [
        part("$.city", r#""stringValue": "Be""#),
        part("$.city", r#""stringValue": "rn""#),
        part("$.days[0]", r#""boolValue": true"#),
        part("$.days[1].x", r#""nullValue": "NULL_VALUE""#),
        part("$.city", r#""willContinue": true"#),
    ];
    let rest = parts.map(|part| call(&format!(r#""partialArgs": [{part}], "willContinue": true"#)));
    let lines = [vec![first], rest.to_vec(), vec![call("")]].concat().join("\n");
    let steps = one("g.jsonl", &lines).1;
    assert_eq!(steps, [r#"f({"n":7,"city":"Bern","days":[true,{"x":null}]})=-"#]);
    // A place that is far too deep is left out, with a note.
    let deep = part(&format!("${}", ".a".repeat(100_000)), r#""stringValue": "x""#);
    let lines = [call(r#""name": "f""#), call(&format!(r#""partialArgs": [{deep}]"#))].join("\n");
    let (_, sink) = read_text("g.jsonl", &lines).unwrap();
    assert_eq!(shown(&sink.traces[0]), ["f({})=-"]);
    assert!(sink.traces[0].notes.iter().any(|(note, _)| note.contains("a place that cannot be read")));
}

/// What other programs wrote of one call `a` with `x` 1, its result `r`, the question `Q?` and the answer `A.`: `AutoGen`'s state and
/// OpenAI's threads after their documentation, the others as the programs write them.
#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn one_call_in_the_shapes_of_many_programs() {
    for (program, text) in [
        (
            "chatlas",
            r#"[{"role": "user", "contents": [{"content_type": "text", "text": "Q?"}]},
                {"role": "assistant", "contents": [{"content_type": "tool_request", "id": "1", "name": "a", "arguments": {"x": 1}}]},
                {"role": "user", "contents": [{"content_type": "tool_result", "value": "r", "error": null, "request": {"content_type": "tool_request", "id": "1", "name": "a", "arguments": {"x": 1}}}]},
                {"role": "assistant", "contents": [{"content_type": "text", "text": "A."}]}]"#,
        ),
        (
            "agent-framework",
            r#"{"type": "agent_response", "messages": [{"type": "message", "role": "user", "contents": [{"type": "text", "text": "Q?"}]},
                {"type": "message", "role": "assistant", "contents": [{"type": "function_call", "call_id": "1", "name": "a", "arguments": "{\"x\": 1}"}]},
                {"type": "message", "role": "tool", "contents": [{"type": "function_result", "call_id": "1", "result": "r"}]},
                {"type": "message", "role": "assistant", "contents": [{"type": "text", "text": "A."}]}]}"#,
        ),
        (
            "mirascope",
            r#"[{"role": "user", "content": [{"type": "text", "text": "Q?"}]},
                {"role": "assistant", "content": [{"type": "tool_call", "id": "1", "name": "a", "args": "{\"x\": 1}"}]},
                {"role": "user", "content": [{"type": "tool_output", "id": "1", "name": "a", "result": "r", "error": null}]},
                {"role": "assistant", "content": [{"type": "text", "text": "A."}]}]"#,
        ),
        (
            "Semantic Kernel",
            r#"[{"content_type": "message", "role": "user", "items": [{"content_type": "text", "text": "Q?"}]},
                {"content_type": "message", "role": "assistant", "items": [{"content_type": "function_call", "id": "1", "name": "a", "arguments": "{\"x\": 1}"}]},
                {"content_type": "message", "role": "tool", "items": [{"content_type": "function_result", "id": "1", "result": "r", "name": "a"}]},
                {"content_type": "message", "role": "assistant", "items": [{"content_type": "text", "text": "A."}]}]"#,
        ),
        (
            "gemini-cli's stream",
            r#"[{"type": "message", "role": "user", "content": "Q?"}, {"type": "tool_use", "tool_name": "a", "tool_id": "1", "parameters": {"x": 1}},
                {"type": "tool_result", "tool_id": "1", "status": "success", "output": "r"},
                {"type": "message", "role": "assistant", "content": "A", "delta": true}, {"type": "message", "role": "assistant", "content": ".", "delta": true}]"#,
        ),
        (
            "LibreChat",
            r#"{"conversationId": "c", "messages": [{"messageId": "1", "isCreatedByUser": true, "text": "Q?", "children": [
                {"messageId": "2", "isCreatedByUser": false, "text": "", "content": [{"type": "text", "text": "I look."},
                {"type": "tool_call", "tool_call": {"id": "1", "name": "a", "args": "{\"x\":1}", "output": "r"}}, {"type": "text", "text": "A."}], "children": []}]}]}"#,
        ),
        (
            "OpenHands",
            r#"[{"kind": "MessageEvent", "source": "user", "llm_message": {"role": "user", "content": [{"type": "text", "text": "Q?"}]}},
                {"kind": "ActionEvent", "source": "agent", "action": {"kind": "A", "x": 1}, "tool_name": "a", "tool_call_id": "1", "tool_call": {"id": "1", "name": "a", "arguments": "{\"x\": 1}"}, "llm_response_id": "r1"},
                {"kind": "ObservationEvent", "source": "environment", "tool_name": "a", "tool_call_id": "1", "observation": {"content": [{"type": "text", "text": "r"}], "is_error": false}},
                {"kind": "ActionEvent", "source": "agent", "action": {"kind": "FinishAction", "message": "A."}, "tool_name": "finish", "tool_call_id": "2",
                    "tool_call": {"id": "2", "name": "finish", "arguments": "{\"message\": \"A.\"}"}, "llm_response_id": "r2"}]"#,
        ),
        (
            "tau2-bench",
            r#"{"id": "s", "reward_info": {"reward": 1.0, "action_checks": [{"action": {"name": "never", "arguments": {"y": 2}}}]}, "messages": [
                {"role": "user", "content": "Q?"}, {"role": "assistant", "tool_calls": [{"id": "1", "name": "a", "arguments": {"x": 1}, "requestor": "assistant"}]},
                {"role": "tool", "id": "1", "content": "r", "requestor": "assistant"}, {"role": "assistant", "content": "A."},
                {"role": "user", "tool_calls": [{"id": "2", "name": "toggle", "arguments": {}, "requestor": "user"}]}, {"role": "tool", "id": "2", "content": "on", "requestor": "user"}]}"#,
        ),
        (
            "the Agents SDK's items",
            r#"[{"type": "message_input_item", "raw_item": {"role": "user", "content": "Q?"}},
                {"type": "tool_call_item", "raw_item": {"type": "function_call", "call_id": "1", "name": "a", "arguments": "{\"x\": 1}"}},
                {"type": "tool_call_output_item", "raw_item": {"type": "function_call_output", "call_id": "1", "output": "r"}},
                {"type": "message_output_item", "raw_item": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A."}]}}]"#,
        ),
        (
            "the Agent Development Kit's events",
            r#"[{"author": "user", "invocation_id": "e", "content": {"role": "user", "parts": [{"text": "Q?"}]}},
                {"author": "m", "invocation_id": "e", "actions": {"state_delta": {}}, "content": {"role": "model", "parts": [{"function_call": {"id": "1", "name": "a", "args": {"x": 1}}}]}},
                {"author": "m", "invocation_id": "e", "actions": {"state_delta": {}}, "content": {"role": "user", "parts": [{"function_response": {"id": "1", "name": "a", "response": {"result": "r"}}}]}},
                {"author": "m", "invocation_id": "e", "actions": {"state_delta": {}}, "content": {"role": "model", "parts": [{"text": "A."}]}}]"#,
        ),
        (
            "inspect_ai's messages",
            r#"[{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "a", "arguments": {"x": 1}, "type": "function"}]},
                {"role": "tool", "content": "r", "tool_call_id": "1", "function": "a"}, {"role": "assistant", "content": "A."}]"#,
        ),
        (
            "Semantic Kernel of .NET",
            r#"[{"Role": {"Label": "user"}, "Items": [{"$type": "TextContent", "Text": "Q?"}]},
                {"Role": {"Label": "assistant"}, "Items": [{"$type": "FunctionCallContent", "Id": "1", "FunctionName": "a", "Arguments": {"x": 1}}]},
                {"Role": {"Label": "tool"}, "Items": [{"$type": "FunctionResultContent", "CallId": "1", "FunctionName": "a", "Result": "r"}]},
                {"Role": {"Label": "assistant"}, "Items": [{"$type": "TextContent", "Text": "A."}]}]"#,
        ),
        (
            "Azure's evaluation rows",
            r#"{"query": [{"role": "user", "content": [{"type": "text", "text": "Q?"}]}], "response": [
                {"role": "assistant", "content": [{"type": "tool_call", "tool_call_id": "1", "name": "a", "arguments": {"x": 1}}]},
                {"role": "tool", "tool_call_id": "1", "content": [{"type": "tool_result", "tool_result": {"is": "r"}}]},
                {"role": "assistant", "content": [{"type": "text", "text": "A."}]}]}"#,
        ),
        (
            "Continue's sessions",
            r#"{"sessionId": "s", "history": [{"message": {"role": "user", "content": "Q?"}, "contextItems": []},
                {"message": {"role": "assistant", "content": "", "toolCalls": [{"id": "1", "type": "function", "function": {"name": "a", "arguments": "{\"x\": 1}"}}]}},
                {"message": {"role": "tool", "content": "r", "toolCallId": "1"}}, {"message": {"role": "assistant", "content": "A."}}]}"#,
        ),
        (
            "sessions of pi",
            r#"[{"type": "session", "id": "s"}, {"type": "message", "id": "m1", "message": {"role": "user", "content": "Q?"}},
                {"type": "message", "id": "m2", "message": {"role": "assistant", "content": [{"type": "toolCall", "id": "1", "name": "a", "arguments": {"x": 1}}]}},
                {"type": "message", "id": "m3", "message": {"role": "toolResult", "toolCallId": "1", "toolName": "a", "content": [{"type": "text", "text": "r"}]}},
                {"type": "message", "id": "m4", "message": {"role": "assistant", "content": [{"type": "text", "text": "A."}]}}]"#,
        ),
        (
            "fast-agent",
            r#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "Q?"}]},
                {"role": "assistant", "content": [], "tool_calls": {"c1": {"method": "tools/call", "params": {"name": "a", "arguments": {"x": 1}}}}},
                {"role": "user", "content": [], "tool_results": {"c1": {"content": [{"type": "text", "text": "r"}]}}},
                {"role": "assistant", "content": [{"type": "text", "text": "A."}]}]}"#,
        ),
        (
            "Mastra",
            r#"[{"id": "1", "role": "user", "content": {"format": 2, "parts": [{"type": "text", "text": "Q?"}]}},
                {"id": "2", "role": "assistant", "content": {"format": 2, "parts": [{"type": "step-start"}, {"type": "tool-invocation", "toolInvocation":
                {"state": "result", "toolCallId": "1", "toolName": "a", "args": {"x": 1}, "result": "r"}}, {"type": "step-start"}, {"type": "text", "text": "A."}]}}]"#,
        ),
        (
            "AgentDojo",
            r#"{"messages": [{"role": "user", "content": [{"type": "text", "content": "Q?"}]},
                {"role": "assistant", "content": null, "tool_calls": [{"function": "a", "args": {"x": 1}, "id": "1"}]},
                {"role": "tool", "content": [{"type": "text", "content": "r"}], "tool_call_id": "1", "error": null}, {"role": "assistant", "content": [{"type": "text", "content": "A."}]}]}"#,
        ),
        (
            "the Agents SDK of JavaScript",
            r#"[{"role": "user", "content": "Q?"}, {"type": "function_call", "callId": "1", "name": "a", "arguments": "{\"x\": 1}"},
                {"type": "function_call_result", "callId": "1", "name": "a", "output": {"type": "text", "text": "r"}},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A."}]}]"#,
        ),
        (
            "mini-swe-agent's whole replies",
            r#"{"messages": [{"role": "user", "content": "Q?"}, {"object": "response", "output": [{"type": "function_call", "call_id": "1", "name": "a", "arguments": "{\"x\": 1}"}]},
                {"type": "function_call_output", "call_id": "1", "output": "r"},
                {"object": "response", "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A."}]}]}]}"#,
        ),
        (
            "goose, with thoughts",
            r#"[{"role": "user", "content": [{"type": "text", "text": "Q?"}]}, {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "toolRequest", "id": "1", "toolCall": {"status": "success", "value": {"name": "a", "arguments": {"x": 1}}}}]},
                {"role": "user", "content": [{"type": "toolResponse", "id": "1", "toolResult": {"status": "success", "value": [{"type": "text", "text": "r"}]}}]},
                {"role": "assistant", "content": [{"type": "text", "text": "A."}]}]"#,
        ),
        (
            "`fullStream` of the AI SDK",
            r#"[{"type": "start-step", "request": {"body": {}}}, {"type": "tool-input-start", "id": "1", "toolName": "a"}, {"type": "tool-input-delta", "id": "1", "delta": "{\"x\": 1}"},
                {"type": "tool-input-end", "id": "1"}, {"type": "tool-call", "toolCallId": "1", "toolName": "a", "input": {"x": 1}},
                {"type": "tool-result", "toolCallId": "1", "toolName": "a", "output": "r"}, {"type": "finish-step"},
                {"type": "start-step"}, {"type": "text-delta", "id": "t", "text": "A."}, {"type": "finish-step"}]"#,
        ),
    ] {
        let (_, kept) = read_text("trace.json", text).unwrap_or_else(|error| panic!("{program}: {error}"));
        let trace = &kept.traces[0];
        let result = match program {
            "Azure's evaluation rows" => r#"{"is":"r"}"#,
            "the Agent Development Kit's events" => r#"{"result":"r"}"#,
            _ => "r",
        };
        assert_eq!(
            (kept.traces.len(), shown(trace)),
            (1, vec![format!(r#"a({{"x":1}})={result}"#)]),
            "{program}"
        );
        let question = trace.question.as_ref().map(crate::content::Content::text);
        assert!(question.as_deref() == Some("Q?") || program.starts_with("`fullStream`"), "{program}");
        assert_eq!(trace.final_reply.as_deref(), Some("A."), "{program}");
    }
}
