//! How the stub starts, makes its handshake and lists its tools, according to the scenario.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Server, answer, send, tools, write_line};

/// What happens before anything is read.
pub(super) fn before(scenario: &str) {
    match scenario {
        "exits" => {
            let _ = std::io::stderr().write_all(b"reading settings\nAPI_KEY is not set\n");
            end(3);
        }
        "hangs" => sleep(600_000),
        "slow_start" => sleep(1500),
        "noise" => {
            write_line(b"Starting the server on stdio ...");
            write_line(b"\x1b[32m[INFO]\x1b[0m {not json}");
            write_line(b"{\"level\": \"info\", \"error\": \"none\"}");
            write_line(b"");
        }
        "headers" => write_line(b"Content-Length: 40\r\n\r"),
        "only_noise" => {
            write_line(b"Usage: server [OPTIONS]");
            end(0);
        }
        "closes_stdout" => {
            let nothing = std::fs::File::options().write(true).open("/dev/null").unwrap();
            rustix::stdio::dup2_stdout(&nothing).unwrap();
        }
        "ignores_term" => ignore_term(),
        _ => {}
    }
}

/// What happens after standard input is closed.
pub(super) fn after(scenario: &str) {
    if scenario == "ignores_term" || scenario == "stays" {
        sleep(600_000);
    }
}

pub(super) fn initialize(server: &Server, id: &Value, message: &Value) {
    let version = match server.scenario.strip_prefix("version:") {
        Some(version) => json!(version),
        None => message["params"]["protocolVersion"].clone(),
    };
    match server.scenario.as_str() {
        "newest" | "later" => {
            let supported = if server.scenario == "newest" { "2026-07-28" } else { "2999-01-01" };
            send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32022,
                "message": "Unsupported protocol version", "data": {"supported": [supported]}}}));
        }
        "newest_of_few_words" => {
            send(
                &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}}),
            );
        }
        "refuses" => {
            send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": "no licence"}}));
        }
        "nonsense" => answer(server, id, &json!(42)),
        "sparse" => answer(server, id, &json!({"protocolVersion": version})),
        "crashes_in_handshake" => end(4),
        _ => answer(
            server,
            id,
            &json!({
                "protocolVersion": version,
                "capabilities": if server.scenario == "resources" { json!({"tools": {}, "resources": {}}) } else { json!({"tools": {}}) },
                "serverInfo": {"name": "stub", "version": "1.2.3"},
            }),
        ),
    }
}

/// The beginning of a session since MCP 2026-07-28.
pub(super) fn discover(server: &Server, id: &Value) {
    let mut result = json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}});
    if server.scenario == "newest" {
        result["resultType"] = json!("complete");
        result["ttlMs"] = json!(1000);
        result["cacheScope"] = json!("private");
        result["_meta"] = json!({"io.modelcontextprotocol/serverInfo": {"name": "stub", "version": "1.2.3"}});
    }
    answer(server, id, &result);
}

/// Whether a request says its version, as every request must since MCP 2026-07-28.
pub(super) fn says_version(message: &Value) -> bool {
    let meta = &message["params"]["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        && meta["io.modelcontextprotocol/clientCapabilities"].is_object()
}

pub(super) fn initialized(server: &Server) {
    if server.scenario == "noise" {
        write_line(b"ready");
        write_line(b"[\"also\", \"ready\"]");
    }
    if server.scenario == "chatty" {
        send(&json!({"jsonrpc": "2.0", "method": "notifications/message",
            "params": {"level": "info", "data": "hello"}}));
        send(&json!({"jsonrpc": "2.0", "method": "notifications/of_its_own"}));
        send(&json!({"jsonrpc": "2.0", "id": 999, "result": {"to": "nobody"}}));
    }
}

pub(super) fn list(server: &Server, id: &Value, params: &Value) {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let page = |tools: Value, next: Value| json!({"tools": tools, "nextCursor": next});
    let cursor = params["cursor"].as_str().unwrap_or_default();
    match server.scenario.as_str() {
        "hangs_on_list" => {}
        "no_list" => {
            send(
                &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}}),
            );
        }
        // Another list at its second start, which it recognizes by a file in its folder.
        "changes" => {
            let is_first = std::fs::File::create_new("started").is_ok();
            let names: &[&str] =
                if is_first { &["exit", "echo", "count"] } else { &["exit", "echo", "pid", "cwd"] };
            let mut tools: Vec<_> = names.iter().map(|name| tool(name)).collect();
            if !is_first {
                tools.push(json!({"name": "broken", "inputSchema": "none"}));
            }
            answer(server, id, &page(json!(tools), Value::Null));
        }
        "nonsense_list" => answer(server, id, &json!([1, 2])),
        "malformed_tool" => {
            let mut tools: Vec<_> = (0..8).map(|index| tool(&format!("tool_{index}"))).collect();
            tools.insert(4, json!({"name": "broken", "inputSchema": "none", "description": 5}));
            answer(server, id, &page(json!(tools), Value::Null));
        }
        "tasks" => {
            let with = |name: &str, support: &str| {
                let mut tool = tool(name);
                tool["execution"] = json!({"taskSupport": support});
                tool
            };
            let tools = [with("echo", "optional"), with("slow", "required"), with("pid", "forbidden")];
            answer(server, id, &page(json!(tools), Value::Null));
        }
        "endless_cursor" => {
            let number: u64 = cursor.parse().unwrap_or(0);
            answer(
                server,
                id,
                &page(json!([tool(&format!("tool_{number}"))]), json!((number + 1).to_string())),
            );
        }
        "same_cursor" => {
            answer(
                server,
                id,
                &page(json!([tool(if cursor.is_empty() { "first" } else { "second" })]), json!("again")),
            );
        }
        // The second page is the first one again, whatever the cursor.
        "same_page" => answer(server, id, &page(json!([tool("echo"), tool("pid")]), json!(""))),
        "pages" => {
            let number: u64 = cursor.parse().unwrap_or(0);
            let next = if number < 2 { json!((number + 1).to_string()) } else { Value::Null };
            answer(server, id, &page(json!([tool(&format!("tool_{number}"))]), next));
        }
        // One tool more than OpenAI accepts.
        "many" => {
            let tools: Vec<_> = (0..129).map(|number| tool(&format!("tool_{number}"))).collect();
            answer(server, id, &page(json!(tools), Value::Null));
        }
        "hostile_tools" => answer(
            server,
            id,
            &json!({"tools": [
                {"name": "long", "description": "x".repeat(1 << 20), "inputSchema": {"type": "object"}},
                {"name": "bell\u{7}\u{1b}[31m\n\u{202e}", "inputSchema": {"type": "object"}},
                {"name": "cycle", "inputSchema": {"$ref": "#", "type": "object"}},
                {"name": "loops", "inputSchema": {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
                    "properties": {"x": {"$ref": "#/$defs/a"}}}},
                tool("twice"), tool("twice"), tool(""), {"inputSchema": {}}, 42, null,
                {"name": "snake", "input_schema": {"type": "object"}},
            ]}),
        ),
        _ => answer(server, id, &page(tools::listed(), Value::Null)),
    }
}

/// A process that only sleeps. `sleeper`, `sleeper-stubborn` (ignores `TERM`), `sleeper-daemon` (leaves its session
/// and starts one that stays).
pub(super) fn sleeper(scenario: &str, marker: &str) {
    match scenario {
        "sleeper-stubborn" => ignore_term(),
        "sleeper-daemon" => {
            let _ = rustix::process::setsid();
            spawn("sleeper-stubborn", marker);
            return;
        }
        "sleeper-session" => {
            let _ = rustix::process::setsid();
        }
        _ => {}
    }
    sleep(600_000);
}

/// Starts another process of this program, without any of our streams.
pub(super) fn spawn(scenario: &str, marker: &str) -> u32 {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([scenario, "--marker", marker]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap().id()
}

/// From now on only `KILL` ends this process.
fn ignore_term() {
    use tokio::signal::unix::{SignalKind, signal};
    let (ready, is_ready) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let _kept = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()]
                .map(|kind| signal(kind).unwrap());
            ready.send(()).unwrap();
            std::future::pending::<()>().await;
        });
    });
    is_ready.recv().unwrap();
}

pub(super) fn sleep(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

/// Ends the process immediately.
#[expect(clippy::exit, reason = "a crash is what is wanted")]
pub(super) fn end(code: i32) -> ! {
    std::process::exit(code)
}
