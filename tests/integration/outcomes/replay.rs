//! Outcomes from replaying predictions with a stub server.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::rules_of;
use crate::host::support::{marker, processes, stub, wait_until_gone};
use crate::support::{Folder, call, failure, m3_bare, report, root, run, text, trajectory, wait_for};

/// A configuration with two stubs with short limits, one that is killed at its start, and one that does not exist.
fn servers(folder: &Folder, marker: &str) -> PathBuf {
    let stub = |scenario: &str| {
        json!({"command": stub(), "args": [scenario, "--marker", marker],
            "timeouts": {"start": 20, "idle": 2, "total": 10}})
    };
    let config = json!({"mcpServers": {
        "stub": stub("default"),
        "other": stub("default"),
        "unused": {"command": "/nonexistent/never-started"},
        "missing": {"command": "/nonexistent/server"},
    }});
    folder.json("servers.json", &config)
}

fn outcomes(folder: &Folder, predictions: &Value, marker: &str) -> Command {
    let predictions = folder.json("p.json", predictions);
    let mut m3 = m3_bare(folder.path());
    m3.arg("outcomes").arg(predictions).arg("--servers").arg(servers(folder, marker));
    m3
}

/// The report of a run that exits with this code.
fn report_with(command: &mut Command, code: i32) -> Value {
    let output = run(command.args(["--format", "json", "--quiet"]));
    assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn calls_are_made_again_and_judged_by_their_answers() {
    let folder = Folder::new();
    let calls: Vec<Value> = ["echo", "failure", "empty", "structured", "error", "all_contents", "none"]
        .map(|tool| call(&format!("stub/{tool}"), json!({"a": 1})))
        .to_vec();
    let first = [call("unknown/tool", json!({})), json!({"name": "stub/echo", "arguments": 7})];
    let predictions = json!([trajectory("a", &[&first, &calls])]);
    let report = report(&mut outcomes(&folder, &predictions, &marker()));
    let expected = [
        "not_in_catalog",
        "arguments_not_object",
        "normal_result",
        "not_found_answer",
        "empty_answer",
        "normal_result",
        "is_error",
        "normal_result",
        "not_in_catalog",
    ];
    assert_eq!(rules_of(&report), expected);
    assert_eq!(report["answers"], "replayed");
    // Three normal results of nine calls.
    assert_eq!(report["aggregate"]["execution_success"]["rate"], 3.0 / 9.0);
    crate::support::follows_kept_schema("outcomes", &report);
}

/// An unanswered call has no outcome, and the exit code shows it.
#[test]
fn calls_without_an_answer_are_not_judged() {
    let folder = Folder::new();
    let calls: Vec<Value> =
        ["echo", "hang", "cut_escape"].map(|tool| call(&format!("stub/{tool}"), json!({"a": 1}))).to_vec();
    let last = [call("missing/tool", json!({})), json!({"name": "missing/tool", "arguments": "x"})];
    let predictions = json!([trajectory("a", &[&calls, &[call("other/crash", json!({}))], &last])]);
    let report = report_with(&mut outcomes(&folder, &predictions, &marker()), 3);
    let expected = [
        "normal_result",
        "timed_out",
        "unreadable",
        "server_lost",
        "server_not_available",
        "arguments_not_object",
    ];
    assert_eq!(rules_of(&report), expected);
    let all = &report["aggregate"];
    let not_judged = json!({"server_not_available": 1, "timed_out": 1, "server_lost": 1, "unreadable": 1,
        "image_missing": 0});
    assert_eq!((&all["judged"], &all["not_judged"]), (&json!(2), &not_judged));
    assert_eq!(all["execution_success"], json!({"count": 1, "of": 2, "rate": 0.5}));
    // The tools of the missing server could not be listed, so its calls do not count for names.
    assert_eq!(all["tool_name_validity"], json!({"count": 4, "of": 4, "rate": 1.0}));
    assert_eq!(report["unavailable_servers"][0]["server"], "missing");
    crate::support::follows_kept_schema("outcomes", &report);
    let table = run(&mut outcomes(&folder, &predictions, &marker()));
    assert_eq!(table.status.code(), Some(3));
    let table = text(&table.stdout);
    assert!(table.contains("server not available") && table.contains("not judged"), "{table}");
}

#[test]
fn nothing_but_missing_servers_is_exit_code_4() {
    let folder = Folder::new();
    let predictions = json!([trajectory("a", &[&[call("missing/tool", json!({}))]])]);
    let report = report_with(&mut outcomes(&folder, &predictions, &marker()), 4);
    assert_eq!(report["aggregate"]["not_judged"]["server_not_available"], 1);
}

/// With a catalog, its schemas decide, whether servers are available or not.
#[test]
fn a_catalog_says_what_was_offered() {
    let folder = Folder::new();
    let calls =
        [call("stub/echo", json!({})), call("stub/empty", json!({})), call("missing/tool", json!({}))];
    let predictions = json!([trajectory("a", &[&calls])]);
    let schema = json!({"type": "object", "required": ["text"]});
    let tools = json!({"stub": {"tools": [{"name": "echo", "inputSchema": schema}]},
        "missing": {"tools": [{"name": "tool", "inputSchema": {"type": "object"}}]}});
    let tools = folder.json("tools.json", &tools);
    let report = report_with(outcomes(&folder, &predictions, &marker()).arg("--tools").arg(tools), 3);
    assert_eq!(rules_of(&report), ["schema", "not_in_catalog", "server_not_available"]);
    assert_eq!(report["aggregate"]["tool_name_validity"], json!({"count": 2, "of": 3, "rate": 2.0 / 3.0}));
}

/// Signals that end a program unless it handles them.
const ENDING: [Signal; 3] = [Signal::INT, Signal::TERM, Signal::HUP];

/// A replay whose only call is never answered.
struct Hanging {
    folder: Folder,
    marker: String,
    child: std::process::Child,
}

impl Hanging {
    /// Starts the replay. The program that ran the tests may ignore signals (`nohup` does, and shells do for
    /// background jobs), and programs inherit that; here the signals must count.
    fn start() -> Self {
        const HEEDING: &str = "\
import os, signal, sys
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
";
        let (folder, marker) = (Folder::new(), marker());
        let hang = json!([trajectory("a", &[&[call("stub/hang", json!({}))]])]);
        let predictions = folder.json("p.json", &hang);
        std::fs::create_dir(folder.path().join("temporary")).unwrap();
        let mut m3 = std::process::Command::new("python3");
        m3.args(["-c", HEEDING]).arg(assert_cmd::cargo::cargo_bin("m3")).arg("outcomes").arg(predictions);
        m3.arg("--servers").arg(servers_with_patience(&folder, &marker));
        m3.arg("--out").arg(folder.path().join("outcomes.json"));
        m3.env("TMPDIR", folder.path().join("temporary")).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = m3.spawn().unwrap();
        Self { folder, marker, child }
    }

    /// Waits until its server has started or is about to.
    fn wait_for_server(&self) {
        wait_for("the server is started", || !processes(&self.marker).is_empty());
        assert!(self.left() > 0);
    }

    /// Sends m3 a signal.
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Sends the signal to the server and to its guard, and waits until both are gone.
    fn signal_servers(&self, signal: Signal) {
        for process in processes(&self.marker) {
            let pid = process.strip_prefix("/proc/").and_then(|rest| rest.split(':').next()?.parse().ok());
            // The guard may have ended the server already.
            let _ = kill_process(Pid::from_raw(pid.unwrap()).unwrap(), signal);
        }
        wait_until_gone(&self.marker);
    }

    /// How many temporary files are left.
    fn left(&self) -> usize {
        std::fs::read_dir(self.folder.path().join("temporary")).unwrap().count()
    }

    /// Asserts that it ends as interrupted, and that nothing of it remains.
    fn assert_interrupted(mut self, signal: Signal) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if start.elapsed() > Duration::from_mins(5) {
                self.child.kill().unwrap();
                panic!("it hangs");
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut said).unwrap();
        assert_eq!(status.code(), Some(130), "{signal:?}: {said}");
        assert!(!said.contains("error"), "{said}");
        wait_until_gone(&self.marker);
        assert_eq!(self.left(), 0, "{signal:?}");
        assert!(!self.folder.path().join("outcomes.json").exists());
    }
}

/// Ctrl-C and other ending signals close the servers, leave no temporary folder, and exit with 130.
#[test]
fn an_interrupted_replay_leaves_nothing_behind() {
    for signal in ENDING {
        let replay = Hanging::start();
        replay.wait_for_server();
        replay.signal(signal);
        replay.assert_interrupted(signal);
    }
}

/// As at the end of a session or a control group, where every process gets the signal, the servers first.
#[test]
fn servers_that_die_of_the_same_signal_before_m3_has_it_make_no_outcomes() {
    for signal in ENDING {
        let replay = Hanging::start();
        replay.wait_for_server();
        replay.signal_servers(signal);
        replay.signal(signal);
        replay.assert_interrupted(signal);
    }
}

/// Here m3 sees both at the same time, because it is stopped in between.
#[test]
fn the_end_of_servers_and_a_signal_that_come_at_once_are_an_interruption() {
    for signal in ENDING {
        let replay = Hanging::start();
        replay.wait_for_server();
        replay.signal(Signal::STOP);
        replay.signal_servers(signal);
        replay.signal(signal);
        replay.signal(Signal::CONT);
        replay.assert_interrupted(signal);
    }
}

/// A failure caused by a missing image reveals nothing about the model.
#[test]
fn calls_that_fail_for_want_of_the_image_are_not_judged() {
    let folder = Folder::new();
    let read = |name: &str| call("stub/failure", json!({"path": name}));
    let mut lacking = trajectory(
        "a",
        &[
            &[read("notes.txt")],
            &[read("media/eel.png")],
            &[call("stub/echo", json!({"a": 1})), read("cut.png")],
        ],
    );
    lacking["image"] = json!("images/eel.png");
    // The same calls when the image exists.
    let mut whole = lacking.clone();
    whole["id"] = json!("b");
    whole["image"] = json!("there/eel.png");
    std::fs::create_dir(folder.path().join("there")).unwrap();
    std::fs::write(folder.path().join("there/eel.png"), "eel").unwrap();
    let report = report_with(&mut outcomes(&folder, &json!([lacking, whole]), &marker()), 3);
    let expected = ["not_found_answer", "image_missing", "normal_result", "image_missing"];
    assert_eq!(rules_of(&report), expected);
    let rules: Vec<&Value> =
        report["trajectories"][1]["details"].as_array().unwrap().iter().map(|call| &call["rule"]).collect();
    assert_eq!(rules, ["not_found_answer", "not_found_answer", "normal_result", "not_found_answer"]);
    assert_eq!(report["aggregate"]["not_judged"]["image_missing"], 2);
}

fn servers_with_patience(folder: &Folder, marker: &str) -> PathBuf {
    let config =
        json!({"mcpServers": {"stub": {"command": stub(), "args": ["default", "--marker", marker]}}});
    folder.json("patient.json", &config)
}

#[test]
fn near_distractors_are_chosen_by_the_encoder_and_a_catalog_is_no_configuration() {
    let Some(mut m3) = crate::support::m3() else { return };
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("servers.json");
    let catalog = root().join("trajectories/tools.json");
    let simulated =
        json!({"catalog": catalog, "only": ["math/add"], "distractors": {"count": 3, "kind": "near"}});
    std::fs::write(&config, json!({ "simulated": simulated }).to_string()).unwrap();
    let references = "trajectories/references.json";
    let report = report(m3.args(["outcomes", references, "--servers"]).arg(&config));
    // math/add itself and three more; no other tools are known.
    assert_eq!(report["known_tools"], 4, "{report}");

    let mut m3 = m3_bare(folder.path());
    let (code, message) = failure(m3.args(["outcomes", references, "--servers"]).arg(&catalog));
    assert!(code == 2 && message.contains("is a catalog; a replay needs servers"), "{message}");
}

#[test]
fn one_of_catalog_and_servers_is_asked_for() {
    let folder = Folder::new();
    let (code, message) = failure(m3_bare(folder.path()).args(["outcomes", "p.json"]));
    assert!(code == 2 && message.contains("--tools") && message.contains("--servers"), "{message}");
}
