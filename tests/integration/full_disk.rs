//! A disk that is full while something is written: existing files stay, and the message says what happened.
//!
//! `ulimit -f` acts as the full disk: writing beyond it fails with "file too large", and the signal that would end
//! the process is handled.
#![cfg(target_os = "linux")]

use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::{
    Folder, call, encoder, m3_bare, m3_process, m3_with_cache, program_with_cache, report, stdout, text,
};

const FILES: [&str; 2] = ["trajectories/predictions.json", "trajectories/references.json"];

/// Runs `m3 score` where no file can grow over `blocks` of 512 bytes.
fn score_on_small_disk(blocks: u32, cache_dir: &Path, options: &[&str]) -> Option<Output> {
    let assets = encoder()?;
    let m3 = assert_cmd::cargo::cargo_bin("m3");
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = program_with_cache("sh", cache_dir, assets);
    command.args(["-c", &script]).arg(m3).arg("score").args(FILES).args(options);
    Some(command.output().unwrap())
}

#[test]
fn a_report_that_does_not_fit_leaves_the_old_one() {
    let (folder, cache) = (Folder::new(), Folder::new());
    let target = folder.write("report.json", "the old report");
    let options = ["--format", "json", "--no-cache", "--out", target.to_str().unwrap()];
    let Some(output) = score_on_small_disk(4, cache.path(), &options) else { return };
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{message}");
    // Either may fill up first: the target or the folder for temporary files.
    let names_it = message.contains("failed to write to the folder for temporary files")
        || message.contains(target.to_str().unwrap());
    assert!(names_it, "{message}");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "the old report");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half-written is left");
}

/// A small file that fits and one that does not: neither appears, and those of an earlier run are not replaced.
#[test]
fn judging_leaves_all_of_its_files_or_none() {
    let folder = Folder::new();
    let long = "x".repeat(9000);
    let run = |id: &str, result: Option<&str>| {
        let mut call = call("a/b", json!({ "text": long }));
        if let Some(result) = result {
            call["result"] = json!(result);
        }
        json!({"id": id, "question": "?", "steps": [{"step": 1, "calls": [call]}], "final_reply": "so", "finish": "answered"})
    };
    let mut small = run("b", None);
    small["steps"] = json!([]);
    let predictions = folder.json("predictions.json", &json!([run("a", Some("7")), small]));
    let m3 = assert_cmd::cargo::cargo_bin("m3");
    let judged = |blocks: u32| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &format!("ulimit -f {blocks}; exec \"$0\" \"$@\"")]).arg(&m3).arg("judge");
        command.arg(&predictions).args(["--rules-only", "-o"]).arg(folder.path().join("r.json"));
        command.env("M3_CACHE_DIR", folder.path()).output().unwrap()
    };
    // Blocks of 512 bytes.
    let output = judged(10);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["predictions.json"], "{left:?}");
    let output = judged(1000);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(folder.path().join("r.json").exists() && folder.path().join("r.rejected.json").exists());
}

#[test]
fn standard_output_that_is_full_is_a_failure() {
    let Some(assets) = encoder() else { return };
    let folder = Folder::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = m3_process(folder.path(), assets).arg("score").args(FILES).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stderr).contains("failed to write to standard output"));
}

#[test]
fn a_folder_for_temporary_files_that_is_not_there_is_named() {
    let Some(assets) = encoder() else { return };
    let (folder, cache) = (Folder::new(), Folder::new());
    let mut out = m3_with_cache(cache.path(), assets);
    out.arg("score").args(FILES).arg("--out").arg(folder.path().join("o.json"));
    let mut pipe = m3_with_cache(cache.path(), assets);
    pipe.args(["score", "-", FILES[1]]).write_stdin("[]");
    for command in [&mut out, &mut pipe] {
        let (code, message) = crate::support::failure(command.env("TMPDIR", "/nonexistent"));
        assert_eq!(code, 2, "{message}");
        assert!(
            message.contains("TMPDIR") && !message.contains("space") && !message.contains("o.json"),
            "{message}"
        );
    }
}

#[test]
fn a_device_is_written_to_and_not_replaced() {
    let cache = Folder::new();
    let Some(output) = score_on_small_disk(1_000_000, cache.path(), &["--out", "/dev/full", "--no-cache"])
    else {
        return;
    };
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(std::fs::metadata("/dev/full").unwrap().file_type().is_char_device());
}

/// No file at all can be written, by commands that need no encoder.
#[test]
fn every_command_outlives_the_signal_of_a_file_that_is_too_large() {
    let folder = Folder::new();
    let m3 = assert_cmd::cargo::cargo_bin("m3");
    let (out, run) = (folder.path().join("o.json"), folder.path().join("run"));
    let (out, run) = (out.to_str().unwrap(), run.to_str().unwrap());
    for arguments in [
        &["validate", "-"][..],
        &["outcomes", FILES[0], "--tools", "trajectories/tools.json", "--format", "json", "--out", out],
        &["run", "trajectories/tasks.json", "--llm", "replay:trajectories/cassette.jsonl.gz", "-o", run],
    ] {
        let mut command = assert_cmd::Command::new("sh");
        command.args(["-c", "ulimit -f 1; exec \"$0\" \"$@\""]).arg(&m3).args(arguments);
        command.write_stdin(std::fs::read(crate::support::root().join(FILES[0])).unwrap());
        command.env("M3_CACHE_DIR", folder.path()).current_dir(crate::support::root());
        let (code, message) = crate::support::failure(&mut command);
        assert_eq!(code, 4, "{arguments:?}: {message}");
        assert!(message.contains("File too large"), "{arguments:?}: {message}");
    }
    assert!(!Path::new(out).exists());
}

/// The decisions that are kept, each complete.
fn decisions(folder: &Folder) -> Vec<Value> {
    let kept = std::fs::read_to_string(folder.path().join("references.json.reviews.jsonl")).unwrap();
    assert!(kept.ends_with('\n'), "half a decision is left: {kept}");
    kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn decisions_that_do_not_fit_are_told_and_those_before_stay_whole() {
    let folder = Folder::new();
    let reference =
        |id: &str| json!({"id": id, "question": "?", "steps": [{"calls": [call("a/b", json!({}))]}]});
    let references = folder.json("references.json", &json!([reference("a"), reference("b"), reference("c")]));
    let (table, m3) = (folder.path().join("review.csv"), assert_cmd::cargo::cargo_bin("m3"));
    stdout(m3_bare(folder.path()).arg("review").arg(&references).arg("--export").arg(&table));
    let written = std::fs::read_to_string(&table).unwrap();
    assert_eq!(written.matches(",open,,").count(), 3, "{written}");
    // Each decision takes a little more than half of the available space.
    let note = "x".repeat(400);
    std::fs::write(&table, written.replace(",open,,", &format!(",accepted,{note},"))).unwrap();
    let import = |blocks: &str| {
        let mut command = assert_cmd::Command::new("sh");
        command.args(["-c", &format!("ulimit -f {blocks}; exec \"$0\" \"$@\"")]).arg(&m3);
        command.arg("review").arg(&references).arg("--import").arg(&table).args(["--name", "Ada"]);
        command.env("M3_CACHE_DIR", folder.path());
        command
    };
    let (code, message) = crate::support::failure(&mut import("2"));
    assert_eq!(code, 4, "{message}");
    assert!(
        message.contains("references.json.reviews.jsonl") && message.contains("File too large"),
        "{message}"
    );
    assert_eq!(decisions(&folder).len(), 1);
    let told = text(&crate::support::run(&mut import("unlimited")).stderr);
    assert!(told.contains("2 references decided"), "{told}");
    assert_eq!(decisions(&folder).len(), 3);
}

#[test]
fn a_cache_that_cannot_grow_changes_no_number_and_keeps_what_it_has() {
    let Some(assets) = encoder() else { return };
    let cache = Folder::new();
    // A cache with the embeddings of one pair.
    let one = cache.path().join("one.json");
    std::fs::write(
        &one,
        r#"[{"id": "a", "steps": [{"calls": [
        {"name": "s/t", "arguments": {"q": "eel"}}, {"name": "s/t", "arguments": {"q": "trout"}}]}]}]"#,
    )
    .unwrap();
    let other = cache.path().join("other.json");
    std::fs::write(
        &other,
        r#"[{"id": "a", "steps": [{"calls": [
        {"name": "s/t", "arguments": {"q": "shark"}}]}]}]"#,
    )
    .unwrap();
    report(m3_with_cache(cache.path(), assets).arg("score").args([&one, &other]));
    let database = cache.path().join("embeddings.sqlite");
    let size = std::fs::metadata(&database).unwrap().len();

    let blocks = u32::try_from(size / 512 + 8).unwrap();
    let options = ["--format", "json"];
    let Some(output) = score_on_small_disk(blocks, cache.path(), &options) else { return };
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{message}");
    assert!(
        message.contains("failed to use the embedding cache") && message.contains("going on without it"),
        "{message}"
    );
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = report(m3_with_cache(Folder::new().path(), assets).arg("score").args(FILES));
    assert_eq!(found, expected);

    // The cache still has its content: scoring the pair again does not need the encoder's runtime.
    let mut again = m3_with_cache(cache.path(), assets);
    again.env("ORT_DYLIB_PATH", "Cargo.toml");
    assert_eq!(report(again.arg("score").args([&one, &other]))["aggregate"]["matched"], 1);
}
