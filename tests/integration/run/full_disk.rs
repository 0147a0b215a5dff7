//! A disk that is full, for predictions and for the journal: a small file system in memory, mounted so that no other
//! process sees it.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire};
use serde_json::Value;

use super::{add, ids, journal, math_arguments, output_of, predictions, questions};
use crate::support::{Folder, can_mount, json_of, m3_bare, root, stdout, text};

/// Mounts a file system of this size at the first argument, runs the command after the second, and copies all files
/// to the second.
const SCRIPT: &str = "\
mount -t tmpfs -o size=\"$SIZE\" tmpfs \"$1\" || exit 77
disk=$1; copy=$2; shift 2
\"$@\"; code=$?
cp -R \"$disk/.\" \"$copy\" || exit 78
exit $code";

/// Runs tasks on a disk of this size until it is full; returns the files on it and the messages.
fn run_on_disk(folder: &Folder, size: &str, model: &ScriptedModel, tasks: &Path) -> (PathBuf, String) {
    let (disk, copy) = (output_of(folder), folder.path().join("copy"));
    std::fs::create_dir(&disk).unwrap();
    std::fs::create_dir(&copy).unwrap();
    let llm = format!("openai@{}:scripted", model.base_url());
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", SCRIPT, "sh"]).arg(&disk).arg(&copy);
    command.arg(assert_cmd::cargo::cargo_bin("m3")).args(math_arguments(tasks, &llm, &disk));
    command.args(["--workers", "1", "--max-steps", "200", "--max-calls-per-step", "50"]);
    command.env("SIZE", size).env("M3_CACHE_DIR", folder.path()).current_dir(root());
    let done = command.output().unwrap();
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(4), "{said}");
    assert!(said.contains("No space left on device") && said.contains("hint: make space"), "{said}");
    assert!(!disk.join("lock").exists(), "it was written elsewhere");
    (copy, said)
}

/// The same command with enough space.
fn go_on(folder: &Folder, model: &ScriptedModel, tasks: &Path, output: &Path) {
    let llm = format!("openai@{}:scripted", model.base_url());
    let mut command = m3_bare(folder.path());
    command.args(math_arguments(tasks, &llm, output));
    stdout(command.args(["--max-steps", "200", "--max-calls-per-step", "50"]));
}

/// The complete predictions; asserts that there are no others and no temporary files.
fn kept(output: &Path) -> Vec<String> {
    let files = std::fs::read_dir(output.join("predictions")).unwrap().map(|file| file.unwrap().path());
    let mut kept: Vec<String> = files
        .map(|path| {
            let prediction: Value = json_of(&path);
            assert_eq!(path.extension().unwrap(), "json");
            prediction["id"].as_str().unwrap().to_owned()
        })
        .collect();
    kept.sort();
    kept
}

/// Each prediction takes more than 60 kB, so that some fit.
#[test]
fn predictions_for_which_there_is_no_space_are_made_when_there_is() {
    if !can_mount() {
        return;
    }
    let folder = Folder::new();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Say("x".repeat(30_000)));
    let tasks = questions(&folder, 10);
    let (output, said) = run_on_disk(&folder, "256k", &model, &tasks);
    assert!(said.contains("predictions"), "{said}");
    let before = kept(&output);
    assert!(!before.is_empty() && before.len() < 5, "{before:?}");
    for line in journal(&output).iter().filter(|line| line["event"] == "finished") {
        assert!(before.iter().any(|id| line["task"] == id.as_str()), "{line} has no prediction");
    }
    let asked = model.requests().len();
    go_on(&folder, &model, &tasks, &output);
    assert_eq!(model.requests().len() - asked, 10 - before.len());
    assert_eq!(ids(&predictions(&output)).len(), 10);
}

/// One task makes so many calls that their lines fill the disk long before its prediction.
#[test]
fn a_journal_for_which_there_is_no_space_stops_the_run() {
    if !can_mount() {
        return;
    }
    let folder = Folder::new();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |seen| {
        if seen.turn > 5 {
            return ScriptedReply::Say("done".to_owned());
        }
        ScriptedReply::Call((0..50).map(|number| add(number, 1)).collect())
    });
    let tasks = questions(&folder, 2);
    let (output, said) = run_on_disk(&folder, "32k", &model, &tasks);
    assert!(said.contains("journal.jsonl"), "{said}");
    assert_eq!(kept(&output), [""; 0]);
    // The run did not go on without a journal.
    let asked = model.requests().len();
    assert!(asked < 10, "{asked} of 12");
    go_on(&folder, &model, &tasks, &output);
    assert_eq!(kept(&output), ["t00", "t01"]);
    // The line that was cut off is gone.
    assert_eq!(journal(&output).iter().filter(|line| line["event"] == "finished").count(), 2);
}
