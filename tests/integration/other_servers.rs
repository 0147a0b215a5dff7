//! The host with servers of other authors, started from their registries: server-everything over both transports,
//! server-filesystem and mcp-server-time. Skipped if npx or uvx is missing.

use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use m3_testkit::packages::{FILESYSTEM, has, registries};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{m3_bare, root, run, text};

const EVERYTHING: &str = "@modelcontextprotocol/server-everything@2026.8.31";
const TIME: &str = "mcp-server-time==2026.10.19";

/// The time limit for fetching packages, in seconds.
const START: u64 = 240;

/// A folder with a configuration of these servers, each with time to be fetched.
fn configuration(servers: Value) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let Value::Object(mut servers) = servers else { panic!("not an object") };
    for server in servers.values_mut() {
        server["timeouts"] = json!({ "start": START });
        if server.get("command").is_some() {
            server["env"] = json!(registries());
        }
    }
    write(folder.path(), &json!({ "mcpServers": servers }));
    folder
}

fn write(folder: &Path, config: &Value) {
    std::fs::write(folder.join("servers.json"), config.to_string()).unwrap();
}

fn m3(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = m3_bare(&folder.join("cache"));
    let output = run(command.args(arguments).current_dir(folder));
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// The result of a call in the protocol's own shape, and the exit code.
fn call(folder: &Path, tool: &str, arguments: &Value) -> (i32, Value) {
    let arguments = arguments.to_string();
    let (code, out, err) = m3(folder, &["call", "servers.json", tool, &arguments, "--format", "json"]);
    (code, serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}")))
}

fn names(catalog: &Value, server: &str) -> Vec<String> {
    let tools = catalog[server]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// What server-everything has to do over any transport.
fn everything_works(folder: &Path) {
    let (code, out, err) = m3(folder, &["tools", "servers.json", "--format", "json"]);
    assert_eq!(code, 0, "{err}");
    let catalog: Value = serde_json::from_str(&out).unwrap();
    for tool in ["echo", "get-sum", "get-tiny-image", "get-structured-content", "get-resource-links"] {
        assert!(names(&catalog, "everything").contains(&tool.to_owned()), "{out}");
    }

    let (code, result) = call(folder, "everything/get-sum", &json!({"a": 2, "b": 40}));
    assert_eq!(code, 0);
    assert!(result["content"][0]["text"].as_str().unwrap().contains("42"), "{result}");

    let (_, result) = call(folder, "everything/get-structured-content", &json!({"location": "Chicago"}));
    assert!(result["structuredContent"]["temperature"].is_number(), "{result}");

    let (_, result) = call(folder, "everything/get-resource-links", &json!({"count": 2}));
    let links = result["content"].as_array().unwrap();
    assert_eq!(links.iter().filter(|part| part["type"] == "resource_link").count(), 2, "{result}");

    // It reports progress step by step; the limit without progress is below its whole duration.
    let (code, result) =
        call(folder, "everything/trigger-long-running-operation", &json!({"duration": 3, "steps": 6}));
    assert_eq!(code, 0, "{result}");

    // A picture among texts is saved as a file.
    let (code, out, err) =
        m3(folder, &["call", "servers.json", "everything/get-tiny-image", "{}", "--workspace", "work"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(".png"), "{out}");
    let is_png = |path: &Path| std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"\x89PNG"));
    assert!(files(&folder.join("work")).iter().any(|path| is_png(path)), "{out}");
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn server_everything_over_standard_input_and_output() {
    if !has("npx") {
        return;
    }
    let folder = configuration(json!({
        "everything": {"command": "npx", "args": ["-y", EVERYTHING, "stdio"]}
    }));
    everything_works(folder.path());
}

#[test]
fn server_everything_over_http() {
    if !has("npx") {
        return;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Group(
        Command::new("npx")
            .args(["-y", EVERYTHING, "streamableHttp"])
            .env("PORT", port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap(),
    );
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(start.elapsed() < Duration::from_secs(START), "the server does not listen");
        std::thread::sleep(Duration::from_millis(100));
    }
    let folder = configuration(json!({
        "everything": {"type": "http", "url": format!("http://127.0.0.1:{port}/mcp")}
    }));
    everything_works(folder.path());
    drop(server);
}

/// A process with everything in its group, ended with the test.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.0.wait();
    }
}

#[test]
fn server_filesystem_reads_images_and_stays_in_its_folder() {
    if !has("npx") {
        return;
    }
    let folder = configuration(json!({}));
    let allowed = folder.path().join("allowed");
    std::fs::create_dir(&allowed).unwrap();
    std::fs::copy(root().join("images/dice.png"), allowed.join("dice.png")).unwrap();
    write(
        folder.path(),
        &json!({"mcpServers": {"files": {
            "command": "npx", "args": ["-y", FILESYSTEM, allowed], "env": registries(),
            "timeouts": {"start": START}
        }}}),
    );

    let (code, out, err) = m3(
        folder.path(),
        &[
            "call",
            "servers.json",
            "files/read_media_file",
            &json!({"path": allowed.join("dice.png")}).to_string(),
            "--workspace",
            "work",
        ],
    );
    assert_eq!(code, 0, "{err}");
    let original = std::fs::read(root().join("images/dice.png")).unwrap();
    let saved = files(&folder.path().join("work"));
    assert!(saved.iter().any(|path| std::fs::read(path).unwrap() == original), "{out} {saved:?}");

    let (code, result) =
        call(folder.path(), "files/read_text_file", &json!({"path": folder.path().join("servers.json")}));
    assert_eq!(code, 3, "a failure of the tool is recorded: {result}");
    assert_eq!(result["isError"], true, "{result}");
}

#[test]
fn mcp_server_time_gives_structured_content_and_errors() {
    if !has("uvx") {
        return;
    }
    let folder = configuration(json!({
        "time": {"command": "uvx", "args": [TIME, "--local-timezone", "UTC"]}
    }));
    let arguments = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let (code, result) = call(folder.path(), "time/convert_time", &arguments);
    assert_eq!(code, 0, "{result}");
    // Japan is nine hours ahead of UTC all year.
    assert_eq!(result["structuredContent"]["time_difference"], "+9.0h", "{result}");

    let (code, result) = call(folder.path(), "time/get_current_time", &json!({"timezone": "Nowhere/Here"}));
    assert_eq!((code, &result["isError"]), (3, &json!(true)), "{result}");
}
