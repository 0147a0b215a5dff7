//! `m3 export`: what is written is imported as the same, pictures are found where runs keep them, and nothing outside is read.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Folder, failure, json_of, no_encoder, root, run, stdout, text};

const TARGETS: [&str; 4] = ["openai", "anthropic", "atif", "otel"];

/// A picture of one pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";

/// The steps of trajectories by their ids, with the pictures' hashes in place of their places.
fn steps(path: &Path) -> Vec<(Value, Value)> {
    let all = json_of(path);
    let plain = |call: &Value| {
        let parts = call["result"].get("content").unwrap_or(&call["result"]);
        let part = |part: &Value| match part["file"].as_str().or(part["uri"].as_str()) {
            Some(file) => json!(std::fs::metadata(path.parent().unwrap().join(file)).unwrap().len()),
            None => part["text"].clone(),
        };
        let result = match parts.as_array().map(Vec::as_slice) {
            // Messages have one text where it is all.
            Some([text]) if text["type"] == "text" => text["text"].clone(),
            Some(parts) => parts.iter().map(part).collect(),
            None => parts.clone(),
        };
        json!([call["name"], call["arguments"], result])
    };
    let step = |step: &Value| step["calls"].as_array().unwrap().iter().map(plain).collect::<Value>();
    let steps = |it: &Value| it["steps"].as_array().unwrap().iter().map(step).collect::<Value>();
    all.as_array().unwrap().iter().map(|it| (it["id"].clone(), steps(it))).collect()
}

#[test]
fn the_repositorys_predictions_come_back() {
    let folder = Folder::new();
    let before = steps(&root().join("trajectories/predictions.json"));
    for target in TARGETS {
        let (out, back) = (folder.path().join(target), folder.path().join(format!("{target}.back.json")));
        let exported = run(no_encoder(&folder)
            .args(["export", "trajectories/predictions.json", "--to", target, "-o"])
            .arg(&out));
        assert!(exported.status.success(), "{}", text(&exported.stderr));
        assert!(text(&exported.stderr).contains("wrote 15 trajectories"), "{}", text(&exported.stderr));
        stdout(no_encoder(&folder).arg("import").arg(&out).arg("-o").arg(&back));
        assert_eq!(steps(&back), before, "{target}");
        // The task's picture is in the folder above that of the predictions.
        let image = json_of(&back)[0]["image"].as_str().unwrap().to_owned();
        let shown = std::fs::read(folder.path().join(image)).unwrap();
        assert_eq!(shown, std::fs::read(root().join("images/shelf.png")).unwrap(), "{target}");
    }
}

/// A run's folder: a call with a picture in the task's workspace, one that failed, one whose file is gone.
fn a_run(folder: &Folder) -> PathBuf {
    let run = folder.path().join("run");
    std::fs::create_dir_all(run.join("workspaces/a/results")).unwrap();
    std::fs::write(run.join("workspaces/a/results/1.png"), PNG).unwrap();
    std::fs::write(folder.path().join("outside.png"), PNG).unwrap();
    let picture = |file: &str| json!({"type": "image", "file": file, "mimeType": "image/png"});
    let prediction = json!({"id": "a", "question": "What is it?", "model": {"requested": "openai:gpt-5", "reported": "gpt-5-x"},
        "steps": [{"step": 1, "calls": [
            {"name": "image/crop", "arguments": {"x": 1}, "result": {"content": [{"type": "text", "text": "cropped"}, picture("results/1.png")]}, "is_error": false, "outcome": "success", "milliseconds": 7},
            {"name": "image/crop", "arguments": "{\"x\"", "result": "not made", "is_error": true, "outcome": "illegal_format", "milliseconds": 0},
            {"name": "image/crop", "arguments": {}, "result": {"content": [picture("../../../outside.png"), picture("gone.png")]}}]}],
        "final_reply": "A dot.", "usage": {"input_tokens": 5, "output_tokens": 2}, "run": {"repeat": 1, "milliseconds": 900}});
    std::fs::write(run.join("predictions.json"), json!([prediction]).to_string()).unwrap();
    run
}

#[test]
fn a_runs_pictures_are_in_what_is_written_and_nothing_outside_is() {
    let folder = Folder::new();
    let run_folder = a_run(&folder);
    for target in TARGETS {
        let out = folder.path().join(format!("{target}.json"));
        let exported =
            run(no_encoder(&folder).arg("export").arg(&run_folder).args(["--to", target, "-o"]).arg(&out));
        let said = text(&exported.stderr);
        assert!(exported.status.success(), "{said}");
        assert!(said.contains("2 files that the trajectories name"), "{said}");
        assert_eq!(
            said.contains("--to openai: failures of calls have no mark"),
            target == "openai",
            "{said}"
        );
        let back = folder.path().join("back.json");
        stdout(no_encoder(&folder).arg("import").arg(&out).arg("-o").arg(&back));
        let back = json_of(&back);
        let calls = &back[0]["steps"][0]["calls"];
        let parts = calls[0]["result"].as_array().unwrap();
        assert_eq!(parts[0]["text"], "cropped");
        let key = if target == "atif" { "uri" } else { "file" };
        let file = folder.path().join(parts[1][key].as_str().unwrap());
        assert_eq!(std::fs::read(file).unwrap(), PNG, "{target}");
        assert_eq!((&calls[1]["arguments"], &calls[1]["result"]), (&json!("{\"x\""), &json!("not made")));
        assert_eq!(calls[1]["is_error"] == true, target != "openai", "{target}");
        assert_eq!(calls[2]["result"][0]["uri"], "../../../outside.png");
        assert_eq!((&back[0]["id"], &back[0]["model"]), (&json!("a"), &json!("gpt-5-x")));
        assert_eq!(back[0]["usage"]["input_tokens"] == 5, ["atif", "otel"].contains(&target));
    }
}

#[test]
fn several_documents_are_a_list_lines_or_a_folder() {
    let folder = Folder::new();
    let predictions = folder.json("p.json", &json!([{"id": "a", "question": "q", "steps": []}, {"id": "B", "question": "q", "steps": []}, {"id": "a", "question": "q", "steps": []}]));
    let export = |out: &str| {
        let out = folder.path().join(out);
        stdout(no_encoder(&folder).arg("export").arg(&predictions).args(["--to", "atif", "-o"]).arg(&out));
        out
    };
    assert_eq!(json_of(export("list.json")).as_array().unwrap().len(), 3);
    assert_eq!(std::fs::read_to_string(export("lines.jsonl")).unwrap().lines().count(), 3);
    let files = std::fs::read_dir(export("folder/")).unwrap().map(|entry| entry.unwrap().path());
    let mut ids: Vec<Value> = files.map(|file| json_of(file)["session_id"].clone()).collect();
    ids.sort_by_key(ToString::to_string);
    assert_eq!(ids, ["B", "a", "a"]);
    let printed =
        stdout(no_encoder(&folder).arg("export").arg(&predictions).args(["--to", "openai", "-o", "-"]));
    assert_eq!(printed.lines().count(), 3);
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = Folder::new();
    let predictions = folder.json("p.json", &json!([{"id": "a", "question": "q", "steps": []}]));
    let (code, said) = failure(no_encoder(&folder).arg("export").arg(&predictions).args(["--to", "otle"]));
    assert!(code == 2 && said.contains("otel") && said.contains("OTLP/JSON"), "{said}");
    let (code, _) = failure(
        no_encoder(&folder).arg("export").arg(&predictions).args(["--to", "atif", "-o"]).arg(&predictions),
    );
    assert_eq!(code, 2);
    assert_eq!(json_of(&predictions)[0]["id"], "a");
}
