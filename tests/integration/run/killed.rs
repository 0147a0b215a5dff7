//! Runs that are killed at an arbitrary moment.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest};
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use super::stop::comparable;
use crate::host::support::{marker, stub, wait_until_gone};
use crate::support::{Folder, json_of};

const KILLS: usize = 50;
const TASKS: usize = 20;

/// The file to which every call adds a line.
fn log(folder: &Folder) -> PathBuf {
    folder.path().join("calls.log")
}

/// Two calls at once, one after them, an answer, all within a few milliseconds. A call names its task.
fn script(log: &Path) -> impl Fn(&SeenRequest) -> ScriptedReply + Send + Sync + use<> {
    let log = log.to_str().unwrap().to_owned();
    move |seen| {
        let question = seen.texts.iter().find_map(|text| text.lines().find(|line| line.starts_with("Task ")));
        let task = question.unwrap().trim_end_matches('.').to_owned();
        let append =
            |call: &str| ("stub__append".to_owned(), json!({"path": log, "line": format!("{task}, {call}")}));
        let said = match seen.results.len() {
            0 => ScriptedReply::Call(vec![append("first"), append("second")]),
            2 => ScriptedReply::Call(vec![append("third")]),
            _ => ScriptedReply::Say(format!("{task} is done")),
        };
        ScriptedReply::After(Duration::from_millis(5), Box::new(said))
    }
}

fn start(folder: &Folder, model: &ScriptedModel, output: &Path) -> std::process::Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("m3"));
    command.arg("run").arg(folder.path().join("tasks.json")).arg("--servers");
    command.arg(folder.path().join("servers.json")).args(["--mode", "native", "--workers", "4", "--quiet"]);
    command.args(["--llm", &format!("openai@{}:scripted", model.base_url())]).arg("-o").arg(output);
    command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap()
}

/// How often each task has been called for so far.
fn calls(log: &Path) -> BTreeMap<String, usize> {
    let mut calls = BTreeMap::new();
    for line in std::fs::read_to_string(log).unwrap_or_default().lines() {
        *calls.entry(line.split(',').next().unwrap().to_owned()).or_default() += 1;
    }
    calls
}

/// The tasks with a prediction, which must be complete, and their calls so far.
fn finished(output: &Path, log: &Path) -> BTreeMap<String, usize> {
    let calls = calls(log);
    let entries = std::fs::read_dir(output.join("predictions")).into_iter().flatten();
    let files = entries.map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    files
        .map(|path| {
            let prediction: Value = json_of(&path);
            let task = prediction["question"].as_str().unwrap().trim_end_matches('.').to_owned();
            let count = calls[&task];
            (task, count)
        })
        .collect()
}

#[test]
fn a_run_that_is_killed_at_random_moments_ends_like_an_undisturbed_one() {
    let folder = Folder::new();
    let (log, marker) = (log(&folder), marker());
    image::RgbImage::new(8, 8).save(folder.path().join("image.png")).unwrap();
    let task = |number: usize| json!({"id": format!("t{number:02}"), "image": "image.png", "question": format!("Task {number:02}.")});
    folder.json("tasks.json", &json!((0..TASKS).map(task).collect::<Vec<_>>()));
    let server = json!({"command": stub(), "args": ["plain", "--marker", marker]});
    folder.json("servers.json", &json!({"mcpServers": {"stub": server}}));
    let model = ScriptedModel::start(ScriptedWire::OpenAi, script(&log));
    let undisturbed = folder.path().join("undisturbed");
    assert!(start(&folder, &model, &undisturbed).wait().unwrap().success());
    let expected = comparable(&undisturbed);
    assert_eq!(expected.len(), TASKS);

    let mut random = rand::rngs::ChaCha8Rng::seed_from_u64(5);
    let (mut kills, mut rounds) = (0, 0);
    while kills < KILLS {
        rounds += 1;
        let output = folder.path().join(format!("out-{rounds}"));
        std::fs::write(&log, "").unwrap();
        let mut done = BTreeMap::new();
        loop {
            let mut child = start(&folder, &model, &output);
            if kills < KILLS {
                std::thread::sleep(Duration::from_millis(random.random_range(20..900)));
            } else {
                child.wait().unwrap();
            }
            let ended = child.try_wait().unwrap();
            if ended.is_none() {
                child.kill().unwrap();
                child.wait().unwrap();
                kills += 1;
            }
            wait_until_gone(&marker);
            // No call of a finished task was made again.
            let now = finished(&output, &log);
            for (task, before) in &done {
                assert_eq!(now.get(task), Some(before), "{task}, after {kills} kills");
            }
            done = now;
            if let Some(status) = ended {
                assert!(status.success(), "{status}");
                break;
            }
        }
        assert_eq!(comparable(&output), expected, "round {rounds}, after {kills} kills");
    }
    assert_eq!(model.problems(), Vec::<String>::new());
}
