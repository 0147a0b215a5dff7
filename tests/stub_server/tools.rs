//! The tools of the stub; each does what its name says.

use std::io::Write as _;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::startup::{end, sleep, spawn};
use super::{Server, answer, send, write_line};

const NAMES: [&str; 33] = [
    "all_contents",
    "append",
    "ask",
    "cancelled",
    "count",
    "crash",
    "cut_escape",
    "cwd",
    "echo",
    "empty",
    "env",
    "error",
    "escapes",
    "exit",
    "failure",
    "hang",
    "input_required",
    "invalid_base64",
    "large",
    "latin1",
    "list",
    "neither",
    "noise",
    "picture",
    "pid",
    "progress",
    "slow",
    "spawn",
    "stderr",
    "stop_reading",
    "structured",
    "surrogate",
    "unknown_content",
];

/// A PNG of 2 x 1 pixels.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGM4\
                       ocElEnUHAAdzAkWU0JD+AAAAAElFTkSuQmCC";

/// The list of tools.
pub(super) fn listed() -> Value {
    let tools =
        NAMES.map(|name| json!({"name": name, "description": name, "inputSchema": {"type": "object"}}));
    json!(tools.as_slice())
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

pub(super) fn call(server: &Server, id: &Value, params: &Value) {
    let arguments = &params["arguments"];
    let number = |key: &str| arguments[key].as_u64().unwrap_or(0);
    let string = |key: &str| arguments[key].as_str().unwrap_or_default();
    let result = match params["name"].as_str().unwrap() {
        "echo" => text(&arguments.to_string()),
        "append" => {
            let mut file =
                std::fs::OpenOptions::new().append(true).create(true).open(string("path")).unwrap();
            file.write_all(format!("{}\n", string("line")).as_bytes()).unwrap();
            text("done")
        }
        "empty" => json!({"content": []}),
        "list" => json!({"content": [{"type": "text", "text": "1"}, {"type": "text", "text": "2"}]}),
        "structured" => json!({"content": [], "structuredContent": {"sum": 3}, "_meta": {"took": 1}}),
        "failure" => json!({"content": [{"type": "text", "text": "no such file"}], "isError": true}),
        "all_contents" => all_contents(),
        "unknown_content" => {
            json!({"content": [{"type": "hologram", "depth": 3}, {"type": "text", "text": "and"}]})
        }
        "invalid_base64" => json!({"content": [{"type": "image", "data": "%%%", "mimeType": "image/png"}]}),
        "picture" => json!({"content": [{"type": "image", "data": PICTURE, "mimeType": "image/png"}]}),
        "escapes" => text("\u{1b}]0;title\u{7}\u{1b}[2Jred"),
        "large" => large(arguments),
        "cwd" => text(&std::env::current_dir().unwrap().to_string_lossy()),
        "env" => text(&std::env::var(string("name")).unwrap_or_else(|_| "(not set)".to_owned())),
        "pid" => text(&std::process::id().to_string()),
        "count" => text(&(server.count.fetch_add(1, Ordering::Relaxed) + 1).to_string()),
        "cancelled" => text(&server.cancelled.load(Ordering::Relaxed).to_string()),
        "ask" => text(&server.ask(string("method"), &arguments["params"]).to_string()),
        "spawn" => text(&spawn(string("what"), &server.marker).to_string()),
        "slow" => {
            sleep(number("milliseconds"));
            text("done")
        }
        "progress" => {
            for step in 0..number("steps") {
                send(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
                    "progressToken": params["_meta"]["progressToken"], "progress": step, "message": "working"}}));
                sleep(number("every"));
            }
            text("done")
        }
        "noise" => {
            for _ in 0..number("lines") {
                write_line(b"DEBUG something happened \x1b[1m");
            }
            text("done")
        }
        "stderr" => {
            let _ = std::io::stderr().write_all(string("text").as_bytes());
            text("done")
        }
        "stop_reading" => text("deaf"),
        "error" => {
            let error = json!({"code": -32042, "message": "not today", "data": {"a": 1}});
            return send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
        "neither" => return send(&json!({"jsonrpc": "2.0", "id": id})),
        "cut_escape" => return raw(id, b"\\u00"),
        "surrogate" => return raw(id, b"\\ud800"),
        "input_required" => {
            let requests = json!({"name": {"method": "elicitation/create", "params": {"message": "Whose?"}}});
            return answer(server, id, &json!({"resultType": "input_required", "inputRequests": requests}));
        }
        "latin1" => return raw(id, b"caf\xe9"),
        "hang" => return,
        "crash" => {
            let _ = std::io::stderr().write_all(b"Traceback: it broke\n");
            end(7)
        }
        "exit" => end(0),
        other => {
            let error = json!({"code": -32602, "message": format!("Unknown tool: {other}")});
            return send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
    };
    answer(server, id, &result);
}

/// The resource that `all_contents` links to; other resources exist too, to test requests that should not be made.
pub(super) fn read_resource(server: &Server, id: &Value, params: &Value) {
    let text = if params["uri"] == "file:///a.txt" { "the whole of a" } else { "a secret" };
    let contents = json!([{"uri": params["uri"], "mimeType": "text/plain", "text": text}]);
    answer(server, id, &json!({ "contents": contents }));
}

/// A result with a text that is invalid JSON.
fn raw(id: &Value, text: &[u8]) {
    let start = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\""
    );
    write_line(&[start.as_bytes(), text, b"\"}]}}"].concat());
}

/// A result with `bytes` of text, or of an image before base64.
fn large(arguments: &Value) -> Value {
    let bytes = usize::try_from(arguments["bytes"].as_u64().unwrap_or(0)).unwrap();
    if arguments["image"] == true {
        let data = "QUJD".repeat(bytes / 3);
        return json!({"content": [{"type": "image", "data": data, "mimeType": "image/png"}]});
    }
    text(&"x".repeat(bytes))
}

fn all_contents() -> Value {
    json!({
        "content": [
            {"type": "text", "text": "words", "annotations": {"audience": ["user"]}},
            {"type": "image", "data": "QUJD", "mimeType": "image/png"},
            {"type": "audio", "data": "QUJD", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt"},
            {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "file:///c.bin", "blob": "QUJD"}},
        ],
        "structuredContent": {"n": 6},
        "extension": {"kept": true},
    })
}
