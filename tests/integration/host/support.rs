//! Helpers for the tests of the host: a stub server, hosts, remaining processes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::wait_for;
use m3_mcp::config::{HostConfig, ServerConfig, Timeouts, Transport};
use m3_mcp::{CallOutcome, Events, Host, HostEvent, HostOptions, ToolName};
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// How long this waits for something that has to come, however busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// The stub server's program, next to the tests' own.
pub(crate) fn stub() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let stub = tests.parent().unwrap().parent().unwrap().join("examples/stub_server");
    assert!(stub.exists(), "`cargo build --examples` makes {}", stub.display());
    stub
}

/// The `m3` program, as a guard.
pub(crate) fn m3() -> PathBuf {
    assert_cmd::cargo::cargo_bin("m3")
}

/// A text that no other process has in its arguments.
pub(crate) fn marker() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("m3-test-{}-{}-end", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A stub in a scenario, with short limits.
pub(crate) fn server(name: &str, scenario: &str, marker: &str) -> ServerConfig {
    let args = [scenario, "--marker", marker].map(str::to_owned).to_vec();
    let command = stub().to_string_lossy().into_owned();
    let transport = Transport::Stdio { command, args, env: BTreeMap::new(), cwd: None };
    let timeouts = Timeouts {
        start: Duration::from_secs(20),
        idle: Duration::from_secs(20),
        total: Duration::from_mins(1),
    };
    ServerConfig { timeouts, ..ServerConfig::new(name, transport) }
}

/// A host under test.
pub(crate) struct Hosting {
    pub(crate) host: Host,
    pub(crate) workspace: TempDir,
    pub(crate) marker: String,
    events: Arc<Mutex<Vec<HostEvent>>>,
}

/// Hosts one stub called `stub`, with a guard.
pub(crate) async fn host(scenario: &str) -> Hosting {
    host_with(scenario, |_| ()).await
}

/// Hosts one stub called `stub`, with a guard and a further configuration.
pub(crate) async fn host_with(scenario: &str, configure: impl FnOnce(&mut ServerConfig)) -> Hosting {
    let marker = marker();
    let mut config = server("stub", scenario, &marker);
    configure(&mut config);
    host_all(vec![config], marker, Some(m3())).await
}

/// Hosts any servers.
pub(crate) async fn host_all(servers: Vec<ServerConfig>, marker: String, guard: Option<PathBuf>) -> Hosting {
    let workspace = TempDir::new().unwrap();
    let config = HostConfig { servers, ..HostConfig::default() };
    let events = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&events);
    let tell: Events = Arc::new(move |event| told.lock().unwrap().push(event));
    let options = HostOptions { guard, ..HostOptions::new(workspace.path()) };
    let host = Host::start(&config, options, tell).await;
    Hosting { host, workspace, marker, events }
}

impl Hosting {
    /// Calls a tool of the server `stub`.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> CallOutcome {
        self.call_on("stub", tool, arguments).await
    }

    pub(crate) async fn call_on(&self, server: &str, tool: &str, arguments: Value) -> CallOutcome {
        let name = ToolName { server: server.to_owned(), tool: tool.to_owned() };
        self.host.call(&name, object(arguments), &CancellationToken::new()).await
    }

    /// The text of a call's result.
    pub(crate) async fn text(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).await.result.unwrap().all_text()
    }

    pub(crate) fn events(&self) -> Vec<HostEvent> {
        self.events.lock().unwrap().clone()
    }

    /// Closes the host and checks that no process remains.
    pub(crate) async fn close(self) {
        tokio::time::timeout(PATIENCE, self.host.close()).await.unwrap();
        assert_eq!(processes(&self.marker), Vec::<String>::new());
    }
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        Value::Null => Map::new(),
        other => panic!("no object: {other}"),
    }
}

/// The processes with the marker among their arguments, except this one.
pub(crate) fn processes(marker: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap();
    let found = entries.filter_map(|entry| {
        let path = entry.unwrap().path();
        // A process that has ended has no arguments.
        let arguments = std::fs::read(path.join("cmdline")).ok()?;
        let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
        arguments.contains(marker).then(|| format!("{}: {arguments}", path.display()))
    });
    found.collect()
}

/// Waits until no process with the marker is left.
pub(crate) fn wait_until_gone(marker: &str) {
    // The host's tasks do not run meanwhile: what must end has been told so.
    wait_for("the processes have ended", || processes(marker).is_empty());
}

/// Whether the two are the same folder, links resolved.
pub(crate) fn is_same(one: &Path, other: &str) -> bool {
    one.canonicalize().unwrap() == Path::new(other).canonicalize().unwrap()
}
