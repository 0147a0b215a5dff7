//! `m3 setup`: fetching the encoder, with a pip in place of the real one that does what a test wants.
#![cfg(unix)]

use std::path::Path;
use std::process::{Child, Stdio};

use assert_cmd::Command;
use m3_encoder::{Assets, pins};

use crate::support::{Folder, encoder, failure, m3_bare, run, stdout, text, wait_for};

/// An empty cache folder and a pip beside it.
struct Machine {
    folder: Folder,
    assets: &'static Assets,
}

impl Machine {
    fn new() -> Option<Self> {
        let assets = encoder()?;
        let folder = Folder::new();
        std::fs::create_dir_all(folder.path().join("python/pip")).unwrap();
        folder.write("python/pip/__init__.py", "");
        folder.write("python/pip/__main__.py", include_str!("fake_pip.py"));
        folder.write("log", "");
        Some(Self { folder, assets })
    }

    fn cache(&self) -> std::path::PathBuf {
        self.folder.path().join("cache")
    }

    fn variables(&self, pip: &str) -> Vec<(&'static str, std::ffi::OsString)> {
        let below = |name: &str| self.folder.path().join(name).into_os_string();
        vec![
            ("PYTHONPATH", below("python")),
            ("M3_TEST_PIP", pip.into()),
            ("M3_TEST_LOG", below("log")),
            ("M3_TEST_ENCODER", self.assets.encoder_dir.clone().into_os_string()),
            ("M3_TEST_RUNTIME", self.assets.runtime_library.clone().into_os_string()),
        ]
    }

    fn m3(&self, pip: &str) -> Command {
        let mut command = m3_bare(&self.cache());
        command.envs(self.variables(pip));
        command
    }

    fn spawn(&self, pip: &str) -> Child {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("m3"));
        command.arg("setup").envs(self.variables(pip)).env("M3_CACHE_DIR", self.cache());
        command.env_remove("M3_ENCODER_DIR").env_remove("ORT_DYLIB_PATH").env_remove("M3_PYTHON");
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The processes of pip, once there are this many.
    fn pips(&self, count: usize) -> Vec<u32> {
        let mut pids = Vec::new();
        wait_for("pip runs", || {
            let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap();
            pids = log.lines().map(|line| line.parse().unwrap()).collect();
            pids.len() >= count
        });
        pids
    }
}

/// Whether a process runs; one that has ended and was not waited for does not.
fn is_running(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

#[test]
fn setup_fetches_once_and_says_what_is_where() {
    let Some(machine) = Machine::new() else { return };
    let first = stdout(machine.m3("good").arg("setup"));
    let cache = machine.cache();
    for part in ["all-MiniLM-L6-v2", "ONNX Runtime 1.28.0", "sha256:", "ready"] {
        assert!(first.contains(part), "{first}");
    }
    assert!(first.contains(cache.join("encoders/all-MiniLM-L6-v2").to_str().unwrap()), "{first}");
    assert!(!cache.join("staging").exists());
    // Nothing is fetched again, neither by setup nor by score.
    assert_eq!(stdout(machine.m3("fail").arg("setup")), first);
    let files = ["trajectories/predictions.json", "trajectories/references.json"];
    stdout(machine.m3("fail").arg("score").args(files));
    assert_eq!(machine.pips(1).len(), 1);
    // Unless `--force` asks for it.
    stdout(machine.m3("good").args(["setup", "--force"]));
    assert_eq!(machine.pips(2).len(), 2);
}

#[test]
fn score_fetches_on_first_use() {
    let Some(machine) = Machine::new() else { return };
    let files = ["trajectories/predictions.json", "trajectories/references.json"];
    let output = run(machine.m3("good").arg("score").args(files));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("fetching all-MiniLM-L6-v2 and ONNX Runtime"));
}

#[test]
fn two_at_once_fetch_once() {
    let Some(machine) = Machine::new() else { return };
    let children = [machine.spawn("slow"), machine.spawn("slow"), machine.spawn("slow")];
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    assert_eq!(machine.pips(1).len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_setup_that_is_killed_leaves_nothing_running_and_can_be_done_again() {
    let Some(machine) = Machine::new() else { return };
    let mut child = machine.spawn("hang");
    let pip = machine.pips(1)[0];
    let half = machine.cache().join("staging/wheels/half.whl");
    wait_for("half is there", || half.exists());
    // Nothing can be done about this signal: the helper has to notice by itself.
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("pip has ended", || !is_running(pip));
    assert!(half.exists());
    let (code, message) = failure(machine.m3("good").args(["setup", "--check"]));
    assert_eq!(code, 4);
    assert!(message.contains("all-MiniLM-L6-v2 and ONNX Runtime missing"), "{message}");
    assert!(stdout(machine.m3("good").arg("setup")).contains("ready"));
    assert!(!half.exists());
}

#[test]
fn another_content_than_pinned_is_not_installed() {
    let Some(machine) = Machine::new() else { return };
    let (code, message) = failure(machine.m3("wrong").arg("setup"));
    assert_eq!(code, 4);
    assert!(message.contains("tokenizer.json` is damaged: its SHA-256 is"), "{message}");
    assert!(!machine.cache().join("encoders/all-MiniLM-L6-v2/tokenizer.json").exists());
    assert!(stdout(machine.m3("good").arg("setup")).contains("ready"));
}

/// What failed, why, and the two ways to fix it.
fn message_of(machine: &Machine, command: &mut Command) -> String {
    let (code, message) = failure(command);
    assert_eq!(code, 4, "{message}");
    message.replace(machine.folder.path().to_str().unwrap(), "FOLDER")
}

#[test]
fn what_cannot_be_fetched_is_said_with_two_ways_to_fix_it() {
    let Some(machine) = Machine::new() else { return };
    insta::assert_snapshot!(message_of(&machine, machine.m3("fail").args(["setup", "--quiet"])));
}

/// Help and all errors name the same files, by their places in the wheels.
#[test]
fn help_and_errors_name_the_same_files() {
    let Some(machine) = Machine::new() else { return };
    let (encoder, runtime) = (pins::encoder_place(), pins::runtime_place());
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let help = words(stdout(m3_bare(&machine.cache()).args(["setup", "--help"])));
    assert!(help.contains(&encoder) && help.contains(&runtime), "{help}");
    let said = message_of(&machine, machine.m3("fail").args(["setup", "--quiet"]));
    assert!(said.contains(&encoder) && said.contains(&runtime), "{said}");
    for (variable, place) in [("M3_ENCODER_DIR", encoder), ("ORT_DYLIB_PATH", runtime)] {
        let said = message_of(&machine, machine.m3("fail").env(variable, "/nonexistent").arg("setup"));
        assert!(said.contains(&place), "{said}");
    }
}

#[test]
fn a_machine_without_python_is_told_so() {
    let Some(machine) = Machine::new() else { return };
    let files = ["trajectories/predictions.json", "trajectories/references.json"];
    let mut m3 = machine.m3("good");
    m3.env("M3_PYTHON", "no-such-python").arg("score").args(files);
    let message = message_of(&machine, &mut m3);
    assert!(message.contains("because: no Python was found (tried `no-such-python`)"), "{message}");
}

#[test]
fn files_placed_by_hand_need_no_python() {
    let Some(machine) = Machine::new() else { return };
    let mut m3 = machine.m3("fail");
    m3.env("M3_PYTHON", "no-such-python").env("M3_ENCODER_DIR", &machine.assets.encoder_dir);
    m3.env("ORT_DYLIB_PATH", &machine.assets.runtime_library).arg("setup");
    let said = stdout(&mut m3);
    assert!(said.contains("ONNX Runtime, from ORT_DYLIB_PATH"), "{said}");
    // Only what is missing is fetched.
    let mut m3 = machine.m3("good");
    m3.env("M3_ENCODER_DIR", &machine.assets.encoder_dir).arg("setup");
    stdout(&mut m3);
    let installed = |name: &str| Path::new(&machine.cache()).join(name).exists();
    assert_eq!((installed("encoders"), installed("onnxruntime")), (false, true));
}

/// Python searches the working directory for modules, and downloaded predictions may be there.
#[test]
fn a_pip_in_the_working_directory_is_not_run() {
    let Some(machine) = Machine::new() else { return };
    std::fs::create_dir_all(machine.folder.path().join("work/pip")).unwrap();
    let trap = "open(__file__ + '.was-run', 'w')";
    for name in ["pip/__init__.py", "pip/__main__.py", "json.py", "zipfile.py"] {
        machine.folder.write(&format!("work/{name}"), trap);
    }
    let mut m3 = machine.m3("good");
    let output = run(m3.arg("setup").current_dir(machine.folder.path().join("work")));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let names = std::fs::read_dir(machine.folder.path().join("work")).unwrap();
    assert_eq!(names.count(), 3, "nothing was run");
    assert_eq!(std::fs::read_dir(machine.folder.path().join("work/pip")).unwrap().count(), 2);
}

/// A library in the cache folder that was damaged after it was installed.
#[test]
fn a_damaged_runtime_is_named_and_fetched_again() {
    let Some(machine) = Machine::new() else { return };
    stdout(machine.m3("good").arg("setup"));
    let folder =
        std::fs::read_dir(machine.cache().join("onnxruntime")).unwrap().next().unwrap().unwrap().path();
    let library = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    // The pip of these tests links it from the real one, so it is replaced, not changed.
    let bytes = std::fs::read(&library).unwrap();
    std::fs::remove_file(&library).unwrap();
    std::fs::write(&library, &bytes[..bytes.len() / 2]).unwrap();
    let (code, message) = failure(machine.m3("good").args(["setup", "--check"]));
    assert_eq!(code, 4);
    assert!(message.contains("is damaged") && message.contains("m3 setup --force"), "{message}");
    stdout(machine.m3("good").args(["setup", "--force"]));
    stdout(machine.m3("good").args(["setup", "--check"]));
}
