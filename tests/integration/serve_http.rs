//! `m3 serve --http` as a client sees it, request by request.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use serde_json::{Value, json};
use ureq::http::{Method, Request, Response};
use ureq::{Agent, Body};

use crate::serve::{LIMIT, Server, initialize, request};
use crate::support::failure;

/// A server over HTTP, and its address.
pub(crate) struct Endpoint {
    pub(crate) server: Server,
    pub(crate) address: SocketAddr,
    agent: Agent,
}

/// An answer: its status, session, and JSON-RPC messages.
pub(crate) struct Reply {
    pub(crate) status: u16,
    session: Option<String>,
    pub(crate) body: String,
}

impl Reply {
    fn read(mut response: Response<Body>) -> Self {
        let session = response.headers().get("mcp-session-id");
        let session = session.map(|id| id.to_str().unwrap().to_owned());
        let mut body = String::new();
        response.body_mut().as_reader().read_to_string(&mut body).unwrap();
        Self { status: response.status().as_u16(), session, body }
    }

    /// The JSON-RPC message, alone or in the last event with data (MCP, "Streamable HTTP").
    pub(crate) fn message(&self) -> Value {
        let mut data = self.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let data = data.rfind(|data| !data.is_empty()).unwrap_or(&self.body);
        serde_json::from_str(data).unwrap_or_else(|_| panic!("{}: {}", self.status, self.body))
    }
}

impl Endpoint {
    fn start(arguments: &[&str]) -> Self {
        let m3 = std::process::Command::new(assert_cmd::cargo::cargo_bin("m3"));
        Self::run(m3, arguments)
    }

    /// Starts `serve` of this `m3`.
    pub(crate) fn run(m3: std::process::Command, arguments: &[&str]) -> Self {
        let server = Server::run(m3, &[arguments, &["--http", "127.0.0.1:0"]].concat());
        let ready = server.next_line();
        let ready: Value = serde_json::from_str(&ready).unwrap();
        let address: SocketAddr = ready["address"].as_str().unwrap().parse().unwrap();
        assert!(address.ip().is_loopback() && address.port() != 0);
        assert_eq!(ready["servers"][arguments[0]], format!("http://{address}/{}/mcp", arguments[0]));
        let agent = Agent::config_builder().http_status_as_error(false).timeout_global(Some(LIMIT)).build();
        Self { server, address, agent: agent.into() }
    }

    pub(crate) fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        let usual = [("accept", "application/json, text/event-stream"), ("content-type", "application/json")];
        for (name, value) in usual {
            if !headers.iter().any(|(other, _)| *other == name) {
                request = request.header(name, value);
            }
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Reply::read(self.agent.run(request.body(body.to_owned()).unwrap()).unwrap())
    }

    pub(crate) fn post(&self, headers: &[(&str, &str)], message: &Value) -> Reply {
        self.send(Method::POST, "/mcp", headers, &message.to_string())
    }

    /// Makes the handshake; returns the new session's name.
    pub(crate) fn session(&self) -> String {
        let reply = self.post(&[], &request(0, "initialize", &initialize()));
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert!(reply.message()["result"].is_object(), "{}", reply.body);
        let session = reply.session.unwrap();
        let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&[("mcp-session-id", &session)], &begun).status, 202);
        session
    }
}

#[test]
fn sessions_begin_work_and_end() {
    let endpoint = Endpoint::start(&["math"]);
    let (one, two) = (endpoint.session(), endpoint.session());
    assert_ne!(one, two);
    let call = request(1, "tools/call", &json!({"name": "cos", "arguments": {"number": 0}}));
    for session in [&one, &two] {
        let reply = endpoint.post(&[("mcp-session-id", session)], &call);
        assert_eq!(reply.message()["result"]["content"][0]["text"], "1", "{}", reply.body);
    }
    let list = endpoint.post(&[("mcp-session-id", &one)], &request(2, "tools/list", &json!({})));
    assert_eq!(list.message()["result"]["tools"].as_array().unwrap().len(), 22);
    // The other path of the same server.
    let reply = endpoint.send(
        Method::POST,
        "/math/mcp",
        &[("mcp-session-id", &one)],
        &request(3, "ping", &json!({})).to_string(),
    );
    assert_eq!(reply.message()["result"], json!({}));
    let delete =
        |session: &str| endpoint.send(Method::DELETE, "/mcp", &[("mcp-session-id", session)], "").status;
    assert_eq!(delete(&one), 204);
    assert_eq!(endpoint.post(&[("mcp-session-id", &one)], &call).status, 404);
    assert_eq!(endpoint.post(&[("mcp-session-id", &two)], &call).status, 200);
    assert_eq!(endpoint.post(&[("mcp-session-id", "made-up")], &call).status, 404);
}

#[test]
fn web_pages_of_others_are_kept_out() {
    let endpoint = Endpoint::start(&["math"]);
    let hello = request(1, "initialize", &initialize());
    let status = |headers: &[(&str, &str)]| endpoint.post(headers, &hello).status;
    for origin in
        ["https://evil.example", "http://localhost.evil.example", "null", "http://127.0.0.1.evil.example"]
    {
        assert_eq!(status(&[("origin", origin)]), 403, "{origin}");
    }
    assert_eq!(status(&[("origin", "http://localhost:5173")]), 200);
    for host in ["evil.example", "evil.example:80", "localhost.evil.example"] {
        assert_eq!(status(&[("host", host)]), 403, "{host}");
    }
    assert_eq!(status(&[("host", "localhost:1")]), 200);
    // Also for requests to read and to end, which a page could make as well.
    let get = endpoint.send(Method::GET, "/mcp", &[("origin", "https://evil.example")], "");
    assert_eq!(get.status, 403);
}

#[test]
fn mistakes_have_the_statuses_of_the_specification() {
    let endpoint = Endpoint::start(&["math"]);
    let session = endpoint.session();
    let hello = request(1, "initialize", &initialize()).to_string();
    let post = |headers: &[(&str, &str)], body: &str| endpoint.send(Method::POST, "/mcp", headers, body);
    assert_eq!(post(&[("accept", "application/json")], &hello).status, 406);
    assert_eq!(post(&[("content-type", "text/plain")], &hello).status, 415);
    let broken = post(&[], "{\"jsonrpc\":").status;
    assert!((400..500).contains(&broken), "{broken}");
    // More than the largest message: the connection may be closed while the client is still sending.
    let large = Request::post(format!("http://{}/mcp", endpoint.address))
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .body(" ".repeat(17 << 20))
        .unwrap();
    assert!(endpoint.agent.run(large).map_or(true, |response| response.status() == 413));
    let call = request(1, "tools/list", &json!({})).to_string();
    let without = post(&[], &call).status;
    assert!((400..500).contains(&without), "a call without a session: {without}");
    let version = post(&[("mcp-session-id", &session), ("mcp-protocol-version", "1999-01-01")], &call);
    assert_eq!(version.status, 400);
    assert_eq!(endpoint.send(Method::PUT, "/mcp", &[], "").status, 405);
    for path in ["/", "/mcp/", "/other/mcp", "/math", "/../mcp"] {
        assert_eq!(endpoint.send(Method::POST, path, &[], &hello).status, 404, "{path}");
    }
    let unknown = endpoint.post(
        &[("mcp-session-id", &session)],
        &request(2, "tools/call", &json!({"name": "power", "arguments": {}})),
    );
    assert_eq!(unknown.message()["error"]["code"], -32602);
}

#[test]
fn a_client_that_says_half_a_request_keeps_nobody_waiting() {
    let endpoint = Endpoint::start(&["math"]);
    let mut half = TcpStream::connect(endpoint.address).unwrap();
    half.write_all(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{").unwrap();
    endpoint.session();
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_in_order() {
    for signal in ["-INT", "-TERM"] {
        let mut endpoint = Endpoint::start(&["math"]);
        let session = endpoint.session();
        // The connection of a client that waits for notifications is closed.
        let mut waiting = TcpStream::connect(endpoint.address).unwrap();
        waiting.set_read_timeout(Some(LIMIT)).unwrap();
        let head = format!(
            "GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\nmcp-session-id: {session}\r\n\r\n"
        );
        waiting.write_all(head.as_bytes()).unwrap();
        assert_eq!(waiting.read(&mut [0; 12]).unwrap(), 12);
        endpoint.server.signal(signal);
        assert_eq!(endpoint.server.ended().code(), Some(0), "{signal}");
        assert!(TcpStream::connect(endpoint.address).is_err());
    }
}

#[test]
fn other_machines_are_let_in_only_when_that_is_said() {
    let m3 = || assert_cmd::Command::cargo_bin("m3").unwrap();
    let (code, message) = failure(m3().args(["serve", "math", "--http", "0.0.0.0:0"]));
    assert_eq!(code, 2);
    assert!(message.contains("other machines") && message.contains("hint:"), "{message}");
    let (code, _) = failure(m3().args(["serve", "math", "--allow-remote", "example.org"]));
    assert_eq!(code, 2, "without --http it says nothing");

    let endpoint = Endpoint::start(&["math", "--allow-remote", "tools.example"]);
    let hello = request(1, "initialize", &initialize());
    assert_eq!(endpoint.post(&[("host", "tools.example:8080")], &hello).status, 200);
    assert_eq!(endpoint.post(&[("host", "other.example")], &hello).status, 403);
}

#[test]
fn an_address_that_is_taken_is_said() {
    let endpoint = Endpoint::start(&["math"]);
    let mut m3 = assert_cmd::Command::cargo_bin("m3").unwrap();
    let (code, message) = failure(m3.args(["serve", "math", "--http", &endpoint.address.to_string()]));
    assert_eq!(code, 4);
    assert!(message.contains(&endpoint.address.to_string()) && message.contains("hint:"), "{message}");
}
