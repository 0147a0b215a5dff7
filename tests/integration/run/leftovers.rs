//! However a run ends, its shared servers are told to end, and do so before it.
#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire};
use rustix::process::Signal;
use serde_json::json;

use super::stop::Running;
use super::{math_arguments, output_of, questions};
use crate::host::support::{marker, processes, stub};
use crate::support::{Folder, encoder, m3_process, root, text, wait_for};

/// A run whose only server is a stub that tasks share.
struct Shared {
    folder: Folder,
    marker: String,
}

impl Shared {
    /// With a stub in a scenario. It logs its start and a normal end; a killed process logs no end.
    fn new(scenario: &str) -> Self {
        let (folder, marker) = (Folder::new(), marker());
        let script = "echo started >> \"$0\"; \"$1\" \"$2\" --marker \"$3\"; echo ended >> \"$0\"";
        let log = folder.path().join("server.log");
        let server = json!({"command": "sh", "stateless": true, "args": ["-c", script, log, stub(), scenario, marker]});
        folder.json("servers.json", &json!({"mcpServers": {"stub": server}}));
        Self { folder, marker }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("server.log")).unwrap_or_default()
    }

    fn output(&self) -> PathBuf {
        output_of(&self.folder)
    }

    /// The arguments of the run.
    fn arguments(&self, tasks: usize, llm: &str) -> Vec<String> {
        let mut arguments = math_arguments(&questions(&self.folder, tasks), llm, &self.output());
        self.folder.path().join("servers.json").to_str().unwrap().clone_into(&mut arguments[5]);
        arguments.drain(6..8);
        arguments
    }

    fn command(&self, tasks: usize, llm: &str) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("m3"));
        command.args(self.arguments(tasks, llm)).current_dir(root());
        // If a request were sent to a provider all the same, it would go nowhere.
        command.env("M3_LLM_KEY", "sk-test-0123456789").env("HTTPS_PROXY", "http://127.0.0.1:1");
        command.env("M3_CACHE_DIR", self.folder.path());
        command
    }

    /// Checks a run that has ended: at this moment none of its processes remain.
    fn is_over(&self, ended: &Output, code: i32, reason: &str) {
        let left = processes(&self.marker);
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{}: {said}", ended.status);
        assert!(said.contains(reason), "{said}");
        assert_eq!(left, Vec::<String>::new(), "{said}");
        assert_eq!(self.log(), "started\nended\n", "{said}");
    }
}

#[test]
fn shared_servers_end_with_a_run_that_offers_too_many_tools() {
    let shared = Shared::new("many");
    let ended = shared.command(1, "openai:gpt-5").output().unwrap();
    shared.is_over(&ended, 2, "takes at most 128 tools, and 129 are offered");
}

#[test]
fn shared_servers_end_with_a_run_whose_journal_cannot_be_opened() {
    let shared = Shared::new("plain");
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Say("done".to_owned()));
    std::fs::create_dir_all(shared.output().join("journal.jsonl")).unwrap();
    // Looks like a run's folder; a folder of something else is refused before servers are started.
    std::fs::write(shared.output().join("lock"), "").unwrap();
    let ended = shared.command(1, &format!("openai@{}:scripted", model.base_url())).output().unwrap();
    shared.is_over(&ended, 4, "journal.jsonl");
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn shared_servers_end_with_a_run_whose_model_refuses() {
    let shared = Shared::new("plain");
    let refusal = r#"{"error": {"message": "Incorrect API key provided", "type": "invalid_request_error"}}"#;
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Raw {
        status: 401,
        headers: Vec::new(),
        body: refusal.to_owned(),
    });
    let ended = shared.command(3, &format!("openai@{}:scripted", model.base_url())).output().unwrap();
    shared.is_over(&ended, 4, "Incorrect API key provided");
}

/// The encoder needs a long time for the tools of so many tasks.
#[test]
fn shared_servers_end_with_a_run_that_is_interrupted_while_tools_are_chosen() {
    let Some(assets) = encoder() else { return };
    let shared = Shared::new("plain");
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Say("done".to_owned()));
    let arguments = shared.arguments(2000, &format!("openai@{}:scripted", model.base_url()));
    let question = |task: usize| format!("{task} eels and a {} trout? ", task * 7).repeat(40);
    let task = |task: usize| json!({"id": format!("t{task}"), "question": question(task)});
    shared.folder.json("tasks.json", &(0..2000).map(task).collect());
    let mut command = m3_process(shared.folder.path(), assets);
    command.args(arguments).args(["--top-tools", "2"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let running = Running::start(&mut command);
    // Servers are started before the encoder's library is loaded.
    let maps = format!("/proc/{}/maps", running.id());
    wait_for("tools are being chosen", || {
        std::fs::read_to_string(&maps).is_ok_and(|maps| maps.contains("libonnxruntime"))
    });
    assert_eq!(shared.log(), "started\n");
    running.signal(Signal::INT);
    shared.is_over(&running.output(), 130, "");
    assert_eq!(model.requests().len(), 0);
}
