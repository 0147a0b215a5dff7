//! Commands that wait for something that never comes, or compute without end, end at a signal: with the documented code, and with
//! nothing left that they started.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire};
use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::host::support::{marker, processes, stub, wait_until_gone};
use crate::support::{Folder, call, encoder, m3_process, text, trajectory, wait_for};

/// How long a signal may go unheard before a test says so: far longer than any command takes, so that a busy machine is no failure,
/// and far shorter than what they wait for.
const UNHEARD: Duration = Duration::from_secs(20);

/// A model that never answers, files that commands can work with, and a server with a tool that hangs.
struct Stage {
    folder: Folder,
    model: ScriptedModel,
    marker: String,
}

impl Stage {
    fn new() -> Self {
        let (folder, marker) = (Folder::new(), marker());
        let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Stall);
        let server = json!({"command": stub(), "args": ["default", "--marker", marker]});
        folder.json("servers.json", &json!({"mcpServers": {"stub": server}}));
        let mut made = call("stub/hang", json!({}));
        made["result"] = json!("a result");
        let mut doubtful = made.clone();
        // No rule is sure of it.
        (doubtful["result"], doubtful["is_error"]) = (json!("the picture did not come out"), json!(true));
        folder.json("doubtful.json", &json!([trajectory("a", &[&[doubtful]])]));
        let tool = json!({"name": "hang", "description": "d", "inputSchema": {"type": "object"}});
        folder.json("tools.json", &json!({"stub": {"tools": [tool]}}));
        let mut tried = trajectory("a", &[&[made]]);
        tried["question"] = json!("What?");
        tried["final_answer"] = json!("That.");
        folder.json("predictions.json", &json!([tried]));
        folder.json("tasks.json", &json!([{"id": "a", "question": "What?"}]));
        Self { folder, model, marker }
    }

    /// Starts `m3` with these arguments, in the folder; `MODEL` stands for the model.
    fn start(&self, arguments: &str) -> Running {
        let model = format!("openai@{}:a-model", self.model.base_url());
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("m3"));
        command.args(arguments.split(' ').map(|it| if it == "MODEL" { model.as_str() } else { it }));
        command.current_dir(self.folder.path()).env("M3_CACHE_DIR", self.folder.path().join("cache"));
        command.env("OPENAI_API_KEY", "sk-test").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Running(Some(command.spawn().unwrap()))
    }
}

/// A command that is ended if a test fails.
struct Running(Option<Child>);

impl Running {
    fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.0.as_ref().unwrap().id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// Whether a signal ended it, or its exit code is that of an interruption; what it said.
    #[track_caller]
    fn ended(mut self, name: &str) -> (bool, String) {
        use std::os::unix::process::ExitStatusExt as _;
        let (mut child, begin) = (self.0.take().unwrap(), Instant::now());
        while child.try_wait().unwrap().is_none() {
            if begin.elapsed() > UNHEARD {
                let _ = child.kill();
                panic!(
                    "`{name}` did not hear the signal: {}",
                    text(&child.wait_with_output().unwrap().stderr)
                );
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let output = child.wait_with_output().unwrap();
        let is_interrupted = output.status.signal().is_some() || output.status.code() == Some(130);
        (is_interrupted, format!("{} {}", output.status, text(&output.stderr)))
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

/// Starts a command, and ends it by each signal once it is at work.
fn end_at_signals(arguments: &str, stage: impl Fn() -> Stage, is_at_work: impl Fn(&Stage) -> bool) {
    for signal in [Signal::INT, Signal::TERM] {
        let stage = stage();
        let running = stage.start(arguments);
        wait_for(arguments, || is_at_work(&stage));
        running.signal(signal);
        let (is_interrupted, said) = running.ended(arguments);
        assert!(is_interrupted, "{arguments}: {said}");
        wait_until_gone(&stage.marker);
    }
}

#[test]
fn commands_that_wait_for_a_model_end_at_a_signal() {
    for arguments in [
        "run tasks.json --servers servers.json --llm MODEL -o out",
        "judge predictions.json --llm MODEL -o references.json",
        "grade predictions.json --llm MODEL",
        "outcomes doubtful.json --tools tools.json --llm MODEL",
    ] {
        end_at_signals(arguments, Stage::new, |stage| !stage.model.requests().is_empty());
    }
}

#[test]
fn commands_that_wait_for_a_tool_end_at_a_signal() {
    let call = |_: &_| ScriptedReply::Call(vec![("stub__hang".to_owned(), json!({}))]);
    let stage = || Stage { model: ScriptedModel::start(ScriptedWire::OpenAi, call), ..Stage::new() };
    for arguments in [
        "call servers.json stub/hang {}",
        "record predictions.json --servers servers.json -o recorded.json",
        "outcomes predictions.json --servers servers.json",
        "run tasks.json --servers servers.json --llm MODEL -o out",
    ] {
        let is_asked = |stage: &Stage| !arguments.starts_with("run") || !stage.model.requests().is_empty();
        end_at_signals(arguments, stage, |stage| !processes(&stage.marker).is_empty() && is_asked(stage));
    }
}

/// A server whose tool's schema takes seconds to check against calls with very many names.
fn costly_checks() -> Stage {
    let stage = Stage::new();
    let names: serde_json::Map<String, Value> =
        (0..300_000).map(|name| (format!("n{name:07}"), json!("x"))).collect();
    let patterns: serde_json::Map<String, Value> =
        (0..3).map(|number| (format!("^[ab]*c{number}$"), json!({"type": "string"}))).collect();
    let schema = json!({"type": "object", "patternProperties": patterns});
    let tool = json!({"name": "t", "description": "d", "inputSchema": schema});
    stage.folder.json("tools.json", &json!({"s": {"tools": [tool]}}));
    // The other server says by its process that servers are started.
    let other = json!({"command": stub(), "args": ["default", "--marker", stage.marker]});
    let servers = json!({"mcpServers": {"stub": other}, "simulated": {"catalog": "tools.json"}});
    stage.folder.json("servers.json", &servers);
    let mut costly = call("s/t", Value::Object(names));
    costly["result"] = json!("a result");
    let mut calls = vec![costly; 2];
    calls.push(call("stub/echo", json!({})));
    stage.folder.json("predictions.json", &json!([trajectory("a", &[&calls])]));
    stage
}

/// A check takes seconds, and is left behind or waited for: the command ends as interrupted, and its servers with it.
#[test]
fn commands_that_check_for_long_end_at_a_signal() {
    for arguments in [
        "record predictions.json --servers servers.json -o recorded.json",
        "outcomes predictions.json --servers servers.json",
    ] {
        end_at_signals(arguments, costly_checks, |stage| !processes(&stage.marker).is_empty());
    }
}

#[test]
fn commands_whose_output_nobody_reads_end_at_signals() {
    // Many times what a pipe holds.
    let bytes = 1 << 20;
    for signals in [&[Signal::INT][..], &[Signal::TERM], &[Signal::INT, Signal::INT]] {
        let stage = Stage::new();
        let arguments = format!("call servers.json stub/large {{\"bytes\":{bytes}}}");
        let running = stage.start(&arguments);
        let output = running.0.as_ref().unwrap().stdout.as_ref().unwrap();
        wait_for(&arguments, || ioctl_fionread(output).unwrap() > 0);
        for signal in signals {
            running.signal(*signal);
            // Two of a kind at once would be one.
            std::thread::sleep(Duration::from_millis(100));
        }
        let (is_interrupted, said) = running.ended(&arguments);
        assert!(is_interrupted, "{arguments}: {said}");
        wait_until_gone(&stage.marker);
    }
}

/// The address that a page or a server says it is served at, in the first line of its standard output.
fn served_at(running: &mut Running) -> String {
    let mut line = String::new();
    let output = running.0.as_mut().unwrap().stdout.take().unwrap();
    BufReader::new(output).read_line(&mut line).unwrap();
    let address = line.split("//").nth(1).and_then(|rest| rest.split('/').next());
    address.unwrap_or_else(|| panic!("no address in {line:?}")).to_owned()
}

#[test]
fn pages_and_servers_end_at_a_signal_whoever_is_connected() {
    for arguments in [
        "view predictions.json --no-score --no-open",
        "review predictions.json --no-open",
        "serve --http 127.0.0.1:0 math",
        "serve --http 127.0.0.1:0 image",
        "serve --http 127.0.0.1:0 simulated --catalog tools.json",
    ] {
        for signal in [Signal::INT, Signal::TERM] {
            let stage = Stage::new();
            let mut running = stage.start(arguments);
            let address = served_at(&mut running);
            // One who says nothing, and one who never ends what was begun.
            let silent = TcpStream::connect(&address).unwrap();
            let mut begun = TcpStream::connect(&address).unwrap();
            begun.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{").unwrap();
            running.signal(signal);
            let (_, said) = running.ended(arguments);
            assert!(!said.contains("panicked"), "{arguments}: {said}");
            drop((silent, begun));
        }
    }
}

/// A pipe that nobody writes to: whatever reads it waits for ever.
fn endless(folder: &Folder, name: &str) -> PathBuf {
    let path = folder.path().join(name);
    let made = Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    path
}

/// Whether a process has opened a file, or waits to: then it works.
fn reads(process: &Child, path: &Path) -> bool {
    let waits = std::fs::read_to_string(format!("/proc/{}/wchan", process.id())).unwrap_or_default();
    let files = std::fs::read_dir(format!("/proc/{}/fd", process.id())).into_iter().flatten().flatten();
    waits.contains("fifo")
        || files.filter_map(|file| std::fs::read_link(file.path()).ok()).any(|it| it == path)
}

#[test]
fn commands_that_read_without_end_end_at_a_signal() {
    let mut ended = Vec::new();
    for arguments in [
        "validate pipe",
        "import pipe -o out.json",
        "export pipe --to otel",
        "show pipe",
        "leaderboard pipe pipe",
        "compare pipe pipe",
        "agree pipe pipe",
        "tools pipe",
    ] {
        let stage = Stage::new();
        let pipe = endless(&stage.folder, "pipe");
        let running = stage.start(arguments);
        // Who refuses a pipe is no example.
        let begin = Instant::now();
        let child = running.0.as_ref().unwrap();
        while !reads(child, &pipe) && begin.elapsed() < Duration::from_secs(2) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut running = running;
        if running.0.as_mut().unwrap().try_wait().unwrap().is_some() {
            continue;
        }
        running.signal(Signal::INT);
        let (is_interrupted, said) = running.ended(arguments);
        assert!(is_interrupted, "{arguments}: {said}");
        ended.push(arguments);
    }
    assert!(ended.len() >= 4, "others refuse pipes: {ended:?}");
}

/// Many calls that are nearly the same, of which each is compared with each.
fn near_equal(folder: &Folder, name: &str, by: usize) {
    let calls = |count: usize| -> Vec<Value> {
        (0..count).map(|at| call("image/crop", json!({"input_path": "a.png", "x1": at * 7 + by}))).collect()
    };
    folder.json(name, &json!([trajectory("a", &[&calls(4000)])]));
}

#[test]
fn commands_that_compute_for_long_end_at_a_signal() {
    let folder = Folder::new();
    near_equal(&folder, "predictions.json", 1);
    near_equal(&folder, "references.json", 0);
    for arguments in ["score predictions.json references.json", "audit predictions.json references.json"] {
        let Some(assets) = encoder() else { return };
        let mut command = m3_process(&folder.path().join("cache"), assets);
        command.args(arguments.split(' ')).current_dir(folder.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let running = Running(Some(command.spawn().unwrap()));
        // Its threads have begun to compute.
        let id = running.0.as_ref().unwrap().id();
        let ticks = || -> u64 {
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            stat.split(' ').nth(13).and_then(|ticks| ticks.parse().ok()).unwrap_or_default()
        };
        wait_for(arguments, || ticks() > 50);
        running.signal(Signal::INT);
        let (is_interrupted, said) = running.ended(arguments);
        assert!(is_interrupted, "{arguments}: {said}");
    }
}

#[test]
fn a_bundle_that_is_interrupted_leaves_nothing_behind() {
    let Some(assets) = encoder() else { return };
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let folder = Folder::new();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("runs")).unwrap();
        std::fs::create_dir_all(at("temporary")).unwrap();
        near_equal(&folder, "runs/predictions.json", 1);
        near_equal(&folder, "runs/references.json", 0);
        let mut command = m3_process(&at("cache"), assets);
        command.args(["view", "runs", "--bundle", "site"]).current_dir(folder.path());
        command.env("TMPDIR", at("temporary")).stdout(Stdio::piped()).stderr(Stdio::piped());
        let running = Running(Some(command.spawn().unwrap()));
        let is_empty = |name: &str| at(name).read_dir().unwrap().next().is_none();
        // A folder for scores is there, and a score is being made.
        wait_for("scoring", || !is_empty("temporary") && at("cache/embeddings.sqlite").exists());
        running.signal(signal);
        let (is_interrupted, said) = running.ended("view --bundle");
        assert!(is_interrupted, "{said}");
        assert!(is_empty("temporary") && !at("site").exists(), "{said}");
        let names = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name());
        assert!(!names.into_iter().any(|name| name.to_string_lossy().starts_with(".m3-view-")), "{said}");
    }
}
