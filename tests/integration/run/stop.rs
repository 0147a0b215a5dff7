//! Runs that are stopped, and folders in use.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{arguments, command, ids, journal, model, output_of, predictions, two_calls, without_times};
use crate::host::support::{marker, processes, stub, wait_until_gone};
use crate::support::{
    Folder, encoder, failure, follows_kept_schema, json_of, m3_process, root, stdout, text, wait_for,
};

/// Answers this many requests, then stalls until more are allowed.
fn stalling_after(requests: usize) -> (ScriptedModel, Arc<AtomicUsize>) {
    let left = Arc::new(AtomicUsize::new(requests));
    let count = Arc::clone(&left);
    let take = move || count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    let script = move |seen: &_| if take().is_ok() { two_calls(seen) } else { ScriptedReply::Stall };
    (ScriptedModel::start(ScriptedWire::OpenAi, script), left)
}

fn start(model: &ScriptedModel, output: &Path) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("m3"));
    command.args(arguments(model, output)).current_dir(root());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// A process that is ended if a test fails.
pub(super) struct Running(Option<Child>);

impl Running {
    /// Starts it.
    pub(super) fn start(command: &mut Command) -> Self {
        Self(Some(command.spawn().unwrap()))
    }

    /// Its process.
    pub(super) fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(i32::try_from(self.id()).unwrap()).unwrap(), signal).unwrap();
    }

    /// Waits for its end.
    pub(super) fn output(mut self) -> std::process::Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Predictions without the model's port, which is part of its name, and without the number of the try.
pub(super) fn comparable(output: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for prediction in without_times(output.join("predictions.json")).lines() {
        let Some(start) = prediction.find("\"run\":{") else { continue };
        let head = &prediction[..start];
        let model = head.find("\"model\":{\"requested\"").unwrap();
        let mode = head.find("\"mode\":").unwrap();
        found.push(format!("{}{}", &head[..model], &head[mode..]));
    }
    found
}

#[test]
fn a_signal_saves_what_is_done_and_the_next_run_goes_on() {
    let undisturbed = Folder::new();
    let calm = model();
    stdout(&mut command(&calm, &output_of(&undisturbed)));
    for signal in [Signal::INT, Signal::TERM] {
        let (folder, (model, left)) = (Folder::new(), stalling_after(10));
        let output = output_of(&folder);
        let running = Running(Some(start(&model, &output)));
        // Four workers: once four requests wait, nothing more will happen.
        wait_for("the model stalls", || model.requests().len() >= 14);
        running.signal(signal);
        let ended = running.output();
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(130), "{said}");
        assert!(said.contains("finishing the calls that run") && said.contains("interrupted"), "{said}");
        let saved = predictions(&output);
        assert!(!saved.is_empty() && saved.len() < 15, "{:?}", ids(&saved));
        assert!(saved.iter().all(|prediction| prediction["finish"] == "answered"));
        let interrupted = journal(&output).iter().filter(|line| line["event"] == "interrupted").count();
        assert!(interrupted > 0);
        let asked = model.requests().len();
        left.store(1000, Ordering::Relaxed);
        stdout(&mut command(&model, &output));
        // Two requests for each unfinished task.
        assert_eq!(model.requests().len() - asked, 2 * (15 - saved.len()));
        assert_eq!(comparable(&output), comparable(&output_of(&undisturbed)));
    }
}

/// The calls of the first step are made and their results kept, although the task is run again from its start.
#[test]
fn what_interrupted_tasks_have_come_to_is_kept_until_they_are_done() {
    let folder = Folder::new();
    let output = output_of(&folder);
    let is_slow = Arc::new(AtomicBool::new(true));
    let slow = Arc::clone(&is_slow);
    let model = ScriptedModel::start(ScriptedWire::OpenAi, move |seen| {
        if seen.turn > 1 && slow.load(Ordering::Relaxed) { ScriptedReply::Stall } else { two_calls(seen) }
    });
    let running = Running(Some(start(&model, &output)));
    // Four workers, each at its second turn.
    wait_for("the model stalls", || model.requests().len() >= 8);
    running.signal(Signal::INT);
    let ended = running.output();
    assert_eq!(ended.status.code(), Some(130));
    // One turn each, with 100 input and 10 output tokens.
    let table = text(&ended.stdout);
    assert!(table.contains("interrupted  4 tasks, tokens: 400 in, 40 out\n"), "{table}");
    let kept = || -> Vec<_> {
        std::fs::read_dir(output.join("interrupted")).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    assert_eq!((kept().len(), predictions(&output).len()), (4, 0));
    for path in kept() {
        let interrupted = json_of(path);
        follows_kept_schema("prediction", &interrupted);
        assert_eq!(interrupted["finish"], "interrupted");
        assert_eq!(interrupted["steps"][0]["calls"][1]["result"], "3");
    }
    is_slow.store(false, Ordering::Relaxed);
    let table = stdout(&mut command(&model, &output));
    assert!(table.contains("answered   15\n"), "{table}");
    assert_eq!(kept().len(), 0);
}

/// The encoder needs minutes for these questions; the server that was started for its list of tools has ended by
/// then.
#[test]
fn a_signal_while_tools_are_chosen_ends_the_run_at_once() {
    let Some(assets) = encoder() else { return };
    let (folder, marker) = (Folder::new(), marker());
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Say("done".to_owned()));
    let question = |task: usize| format!("{task} eels and a {} trout? ", task * 7).repeat(40);
    let task = |task: usize| json!({"id": format!("t{task}"), "question": question(task)});
    let tasks = folder.json("tasks.json", &(0..2000).map(task).collect());
    let started = folder.path().join("started");
    let script = "echo > \"$0\"; exec \"$1\" plain --marker \"$2\"";
    let server = json!({"command": "sh", "args": ["-c", script, started, stub(), marker]});
    let servers = folder.json("servers.json", &json!({"mcpServers": {"stub": server}}));
    let output = output_of(&folder);
    let mut arguments = arguments(&model, &output);
    tasks.to_str().unwrap().clone_into(&mut arguments[1]);
    servers.to_str().unwrap().clone_into(&mut arguments[5]);
    let command = || {
        let mut command = m3_process(folder.path(), assets);
        command.args(&arguments).args(["--top-tools", "2"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let running = Running::start(&mut command());
    wait_for("the server is started", || started.exists());
    wait_for("its tools are known", || processes(&marker).is_empty());
    running.signal(Signal::INT);
    let began = Instant::now();
    let ended = running.output();
    assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
    assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());
    assert_eq!((model.requests().len(), processes(&marker)), (0, Vec::new()));
    assert!(!output.join("predictions.json").exists());
    // The same command with fewer tasks, so that it does not take minutes.
    folder.json("tasks.json", &(0..20).map(task).collect());
    let done = command().output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!((predictions(&output).len(), model.requests().len()), (20, 20));
    assert_eq!(model.requests()[0]["tools"].as_array().unwrap().len(), 2);
    wait_until_gone(&marker);
}

/// A call that never returns is given up soon after a signal, and at once after the second one.
#[test]
fn a_call_that_never_returns_delays_no_end() {
    for is_in_a_hurry in [false, true] {
        let (folder, marker) = (Folder::new(), marker());
        let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| {
            ScriptedReply::Call(vec![("stub__hang".to_owned(), serde_json::json!({}))])
        });
        let server = serde_json::json!({"command": stub(), "args": ["plain", "--marker", marker]});
        let servers = folder.json("servers.json", &serde_json::json!({"mcpServers": {"stub": server}}));
        let mut arguments = arguments(&model, &output_of(&folder));
        servers.to_str().unwrap().clone_into(&mut arguments[5]);
        arguments.extend(["--call-time", "3000", "--step-time", "3000"].map(str::to_owned));
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("m3"));
        command.args(arguments).current_dir(root()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut running = Running::start(&mut command);
        let said = BufReader::new(running.0.as_mut().unwrap().stderr.take().unwrap());
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || said.lines().map_while(Result::ok).all(|line| tell.send(line).is_ok()));
        let wait_for_line = |what: &str| {
            let deadline = Instant::now() + Duration::from_mins(1);
            while !told
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
                .unwrap()
                .contains(what)
            {}
        };
        let journal = output_of(&folder).join("journal.jsonl");
        let is_called = |journal: String| journal.contains("\"event\":\"called\"");
        wait_for("the call runs", || std::fs::read_to_string(&journal).is_ok_and(is_called));
        running.signal(Signal::INT);
        wait_for_line("once more stops at once");
        if is_in_a_hurry {
            running.signal(Signal::INT);
        }
        assert_eq!(running.output().status.code(), Some(130));
        wait_until_gone(&marker);
        if !is_in_a_hurry {
            let kept = std::fs::read_dir(output_of(&folder).join("interrupted")).unwrap();
            let kept: Vec<_> = kept.map(|entry| json_of(entry.unwrap().path())).collect();
            assert!(!kept.is_empty());
            assert_eq!(kept[0]["steps"][0]["calls"][0]["outcome"], "server_not_available");
        }
    }
}

#[test]
fn a_folder_in_use_is_refused_with_who_has_it() {
    let (folder, (model, left)) = (Folder::new(), stalling_after(0));
    let output = output_of(&folder);
    let running = Running(Some(start(&model, &output)));
    wait_for("the model is asked", || !model.requests().is_empty());
    let (code, said) = failure(&mut command(&model, &output));
    assert_eq!(code, 4);
    let process = running.id();
    assert!(said.contains(&format!("process {process}")), "{said}");
    drop(running);
    // The lock is released with the process.
    left.store(1000, Ordering::Relaxed);
    stdout(command(&model, &output).args(["--id", "00010000"]));
}
