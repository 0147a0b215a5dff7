//! Nothing leaves the machine: no socket, no file outside m3's own folders, whichever ONNX Runtime is used.
#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use m3_embedding::Encoder as _;
use m3_encoder::{Assets, NO_REPORTS, OnnxEncoder, OnnxError};
use serde_json::json;

use crate::support::{Folder, encoder, failure, m3_bare, m3_process, program_with_cache, skipped, text};

/// Texts of eight words each, in two files: a report of them is more than a pipe holds.
const TEXTS: usize = 200;

/// Longer than the ten seconds after which a build with a collector looks up its address.
const UNTIL_IT_REPORTS: Duration = Duration::from_secs(13);

/// System calls that reach another place: sockets, and files that are made, written to or moved.
const CALLS: &str = "trace=socket,connect,bind,open,openat,openat2,creat,mkdir,mkdirat,mknod,mknodat,rename,renameat,\
    renameat2,link,linkat,symlink,symlinkat";

/// Whether programs can be traced here; some containers do not allow it.
fn can_trace() -> bool {
    let tried = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    let can = tried.is_ok_and(|tried| tried.status.success());
    if !can {
        let _ = skipped::<()>("`strace` cannot be used here");
    }
    can
}

/// Trajectories of one call each, all of them different.
fn many_texts(folder: &Folder, name: &str) -> PathBuf {
    let trajectory = |task: usize| {
        let word = |word: usize| format!("{name}{} ", (task * 7919 + word * 104_729) % 99_991);
        let text: String = (0..8).map(word).collect();
        json!({"id": format!("{task}"), "steps": [{"calls": [{"name": "notes/add", "arguments": {"text": text}}]}]})
    };
    folder.json(&format!("{name}.json"), &(0..TEXTS / 2).map(trajectory).collect())
}

/// The lines of system calls that write anywhere except below `own` or to no file at all.
fn writes_elsewhere<'t>(trace: &'t str, own: &[&Path]) -> Vec<&'t str> {
    let reads = |line: &str| {
        line.contains("open")
            && !["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|flag| line.contains(flag))
    };
    let is_own = |line: &str| {
        // A file without a name is linked from its descriptor to its name.
        let mut paths = line.split('"').skip(1).step_by(2);
        let path = paths.find(|path| !path.starts_with("/proc/self/fd/")).unwrap_or_default();
        path == "/dev/null" || own.iter().any(|folder| Path::new(path).starts_with(folder))
    };
    // If another thread interrupts a call in the log, its end has no path: its beginning has it.
    let calls = trace.lines().filter(|line| line.contains('"') && !line.contains(" = -1 "));
    calls.filter(|line| !reads(line) && !is_own(line)).collect()
}

/// Nothing reads the report until the runtime has been loaded for as long as any collector needs to wake up.
#[test]
fn scoring_opens_no_socket_and_writes_to_its_own_folders_only() {
    let Some(assets) = encoder() else { return };
    if !can_trace() {
        return;
    }
    let (folder, home) = (Folder::new(), Folder::new());
    let own = |name: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        path
    };
    let (cache, temporary, log) = (own("cache"), own("tmp"), folder.path().join("log"));
    let mut command = program_with_cache("strace", &cache, assets);
    command.args(["-f", "-qq", "-e", CALLS, "-o"]).arg(&log).arg(assert_cmd::cargo::cargo_bin("m3"));
    command.arg("score").args(["p", "r"].map(|name| many_texts(&folder, name)));
    command.args(["--format", "json"]);
    command.env("HOME", home.path()).env_remove("XDG_CACHE_HOME").env_remove(NO_REPORTS);
    command.env("TMPDIR", &temporary).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let is_loaded = || std::fs::read_to_string(&log).is_ok_and(|log| log.contains("libonnxruntime"));
    while !is_loaded() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(UNTIL_IT_REPORTS);
    assert!(child.try_wait().unwrap().is_none(), "it waits for a reader");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let trace = std::fs::read_to_string(&log).unwrap();
    assert!(trace.contains("libonnxruntime") && trace.contains("embeddings.sqlite"), "it saw the work");
    let network = |line: &&str| ["socket(", "connect(", "bind("].iter().any(|call| line.contains(call));
    assert_eq!(trace.lines().filter(network).collect::<Vec<_>>(), <[&str; 0]>::default());
    assert_eq!(writes_elsewhere(&trace, &[&cache, &temporary]), <[&str; 0]>::default());
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

/// Builds with a collector look up its address only after some ten seconds. A library without the names of the
/// system's functions for this cannot do so at any time.
#[test]
fn the_runtime_that_is_fetched_has_nothing_to_report_with() {
    let Some(assets) = encoder() else { return };
    if std::env::var_os("ORT_DYLIB_PATH").is_some() {
        let _ = skipped::<()>("ORT_DYLIB_PATH names another build");
        return;
    }
    let names = ["\0socket\0", "\0connect\0", "\0getaddrinfo\0", NO_REPORTS];
    let library = std::fs::read(&assets.runtime_library).unwrap();
    let found = aho_corasick::AhoCorasick::new(names).unwrap().find(&library);
    assert_eq!(found.map(|found| names[found.pattern().as_usize()]), None);
}

/// Whatever library is named, the variable is set before anything is loaded or started.
#[test]
fn every_command_keeps_the_runtime_from_reporting() {
    let folder = Folder::new();
    let python = folder.write("python", format!("#!/bin/sh\necho \"said ${NO_REPORTS}\" >&2\nexit 1\n"));
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    for said in [None, Some("0")] {
        let mut m3 = m3_bare(&folder.path().join("cache"));
        m3.env_remove(NO_REPORTS).envs(said.map(|value| (NO_REPORTS, value)));
        let (_, message) = failure(m3.env("M3_PYTHON", &python).arg("setup"));
        assert!(message.contains("said 1"), "{message}");
    }
}

/// A program that uses the library sets no variable itself: it is told to do so before anything is loaded.
#[test]
fn a_build_that_reports_is_not_loaded_unawares() {
    let Some(assets) = encoder() else { return };
    if std::env::var_os(NO_REPORTS).is_some() {
        let _ = skipped::<()>(&format!("{NO_REPORTS} is set here"));
        return;
    }
    let folder = Folder::new();
    let library = folder.write("libonnxruntime.so", format!("\x7fELF .. {NO_REPORTS} .."));
    let assets = Assets { runtime_library: library, ..assets.clone() };
    let error = OnnxEncoder::open(assets, folder.path()).unwrap().embed(&["eel"], &mut |_| ()).unwrap_err();
    let error = error.into_cause().downcast::<OnnxError>().unwrap();
    assert!(matches!(*error, OnnxError::Reports { .. }), "{error}");
    assert!(error.to_string().contains("hint: set ORT_DISABLE_TELEMETRY=1 before"), "{error}");
}

/// Files left by an earlier m3 are named but not removed, because other programs use the same folder.
#[test]
fn setup_names_what_an_earlier_version_left() {
    let Some(assets) = encoder() else { return };
    let (home, cache) = (Folder::new(), Folder::new());
    let gathered = home.path().join(".cache/Microsoft/DeveloperTools/.onnxruntime");
    let build = cache.path().join("onnxruntime/1.31.1");
    for folder in [&gathered, &build] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let mut command = m3_process(cache.path(), assets);
    command.env("HOME", home.path()).env_remove("XDG_CACHE_HOME").arg("setup");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    for folder in [&gathered, &build] {
        assert!(text(&output.stderr).contains(folder.to_str().unwrap()), "{}", text(&output.stderr));
        assert!(folder.exists());
    }
    command.env("HOME", cache.path()).env("M3_CACHE_DIR", home.path());
    let said = text(&command.output().unwrap().stderr);
    assert!(!said.contains("earlier m3"), "{said}");
}
