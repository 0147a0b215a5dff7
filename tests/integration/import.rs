//! `m3 import`, `m3 compare-traces`, and traces where other commands take predictions.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Folder, m3, no_encoder, run, shared, text};

/// A chat with two calls at once, a failed one of them, and a picture.
fn chat(city: &str) -> Value {
    const PIXEL: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    json!({"messages": [
        {"role": "system", "content": "The key is sk-PLANTED."},
        {"role": "user", "content": [
            {"type": "text", "text": "How cold is it?"},
            {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PIXEL}")}}]},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "mcp__weather__now", "arguments": format!("{{\"city\": \"{city}\"}}")}},
            {"id": "2", "type": "function", "function": {"name": "mcp__weather__now", "arguments": "{\"city\": \"Lima\""}}]},
        {"role": "tool", "tool_call_id": "2", "content": "no JSON"},
        {"role": "tool", "tool_call_id": "1", "content": "-3"},
        {"role": "assistant", "content": "It is -3 degrees."}]})
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Imports, and returns what was written.
fn imported(folder: &Folder, files: &[&Path], options: &[&str]) -> Value {
    let out = folder.path().join("out/predictions.json");
    std::fs::create_dir_all(out.parent().unwrap()).unwrap();
    let output = run(no_encoder(folder).arg("import").args(files).arg("-o").arg(&out).args(options));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    read(&out)
}

#[test]
fn a_conversation_becomes_a_trajectory_with_its_picture_in_a_file() {
    let folder = Folder::new();
    let file = folder.json("weather.json", &chat("Oslo"));
    let found = imported(&folder, &[&file], &[]);
    let trajectory = &found[0];
    assert_eq!(trajectory["id"], "weather");
    assert_eq!(trajectory["question"], "How cold is it?");
    assert_eq!(trajectory["final_reply"], "It is -3 degrees.");
    let calls = &trajectory["steps"][0]["calls"];
    assert_eq!(calls[0], json!({"name": "weather/now", "arguments": {"city": "Oslo"}, "result": "-3"}));
    assert_eq!(calls[1]["arguments"], "{\"city\": \"Lima\"");
    assert_eq!(trajectory["import"]["format"], "openai-chat-messages");
    let image = folder.path().join("out").join(trajectory["image"].as_str().unwrap());
    assert!(
        image.starts_with(folder.path().join("out/images"))
            && std::fs::read(image).unwrap().starts_with(b"\x89PNG")
    );
    assert!(!found.to_string().contains("sk-PLANTED"));
}

#[test]
fn many_files_have_ids_of_their_own_and_a_report() {
    let folder = Folder::new();
    let first = folder.json("a/weather.json", &chat("Oslo"));
    folder.json("a/b/weather.json", &chat("Rome"));
    folder.write("a/notes.txt", "no trace");
    let report = folder.path().join("report.json");
    let traces = first.parent().unwrap().to_owned();
    let found = imported(&folder, &[&traces], &["--report", report.to_str().unwrap()]);
    let ids: Vec<&str> = found.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["weather", "weather~2"]);
    let report = read(&report);
    assert_eq!(
        (&report["trajectories"], &report["calls"], &report["media"]),
        (&json!(2), &json!(4), &json!(1))
    );
    let found = imported(&folder, &[&traces], &["--id", "{file}/{format}/{sample}"]);
    assert_eq!(found[0]["id"], "weather/openai-chat-messages/weather");
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_written() {
    let folder = Folder::new();
    let good = folder.json("good.json", &chat("Oslo"));
    let bad = folder.write("bad.txt", "no trace");
    let out = folder.path().join("out.jsonl");
    let import = |files: &[&PathBuf]| run(no_encoder(&folder).arg("import").args(files).arg("-o").arg(&out));
    let output = import(&[&bad]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("bad.txt") && !out.exists());
    let output = import(&[&good, &bad]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_to_string(&out).unwrap().lines().count(), 1);
    let output = run(no_encoder(&folder).arg("import").arg(&good).args(["--from", "openai-chatt", "--list"]));
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("openai-chat"));
}

#[test]
fn a_list_says_what_files_are_and_writes_nothing() {
    let folder = Folder::new();
    let file = folder.json("traces/weather.json", &chat("Oslo"));
    let output = run(no_encoder(&folder).arg("import").arg(file.parent().unwrap()).arg("--list"));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    let is_row = |line: &str| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        cells.len() == 5
            && cells[..4] == ["openai-chat-messages", "1", "2", "0"]
            && cells[4].ends_with("traces/weather.json")
    };
    assert!(shown.lines().any(is_row), "{shown}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn traces_are_scored_directly_and_held_to_references_made_of_traces() {
    let folder = Folder::new();
    let old = folder.json("old/weather.json", &chat("Oslo"));
    let new = folder.json("new/weather.json", &chat("Rome"));
    let references = imported(&folder, &[&old], &["--as", "references"]);
    assert_eq!(
        references[0]["steps"][0]["calls"][0],
        json!({"name": "weather/now", "arguments": {"city": "Oslo"}})
    );
    let references = folder.path().join("out/predictions.json");
    let Some(mut m3) = m3() else { return };
    let output = run(m3.arg("score").args([&old, &references]).args(["-q", "--format", "json"]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let score: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(score["aggregate"]["recall"], 1.0);
    let compare = |before: &Path, after: &Path| {
        let output = run(crate::support::m3().unwrap().arg("compare-traces").args([before, after]).args([
            "-q",
            "--fail-if-changed",
            "--format",
            "json",
        ]));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), report["tasks"][0]["state"].clone())
    };
    assert_eq!(compare(&old, &old), (Some(0), json!("same")));
    assert_eq!(compare(&old, &new), (Some(1), json!("changed")));
}

/// Each sample is recognized and imported as a user would do it; what it holds is tested in the crate.
#[test]
fn every_sample_is_imported_or_refused() {
    let Some(samples) = shared("traces") else { return };
    let folder = Folder::new();
    let output = run(no_encoder(&folder).arg("import").arg(&samples).arg("--list").args(["--report", "-"]));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    let start = shown.find('{').unwrap();
    let report: Value =
        serde_json::Deserializer::from_str(&shown[start..]).into_iter().next().unwrap().unwrap();
    let failed: Vec<&str> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|file| !file["error"].is_null())
        .map(|file| file["file"].as_str().unwrap())
        .collect();
    assert!(failed.iter().any(|file| file.ends_with("agentevals/graph/thread.json")), "{failed:?}");
}
