//! Logs of replies, programs, and calls of the provider.

use crate::testing::{read_text, shown};

/// A log of two requests: the second repeats the first, or names its reply.
fn log(first: &str, second: &str) -> Vec<String> {
    let call = r#"{"type": "function_call", "call_id": "c", "name": "t", "arguments": "{}"}"#;
    let reply =
        r#"{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}"#;
    let lines = [(first, "r1", call), (second, "r2", reply)].map(|(request, id, item)| {
        format!(r#"{{"request": {request}, "response": {{"object": "response", "id": "{id}", "output": [{item}]}}}}"#)
    });
    let (name, kept) = read_text("log.jsonl", &lines.join("\n")).unwrap();
    assert_eq!(name, "openai-responses");
    kept.traces
        .iter()
        .map(|trace| {
            format!(
                "{:?} {:?} {:?}",
                trace.question.as_ref().map(crate::Content::text),
                shown(trace),
                trace.final_reply
            )
        })
        .collect()
}

#[test]
fn a_log_is_one_conversation_however_its_requests_go_on() {
    let user = r#"{"role": "user", "content": "q"}"#;
    let rest = r#"{"type": "function_call", "call_id": "c", "name": "t", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "1"}"#
        .replace('\n', " ");
    let new = r#"{"input": [{"type": "function_call_output", "call_id": "c", "output": "1"}], "previous_response_id": "r1"}"#;
    let whole = format!(r#"{{"input": [{user}, {rest}]}}"#);
    let wanted = log(&format!(r#"{{"input": [{user}]}}"#), &whole);
    assert!(wanted.len() == 1 && wanted[0].contains("\"q\"") && wanted[0].contains("done"), "{wanted:?}");
    assert_eq!(log(r#"{"input": "q"}"#, &whole), wanted);
    assert_eq!(log(r#"{"input": "q"}"#, new), wanted);
    assert_eq!(log(r#"{"input": "q"}"#, r#"{"input": "another"}"#).len(), 2);
    // Ids that lead in a circle end.
    log(r#"{"input": "q", "previous_response_id": "r2"}"#, r#"{"input": "q", "previous_response_id": "r1"}"#);
}

#[test]
fn conversations_that_are_mixed_in_a_log_are_told_apart() {
    let line = |request: &str, reply: &str, item: &str| {
        format!(
            r#"{{"request": {request}, "response": {{"object": "response", "id": "{reply}", "output": [{item}]}}}}"#
        )
    };
    let call = |name: &str| {
        format!(r#"{{"type": "function_call", "call_id": "c", "name": "{name}", "arguments": "{{}}"}}"#)
    };
    let text_item = |text: &str| {
        let part = format!(r#"{{"type": "output_text", "text": "{text}"}}"#);
        format!(r#"{{"type": "message", "role": "assistant", "content": [{part}]}}"#)
    };
    let result = r#"{"type": "function_call_output", "call_id": "c", "output": "1"}"#;
    let user = r#"{"role": "user", "content": "q"}"#;
    let lines = [
        // It names a reply that comes later.
        line(
            &format!(r#"{{"input": [{result}], "previous_response_id": "early"}}"#),
            "late",
            &text_item("four"),
        ),
        line(r#"{"input": "q"}"#, "r1", &call("one")),
        line(r#"{"input": "q"}"#, "r2", &call("two")),
        line(r#"{"input": "q", "conversation": {"id": "k"}}"#, "r3", &call("three")),
        line(&format!(r#"{{"input": [{user}, {}, {result}]}}"#, call("two")), "r4", &text_item("two")),
        line(&format!(r#"{{"input": [{result}], "conversation": "k"}}"#), "r5", &text_item("three")),
        line(r#"{"input": "q"}"#, "early", &call("four")),
        line(&format!(r#"{{"input": [{result}], "previous_response_id": "r1"}}"#), "r6", &text_item("one")),
    ];
    let (_, kept) = read_text("log.jsonl", &lines.join("\n")).unwrap();
    let mut steps: Vec<String> = kept.traces.iter().map(|trace| shown(trace).join(" ")).collect();
    let replies: Vec<_> = kept.traces.iter().map(|trace| trace.final_reply.clone().unwrap()).collect();
    assert_eq!(steps, replies.iter().map(|reply| format!("{reply}({{}})=1")).collect::<Vec<_>>());
    steps.sort_unstable();
    assert_eq!(steps, ["four({})=1", "one({})=1", "three({})=1", "two({})=1"]);
}

#[test]
fn calls_of_a_program_are_nested_and_those_of_the_provider_are_steps_of_their_own() {
    let items = r#"[{"role": "user", "content": "q"},
        {"type": "program", "id": "p", "code": "x"},
        {"type": "function_call", "call_id": "in", "name": "t", "arguments": "{}", "caller": {"type": "program", "caller_id": "p"}},
        {"type": "function_call_output", "call_id": "in", "output": "1"},
        {"type": "web_search_call", "id": "w", "action": {"query": "eel", "sources": null}},
        {"type": "mcp_call", "server_label": "shop", "name": "buy", "arguments": "{\"n\": 1}", "output": null, "error": "sold out"},
        {"type": "function_call", "call_id": "a", "name": "f", "namespace": "mcp__shop", "arguments": "{"},
        {"type": "function_call", "call_id": "b", "name": "g", "namespace": "other", "arguments": ""},
        {"type": "function_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "two"}, {"type": "input_text", "text": "lines"}]}]"#;
    let (name, kept) = read_text("items.json", items).unwrap();
    let trace = &kept.traces[0];
    assert_eq!(name, "openai-responses-items");
    let wanted = [
        "web_search({\"query\":\"eel\"})=-",
        "shop/buy({\"n\":1})=sold out!",
        "shop/f({)=- g({})=two\nlines",
    ];
    assert_eq!(shown(trace), wanted);
    assert_eq!(shown(&trace.nested[0].1), ["t({})=1"]);
}
