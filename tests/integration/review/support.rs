//! Helpers for the tests of reviews: a served page, requests to it, references.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Folder, agent, follow_kept_schema, root};

/// A running `m3 review`.
pub(super) struct Review {
    child: Child,
    address: String,
    agent: ureq::Agent,
}

impl Review {
    /// Starts it in a folder, with these additional arguments.
    pub(super) fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("m3"))
            .args(["review", "--no-open"])
            .args(arguments)
            .current_dir(folder.path())
            .env("M3_CACHE_DIR", folder.path())
            .env("USER", "Ada")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().to_owned();
        assert!(address.starts_with("http://127.0.0.1:"), "{address}");
        Self { child, address, agent: agent() }
    }

    /// The address of the page, with its token.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn port(&self) -> u16 {
        let rest = self.address.strip_prefix("http://127.0.0.1:").unwrap();
        rest.split('/').next().unwrap().parse().unwrap()
    }

    pub(super) fn token(&self) -> String {
        self.address.trim_end_matches('/').rsplit('/').next().unwrap().to_owned()
    }

    pub(super) fn get(&self, path: &str) -> ureq::http::Response<ureq::Body> {
        self.agent.get(format!("{}{path}", self.address)).call().unwrap()
    }

    /// The status and the JSON of an answer.
    pub(super) fn json(&self, path: &str) -> (u16, Value) {
        let mut response = self.get(path);
        (response.status().as_u16(), response.body_mut().read_json().unwrap())
    }

    /// The status and the JSON of the answer to a post.
    pub(super) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let mut response = self.agent.post(format!("{}{path}", self.address)).send_json(body).unwrap();
        (response.status().as_u16(), response.body_mut().read_json().unwrap())
    }
}

impl Drop for Review {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The status of the answer to a raw request.
pub(super) fn status(port: u16, request: &str) -> u16 {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut start = [0; 12];
    stream.read_exact(&mut start).unwrap();
    std::str::from_utf8(&start[9..]).unwrap().parse().unwrap()
}

/// The lines of decisions or preferences beside references; they must follow their schema.
pub(super) fn lines(folder: &Folder, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let schema = if name.ends_with(".preferences.jsonl") { "preference" } else { "review" };
    follow_kept_schema(schema, &lines);
    for line in &lines {
        assert_eq!(line["schema"], format!("m3.{schema}/1"));
    }
    lines
}

/// Two calls, and one that uses what the first returned.
fn steps() -> Value {
    let find = json!({"name": "shop/find", "arguments": {"query": "blue lamp"}, "result": "{\"id\": \"item-77310\"}"});
    let time = json!({"name": "clock/now", "arguments": {}, "result": "it is late"});
    let get = json!({"name": "shop/get", "arguments": {"id": "item-77310", "note": "x"}, "result": "a lamp, 12 EUR"});
    json!([{"step": 1, "calls": [find, time]}, {"step": 2, "calls": [get]}])
}

/// Three references: with an image, with an image outside of the folder, without one.
pub(super) fn write_references(folder: &Folder) -> PathBuf {
    let judge = json!({
        "verdict": {"success": true, "reason": "the price is in the result"},
        "removed": [{"place": {"step": 0, "call": 1}, "reason": "failed", "evidence": "the server was not there"}],
        "merged": [],
    });
    let reference = |id: &str, image: Option<&str>| {
        let mut reference = json!({
            "id": id, "type": "shopping", "question": "What does the blue lamp cost?", "steps": steps(),
            "final_reply": "12 EUR", "judge": judge,
        });
        if let Some(image) = image {
            reference["image"] = json!(image);
        }
        reference
    };
    let references = [
        reference("r1", Some("dice.png")),
        reference("r2", Some("../../etc/passwd")),
        reference("=WEBSERVICE(1)", None),
    ];
    folder.json("references.json", &json!(references))
}

/// The catalog of the tools of [`write_references`].
pub(super) fn tools(folder: &Folder) -> PathBuf {
    let text = json!({"type": "string"});
    let get = json!({"type": "object", "properties": {"id": text, "note": text}, "required": ["id"], "additionalProperties": false});
    let find = json!({"type": "object", "properties": {"query": text}, "required": ["query"]});
    folder.json(
        "tools.json",
        &json!({
            "shop": {"tools": [{"name": "get", "inputSchema": get}, {"name": "find", "inputSchema": find}]},
            "clock": {"tools": [{"name": "now", "inputSchema": {"type": "object"}}]},
        }),
    )
}

/// References and predictions of our own benchmark.
pub(super) fn own(name: &str) -> String {
    root().join("trajectories").join(name).display().to_string()
}
