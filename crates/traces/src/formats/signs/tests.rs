//! Tests of calls that are read by signs alone.

use crate::testing::{guess_text, read_text, shown};

#[test]
fn a_log_tells_of_a_call_several_times() {
    let lines = [
        r#"{"event": "run", "state": {"messages": [["user", "Q?"]]}}"#,
        r#"{"event": "piece", "chunk": {"tool_calls": [{"name": "a", "args": {}, "id": "1", "type": "tool_call"}]}}"#,
        r#"{"event": "end", "out": {"tool_calls": [{"name": "a", "args": {"x": 1}, "id": "1"}, {"name": "b", "args": {}, "id": "2"}]}}"#,
        r#"{"event": "tool", "out": {"type": "tool_result", "tool_call_id": "1", "content": "r"}}"#,
        r#"{"event": "tool", "out": {"type": "tool_result", "tool_call_id": "2", "content": "s"}}"#,
        r#"{"event": "tool", "out": {"type": "tool_result", "tool_call_id": "2", "content": "s"}}"#,
        r#"{"event": "end", "out": {"type": "assistant", "content": "A."}}"#,
    ];
    let (format, kept) = read_text("log.jsonl", &lines.join("\n")).unwrap();
    let trace = &kept.traces[0];
    assert_eq!((format, trace.final_reply.as_deref(), trace.steps.len()), ("signs", Some("A."), 1));
    assert_eq!(shown(trace), [r#"a({"x":1})=r b({})=s"#]);
    assert_eq!(kept.warnings.len(), 1, "{:?}", kept.warnings);
}

#[test]
fn the_result_of_a_tool_is_no_answer() {
    let call =
        r#"{"made": {"tool_calls": [{"name": "a", "args": {}, "id": "1"}, {"name": "b", "args": {}}]}}"#;
    let result = r#"{"type": "tool_result", "tool_call_id": "1", "content": "r"}"#;
    let (format, kept) = read_text("log.jsonl", &[call, result].join("\n")).unwrap();
    let trace = &kept.traces[0];
    assert_eq!((format, shown(trace), &trace.final_reply), ("signs", vec!["a({})=r".to_owned()], &None));
    assert!(format!("{:?}", trace.notes).contains("without an id"));
}

#[test]
fn records_of_several_conversations_are_several_trajectories() {
    let record = |conversation: &str, id: &str| {
        format!(
            r#"{{"thread_id": "{conversation}", "made": {{"tool_name": "a", "args": {{}}, "tool_call_id": "{id}", "result": "r"}}}}"#
        )
    };
    let lines = [record("x", "1"), record("y", "2"), record("x", "3")];
    let (_, kept) = read_text("log.jsonl", &lines.join("\n")).unwrap();
    let ids: Vec<_> = kept.traces.iter().map(|trace| (trace.id.as_deref(), trace.steps.len())).collect();
    assert_eq!(ids, [(Some("x"), 2), (Some("y"), 1)]);
}

/// Each request to the model tells what came before.
#[test]
fn records_that_share_calls_are_of_one_run() {
    let call = |id: &str| format!(r#"{{"tool_name": "a", "args": {{}}, "tool_call_id": "{id}"}}"#);
    let record = |question: &str, ids: &[&str]| {
        let calls: Vec<String> = ids.iter().map(|id| call(id)).collect();
        format!(r#"{{"asked": {{"role": "user", "content": "{question}"}}, "made": [{}]}}"#, calls.join(","))
    };
    let lines =
        [record("Q?", &["1"]), record("Q?", &["1", "2"]), record("R?", &["3"]), record("R?", &["3", "4"])];
    let (_, kept) = read_text("log.jsonl", &lines.join("\n")).unwrap();
    let counts: Vec<_> = kept.traces.iter().map(crate::trace::Trace::call_count).collect();
    assert_eq!(counts, [2, 2]);
}

/// Objects without ids may be anything that is called somehow.
#[test]
fn what_has_no_ids_is_no_call() {
    for text in [
        r#"{"jobs": [{"name": "build", "args": {"x": 1}}]}"#,
        r#"{"tools": [{"name": "a", "arguments": {}, "id": "1"}]}"#,
        r#"{"schema": "m3.score/1", "calls": [{"name": "a", "arguments": {}, "id": "1"}]}"#,
    ] {
        assert!(read_text("some.json", text).is_err(), "{text}");
    }
}

#[test]
fn calls_of_one_list_are_made_at_once_wherever_their_results_stand() {
    let state = r#"{
        "replies": [
            {"out": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Both."}]},
                {"type": "function_call", "callId": "1", "name": "a", "arguments": "{}"},
                {"type": "function_call", "callId": "2", "name": "b", "arguments": "{}"}]},
            {"out": [{"type": "function_call", "callId": "3", "name": "c", "arguments": "{}"}]},
            {"out": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A."}]}]}],
        "toolCalls": [{"callId": "1", "name": "a", "arguments": {}}, {"callId": "2", "name": "b", "arguments": {}},
            {"callId": "3", "name": "c", "arguments": {}}],
        "input": [{"type": "UserMessage", "content": "Q?"}],
        "results": [{"type": "function_call_result", "callId": "1", "output": "r"},
            {"type": "function_call_result", "callId": "3", "output": "t"}],
        "history": [{"id": ["x", "HumanMessage"], "kwargs": {"content": "Q?"}},
            {"role": "assistant", "content": "Both."}]}"#;
    assert!(read_text("state.json", state).unwrap_err().contains("none of its calls could be read"));
    let kept = guess_text(state).unwrap();
    let trace = &kept.traces[0];
    assert_eq!(kept.format, Some(super::NAME));
    // What is said of the first try does not hold any more.
    assert!(
        matches!(&kept.warnings[..], [warning] if warning.contains("is not known")),
        "{:?}",
        kept.warnings
    );
    assert_eq!(shown(trace), ["a({})=r b({})=-", "c({})=t"]);
    assert_eq!(trace.question.as_ref().map(crate::Content::text).as_deref(), Some("Q?"));
    assert_eq!(trace.final_reply.as_deref(), Some("A."));
}
