use crate::testing::{CollectingSink, read_text, shown};
use crate::trace::Trace;

fn read(text: &str) -> CollectingSink {
    let (format, kept) = read_text("runs.jsonl", text).unwrap();
    assert_eq!(format, "langsmith");
    kept
}

/// A run that lasts from one second to another.
fn run(kind: &str, id: &str, parent: &str, seconds: (u32, u32), more: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"id": "{id}", "trace_id": "t", "name": "{id}", "run_type": "{kind}", "parent_run_id": {parent},
        "start_time": "2026-01-01T00:00:{:02}Z", "end_time": "2026-01-01T00:00:{:02}Z", {more}}}"#,
        seconds.0, seconds.1
    )
    .replace('\n', " ")
}

fn one(runs: &[String]) -> Trace {
    let mut kept = read(&runs.join("\n"));
    assert_eq!(kept.traces.len(), 1);
    kept.traces.remove(0)
}

const REPLY: &str = r#""inputs": {"messages": [{"role": "user", "content": "Q?"}]}, "outputs": {"model": "m", "usage": {"prompt_tokens": 5}, "choices":
    [{"message": {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{\"x\": 1}"}},
    {"id": "2", "function": {"name": "b", "arguments": "{}"}}]}}]}"#;

#[test]
fn without_messages_of_the_root_replies_and_tools_are_put_together() {
    let end = r#""inputs": {"messages": [{"role": "tool", "tool_call_id": "2", "content": "seen"}]}, "outputs": {"choices": [{"message": {"role": "assistant", "content": "A."}}]}"#;
    let tool =
        r#""extra": {"tool_call_id": "1"}, "inputs": {"input": "{'x': 1}"}, "outputs": {"output": "r"}"#;
    let failed = r#""inputs": {}, "error": "ValueError('no')Traceback (most recent call last): secret""#;
    // The order of lines says nothing.
    let runs = [
        run("llm", "l2", "root", (7, 8), end),
        run("tool", "b", "tools2", (3, 6), failed),
        run("tool", "a", "tools1", (3, 5), tool),
        run("chain", "tools1", "root", (3, 5), ""),
        run("chain", "tools2", "root", (3, 6), ""),
        run("llm", "l1", "root", (1, 2), REPLY),
        run(
            "chain",
            "root",
            "",
            (0, 9),
            r#""inputs": {"question": "Q?"}, "outputs": {"output": "A."}, "prompt_tokens": 99, "feedback_stats": {"right": {"n": 1, "avg": 0.0}}"#,
        ),
    ]
    .map(|run| run.replace(", }", "}"));
    let trace = one(&runs);
    assert_eq!(trace.label.as_ref().and_then(|label| label.pass), Some(false));
    assert_eq!(shown(&trace), [r#"a({"x":1})=r b({})=seen!"#]);
    assert_eq!(trace.question.as_ref().unwrap().text(), "Q?");
    assert_eq!(
        (trace.final_reply.as_deref(), trace.model.as_deref(), trace.usage.input),
        (Some("A."), Some("m"), Some(5))
    );
    assert_eq!(
        (trace.id.as_deref(), trace.seconds, trace.steps[0][0].seconds),
        (Some("t"), Some(9.0), Some(2.0))
    );
    // The stack is left out.
    let trace = one(&runs[1..]);
    assert_eq!(shown(&trace), [r#"a({"x":1})=r b({})=ValueError('no')!"#]);
}

#[test]
fn messages_of_the_root_are_best_unless_they_are_the_last_alone() {
    let message = r#"{"type": "ai", "id": "r", "content": "", "tool_calls": [{"id": "1", "name": "a", "args": {}}]}, {"type": "tool", "tool_call_id": "1", "content": "r"}"#;
    let root = |messages: &str| {
        run("chain", "root", "", (0, 9), &format!(r#""outputs": {{"messages": [{messages}]}}"#))
    };
    let rest = [
        run("llm", "l", "root", (1, 2), REPLY),
        run("tool", "x", "root", (3, 5), r#""extra": {"tool_call_id": "1"}"#),
    ];
    let whole = one(&[root(message), rest[0].clone(), rest[1].clone()]);
    assert_eq!((shown(&whole), whole.steps[0][0].seconds), (vec!["a({})=r".to_owned()], Some(2.0)));
    let last = one(&[root(r#"{"type": "ai", "content": "A."}"#), rest[0].clone(), rest[1].clone()]);
    assert_eq!(shown(&last), [r#"a({"x":1})=- b({})=-"#]);
}

#[test]
fn replies_of_other_clients_have_their_calls_in_blocks() {
    let reply = r#""outputs": {"role": "assistant", "type": "message", "content": [{"type": "text", "text": "x"}, {"type": "tool_use",
        "id": "1", "name": "a", "input": {"x": 1}}], "usage": {"input_tokens": 1, "cache_read_input_tokens": 4}}"#;
    let trace = one(&[
        run("llm", "l", "", (1, 2), &reply.replace('\n', " ")),
        run(
            "tool",
            "a",
            "",
            (3, 4),
            r#""outputs": {"output": {"type": "tool", "content": "r", "tool_call_id": "1"}}"#,
        ),
    ]);
    assert_eq!((shown(&trace), trace.usage.input), (vec![r#"a({"x":1})=r"#.to_owned()], Some(5)));
}

#[test]
fn tools_alone_are_put_into_steps_by_their_times() {
    let input = |text: &str| format!(r#""inputs": {text}, "outputs": {{"output": "r"}}"#);
    let trace = one(&[
        run("chain", "root", "", (0, 9), r#""inputs": {"input": "Q?"}"#),
        run("tool", "c", "root", (5, 6), &input(r#"{"input": "{\"x\": 2}"}"#)),
        run("tool", "a", "root", (1, 3), &input(r#"{"x": 1}"#)),
        run("tool", "b", "root", (2, 4), &input(r#"{"input": "{'x': 1}"}"#)),
    ]);
    assert_eq!(shown(&trace), [r#"a({"x":1})=r b({'x': 1})=r"#, r#"c({"x":2})=r"#]);
}

#[test]
fn runs_nested_in_a_document_have_agents_below_tools() {
    let inner = run("llm", "l2", "", (3, 4), REPLY);
    let agent = run("chain", "researcher", "", (2, 5), &format!(r#""child_runs": [{inner}]"#));
    let tool = run(
        "tool",
        "ask",
        "",
        (2, 5),
        &format!(
            r#""child_runs": [{agent}], "extra": {{"tool_call_id": "1"}}, "outputs": {{"output": "r"}}"#
        ),
    );
    let outer = run("llm", "l1", "", (1, 2), REPLY);
    let text = run("chain", "root", "", (0, 9), &format!(r#""child_runs": [{tool}, {outer}]"#));
    let trace = read(&format!("[{text}]")).traces.remove(0);
    assert_eq!(shown(&trace), [r#"a({"x":1})=r b({})=-"#]);
    assert_eq!((trace.nested[0].0.as_str(), trace.nested[0].1.call_count()), ("researcher", 2));
}

#[test]
fn circles_of_parents_and_deep_agents_do_no_harm() {
    let circle =
        [run("chain", "a", "b", (0, 1), r#""x": 1"#), run("chain", "b", "a", (0, 1), r#""x": 1"#)].join("\n");
    assert!(read_text("a", &circle).unwrap_err().contains("each is below another"));
    let deep: Vec<String> = (0..5000)
        .map(|depth| run("tool", &depth.to_string(), &format!("{}", depth - 1), (0, 1), r#""inputs": {}"#))
        .collect();
    assert_eq!(one(&deep).call_count(), 1);
    let wrong = r#"[{"run_type": "llm", "trace_id": 3, "outputs": {"generations": [[]]}, "inputs": {"messages": [[3]]}},
        {"run_type": "tool", "trace_id": "x", "outputs": 3, "extra": []}, {"run_type": "chain", "trace_id": "x", "outputs": {"messages": [{"type": "ai", "content": 1}]}, "child_runs": [3]}, 5]"#;
    assert!(!read(wrong).traces.is_empty());
}
