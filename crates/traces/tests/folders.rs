//! Folders where a file of trajectories may be named.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::path::Path;

use m3_traces::TRACES;
use m3_trajectory::{Duplicates, Severity, TrajectoryFile};

fn chat(tool: &str) -> String {
    format!(
        r#"{{"messages": [{{"role": "user", "content": "q"}}, {{"role": "assistant", "tool_calls": [{{"id": "1", "function": {{"name": "{tool}", "arguments": "{{}}"}}}}]}}]}}"#
    )
}

fn scan(folder: &Path) -> TrajectoryFile {
    TrajectoryFile::scan(folder, TRACES, Duplicates::Error, &mut |_, _| ()).unwrap()
}

/// The id and the tools of each trajectory.
fn in_short(file: &TrajectoryFile) -> Vec<String> {
    let trajectories = (0..file.len()).map(|index| file.read(index).unwrap());
    let line = |trajectory: m3_trajectory::Trajectory| {
        let tools: Vec<&str> = trajectory.calls().map(|(_, call)| call.tool.as_str()).collect();
        format!("{} {}", trajectory.id, tools.join(" "))
    };
    trajectories.map(line).collect()
}

#[test]
fn a_folder_stands_for_all_traces_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("b.json", &chat("f"));
    write("notes.txt", "no trace");
    std::fs::create_dir(folder.path().join("more")).unwrap();
    write("more/b.json", &chat("g"));
    write("own.json", r#"[{"id": "o", "steps": [{"calls": [{"name": "s/h", "arguments": {}}]}]}]"#);
    let file = scan(folder.path());
    assert_eq!(in_short(&file), ["b f", "b~2 g", "o s/h"]);
    let warnings: Vec<String> = file.problems().iter().map(|problem| problem.message.clone()).collect();
    assert_eq!(
        warnings,
        [
            "more/b.json: the id `b` stands in another file too; this one is `b~2`",
            "1 file of no known format left out"
        ]
    );
    let digest = file.digest().unwrap();
    write("b.json", &chat("other"));
    assert_ne!(scan(folder.path()).digest().unwrap(), digest);
    // A run's folder stands for its predictions.
    write("predictions.json", r#"[{"id": "p", "steps": [{"calls": [{"name": "s/h", "arguments": {}}]}]}]"#);
    assert_eq!(in_short(&scan(folder.path())), ["p s/h"]);
}

#[test]
fn yaml_in_a_folder_is_read_and_what_is_none_of_ours_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let calls = "tool_calls: [{id: c, function: {name: f, arguments: '{}'}}]";
    write("a.yaml", &format!("messages:\n- {{role: user, content: q}}\n- {{role: assistant, {calls}}}\n"));
    write("chart.yaml", "name: {{ .Values.name }}\n  - : ]");
    write("README.md", "---\ntitle: runs\n---\n# Runs: *all* `{` of them\n- [x\n");
    let file = scan(folder.path());
    assert_eq!(in_short(&file), ["a f"]);
    let warnings: Vec<String> = file.problems().iter().map(|problem| problem.message.clone()).collect();
    assert!(warnings[0].starts_with("chart.yaml: ") && warnings[0].contains("as YAML"), "{warnings:?}");
    assert_eq!(warnings[1..], ["2 files of no known format left out"]);
    let broken =
        TrajectoryFile::scan(&folder.path().join("chart.yaml"), TRACES, Duplicates::Error, &mut |_, _| ());
    assert!(broken.unwrap_err().to_string().contains("as YAML"));
}

/// The names are those of Strands' `FileSessionManager`; the tenth message comes after the second.
#[test]
fn a_session_in_files_of_its_messages_is_one_trace() {
    let folder = tempfile::tempdir().unwrap();
    let messages = folder.path().join("agent_default/messages");
    std::fs::create_dir_all(&messages).unwrap();
    std::fs::write(folder.path().join("agent_default/agent.json"), r#"{"agent_id": "default"}"#).unwrap();
    for (number, content) in [
        (0, r#""user", "content": [{"text": "q"}]"#),
        (2, r#""assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "f", "input": {}}}]"#),
        (
            10,
            r#""user", "content": [{"toolResult": {"toolUseId": "1", "status": "success", "content": [{"text": "r"}]}}]"#,
        ),
        (11, r#""assistant", "content": [{"text": "done"}]"#),
    ] {
        let text = format!("{{\n  \"message\": {{\"role\": {content}}},\n  \"message_id\": {number}\n}}");
        std::fs::write(messages.join(format!("message_{number}.json")), text).unwrap();
    }
    let file = scan(folder.path());
    assert_eq!(in_short(&file), ["agent_default f"]);
    let trajectory = file.read(0).unwrap();
    assert_eq!(
        (trajectory.question.as_deref(), trajectory.final_reply.as_deref()),
        (Some("q"), Some("done"))
    );
    assert_eq!(
        trajectory.steps[0].calls[0].result.as_ref().map(m3_trajectory::json::Json::to_plain_text),
        Some("r".to_owned())
    );
}

#[test]
fn a_folder_without_traces_and_one_with_lost_calls_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let errors = || -> Vec<String> {
        let file = scan(folder.path());
        let problems = file.problems().iter().filter(|problem| problem.severity == Severity::Error);
        problems.map(|problem| problem.message.clone()).collect()
    };
    assert_eq!(errors(), ["no file in this folder (0 files) has a format that m3 reads"]);
    std::fs::write(folder.path().join("a.json"), chat("f")).unwrap();
    assert_eq!(errors(), Vec::<String>::new());
    std::fs::write(folder.path().join("b.csv"), "id,expected_tools\n1,\"[{'x': 3}]\"\n").unwrap();
    let [error] = &errors()[..] else { panic!("{:?}", errors()) };
    assert!(error.starts_with("b.csv: a record is left out"), "{error}");
    // Without a format that reads folders, a folder is refused as before.
    assert!(TrajectoryFile::open(folder.path(), Duplicates::Error).is_err());
}

#[test]
fn expected_calls_are_named_with_the_command_that_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    std::fs::write(
        &path,
        r#"[{"id": "1", "question": "q", "expected_tool_calls": [{"name": "f", "arguments": {}}]}]"#,
    )
    .unwrap();
    let file = scan(&path);
    assert!(!file.is_tasks() && in_short(&file) == ["1 f"]);
    let note = file.problems().iter().next().unwrap();
    assert!(note.severity == Severity::Note && note.message.contains("m3 import --as references"), "{note}");
    let both = r#"[{"id": "1", "tools_called": ["f"], "expected_tools": ["g"]}]"#;
    std::fs::write(&path, both).unwrap();
    let warning = scan(&path)
        .problems()
        .iter()
        .find(|problem| problem.severity == Severity::Warning)
        .unwrap()
        .message
        .clone();
    assert!(warning.starts_with("the calls that should be made stand beside"), "{warning}");
}
