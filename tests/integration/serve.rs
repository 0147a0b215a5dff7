//! `m3 serve` as a client sees it: the real program, over standard input and output.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::root;

/// No test waits longer than this for anything.
pub(crate) const LIMIT: Duration = Duration::from_mins(1);

/// How long this waits where no output is expected.
const MOMENT: Duration = Duration::from_millis(300);

/// One of our servers with its input and output; killed when dropped.
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Server {
    /// Starts `m3 serve` with these arguments.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::run(std::process::Command::new(assert_cmd::cargo::cargo_bin("m3")), arguments)
    }

    /// Starts `serve` of this `m3`.
    pub(crate) fn run(mut command: std::process::Command, arguments: &[&str]) -> Self {
        command.arg("serve").args(arguments).current_dir(root());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { input: child.stdin.take(), child, lines }
    }

    /// A server after its handshake.
    fn ready(arguments: &[&str]) -> Self {
        let mut server = Self::start(arguments);
        let answer = server.ask(0, "initialize", &initialize());
        assert_eq!(answer["error"], Value::Null, "{answer}");
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n")).unwrap();
        input.flush().unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.line(&message.to_string());
    }

    /// The next line of standard output.
    pub(crate) fn next_line(&self) -> String {
        self.lines.recv_timeout(LIMIT).unwrap()
    }

    /// The next line of standard output, which must be a JSON-RPC message.
    fn receive(&self) -> Value {
        let line = self.next_line();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    fn ask(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.send(&request(id, method, params));
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn call(&mut self, id: u64, tool: &str, arguments: &Value) -> Value {
        self.ask(id, "tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Whether there is no output for a moment.
    fn is_silent(&self) -> bool {
        matches!(self.lines.recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout))
    }

    fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for the process to end by itself.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(begin.elapsed() < LIMIT, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends it a signal.
    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let kill = std::process::Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn initialize() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}
    })
}

pub(crate) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn the_handshake_says_who_answers_and_in_which_revision() {
    for (asked, answered) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2024-11-05", "2024-11-05"),
        // A revision without a handshake, and an unknown one.
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut server = Server::start(&["math"]);
        let mut params = initialize();
        params["protocolVersion"] = json!(asked);
        let answer = server.ask(1, "initialize", &params);
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], answered, "{answer}");
        assert_eq!(result["serverInfo"]["name"], "math");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(result["capabilities"], json!({"tools": {}}));
    }
}

#[test]
fn tools_are_listed_and_called() {
    let mut server = Server::ready(&["math"]);
    let list = server.ask(1, "tools/list", &json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 22);
    assert_eq!(tools[0]["name"], "add");
    assert_eq!(tools[0]["inputSchema"]["additionalProperties"], false);
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
    let answer = server.call(2, "add", &json!({"firstNumber": 0.1, "secondNumber": 0.2}));
    assert_eq!(answer["result"], json!({"content": [{"type": "text", "text": "0.30000000000000004"}]}));
    assert_eq!(server.ask(3, "ping", &json!({}))["result"], json!({}));
    server.close_input();
    assert_eq!(server.ended().code(), Some(0));
}

#[test]
fn mistakes_of_a_client_are_errors_of_json_rpc() {
    let mut server = Server::ready(&["math"]);
    let code = |answer: Value| answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{answer}"));
    let message = |answer: &Value| answer["error"]["message"].as_str().unwrap().to_owned();
    let unknown = server.call(1, "power\u{1b}[2J", &json!({}));
    assert!(message(&unknown).contains("power\\u{1b}[2J"), "{unknown}");
    assert_eq!(code(unknown), -32602);
    assert_eq!(code(server.ask(3, "tools/call", &json!({"name": "add", "arguments": [1, 2]}))), -32602);
    assert_eq!(code(server.ask(4, "tools/call", &json!({"arguments": {}}))), -32602);
    // Not a valid MCP request, because its parameters are not an object: rmcp does not see the id.
    server.send(&request(5, "tools/call", &json!([])));
    assert_eq!(code(server.receive()), -32600);
    assert_eq!(code(server.ask(6, "tools/list", &json!({"cursor": "here"}))), -32602);
    assert_eq!(code(server.ask(7, "tools/burn", &json!({}))), -32601);
    assert_eq!(text(&server.call(8, "cos", &json!({"number": 0}))), "1");
}

/// MCP 2025-11-25, "Error Handling": a mistake that a model can correct is reported as a result, so that it sees it.
#[test]
fn arguments_that_the_schema_refuses_are_a_failed_result_that_says_why() {
    let mut server = Server::ready(&["math"]);
    let wrong = server.call(1, "add", &json!({"firstNumber": "one"}));
    assert!(wrong["error"].is_null() && wrong["result"]["isError"] == true, "{wrong}");
    assert!(
        text(&wrong).starts_with("invalid arguments for `add`: ") && text(&wrong).contains("/firstNumber")
    );
    // Arguments may be left out, which does not make them valid.
    let missing = server.ask(2, "tools/call", &json!({"name": "sin"}));
    assert!(missing["result"]["isError"] == true && text(&missing).contains("number"), "{missing}");
}

#[test]
fn what_is_no_message_is_left_behind() {
    let mut server = Server::ready(&["math"]);
    server.line("this is no JSON");
    server.line("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\":");
    server.line("");
    server.line(&"[".repeat(100_000));
    server.line("\u{feff}\u{0}\u{7f}");
    // 17 MiB, which is more than a message may have.
    server.line(&format!("{{\"jsonrpc\": \"2.0\", \"id\": 2, \"method\": \"{}\"}}", "x".repeat(17 << 20)));
    server.send(&request(3, "ping", &json!({})));
    let mut answer = server.receive();
    while answer["id"] != 3 {
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        answer = server.receive();
    }
    assert_eq!(answer["result"], json!({}));
    // JSON, but not valid JSON-RPC.
    for line in ["[]", "42", "{\"id\": 9}", "{\"jsonrpc\": \"1.0\", \"id\": 9, \"method\": \"ping\"}"] {
        server.line(line);
    }
    server.send(&request(4, "ping", &json!({})));
    let mut answer = server.receive();
    while answer["id"] != 4 {
        assert!(answer["error"].is_object(), "{answer}");
        answer = server.receive();
    }
    assert_eq!(answer["result"], json!({}));
}

#[test]
fn nothing_is_called_before_the_handshake() {
    let mut server = Server::start(&["math"]);
    assert_eq!(server.ask(1, "ping", &json!({}))["result"], json!({}));
    let answer = server.call(2, "cos", &json!({"number": 0}));
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    // A notification that comes too early must not end the connection.
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert!(server.is_silent());
    assert!(server.ask(3, "initialize", &initialize())["result"].is_object());
    assert_eq!(text(&server.call(4, "cos", &json!({"number": 0}))), "1");
}

#[test]
fn a_hundred_calls_at_once_are_each_answered() {
    let mut server = Server::ready(&["math"]);
    for id in 1..=100 {
        let arguments = json!({"firstNumber": id, "SecondNumber": 2});
        server.send(&request(id, "tools/call", &json!({"name": "multiply", "arguments": arguments})));
    }
    let mut answers: Vec<(u64, String)> = (0..100)
        .map(|_| {
            let answer = server.receive();
            (answer["id"].as_u64().unwrap(), text(&answer).to_owned())
        })
        .collect();
    answers.sort();
    let expected: Vec<(u64, String)> = (1..=100).map(|id| (id, (2 * id).to_string())).collect();
    assert_eq!(answers, expected);
}

#[test]
fn a_server_ends_with_its_input_and_answers_what_it_has_read() {
    let mut server = Server::start(&["math"]);
    server.close_input();
    assert_eq!(server.ended().code(), Some(0), "without a word");

    let mut server = Server::ready(&["math"]);
    server.send(&request(1, "tools/call", &json!({"name": "cos", "arguments": {"number": 0}})));
    server.close_input();
    assert_eq!(text(&server.receive()), "1");
    assert_eq!(server.ended().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_server_ends_when_it_is_told_to() {
    use std::os::unix::process::ExitStatusExt as _;
    let mut server = Server::ready(&["math"]);
    server.signal("-TERM");
    assert_eq!(server.ended().signal(), Some(15));
}

#[test]
fn images_and_codes_are_those_of_the_workspace() {
    let mut server = Server::ready(&["barcode", "--workspace", "images"]);
    let answer = server.call(1, "scan_barcode", &json!({"image_paths": ["shelf.png"]}));
    let told: Value = serde_json::from_str(text(&answer)).unwrap();
    assert_eq!(told["metadata"]["results"][0]["data"], "4006381333931");
    assert_eq!(answer["result"]["structuredContent"]["result"], text(&answer));
    let outside = server.call(2, "scan_barcode", &json!({"image_paths": "../README.md"}));
    assert_eq!(outside["result"]["isError"], true, "{outside}");

    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(root().join("images/shelf.png"), folder.path().join("shelf.png")).unwrap();
    let mut server = Server::ready(&["image", "--workspace", folder.path().to_str().unwrap()]);
    let arguments = json!({"input_path": "shelf.png", "x1": 0, "y1": 0, "x2": 30, "y2": 20});
    let answer = server.call(1, "crop", &arguments);
    assert_eq!(answer["result"]["isError"], Value::Null, "{answer}");
    assert_eq!(answer["result"]["content"][1]["type"], "image");
}

#[test]
fn a_workspace_that_is_not_there_is_said() {
    let mut command = assert_cmd::Command::cargo_bin("m3").unwrap();
    let (code, message) =
        crate::support::failure(command.args(["serve", "barcode", "--workspace", "/nonexistent"]));
    assert_eq!(code, 2);
    assert!(message.contains("/nonexistent") && message.contains("hint:"), "{message}");
}
