//! A server of the Model Context Protocol that misbehaves on request, written without any library for the protocol.
//!
//! `stub_server SCENARIO [--marker TEXT]`: the scenario decides how it starts (`startup.rs`), and each tool does what
//! its name says (`tools.rs`). The marker makes the process easy to find in the list of processes.

#![expect(clippy::unwrap_used, reason = "it belongs to the tests, and may stop at the first surprise")]

mod startup;
mod tools;

use std::collections::HashMap;
use std::io::{BufRead as _, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde_json::{Value, json};

/// Data that all threads share.
struct Server {
    scenario: String,
    marker: String,
    /// The number of calls of `count` so far.
    count: AtomicU64,
    /// The number of requests that the client cancelled.
    cancelled: AtomicU64,
    /// The threads that wait for the client's answers, by id.
    asked: Mutex<HashMap<String, mpsc::Sender<Value>>>,
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let scenario = args.get(1).map_or("default", String::as_str).to_owned();
    let marker = args.iter().position(|arg| arg == "--marker").and_then(|place| args.get(place + 1));
    let marker = marker.map_or(String::new(), Clone::clone);
    if scenario.starts_with("sleeper") {
        return startup::sleeper(&scenario, &marker);
    }
    startup::before(&scenario);
    let server = Arc::new(Server {
        scenario,
        marker,
        count: AtomicU64::new(0),
        cancelled: AtomicU64::new(0),
        asked: Mutex::new(HashMap::new()),
    });
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let is_last = message["params"]["name"] == "stop_reading";
        Arc::clone(&server).receive(message);
        if is_last {
            startup::sleep(600_000);
        }
    }
    startup::after(&server.scenario);
}

impl Server {
    fn receive(self: Arc<Self>, message: Value) {
        let id = message["id"].clone();
        match message["method"].as_str() {
            Some("initialize") => startup::initialize(&self, &id, &message),
            Some("server/discover") if self.scenario.starts_with("newest") => startup::discover(&self, &id),
            Some(_)
                if self.scenario.starts_with("newest")
                    && !id.is_null()
                    && !startup::says_version(&message) =>
            {
                send(
                    &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "no version"}}),
                );
            }
            Some("tools/list") => startup::list(&self, &id, &message["params"]),
            Some("tools/call") if self.scenario == "serial" => tools::call(&self, &id, &message["params"]),
            Some("tools/call") => {
                std::thread::spawn(move || tools::call(&self, &id, &message["params"]));
            }
            Some("resources/read") if self.scenario == "resources" => {
                tools::read_resource(&self, &id, &message["params"]);
            }
            Some("notifications/cancelled") => {
                self.cancelled.fetch_add(1, Ordering::Relaxed);
            }
            Some("notifications/initialized") => startup::initialized(&self),
            Some(other) if !id.is_null() => {
                send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": other}}));
            }
            Some(_) => {}
            None => {
                let waiting = self.asked.lock().unwrap().remove(&id.to_string());
                if let Some(waiting) = waiting {
                    let _ = waiting.send(message);
                }
            }
        }
    }

    /// Asks the client and waits for its answer.
    fn ask(&self, method: &str, params: &Value) -> Value {
        let id = json!(format!("ask-{method}"));
        let (sender, answer) = mpsc::channel();
        self.asked.lock().unwrap().insert(id.to_string(), sender);
        send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        answer.recv_timeout(Duration::from_secs(10)).unwrap_or(Value::Null)
    }
}

/// Sends a result; the id comes last, as in JavaScript servers, if the scenario says so.
fn answer(server: &Server, id: &Value, result: &Value) {
    if server.scenario == "javascript" {
        return write_line(format!("{{\"result\":{result},\"jsonrpc\":\"2.0\",\"id\":{id}}}").as_bytes());
    }
    send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

/// Sends a message.
fn send(message: &Value) {
    write_line(message.to_string().as_bytes());
}

/// Writes a complete line to standard output. Errors are ignored, because the reader may be gone.
fn write_line(line: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(line).and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush());
}
