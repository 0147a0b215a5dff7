//! Runs that are stopped, and folders that are in use.
#![cfg(unix)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{arguments, command, ids, journal, model, output_of, predictions, two_calls, without_times};
use crate::model_server::{Scripted, ScriptedModel, Spoken};
use crate::support::{Folder, failure, root, stdout, text};

/// Answers so many requests, then stalls until it is allowed more.
fn stalling_after(requests: usize) -> (ScriptedModel, Arc<AtomicUsize>) {
    let left = Arc::new(AtomicUsize::new(requests));
    let count = Arc::clone(&left);
    let take = move || count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    let script = move |seen: &_| if take().is_ok() { two_calls(seen) } else { Scripted::Stall };
    (ScriptedModel::start(Spoken::OpenAi, script), left)
}

fn start(model: &ScriptedModel, output: &Path) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("m3"));
    command.args(arguments(model, output)).current_dir(root());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Ends the process if a test fails.
struct Running(Option<Child>);

impl Running {
    fn signal(&self, signal: Signal) {
        let id = self.0.as_ref().unwrap().id();
        kill_process(Pid::from_raw(i32::try_from(id).unwrap()).unwrap(), signal).unwrap();
    }

    fn output(mut self) -> std::process::Output {
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

fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !is_there() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// As if nothing had happened: the port of the model is part of its name, and the number of the try counts.
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
        // Two requests for each task that was not done.
        assert_eq!(model.requests().len() - asked, 2 * (15 - saved.len()));
        assert_eq!(comparable(&output), comparable(&output_of(&undisturbed)));
    }
}

#[test]
fn a_second_signal_stops_at_once() {
    let (folder, (model, _)) = (Folder::new(), stalling_after(0));
    let output = output_of(&folder);
    let running = Running(Some(start(&model, &output)));
    wait_for("the model is asked", || !model.requests().is_empty());
    running.signal(Signal::INT);
    std::thread::sleep(Duration::from_millis(50));
    // It may have ended already.
    if let Some(child) = running.0.as_ref() {
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let _ = kill_process(pid, Signal::INT);
    }
    assert_eq!(running.output().status.code(), Some(130));
}

#[test]
fn a_folder_in_use_is_refused_with_who_has_it() {
    let (folder, (model, left)) = (Folder::new(), stalling_after(0));
    let output = output_of(&folder);
    let running = Running(Some(start(&model, &output)));
    wait_for("the model is asked", || !model.requests().is_empty());
    let (code, said) = failure(&mut command(&model, &output));
    assert_eq!(code, 4);
    let process = running.0.as_ref().unwrap().id();
    assert!(said.contains(&format!("process {process}")), "{said}");
    drop(running);
    // The lock goes with the process.
    left.store(1000, Ordering::Relaxed);
    stdout(command(&model, &output).args(["--id", "00010000"]));
}
