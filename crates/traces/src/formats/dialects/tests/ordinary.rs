//! Files that look like those of a program with a shape of its own, and are ordinary: no rule for others may change them.

use crate::testing::{read_text, shown};

/// What was read of a file with one trajectory: the steps, the question and the answer.
fn one(text: &str) -> (Vec<String>, Option<String>, Option<String>) {
    let (_, kept) = read_text("trace.json", text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let [trace] = &kept.traces[..] else { panic!("{} trajectories of {text}", kept.traces.len()) };
    (shown(trace), trace.question.as_ref().map(crate::content::Content::text), trace.final_reply.clone())
}

/// A chat in which the assistant writes this text.
fn answer(text: &str) -> String {
    let text = crate::content::string(text).to_text(m3_trajectory::json::Keys::AsRead);
    format!(r#"[{{"role": "user", "content": "Q?"}}, {{"role": "assistant", "content": {text}}}]"#)
}

#[test]
fn examples_of_calls_in_an_answer_are_text() {
    for text in [
        "ReAct looks so:\nAction: search\nAction Input: {\"q\": 1}\nObservation: r\nThat is all.",
        "```\nAction: search\nAction Input: {\"q\": 1}\n```",
        "Write\n@shell(i1): {\"command\": \"ls\"}",
        "Use `<details type=\"note\">x</details>`, and then go on.",
        "Qwen writes:\n```xml\n<tool_call>{\"name\": \"a\", \"arguments\": {}}</tool_call>\n```\nor `<tool_call>`.",
        "Run this:\n```bash\nls\n```",
    ] {
        let (steps, question, reply) = one(&answer(text));
        assert_eq!((steps.len(), question.as_deref(), reply.as_deref()), (0, Some("Q?"), Some(text)));
    }
}

#[test]
fn a_call_that_a_text_tells_of_counts_once() {
    let text = r#"[{"role": "user", "content": [{"text": "Q?"}]}, {"role": "assistant", "content": [{"text": "Action: a\nAction Input: {\"x\": 1}"},
        {"toolUse": {"toolUseId": "1", "name": "a", "input": {"x": 1}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "1", "status": "success", "content": [{"text": "r"}]}}]},
        {"role": "assistant", "content": [{"text": "A."}]}, {"role": "user", "content": [{"text": "Second?"}]}]"#;
    assert_eq!(one(text).0, [r#"a({"x":1})=r"#]);
}

/// A result of gptme ends the call; what the user asks then is no result.
#[test]
fn a_question_after_a_result_is_no_result() {
    let text = r#"[{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "@shell(i1): {\"command\": \"ls\"}"},
        {"role": "system", "content": "r", "call_id": "i1"}, {"role": "user", "content": "Second?"}, {"role": "assistant", "content": "A."}]"#;
    assert_eq!(
        one(text),
        (vec![r#"shell({"command":"ls"})=r"#.to_owned()], Some("Q?".to_owned()), Some("A.".to_owned()))
    );
}

#[test]
fn names_alone_change_no_roles_and_times_that_rise_no_order() {
    let call = r#"{"role": "assistant", "name": "worker", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "a", "arguments": "{}"}}]}"#;
    let text = format!(
        r#"[{{"role": "assistant", "name": "planner", "content": "Which city?"}}, {{"role": "user", "content": "Rome"}}, {call},
        {{"role": "tool", "tool_call_id": "1", "content": "r"}}, {{"role": "assistant", "name": "planner", "content": "Sunny."}}]"#
    );
    let (steps, question, reply) = one(&text);
    assert_eq!((steps.len(), question.as_deref(), reply.as_deref()), (1, Some("Rome"), Some("Sunny.")));
    let message = |time: u64, rest: &str| format!(r#"{{"created_at": {time}, {rest}}}"#);
    let all = [
        message(5, r#""role": "user", "content": "Q?""#),
        message(
            6,
            r#""role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}}]"#,
        ),
        message(7, r#""role": "tool", "tool_call_id": "1", "content": "r""#),
        message(0, r#""role": "assistant", "content": "A.""#),
    ];
    assert_eq!(one(&format!("[{}]", all.join(","))).2.as_deref(), Some("A."));
}

#[test]
fn an_event_that_ends_a_call_repeats_it() {
    for end in [
        r#"{"type": "tool_call_completed", "tool_call_id": "1", "name": "a", "arguments": {"x": 1}, "result": "r"}"#,
        r#"{"type": "tool.execution_complete", "tool_call_id": "1", "toolName": "a", "arguments": {"x": 1}, "result": "r"}"#,
        r#"{"type": "observation", "tool_call_id": "1", "name": "a", "arguments": {"x": 1}, "content": "r"}"#,
    ] {
        let text = format!(
            r#"[{{"type": "user_message", "content": "Q?"}}, {{"type": "tool_call_started", "tool_call_id": "1", "name": "a", "arguments": {{"x": 1}}}}, {end}]"#
        );
        assert_eq!(one(&text).0, [r#"a({"x":1})=r"#], "{end}");
    }
}

#[test]
fn records_by_ids_are_no_data_frame() {
    let chat = |tool: &str| {
        format!(
            r#"{{"messages": [{{"role": "user", "content": "Q?"}}, {{"role": "assistant", "tool_calls": [{{"id": "1", "function": {{"name": "{tool}", "arguments": "{{}}"}}}}]}}], "reward": 1}}"#
        )
    };
    let text = format!(
        r#"{{"task-1": {}, "task-2": {}, "task-3": {{"messages": null, "reward": 0}}}}"#,
        chat("a"),
        chat("b")
    );
    let (_, kept) = read_text("runs.json", &text).unwrap();
    let all: Vec<_> = kept.traces.iter().map(|trace| (trace.id.as_deref(), shown(trace))).collect();
    assert_eq!(
        all[..2],
        [(Some("task-1"), vec!["a({})=-".to_owned()]), (Some("task-2"), vec!["b({})=-".to_owned()])]
    );
}

/// An export of Claude with a conversation in which nothing was written.
#[test]
fn an_empty_conversation_does_not_spoil_the_others() {
    let text = r#"[{"uuid": "1", "chat_messages": []}, {"uuid": "2", "chat_messages": [{"sender": "human", "text": "Q?"},
        {"sender": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "a", "input": {}}]}]}]"#;
    let (_, kept) = read_text("conversations.json", text).unwrap();
    assert_eq!((kept.traces.len(), kept.warnings.len()), (1, 1));
    let lines = format!(
        "{{\"version\": 1}}\n{text}\n{text}\n",
        text = answer("A.").replace('[', "{\"messages\": [").replace(']', "]}")
    );
    let (_, kept) = read_text("chats.jsonl", &lines).unwrap();
    assert_eq!((kept.traces.len(), kept.warnings.len()), (2, 1));
}
