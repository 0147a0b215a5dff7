//! What single programs keep of a run beside messages: a call `a` with `x` 1, as the programs wrote it.

use crate::testing::{read_text, shown};

/// The steps of each trajectory of a file.
fn steps(text: &str) -> Vec<Vec<String>> {
    let (_, kept) = read_text("trace.json", text).unwrap_or_else(|error| panic!("{error}: {text}"));
    kept.traces.iter().map(shown).collect()
}

const CALL: &str = r#"a({"x":1})=-"#;

#[test]
fn replies_that_the_agents_sdk_keeps_are_one_run_and_in_lines_several() {
    let reply = |id: &str| {
        format!(
            r#"{{"response_id": "r", "usage": {{}}, "output": [{{"type": "function_call", "call_id": "{id}", "name": "a", "arguments": "{{\"x\": 1}}"}}]}}"#
        )
    };
    assert_eq!(steps(&format!("[{}, {}]", reply("1"), reply("2"))), [[CALL, CALL]]);
    assert_eq!(steps(&format!("{}\n{}", reply("1"), reply("2"))), [[CALL], [CALL]]);
}

#[test]
fn lone_steps_of_the_ai_sdk_are_one_run_until_their_numbers_fall() {
    let step = |number: u64| {
        format!(
            r#"{{"stepNumber": {number}, "finishReason": "tool-calls", "content": [{{"type": "tool-call", "toolCallId": "{number}", "toolName": "a", "input": {{"x": 1}}}}]}}"#
        )
    };
    assert_eq!(steps(&format!("[{}, {}]", step(0), step(1))), [[CALL, CALL]]);
    assert_eq!(steps(&format!("[{}, {}, {}]", step(0), step(1), step(0))), [vec![CALL, CALL], vec![CALL]]);
}

#[test]
fn items_to_which_a_server_gives_one_id_are_told_apart_by_their_calls() {
    let done = |call: &str| {
        format!(
            r#"{{"type": "response.output_item.done", "item": {{"id": "same", "type": "function_call", "call_id": "{call}", "name": "a", "arguments": "{{\"x\":1}}"}}}}"#
        )
    };
    assert_eq!(steps(&format!("{}\n{}", done("1"), done("2"))).concat(), [format!("{CALL} {CALL}")]);
}

#[test]
fn a_failed_call_of_smolagents_is_in_what_the_model_wrote() {
    let text = r#"[{"task": "Q?"}, {"step_number": 1, "tool_calls": [], "error": {"message": "bad"}, "model_output_message": {"tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "a", "arguments": {"x": 1}}}]}}]"#;
    assert_eq!(steps(text), [[r#"a({"x":1})=bad!"#]]);
}

#[test]
fn turns_of_an_evaluation_and_calls_that_the_sdk_ran_by_itself_are_read() {
    let parts = r#"[{"function_call": {"id": "1", "name": "a", "args": {"x": 1}}}]"#;
    for text in [
        format!(
            r#"[{{"invocation_id": "e", "user_content": {{"role": "user", "parts": [{{"text": "Q?"}}]}}, "intermediate_data": {{"invocation_events": [{{"content": {{"role": "model", "parts": {parts}}}}}]}}}}]"#
        ),
        format!(
            r#"{{"candidates": [{{"content": {{"role": "model", "parts": [{{"text": "A."}}]}}}}], "automatic_function_calling_history": [{{"role": "user", "parts": [{{"text": "Q?"}}]}}, {{"role": "model", "parts": {parts}}}, {{"role": "user", "parts": [{{"text": "go on"}}]}}]}}"#
        ),
    ] {
        assert_eq!(steps(&text), [[CALL]], "{text}");
    }
}

#[test]
fn expected_calls_have_their_servers_and_their_order() {
    let text = r#"[{"id": 1, "expected_tools": [{"server": "s", "name": "a", "arguments": {"x": 1}}]}]"#;
    assert_eq!(steps(text), [[r#"s/a({"x":1})=-"#]]);
    let rows = r#"[{"question": "Q?", "order": 2, "expected_tool": "b"}, {"question": "Q?", "order": 1, "expected_tool": "a"}]"#;
    let (_, kept) = read_text("rows.json", rows).unwrap();
    let tools: Vec<_> = kept.traces[0].steps.iter().flatten().map(|call| call.tool.as_str()).collect();
    assert_eq!((kept.traces.len(), tools), (1, vec!["a", "b"]));
}

/// Pi's `--mode json` and the stream of Cursor's program, after their documentation.
#[test]
fn what_coding_programs_print_as_they_work_tells_each_call_once() {
    let pi = [
        r#"{"type": "session", "id": "s"}"#,
        r#"{"type": "message_start", "message": {"role": "user", "content": [{"type": "text", "text": "Q?"}]}}"#,
        r#"{"type": "message_end", "message": {"role": "user", "content": [{"type": "text", "text": "Q?"}]}}"#,
        r#"{"type": "message_update", "message": {"role": "assistant", "content": [{"type": "toolCall", "id": "1", "name": "a", "arguments": {}}]}}"#,
        r#"{"type": "message_end", "message": {"role": "assistant", "content": [{"type": "toolCall", "id": "1", "name": "a", "arguments": {"x": 1}}]}}"#,
        r#"{"type": "tool_execution_start", "toolCallId": "1", "toolName": "a", "args": {"x": 1}}"#,
        r#"{"type": "message_end", "message": {"role": "toolResult", "toolCallId": "1", "toolName": "a", "content": [{"type": "text", "text": "r"}]}}"#,
        r#"{"type": "turn_end", "message": {"role": "assistant", "content": [{"type": "toolCall", "id": "1", "name": "a", "arguments": {"x": 1}}]}}"#,
    ];
    assert_eq!(steps(&pi.join("\n")), [[r#"a({"x":1})=r"#]]);
    let call = |state: &str, id: u8, result: &str| {
        format!(
            r#"{{"type": "tool_call", "subtype": "{state}", "call_id": "{id}", "session_id": "s", "tool_call": {{"a": {{"args": {{"x": 1}}{result}}}}}}}"#
        )
    };
    let result = r#", "result": {"success": {"n": 2}}"#;
    let cursor = [
        r#"{"type": "system", "subtype": "init", "session_id": "s"}"#.to_owned(),
        r#"{"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "Q?"}]}, "session_id": "s"}"#.to_owned(),
        call("started", 1, ""),
        call("started", 2, ""),
        call("completed", 2, result),
        call("completed", 1, result),
    ];
    let done = r#"a({"x":1})={"success":{"n":2}}"#;
    assert_eq!(steps(&cursor.join("\n")), [[format!("{done} {done}")]]);
}

#[test]
fn whole_replies_in_a_list_are_several_and_pieces_of_one_are_not() {
    let gemini = |id: &str, end: &str| {
        format!(
            r#"{{"responseId": "{id}", "candidates": [{{"content": {{"role": "model", "parts": [{{"functionCall": {{"name": "a", "args": {{"x": 1}}}}}}]}}{end}}}]}}"#
        )
    };
    let whole = r#", "finishReason": "STOP""#;
    assert_eq!(steps(&format!("[{}, {}]", gemini("1", whole), gemini("2", whole))), [[CALL], [CALL]]);
    assert_eq!(
        steps(&format!("[{}, {}]", gemini("1", ""), gemini("1", whole))),
        [[format!("{CALL} {CALL}")]]
    );
    let converse = |id: u8| {
        format!(
            r#"{{"output": {{"message": {{"role": "assistant", "content": [{{"toolUse": {{"toolUseId": "{id}", "name": "a", "input": {{"x": 1}}}}}}]}}}}, "stopReason": "tool_use"}}"#
        )
    };
    assert_eq!(steps(&format!("[{}, {}]", converse(1), converse(2))), [[CALL], [CALL]]);
}

#[test]
fn events_of_tools_are_calls_and_results_whatever_they_are_called() {
    for (begin, end) in [
        ("tool_start", "tool_end"),
        ("ToolCallStarted", "ToolCallCompleted"),
        ("tool_usage_started", "tool_usage_finished"),
    ] {
        let text = format!(
            r#"[{{"type": "user", "content": "Q?"}}, {{"type": "{begin}", "tool_name": "a", "tool_args": {{"x": 1}}, "call_id": "1"}},
                {{"type": "{end}", "call_id": "1", "output": "r"}}, {{"type": "assistant", "content": "A."}}]"#
        );
        assert_eq!(steps(&text), [[r#"a({"x":1})=r"#]], "{begin}");
    }
    // A record of a log is none of the items of OpenAI's Responses.
    let log = r#"[{"type": "user", "content": "Q?"}, {"type": "tool_call", "id": "1", "name": "a", "arguments": {"x": 1}}]"#;
    assert_eq!(steps(log), [[CALL]]);
}
