use crate::testing::{CollectingSink, read_text, shown};
use crate::trace::Trace;

fn read(text: &str) -> (&'static str, CollectingSink) {
    read_text("file.json", text).unwrap()
}

fn one(text: &str) -> Trace {
    let (_, mut kept) = read(text);
    assert_eq!((kept.traces.len(), &kept.warnings[..]), (1, &[][..]));
    kept.traces.remove(0)
}

fn notes(trace: &Trace) -> Vec<&str> {
    trace.notes.iter().map(|(note, _)| note).collect()
}

const CALLS: &str = r#""tool_calls": [{"id": "1", "name": "a", "args": {"x": 1}}]"#;

#[test]
fn the_shapes_of_a_message_give_the_same() {
    let (human, ai, tool) = (
        r#""content": "Q?""#,
        format!(r#""content": "", "id": "r", {CALLS}"#),
        r#""content": "no", "tool_call_id": "1", "status": "error", "artifact": {"secret": 1}"#,
    );
    let all = |wrap: &dyn Fn(&str, &str, &str) -> String| {
        let messages =
            [("human", "HumanMessage", human), ("ai", "AIMessage", &ai), ("tool", "ToolMessage", tool)];
        let messages = messages.map(|(kind, class, members)| wrap(kind, class, members));
        format!("[{}]", messages.join(","))
    };
    let files = [
        all(&|kind, _, members| format!(r#"{{"type": "{kind}", "data": {{{members}}}}}"#)),
        all(&|_, class, members| {
            format!(
                r#"{{"lc": 1, "type": "constructor", "id": ["langchain", "{class}"], "kwargs": {{{members}}}}}"#
            )
        }),
        all(&|kind, _, members| format!(r#"{{"type": "{kind}", {members}}}"#)),
    ];
    for file in &files {
        for file in [file.clone(), format!(r#"{{"messages": {file}}}"#)] {
            let (format, kept) = read(&file);
            assert_eq!((format, shown(&kept.traces[0])), ("langchain", vec![r#"a({"x":1})=no!"#.to_owned()]));
            assert_eq!(kept.traces[0].question.as_ref().unwrap().text(), "Q?");
        }
    }
}

#[test]
fn other_messages_are_no_messages_of_langchain() {
    for other in [
        r#"[{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "A."}]"#,
        r#"[{"role": "user", "content": "Q?"}, {"type": "system", "content": "x", "role": "assistant"}]"#,
    ] {
        assert_eq!(read(other).0, "messages", "{other}");
    }
}

#[test]
fn calls_count_once_and_broken_ones_keep_their_text_and_place() {
    let message = |more: &str| {
        one(&format!(
            r#"[{{"type": "ai", "content": [{{"type": "tool_use", "id": "1", "name": "a", "input": {{}}}}, {{"type": "text", "text": "x"}}],
            {CALLS}, "invalid_tool_calls": [{{"id": "2", "name": "b", "args": "{{\"y\"", "error": "e"}}]{more}}}]"#
        ))
    };
    let known =
        r#", "additional_kwargs": {"tool_calls": [{"id": "2", "function": {"name": "b"}}, {"id": "1"}]}"#;
    assert_eq!(shown(&message(known)), [r#"b({"y")=- a({"x":1})=-"#]);
    assert!(notes(&message(known)).is_empty());
    assert_eq!(shown(&message("")), [r#"a({"x":1})=- b({"y")=-"#]);
    assert_eq!(notes(&message("")).len(), 1);
    // Older versions have no list of their own.
    let old = r#"[{"type": "ai", "content": "", "additional_kwargs": {"tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}}]}},
        {"type": "function", "name": "a", "content": "r"}]"#;
    assert_eq!(shown(&one(old)), ["a({})=r"]);
    let none = r#"[{"type": "ai", "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}}], "tool_calls": []}]"#;
    assert!(read_text("file.json", none).unwrap_err().contains("none of its calls could be read"));
}

#[test]
fn pieces_are_merged_by_their_ids() {
    let piece = |id: &str, more: &str| {
        format!(r#"[{{"type": "AIMessageChunk", "id": "{id}", {more}}}, {{"langgraph_node": "model"}}]"#)
    };
    let lines = [
        piece(
            "r",
            r#""content": "I ", "tool_call_chunks": [{"index": 0, "id": "1", "name": "a", "args": ""}]"#,
        ),
        piece("s", r#""content": "other", "usage_metadata": {"input_tokens": 7}"#),
        piece(
            "r",
            r#""content": "look.", "tool_call_chunks": [{"index": 0, "id": null, "name": null, "args": "{\"x\""}], "usage_metadata": {"input_tokens": 3}"#,
        ),
        piece(
            "r",
            r#""content": [], "tool_call_chunks": [{"index": 1, "id": "2", "name": "b", "args": "{"}, {"index": 0, "args": ": 1}"}]"#,
        ),
        piece("r", r#""content": "", "usage_metadata": {"output_tokens": 2}"#),
        r#"[{"type": "tool", "content": "r", "tool_call_id": "1"}, {"langgraph_node": "tools"}]"#.to_owned(),
    ];
    let trace = one(&lines.join("\n"));
    assert_eq!(shown(&trace), [r#"a({"x": 1})=r b({)=-"#.replace(": 1", ":1")]);
    assert_eq!((trace.usage.input, trace.usage.output), (Some(10), Some(2)));
}

#[test]
fn what_is_no_content_stays_a_value_and_hosted_tools_are_calls() {
    let trace = one(&format!(
        r#"[{{"type": "ai", "content": "", {CALLS}}}, {{"type": "tool", "tool_call_id": "1", "content": [{{"title": "t"}}]}},
        {{"type": "ai", "tool_calls": [], "content": [{{"type": "server_tool_call", "id": "s", "name": "web_search", "args": {{"q": "x"}}}},
        {{"type": "server_tool_result", "tool_call_id": "s", "status": "error", "output": "down"}}, {{"type": "text", "text": "A"}}, {{"type": "text", "text": "."}}]}}]"#
    ));
    assert_eq!(shown(&trace), [r#"a({"x":1})=[{"title":"t"}]"#, r#"web_search({"q":"x"})=down!"#]);
    assert_eq!(trace.final_reply.as_deref(), Some("A."));
}

#[test]
fn of_states_that_grow_the_last_counts() {
    let state = |messages: &[&str]| format!(r#"{{"messages": [{}]}}"#, messages.join(","));
    let (asked, reply) =
        (r#"{"type": "human", "content": "Q?"}"#, format!(r#"{{"type": "ai", "content": "", {CALLS}}}"#));
    let result = r#"{"type": "tool", "tool_call_id": "1", "content": "r"}"#;
    let stream = [state(&[asked]), state(&[asked, &reply]), state(&[asked, &reply, result])].join("\n");
    let trace = one(&stream);
    assert_eq!((shown(&trace), trace.id), (vec![r#"a({"x":1})=r"#.to_owned()], None));
    // Messages may be taken out of a state; what has none of the messages before is another conversation.
    let reply = reply.replace("\"ai\",", "\"ai\", \"id\": \"r\",");
    let cut = [state(&[asked, &reply, result]), state(&[&reply])].join("\n");
    assert_eq!(shown(&one(&cut)), [r#"a({"x":1})=r"#]);
    let (_, two) = read(&[state(&[asked, &reply]), state(&[asked])].join("\n"));
    assert_eq!(
        two.traces.iter().map(|trace| trace.id.as_deref()).collect::<Vec<_>>(),
        [Some("0"), Some("1")]
    );
}

/// A state of a thread with this many calls.
fn state(thread: &str, id: &str, parent: &str, calls: usize) -> String {
    let calls =
        (0..calls).map(|number| format!(r#"{{"type": "ai", "id": "{number}", "content": "", {CALLS}}}"#));
    let messages =
        std::iter::once(r#"{"type": "human", "content": "Q?"}"#.to_owned()).chain(calls).collect::<Vec<_>>();
    let config =
        |id: &str| format!(r#"{{"configurable": {{"thread_id": "{thread}", "checkpoint_id": "{id}"}}}}"#);
    let parent = if parent.is_empty() { "null".to_owned() } else { config(parent) };
    let messages = messages.join(",");
    format!(
        r#"{{"values": {{"messages": [{messages}]}}, "next": [], "config": {}, "parent_config": {parent}}}"#,
        config(id)
    )
}

#[test]
fn of_a_history_the_newest_state_counts_or_the_fullest_if_messages_were_taken_out() {
    let history = |states: &[String]| read(&format!("[{}]", states.join(",")));
    let (format, kept) = history(&[state("t", "3", "2", 2), state("t", "2", "1", 1), state("t", "1", "", 0)]);
    assert_eq!((format, kept.traces.len(), kept.traces[0].steps.len()), ("langgraph-states", 1, 2));
    assert_eq!(kept.traces[0].id.as_deref(), Some("t"));
    let (_, cut) = history(&[state("t", "3", "2", 1), state("t", "2", "1", 3), state("t", "1", "", 0)]);
    assert_eq!((cut.traces[0].steps.len(), notes(&cut.traces[0]).len()), (3, 1));
    // A longer state of another branch does not count.
    let (_, fork) = history(&[state("t", "3", "1", 1), state("t", "2", "1", 3), state("t", "1", "", 0)]);
    assert_eq!(
        (fork.traces[0].steps.len(), notes(&fork.traces[0])),
        (1, vec!["a state of another branch is left out"])
    );
    let (_, threads) = history(&[state("t", "1", "1", 1), state("u", "1", "", 2)]);
    assert_eq!(threads.traces.len(), 2);
}

#[test]
fn updates_are_put_together_and_may_write_a_message_again() {
    let update = |node: &str, message: &str| format!(r#"{{"{node}": {{"messages": [{message}]}}}}"#);
    let reply = |args: &str| {
        format!(
            r#"{{"type": "ai", "id": "r", "content": "", "tool_calls": [{{"id": "1", "name": "a", "args": {args}}}]}}"#
        )
    };
    let lines = [
        update("model", &reply(r#"{"x": 1}"#)),
        r#"{"__interrupt__": [{"value": "ok?"}]}"#.to_owned(),
        update("review", &reply(r#"{"x": 2}"#)),
        r#"{"other": null}"#.to_owned(),
        update("tools", r#"{"type": "tool", "tool_call_id": "1", "content": "r"}"#),
        update("cut", r#"{"type": "remove", "id": "r", "content": ""}"#),
    ];
    let (format, kept) = read(&lines.join("\n"));
    assert_eq!((format, shown(&kept.traces[0])), ("langgraph-updates", vec![r#"a({"x":2})=r"#.to_owned()]));
    assert_eq!(notes(&kept.traces[0]), ["the run was interrupted"]);
}

#[test]
fn wrong_types_do_no_harm() {
    let files = [
        r#"[{"type": "ai", "content": 3, "tool_calls": [1, {}], "usage_metadata": [], "response_metadata": 1}, {"type": "tool", "content": {}}, 4]"#,
        r#"[{"type": "AIMessageChunk", "id": "a", "content": {}, "tool_call_chunks": 3}, {"type": "AIMessageChunk", "id": "a", "content": [1]}]"#,
        r#"[{"lc": 1, "type": "constructor", "id": [3], "kwargs": 4}, {"lc": 1, "type": "constructor", "id": ["AIMessage"], "kwargs": []}]"#,
        r#"{"values": {"messages": {"type": "ai", "content": ""}}, "next": 1, "config": []}"#,
    ];
    for file in files {
        let _ = read_text("file.json", file);
    }
}
