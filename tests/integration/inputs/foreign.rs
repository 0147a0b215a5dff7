//! Messages about files that hold no trajectories say what they are.

use serde_json::json;

use super::REFERENCES;
use crate::support::{Folder, call, failure, no_encoder, run, shared, stdout, text};

#[test]
fn files_of_other_programs_are_called_by_their_name() {
    let folder = Folder::new();
    let messages = json!([
        {"role": "user", "content": "Crop it."},
        {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "crop", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "done"},
    ]);
    let (list, object) = (messages.to_string(), json!({"model": "m", "messages": messages}).to_string());
    let lines = format!("{object}\n{object}\n");
    for (name, content, what) in [
        ("messages.json", list.as_bytes(), "chat messages"),
        ("request.json", object.as_bytes(), "conversations of chat messages"),
        ("log.jsonl", lines.as_bytes(), "conversations of chat messages"),
        ("log.eval", b"PK\x03\x04\x14\0\0\0", "a zip archive, as Inspect's `.eval` logs are"),
        ("calls.csv", b"id,step,tool\na,1,crop\n", "a table (CSV)"),
        ("calls.txt", b"id\tstep\na\t1\n", "a table (CSV)"),
        ("calls.parquet", b"PAR1\0\0", "a Parquet table"),
        ("page.html", b"<!doctype html>", "XML or HTML"),
        ("traces.json", b"{\"resourceSpans\": []}", "OpenTelemetry traces"),
        ("score.json", br#"{"schema": "m3.score/1", "profile": "paper", "ledger": {}, "aggregate": {}}"#, "a score of `m3 score`"),
        ("atif.json", br#"{"schema_version": "ATIF-v1.7", "agent": {}, "steps": [{"step_id": 1, "tool_calls": [{"function_name": "f"}]}]}"#, "ATIF"),
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

/// Real files of twenty formats: each is refused with one error that says what it is. Formats that cannot be
/// recognized by their content are left out.
#[test]
fn real_traces_are_called_by_their_name() {
    let Some(folder) = shared("traces") else { return };
    let scratch = Folder::new();
    for (file, what) in [
        ("openai-chat/parallel-messages/messages.json", "chat messages"),
        ("anthropic/parallel-messages/messages.json", "chat messages"),
        ("anthropic/error-request/request.json", "conversations of chat messages"),
        ("anthropic/image-log/log.jsonl", "a log of a model's requests"),
        ("gemini/parallel-contents/contents.json", "chat messages (Gemini, Vercel AI SDK)"),
        ("gemini/error-snake/contents.json", "(Gemini)"),
        ("inspect/picture-json/log.json", "an Inspect log"),
        ("otel-genai/parallel-openai-events/logs.jsonl", "OpenTelemetry logs"),
        ("vercel-ai/error-telemetry-v6/traces.json", "OpenTelemetry traces"),
        ("vercel-ai/parallel-result-v7/result.json", "Vercel"),
        ("atif/codex-v1.7/trajectory.json", "ATIF"),
        ("langchain/parallel-messages-to-dict/messages.json", "chat messages (LangChain)"),
        ("openinference/phoenix-rest-error/spans.json", "spans of a trace"),
        ("openai-agents/parallel-trace-chat/trace.jsonl", "Agents SDK"),
        ("claude-code/mcp-session/session.jsonl", "Claude Code"),
        ("claude-code/files-stream/stream.jsonl", "Claude Code"),
        ("codex/files-exec-stream/stream.jsonl", "Codex"),
        ("codex/mcp-rollout/rollout.jsonl", "Codex"),
        ("adk/parallel-session/session.json", "Agent Development Kit"),
        ("adk/evalset/demo.evalset.json", "Agent Development Kit"),
        ("promptfoo/chat/results.json", "promptfoo"),
        ("sft/hermes-sharegpt/train.jsonl", "ShareGPT"),
        ("sft/trl-messages/train.jsonl", "conversations of chat messages"),
    ] {
        let (code, said) = failure(no_encoder(&scratch).arg("score").arg(folder.join(file)).arg(REFERENCES));
        assert_eq!(code, 2, "{file}: {said}");
        assert_eq!(said.matches("error: ").count(), 1, "{file}: {said}");
        assert!(said.contains(what), "{file}: {said}");
    }
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
