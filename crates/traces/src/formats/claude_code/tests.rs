use std::fmt::Write as _;

use crate::Trace;
use crate::testing::{read_file, read_text, shown};

/// A line of a session: its uuid, that of its parent, members of its own, and the message.
fn line(uuid: &str, parent: &str, kind: &str, more: &str, message: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    let side = if more.contains("isSidechain") { "" } else { "\"isSidechain\":false," };
    format!(
        "{{\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"type\":\"{kind}\",{side}{more}\"sessionId\":\"s\",\"message\":{message}}}\n"
    )
}

fn asks(uuid: &str, parent: &str, text: &str) -> String {
    line(uuid, parent, "user", "", &format!("{{\"role\":\"user\",\"content\":\"{text}\"}}"))
}

fn calls(uuid: &str, parent: &str, reply: &str, call: &str, tool: &str) -> String {
    let usage = "\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":2,\"output_tokens\":3}";
    let block = format!("{{\"type\":\"tool_use\",\"id\":\"{call}\",\"name\":\"{tool}\",\"input\":{{}}}}");
    line(
        uuid,
        parent,
        "assistant",
        "",
        &format!("{{\"id\":\"{reply}\",\"model\":\"m\",\"content\":[{block}],{usage}}}"),
    )
}

fn says(uuid: &str, parent: &str, reply: &str, text: &str) -> String {
    let content = format!("[{{\"type\":\"text\",\"text\":\"{text}\"}}]");
    line(
        uuid,
        parent,
        "assistant",
        "",
        &format!("{{\"id\":\"{reply}\",\"model\":\"m\",\"content\":{content}}}"),
    )
}

fn gets(uuid: &str, parent: &str, call: &str, text: &str) -> String {
    let block = format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"{call}\",\"content\":\"{text}\"}}");
    line(uuid, parent, "user", "", &format!("{{\"content\":[{block}]}}"))
}

fn one(lines: &[String]) -> Trace {
    let (format, mut kept) = read_text("session.jsonl", &lines.concat()).unwrap();
    assert_eq!(format, "claude-code");
    assert_eq!(kept.traces.len(), 1);
    kept.traces.remove(0)
}

#[test]
fn lines_of_a_reply_are_one_step_whatever_stands_between_and_count_their_tokens_once() {
    let trace = one(&[
        asks("1", "", "Q?"),
        calls("2", "1", "m1", "a", "A"),
        gets("3", "2", "a", "ra"),
        calls("4", "2", "m1", "b", "mcp__shop__b"),
        gets("5", "4", "b", "rb"),
        says("6", "5", "m2", "End."),
    ]);
    assert_eq!(shown(&trace), ["A({})=ra shop/b({})=rb"]);
    assert_eq!((trace.usage.input, trace.usage.cached, trace.usage.output), (Some(12), Some(2), Some(3)));
    assert_eq!((trace.final_reply.as_deref(), trace.id.as_deref()), (Some("End."), Some("s")));
    assert_eq!(trace.notes.iter().count(), 0);
}

#[test]
fn branches_that_were_given_up_and_copies_are_left_out() {
    let trace = one(&[
        asks("1", "", "Old?"),
        calls("2", "1", "m0", "x", "Old"),
        gets("3", "2", "x", "r"),
        asks("4", "", "Q?"),
        calls("5", "4", "m1", "a", "A"),
        gets("6", "5", "a", "r"),
        calls("5", "4", "m1", "a", "A"),
        gets("6", "5", "a", "r"),
        says("7", "6", "m2", "First."),
        says("8", "6", "m3", "Second."),
    ]);
    assert_eq!(shown(&trace), ["A({})=r"]);
    assert_eq!(trace.question.unwrap().text(), "Q?");
    assert_eq!(trace.final_reply.as_deref(), Some("Second."));
    assert_eq!(
        trace.notes.iter().collect::<Vec<_>>(),
        [("a message of a branch that was given up is left out", 4)]
    );
}

#[test]
fn a_compaction_is_bridged_and_its_summary_is_no_question() {
    let boundary = "\"subtype\":\"compact_boundary\",\"logicalParentUuid\":\"3\",";
    let summary = r#"{"role":"user","content":"This session is being continued"}"#;
    let meta = r#"{"role":"user","content":"Caveat: .."}"#;
    let synthetic = r#"{"id":"z","model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}"#;
    let trace = one(&[
        line("0", "", "user", "\"isMeta\":true,", meta),
        asks("1", "0", "Q?"),
        calls("2", "1", "m1", "a", "A"),
        gets("3", "2", "a", "r"),
        line("4", "", "system", boundary, "null"),
        line("5", "4", "user", "\"isCompactSummary\":true,", summary),
        calls("6", "5", "m2", "b", "B"),
        gets("7", "6", "b", "r"),
        says("8", "7", "m3", "End."),
        line("9", "8", "assistant", "", synthetic),
    ]);
    assert_eq!(shown(&trace), ["A({})=r", "B({})=r"]);
    assert_eq!(trace.question.unwrap().text(), "Q?");
    assert_eq!((trace.final_reply.as_deref(), trace.model.as_deref()), (Some("End."), Some("m")));
}

#[test]
fn circles_and_missing_parents_end_the_path_without_losing_what_is_before() {
    let trace =
        one(&[calls("1", "3", "m1", "a", "A"), gets("2", "1", "a", "r"), says("3", "gone", "m2", "End.")]);
    assert_eq!((shown(&trace), trace.final_reply.as_deref()), (vec!["A({})=r".to_owned()], Some("End.")));
}

#[test]
fn files_that_were_joined_are_several_conversations() {
    let other = |text: String| text.replace("\"sessionId\":\"s\"", "\"sessionId\":\"t\"");
    let lines = [
        asks("1", "", "Q?"),
        says("2", "1", "m1", "One."),
        other(asks("3", "", "R?")),
        other(says("4", "3", "m1", "Two.")),
    ];
    let (_, kept) = read_text("session.jsonl", &lines.concat()).unwrap();
    let answers: Vec<_> =
        kept.traces.iter().map(|it| (it.id.as_deref(), it.final_reply.as_deref())).collect();
    assert_eq!(answers, [(Some("s"), Some("One.")), (Some("t"), Some("Two."))]);
    // A session that was resumed goes on under another id.
    let resumed = [
        asks("1", "", "Q?"),
        says("2", "1", "m1", "One."),
        other(asks("3", "2", "R?")),
        other(says("4", "3", "m2", "Two.")),
    ];
    assert_eq!(one(&resumed).id.as_deref(), Some("t"));
}

#[test]
fn side_chains_in_the_file_are_sub_agents() {
    let side = |text: String| text.replace("\"isSidechain\":false", "\"isSidechain\":true");
    let lines = [
        asks("1", "", "Q?"),
        calls("2", "1", "m1", "a", "Task"),
        side(asks("x1", "", "SUB")),
        side(calls("x2", "x1", "m9", "i", "Inner")),
        side(gets("x3", "x2", "i", "r")),
        gets("3", "2", "a", "done"),
    ];
    let trace = one(&lines);
    assert_eq!(shown(&trace), ["Task({})=done"]);
    let nested: Vec<(&str, Vec<String>)> =
        trace.nested.iter().map(|(name, it)| (name.as_str(), shown(it))).collect();
    assert_eq!(nested, [("agent-1", vec!["Inner({})=r".to_owned()])]);
    // The lines of an agent alone are a trajectory.
    let alone = one(&lines[2..5]);
    assert_eq!((alone.id.as_deref(), shown(&alone)), (Some("s/agent-1"), vec!["Inner({})=r".to_owned()]));
}

#[test]
fn agents_in_files_beside_the_session_are_those_that_calls_began() {
    let folder = tempfile::tempdir().unwrap();
    let agents = folder.path().join("one/subagents");
    std::fs::create_dir_all(&agents).unwrap();
    let session = [
        asks("1", "", "Q?"),
        calls("2", "1", "m1", "a", "Agent"),
        gets("3", "2", "a", "done"),
        calls("4", "3", "m2", "b", "Agent"),
        gets("5", "4", "b", "done")
            .replace("\"type\":\"user\"", "\"type\":\"user\",\"toolUseResult\":{\"agentId\":\"named\"}"),
    ];
    std::fs::write(folder.path().join("one.jsonl"), session.concat()).unwrap();
    let agent = |name: &str, call: &str, begun: Option<&str>| {
        let lines = [asks("x1", "", "SUB"), calls("x2", "x1", "m9", call, name)].concat();
        let lines =
            lines.replace("\"isSidechain\":false", &format!("\"isSidechain\":true,\"agentId\":\"{name}\""));
        std::fs::write(agents.join(format!("agent-{name}.jsonl")), lines).unwrap();
        if let Some(begun) = begun {
            std::fs::write(
                agents.join(format!("agent-{name}.meta.json")),
                format!("{{\"toolUseId\":\"{begun}\"}}"),
            )
            .unwrap();
        }
    };
    agent("first", "c", Some("a"));
    agent("deep", "d", Some("c"));
    agent("named", "e", None);
    agent("stray", "f", Some("elsewhere"));
    std::fs::write(agents.join("agent-broken.jsonl"), "no JSON").unwrap();
    std::fs::write(agents.join("other.jsonl"), session.concat()).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(agents.join("agent-first.jsonl"), agents.join("agent-link.jsonl")).unwrap();
    let (_, kept) = read_file(&folder.path().join("one.jsonl")).unwrap();
    let names: Vec<&str> = kept.traces[0].nested.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["deep", "first", "named"]);
    let mut notes = String::new();
    for (note, count) in kept.traces[0].notes.iter() {
        writeln!(notes, "{count} {note}").unwrap();
    }
    assert_eq!(
        notes,
        "1 a sub-agent that no call began is left out\n\
         1 the file of a sub-agent cannot be read\n"
    );
}

#[test]
fn sessions_and_streams_are_told_apart_also_by_headers() {
    let header = r#"{"type":"queue-operation","operation":"enqueue","sessionId":"s"}"#;
    let text = [&format!("{header}\n").repeat(12), asks("1", "", "Q?").as_str()].concat();
    assert_eq!(read_text("x.jsonl", &text).unwrap().0, "claude-code");
    assert!(read_text("x.jsonl", header).unwrap_err().contains("without messages"));
}
