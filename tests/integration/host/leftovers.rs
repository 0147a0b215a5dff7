//! Nothing keeps running, whatever ends: the server, the host, a future, or the host's process.

use std::io::BufRead as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::support::{host, host_all, m3, marker, processes, server, stub, wait_until_gone};
use crate::support::wait_for;

const DESCENDANTS: [&str; 4] = ["sleeper", "sleeper-stubborn", "sleeper-session", "sleeper-daemon"];

/// Waits until so many processes are there: they take a moment to start.
fn wait_for_processes(count: usize, marker: &str) {
    wait_for("the processes have started", || processes(marker).len() >= count);
}

#[tokio::test]
async fn descendants_end_with_a_host_that_is_closed() {
    let hosting = host("default").await;
    for what in DESCENDANTS {
        hosting.text("spawn", json!({ "what": what })).await;
    }
    // The guard, the server and the four.
    wait_for_processes(6, &hosting.marker);
    hosting.close().await;
}

#[tokio::test]
async fn descendants_end_with_a_server_that_crashes() {
    let hosting = host("default").await;
    for what in DESCENDANTS {
        hosting.text("spawn", json!({ "what": what })).await;
    }
    assert!(hosting.call("crash", Value::Null).await.result.is_err());
    wait_until_gone(&hosting.marker);
    hosting.close().await;
}

#[tokio::test]
async fn a_server_that_does_not_want_to_end_is_ended() {
    for guard in [Some(m3()), None] {
        for scenario in ["ignores_term", "stays"] {
            let marker = marker();
            let hosting = host_all(vec![server("stub", scenario, &marker)], marker, guard.clone()).await;
            hosting.text("spawn", json!({"what": "sleeper-stubborn"})).await;
            hosting.close().await;
        }
    }
}

#[tokio::test]
async fn without_a_guard_the_group_is_ended() {
    let marker = marker();
    let hosting = host_all(vec![server("stub", "default", &marker)], marker, None).await;
    hosting.text("spawn", json!({"what": "sleeper"})).await;
    hosting.text("spawn", json!({"what": "sleeper-stubborn"})).await;
    assert!(hosting.call("crash", Value::Null).await.result.is_err());
    wait_until_gone(&hosting.marker);
    hosting.text("spawn", json!({"what": "sleeper-stubborn"})).await;
    hosting.close().await;
}

#[tokio::test]
async fn a_host_that_is_dropped_leaves_nothing() {
    for guard in [Some(m3()), None] {
        let marker = marker();
        let hosting = host_all(vec![server("stub", "ignores_term", &marker)], marker.clone(), guard).await;
        hosting.text("spawn", json!({"what": "sleeper-stubborn"})).await;
        drop(hosting);
        wait_until_gone(&marker);
    }
}

#[tokio::test]
async fn a_start_that_is_dropped_leaves_nothing() {
    for guard in [Some(m3()), None] {
        let marker = marker();
        let starting = host_all(vec![server("stub", "hangs", &marker)], marker.clone(), guard);
        assert!(tokio::time::timeout(Duration::from_millis(500), starting).await.is_err());
        wait_until_gone(&marker);
    }
}

#[test]
fn a_runtime_that_ends_leaves_nothing() {
    for guard in [Some(m3()), None] {
        let marker = marker();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let hosting = runtime.block_on(async {
            let hosting =
                host_all(vec![server("stub", "ignores_term", &marker)], marker.clone(), guard).await;
            hosting.text("spawn", json!({"what": "sleeper-stubborn"})).await;
            hosting
        });
        drop(runtime);
        drop(hosting);
        wait_until_gone(&marker);
    }
}

#[test]
fn a_host_that_is_killed_leaves_nothing() {
    for scenario in ["default", "ignores_term"] {
        let marker = marker();
        let program = stub().with_file_name("stub_host");
        let mut host = Command::new(program)
            .args([
                m3().as_os_str(),
                stub().as_os_str(),
                scenario.as_ref(),
                marker.as_ref(),
                "descend".as_ref(),
            ])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufReader::new(host.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        // The host, the guard, the server and what it started.
        wait_for_processes(7, &marker);
        host.kill().unwrap();
        host.wait().unwrap();
        wait_until_gone(&marker);
    }
}

#[test]
fn a_guard_exits_as_its_server_does() {
    let guard = |command: &[&str]| {
        let parent = std::process::id().to_string();
        let mut guard = Command::new(m3());
        guard.args(["guard-server", "--parent", &parent, "--"]).args(command).stdin(Stdio::null());
        guard.output().unwrap()
    };
    assert_eq!(guard(&["/bin/sh", "-c", "echo out; echo err >&2; exit 5"]).status.code(), Some(5));
    assert_eq!(guard(&["/bin/sh", "-c", "echo out"]).stdout, b"out\n");
    assert_eq!(guard(&["/bin/sh", "-c", "kill -KILL $$"]).status.code(), Some(137));
    let failed = guard(&["/not/here"]);
    assert_eq!(failed.status.code(), Some(126));
    assert!(String::from_utf8_lossy(&failed.stderr).contains("failed to start `/not/here`"));
}

#[test]
fn a_guard_whose_host_is_gone_already_starts_nothing_that_stays() {
    let marker = marker();
    // Process 1 is not our host: the guard's parent is this test.
    let mut guard = Command::new(m3());
    guard.args(["guard-server", "--parent", "1", "--"]).arg(stub()).args(["stays", "--marker", &marker]);
    let mut guard = guard.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    guard.wait().unwrap();
    wait_until_gone(&marker);
}
