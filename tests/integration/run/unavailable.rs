//! If something is missing for one task, the task ends; if it is missing for all tasks, the run ends, and nothing is
//! recorded for the tasks that noticed it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assert_cmd::Command;
use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire};
use serde_json::{Value, json};

use super::{arguments, command, ids, journal, output_of, predictions, two_calls};
use crate::host::support::{marker, stub, wait_until_gone};
use crate::support::{Folder, failure, json_of, m3_bare, root, run, stdout, text};

/// Three tasks, each with its own image, and a stub server with a further configuration.
pub(super) fn small(folder: &Folder, server: &Value) -> String {
    for name in ["a", "b", "c"] {
        image::RgbImage::new(8, 8).save(folder.path().join(format!("{name}.png"))).unwrap();
    }
    let task = |id: &str| json!({"id": id, "image": format!("{id}.png"), "question": format!("Task {id}.")});
    folder.json("tasks.json", &json!([task("a"), task("b"), task("c")]));
    let marker = marker();
    let mut config = json!({"command": stub(), "args": ["plain", "--marker", marker]});
    for (key, value) in server.as_object().unwrap() {
        config[key] = value.clone();
    }
    folder.json("servers.json", &json!({"mcpServers": {"stub": config}}));
    marker
}

/// Runs these tasks one after the other.
pub(super) fn small_run(folder: &Folder, model: &ScriptedModel) -> Command {
    let mut arguments = arguments(model, &output_of(folder));
    folder.path().join("tasks.json").to_str().unwrap().clone_into(&mut arguments[1]);
    folder.path().join("servers.json").to_str().unwrap().clone_into(&mut arguments[5]);
    let mut command = m3_bare(folder.path());
    command.args(arguments).args(["--workers", "1"]).timeout(Duration::from_mins(3));
    command
}

pub(super) fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn a_key_that_is_refused_stops_the_run_before_any_task_is_spent() {
    let folder = Folder::new();
    let output = output_of(&folder);
    let is_refused = Arc::new(AtomicBool::new(true));
    let refused = Arc::clone(&is_refused);
    let model = ScriptedModel::start(ScriptedWire::OpenAi, move |seen| {
        if refused.load(Ordering::Relaxed) {
            let body =
                r#"{"error": {"message": "Incorrect API key provided", "type": "invalid_request_error"}}"#;
            return ScriptedReply::Raw { status: 401, headers: Vec::new(), body: body.to_owned() };
        }
        two_calls(seen)
    });
    let (code, said) = failure(&mut command(&model, &output));
    assert_eq!(code, 4, "{said}");
    assert!(
        said.contains("Incorrect API key provided") && said.contains("hint: nothing is recorded"),
        "{said}"
    );
    // Four workers ask at once.
    assert!(model.requests().len() <= 4, "{}", model.requests().len());
    assert_eq!(files(&output.join("predictions")), 0);
    assert!(predictions(&output).is_empty());
    is_refused.store(false, Ordering::Relaxed);
    stdout(&mut command(&model, &output));
    assert_eq!(predictions(&output).len(), 15);
}

#[test]
fn an_image_that_has_gone_fails_its_task_and_no_other() {
    let folder = Folder::new();
    let marker = small(&folder, &json!({}));
    let image = folder.path().join("b.png");
    let model = ScriptedModel::start(ScriptedWire::OpenAi, move |_| {
        let _ = std::fs::remove_file(&image);
        ScriptedReply::Say("seen".to_owned())
    });
    let (code, said) = failure(&mut small_run(&folder, &model));
    assert_eq!(code, 3, "{said}");
    let predictions = predictions(&output_of(&folder));
    let finish = |index: usize| predictions[index]["finish"].as_str().unwrap();
    assert_eq!(
        (ids(&predictions), finish(0), finish(1), finish(2)),
        (vec!["a", "b", "c"], "answered", "error", "answered")
    );
    let reason = predictions[1]["reason"].as_str().unwrap();
    assert!(reason.contains("failed to make the workspace") && reason.contains("b.png"), "{reason}");
    assert_eq!(predictions[1]["failure"], "other");
    assert_eq!(predictions[0].get("failure"), None);
    wait_until_gone(&marker);
}

/// There are enough file descriptors for the program itself, but not for the servers of its tasks.
#[test]
fn what_the_machine_does_not_allow_stops_the_run_and_spends_no_task() {
    let folder = Folder::new();
    let marker = small(&folder, &json!({}));
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Say("seen".to_owned()));
    let mut few = None;
    // How many files are open when the tools are known differs between machines.
    for limit in (16..80).step_by(2) {
        let mut arguments = arguments(&model, &output_of(&folder));
        folder.path().join("tasks.json").to_str().unwrap().clone_into(&mut arguments[1]);
        folder.path().join("servers.json").to_str().unwrap().clone_into(&mut arguments[5]);
        let mut command = Command::new("sh");
        let script = format!("ulimit -n {limit}; exec \"$0\" \"$@\"");
        command.args(["-c", &script]).arg(assert_cmd::cargo::cargo_bin("m3")).args(arguments);
        command.args(["--workers", "3"]).current_dir(folder.path()).env("M3_CACHE_DIR", folder.path());
        let done = run(command.timeout(Duration::from_mins(1)));
        let said = text(&done.stderr);
        assert!(!said.contains("panicked"), "{limit}: {said}");
        if done.status.code() == Some(0) {
            break;
        }
        assert_eq!(done.status.code(), Some(4), "{limit}: {said}");
        if said.contains("ulimit -n") {
            few = Some(limit);
        }
    }
    assert!(few.is_some(), "no limit was met that has a hint");
    assert_eq!(predictions(&output_of(&folder)).len(), 3, "the last command continues");
    wait_until_gone(&marker);
}

/// The process started for the list of tools is the one that all tasks call: `count` counts the calls of one process.
#[test]
fn a_shared_server_is_started_once_for_its_tools_and_for_all_tasks() {
    let folder = Folder::new();
    let starts = folder.path().join("starts");
    let script = "echo started >> \"$0\"; exec \"$1\" plain --marker \"$2\"";
    let marker = marker();
    small(
        &folder,
        &json!({"command": "sh", "args": ["-c", script, starts, stub(), marker], "stateless": true}),
    );
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |seen| match seen.results.first() {
        None => ScriptedReply::Call(vec![("stub__count".to_owned(), json!({}))]),
        Some((_, count)) => ScriptedReply::Say(count.clone()),
    });
    stdout(&mut small_run(&folder, &model));
    let predictions = predictions(&output_of(&folder));
    let replies: Vec<_> = predictions.iter().map(|prediction| &prediction["final_reply"]).collect();
    assert_eq!(replies, ["1", "2", "3"]);
    assert_eq!(std::fs::read_to_string(starts).unwrap(), "started\n");
    wait_until_gone(&marker);
}

#[test]
fn a_shared_server_that_is_over_stops_the_run_and_the_next_one_goes_on() {
    let folder = Folder::new();
    let marker = small(&folder, &json!({"stateless": true, "restarts": 0}));
    let is_bad = Arc::new(AtomicBool::new(true));
    let bad = Arc::clone(&is_bad);
    let model = ScriptedModel::start(ScriptedWire::OpenAi, move |seen| match seen.results.len() {
        0 if bad.load(Ordering::Relaxed) => ScriptedReply::Call(vec![("stub__crash".to_owned(), json!({}))]),
        1 if bad.load(Ordering::Relaxed) => ScriptedReply::Call(vec![("stub__echo".to_owned(), json!({}))]),
        _ => ScriptedReply::Say("done".to_owned()),
    });
    let (code, said) = failure(&mut small_run(&folder, &model));
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("server `stub` failed: "), "{said}");
    let output = output_of(&folder);
    // Its record shows that it noticed the crash.
    assert_eq!(ids(&predictions(&output)), ["a"]);
    is_bad.store(false, Ordering::Relaxed);
    stdout(&mut small_run(&folder, &model));
    assert_eq!(ids(&predictions(&output)), ["a", "b", "c"]);
    wait_until_gone(&marker);
}

/// `ulimit -f` acts as a full disk: there is room for the tools and one more task.
#[cfg(target_os = "linux")]
#[test]
fn a_cassette_that_cannot_be_written_costs_one_request() {
    let (folder, model) = (Folder::new(), super::model());
    let (output, cassette) = (output_of(&folder), folder.path().join("run.cassette"));
    stdout(command(&model, &output).args(["--id", "00010000", "--record"]).arg(&cassette));
    let (asked, size) = (model.requests().len(), cassette.metadata().unwrap().len());
    let script = format!("ulimit -f {}; exec \"$0\" \"$@\"", size * 2 / 512);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", &script]).arg(assert_cmd::cargo::cargo_bin("m3")).args(arguments(&model, &output));
    limited.args(["--workers", "1", "--record"]).arg(&cassette).current_dir(root());
    let done = limited.output().unwrap();
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(4), "{said}");
    assert!(said.contains("failed to write the cassette"), "{said}");
    let predictions = predictions(&output);
    assert!(predictions.len() < 5, "{:?}", ids(&predictions));
    assert!(predictions.iter().all(|prediction| prediction["finish"] == "answered"));
    // Two requests for each finished task, and one or two for the task for which there was no room.
    assert!(model.requests().len() - asked <= 2 * (predictions.len() - 1) + 2);
    let with_room = run(command(&model, &output).arg("--record").arg(folder.path().join("other.cassette")));
    assert_eq!(with_room.status.code(), Some(0));
}

/// `ulimit -f` acts as a full disk: there is room for everything but one result. The program itself handles the
/// signal that comes with it.
#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_kept_stops_the_run_before_its_task_counts() {
    let folder = Folder::new();
    let marker = small(&folder, &json!({}));
    let output = output_of(&folder);
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |seen| {
        if seen.turn > 1 {
            return ScriptedReply::Say("done".to_owned());
        }
        let length = if seen.last_user_text.contains("Task b.") { 400_000 } else { 10 };
        ScriptedReply::Call(vec![("stub__echo".to_owned(), json!({"text": "x".repeat(length)}))])
    });
    let mut limited = std::process::Command::new("sh");
    // 500 times 512 bytes.
    limited.args(["-c", "ulimit -f 500; exec \"$0\" \"$@\""]);
    limited.arg(assert_cmd::cargo::cargo_bin("m3")).args(small_run(&folder, &model).get_args());
    let done = limited.current_dir(root()).output().unwrap();
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(4), "{said}");
    assert!(said.contains("File too large") && said.contains("workspaces/b/results"), "{said}");
    // The finished task is kept, the task that noticed it has no prediction, and the one after it was not begun.
    assert_eq!(ids(&predictions(&output)), ["a"]);
    assert_eq!(files(&output.join("predictions")), 1);
    assert_eq!(model.requests().len(), 3);
    let results = output.join("workspaces/b/results");
    assert_eq!(files(&results), 0, "{:?}", std::fs::read_dir(&results).unwrap().collect::<Vec<_>>());
    for line in journal(&output) {
        assert_ne!((&line["event"], &line["task"]), (&json!("finished"), &json!("b")));
    }
    stdout(&mut small_run(&folder, &model));
    assert_eq!(ids(&predictions(&output)), ["a", "b", "c"]);
    let result = &predictions(&output)[1]["steps"][0]["calls"][0]["result"];
    assert!(result.to_string().len() > 400_000);
    wait_until_gone(&marker);
}

/// Whatever a server returns, the key is neither sent to the model nor written.
#[test]
fn the_models_key_is_in_no_file_and_no_result() {
    const KEY: &str = "sk-a1b2c3d4e5f6-not-a-real-one";
    let folder = Folder::new();
    let marker = small(&folder, &json!({}));
    let model = ScriptedModel::start_with_key(ScriptedWire::OpenAi, KEY, |seen| {
        if seen.turn == 1 {
            ScriptedReply::Call(vec![("stub__echo".to_owned(), json!({"text": KEY}))])
        } else {
            ScriptedReply::Say(seen.results[0].1.clone())
        }
    });
    let cassette = folder.path().join("run.cassette");
    let mut command = small_run(&folder, &model);
    command.env("M3_TEST_KEY", KEY).args(["--llm-key-from", "M3_TEST_KEY", "--record"]).arg(&cassette);
    let done = run(&mut command);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(model.problems(), Vec::<String>::new());
    let output = output_of(&folder);
    for prediction in predictions(&output) {
        assert_eq!(prediction["final_reply"], r#"{"text":"***"}"#, "{prediction}");
    }
    let mut folders = vec![output.clone()];
    let mut written = vec![std::fs::read(&cassette).unwrap(), done.stdout, done.stderr];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                written.push(std::fs::read(entry).unwrap());
            }
        }
    }
    assert!(written.len() > 10, "results, predictions, journal");
    assert!(written.iter().all(|content| !String::from_utf8_lossy(content).contains(KEY)));
    wait_until_gone(&marker);
}

/// A failed task keeps its workspace, and the next run removes workspaces that are not to be kept.
#[test]
fn only_workspaces_of_tasks_that_failed_are_kept_if_asked() {
    let folder = Folder::new();
    let marker = small(&folder, &json!({}));
    let output = output_of(&folder);
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |seen| {
        if seen.last_user_text.contains("Task b.") {
            let body = r#"{"error": {"message": "no images here", "type": "invalid_request_error"}}"#;
            return ScriptedReply::Raw { status: 400, headers: Vec::new(), body: body.to_owned() };
        }
        ScriptedReply::Say("done".to_owned())
    });
    let left = || {
        let entries = std::fs::read_dir(output.join("workspaces")).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let run_keeping = |which: &str| {
        let (code, _) = failure(small_run(&folder, &model).args(["--keep-workspaces", which]));
        assert_eq!(code, 3);
    };
    run_keeping("failed");
    assert_eq!(left(), ["b"]);
    assert!(output.join("workspaces/b/b.png").exists());
    // As left by a run that is killed between a prediction and the end of its task.
    std::fs::create_dir(output.join("workspaces/a")).unwrap();
    run_keeping("failed");
    assert_eq!(left(), ["b"]);
    run_keeping("never");
    assert_eq!(left(), [""; 0]);
    let finished = journal(&output).iter().filter(|line| line["event"] == "finished").count();
    assert_eq!(finished, 3, "nothing was run again");
    assert_eq!(json_of(output.join("predictions/b.json"))["finish"], "error");
    wait_until_gone(&marker);
}

/// 8 GiB without a byte on the disk: reading it would take half a minute.
#[cfg(unix)]
#[test]
fn images_are_not_read_where_they_are_too_large_or_not_asked_for() {
    let folder = Folder::new();
    let marker = small(&folder, &json!({}));
    std::fs::File::create(folder.path().join("b.png")).unwrap().set_len(8 << 30).unwrap();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Say("done".to_owned()));
    stdout(small_run(&folder, &model).args(["--id", "a"]));
    let (code, said) = failure(&mut small_run(&folder, &model));
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("task `b`: ") && said.contains("too large"), "{said}");
    wait_until_gone(&marker);
}
