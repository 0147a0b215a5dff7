//! Messages about files that hold no trajectories say what they are.

use serde_json::json;

use super::REFERENCES;
use crate::support::{Folder, call, failure, no_encoder, run, shared, stdout, text};

#[test]
fn files_of_other_programs_are_called_by_their_name() {
    let folder = Folder::new();
    for (name, content, what) in [
        ("log.eval", b"PK\x03\x04\x14\0\0\0".as_slice(), "a zip archive, as Inspect's `.eval` logs are"),
        ("calls.csv", b"id,step,city\na,1,Bern\n", "a table (CSV)"),
        ("calls.txt", b"id\tstep\na\t1\n", "a table (CSV)"),
        ("calls.parquet", b"PAR1\0\0", "a Parquet table"),
        ("page.html", b"<!doctype html>", "XML or HTML"),
        (
            "score.json",
            br#"{"schema": "m3.score/1", "profile": "paper", "ledger": {}, "aggregate": {}}"#,
            "a score of `m3 score`",
        ),
    ] {
        let path = folder.write(name, content);
        for command in [vec!["score"], vec!["audit"]] {
            let (code, said) = failure(no_encoder(&folder).args(command).arg(&path).arg(REFERENCES));
            assert_eq!(code, 2, "{name}: {said}");
            assert_eq!(said.matches("error: ").count(), 1, "{name}: {said}");
            assert!(said.contains(what) && said.contains("m3 reads trajectories"), "{name}: {said}");
        }
        let output = run(no_encoder(&folder).arg("validate").arg(&path));
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stdout).contains(what), "{name}: {}", text(&output.stdout));
    }
}

/// A trajectory may have any additional keys.
#[test]
fn trajectories_with_keys_of_other_programs_are_trajectories() {
    let folder = Folder::new();
    let path = folder
        .json("p.json", &json!([{"id": "a", "steps": [], "messages": []}, {"id": "b", "messages": []}]));
    let output = run(no_encoder(&folder).arg("validate").arg(&path));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
}

/// Real files of twenty formats are read as predictions; what cannot be is refused with the reason.
#[test]
fn real_traces_are_read_as_they_are() {
    let Some(folder) = shared("traces") else { return };
    let scratch = Folder::new();
    let validate = |file: &str| run(no_encoder(&scratch).arg("validate").arg(folder.join(file)));
    for file in [
        "openai-chat/parallel-messages/messages.json",
        "anthropic/image-log/log.jsonl",
        "inspect/three-samples-eval/log.eval",
        "otel-genai/parallel-openai-spans/traces.jsonl",
        "openinference/phoenix-rest-error/spans.json",
        "claude-code/mcp-session/session.jsonl",
        "codex/mcp-rollout/rollout.jsonl",
        "sft/hermes-sharegpt/train.jsonl",
    ] {
        let output = validate(file);
        assert_eq!(output.status.code(), Some(0), "{file}: {}", text(&output.stdout));
    }
    let output = validate("agentevals/graph/thread.json");
    let said = text(&output.stdout);
    assert!(output.status.code() == Some(2) && said.contains("node"), "{said}");
}

/// Additional keys of another program do not make a trajectory that program's.
#[test]
fn trajectories_keep_the_keys_of_the_program_that_ran_the_model() {
    let folder = Folder::new();
    let steps = json!([{"calls": [call("image/crop", json!({}))]}]);
    for members in [json!({"finishReason": "stop"}), json!({"schema_version": "1", "agent": {}})] {
        let mut trajectory = json!({"id": "a", "steps": steps});
        trajectory.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        let file = folder.json("p.json", &json!([trajectory]));
        let said = stdout(no_encoder(&folder).arg("validate").arg(&file));
        assert!(said.contains("1 trajectory, 1 step, 1 call of 1 tool; 0 errors"), "{said}");
    }
}
