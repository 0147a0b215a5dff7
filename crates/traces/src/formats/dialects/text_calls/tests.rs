//! Calls in texts, as programs and models write them.

use crate::content::string;
use crate::testing::{read_text, shown};

/// What the program writes, and the calls and the answer in it.
#[track_caller]
fn check(messages: &str, calls: &[&str], answer: Option<&str>) {
    let (format, kept) = read_text("messages.json", messages).unwrap();
    let trace = &kept.traces[0];
    assert_eq!((format, shown(trace)), ("messages", calls.iter().map(|it| (*it).to_owned()).collect()));
    assert_eq!(trace.final_reply.as_deref(), answer, "{messages}");
    assert_eq!(trace.question.as_ref().unwrap().text(), "Q?");
}

#[test]
fn actions_in_texts_are_calls_and_what_the_user_writes_next_is_observed() {
    // tau-bench's prompt for models without calls.
    check(
        r#"[{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "Thought:\nt\nAction:\n{\"name\": \"a\", \"arguments\": {\"x\": 1}}"},
            {"role": "user", "content": "API output: r"}, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Thanks"}]"#,
        &[r#"a({"x":1})=API output: r"#],
        Some("Done."),
    );
    // ReAct, as agents of LangChain write it.
    check(
        r#"[{"role": "user", "content": "Q?"}, {"role": "assistant",
            "content": "I look.\nAction: a\nAction Input: {\"x\": 1}\nObservation: r\nThought: again\nAction: b\nAction Input: plain"},
            {"role": "user", "content": "Observation: s"}, {"role": "assistant", "content": "Final Answer: A."}]"#,
        &[r#"a({"x":1})=r"#, "b(plain)=Observation: s"],
        Some("A."),
    );
    // Words that name no tool and no arguments are what the model says.
    check(
        r#"[{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "Action: call them\n@home"}]"#,
        &[],
        Some("Action: call them\n@home"),
    );
}

/// The writing of Cline before it had calls of its own, after its documentation.
#[test]
fn elements_that_the_next_message_answers_are_calls() {
    check(
        r#"[{"role": "user", "content": "Q?"}, {"role": "assistant", "content": [{"type": "text", "text": "I read.\n\n<read_file>\n<path>a.py</path>\n<note>\n<b>\n</note>\n</read_file>"}]},
            {"role": "user", "content": [{"type": "text", "text": "[read_file for 'a.py'] Result:"}, {"type": "text", "text": "r"}]},
            {"role": "assistant", "content": "<attempt_completion>\n<result>\nA.\n</result>\n</attempt_completion>"}]"#,
        &[r#"read_file({"path":"a.py","note":"<b>"})=[read_file for 'a.py'] Result:"#.to_owned() + "\nr"]
            .each_ref()
            .map(String::as_str),
        Some("A."),
    );
    // Nobody answers an example of another language.
    check(
        r#"[{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "<div>\n<p>x</p>\n</div>"},
            {"role": "user", "content": "[div] fine"}, {"role": "assistant", "content": "A."}]"#,
        &[],
        Some("A."),
    );
}

/// What models without a parser of their own write, after their documentation.
#[test]
fn texts_that_are_nothing_but_calls_and_elements_are_calls() {
    for (text, role, result) in [
        (r#"{"tool": "a", "arguments": {"x": 1}}"#, "user", "r"),
        ("```json\n{\"name\": \"a\", \"arguments\": {\"x\": 1}}\n```", "tool", "r"),
        ("[a(x=1)]", "tool", "r"),
        (r#"[TOOL_CALLS][{"name": "a", "arguments": {"x": 1}}]"#, "tool", "r"),
        (r#"<|python_tag|>{"name": "a", "parameters": {"x": 1}}"#, "ipython", "r"),
        (r#"I look. <function=a>{"x": 1}</function>"#, "tool", "r"),
    ] {
        let content = string(text).to_text(m3_trajectory::json::Keys::AsRead);
        let messages = format!(
            r#"[{{"role": "user", "content": "Q?"}}, {{"role": "assistant", "content": {content}}}, {{"role": "{role}", "content": "r"}},
            {{"role": "assistant", "content": "A."}}]"#
        );
        check(&messages, &[&format!(r#"a({{"x":1}})={result}"#)], Some("A."));
    }
    check(
        r#"[{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "<calls>\n<invoke name=\"a\">\n<parameter name=\"x\">y</parameter>\n</invoke>\n</calls>"},
            {"role": "user", "content": "r"}, {"role": "assistant", "content": "A."}]"#,
        &[r#"a({"x":"y"})=r"#],
        Some("A."),
    );
    // What nobody answers, code, and lists that are none of calls are texts.
    for text in
        [r#"{"name": "a", "arguments": {"x": 1}}"#, "[a(x=1)]", "`<invoke name=\"a\">` calls it.", "[1, 2]"]
    {
        let content = string(text).to_text(m3_trajectory::json::Keys::AsRead);
        let asked = r#"{"role": "user", "content": "Q?"}"#;
        check(&format!(r#"[{asked}, {{"role": "assistant", "content": {content}}}]"#), &[], Some(text));
    }
}

/// gptme 0.35.
#[test]
fn calls_behind_a_sign_have_ids() {
    check(
        r#"[{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "I look.\n@shell(i1): {\"command\": \"ls\"}\n@shell(i2): {\"command\": \"ps\"}"},
            {"role": "system", "content": "r1", "call_id": "i1"}, {"role": "system", "content": "r2", "call_id": "i2"}]"#,
        &[r#"shell({"command":"ls"})=r1 shell({"command":"ps"})=r2"#],
        None,
    );
}

/// The members are those of SWE-agent 0.7 and of mini-swe-agent 1 as their documentation has them.
#[test]
fn commands_beside_texts_and_in_blocks_are_calls() {
    check(
        r#"{"history": [{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "I look.\n```\nls\n```", "thought": "I look.", "action": "ls\n"},
            {"role": "user", "content": "a.py"}], "trajectory": [{"action": "ls\n", "observation": "a.py", "thought": "I look."}]}"#,
        &[r#"bash({"command":"ls"})=a.py"#],
        None,
    );
    check(
        r#"{"trajectory_format": "mini-swe-agent-1", "messages": [{"role": "user", "content": "Q?"},
            {"role": "assistant", "content": "I look.\n```bash\nls\n```"}, {"role": "user", "content": "<returncode>0</returncode>"}]}"#,
        &[r#"bash({"command":"ls"})=<returncode>0</returncode>"#],
        None,
    );
}

/// Open `WebUI` 0.6 and later.
#[test]
fn calls_that_a_chat_program_shows_are_calls() {
    check(
        r#"[{"role": "user", "content": "Q?"}, {"role": "assistant", "content":
            "<details type=\"tool_calls\" done=\"true\" id=\"1\" name=\"a\" arguments=\"&quot;{\\&quot;x\\&quot;: 1}&quot;\" result=\"&quot;r&quot;\">\n<summary>Tool</summary>\n</details>\nA."}]"#,
        &[r#"a({"x":1})=r"#],
        Some("A."),
    );
}
