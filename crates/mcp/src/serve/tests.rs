//! Tests that need a special toolbox: crashes, hangs, panics, pages, unknown keys.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::*;
use crate::{Answer, Answering, Content, Tool, ToolResult};

const LIMIT: Duration = Duration::from_secs(30);

/// A server whose tools do what their names say.
struct Script {
    tools: Vec<Tool>,
    /// The number of running calls of `hang`.
    hanging: AtomicUsize,
}

impl Script {
    fn new(tools: Vec<Value>) -> Arc<Self> {
        let tools = tools.into_iter().map(|tool| serde_json::from_value(tool).unwrap()).collect();
        Arc::new(Self { tools, hanging: AtomicUsize::new(0) })
    }
}

struct Hanging<'a>(&'a AtomicUsize);

impl Drop for Hanging<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Toolbox for Script {
    fn name(&self) -> &'static str {
        "a script/b"
    }

    fn tools(&self) -> &[Tool] {
        &self.tools
    }

    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> Answering<'a> {
        Box::pin(async move {
            match tool {
                "odd" => Answer::Result(ToolResult {
                    content: vec![Content::Other(json!({"type": "smell", "strength": 3}))],
                    extra: Map::from_iter([
                        ("_meta".to_owned(), json!({"x/y": [1]})),
                        ("new".to_owned(), json!(1)),
                    ]),
                    ..ToolResult::default()
                }),
                "busy" => Answer::ProtocolError { code: -32_050, message: "busy".to_owned() },
                "invalid" => Answer::InvalidArguments(json!(arguments).to_string()),
                "crash" => Answer::Crash,
                "panic" => panic!("this tool panics"),
                "hang" => {
                    self.hanging.fetch_add(1, Ordering::SeqCst);
                    let _here = Hanging(&self.hanging);
                    std::future::pending().await
                }
                _ => Answer::UnknownTool,
            }
        })
    }
}

/// The client's side of a connection.
struct Client {
    input: DuplexStream,
    lines: Lines<BufReader<DuplexStream>>,
    serving: JoinHandle<Result<EndReason, ServeError>>,
}

impl Client {
    async fn start(toolbox: Arc<dyn Toolbox>) -> Self {
        let (input, theirs) = tokio::io::duplex(1 << 16);
        let (output, ours) = tokio::io::duplex(1 << 16);
        let serving = tokio::spawn(stream(toolbox, theirs, output));
        let mut client = Self { input, lines: BufReader::new(ours).lines(), serving };
        client.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()})).await;
        assert!(client.receive().await["result"].is_object());
        client
    }

    async fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let line = timeout(LIMIT, self.lines.next_line()).await.unwrap().unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).await;
        self.receive().await
    }

    async fn call(&mut self, tool: &str) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": {"a": 1}})).await
    }
}

fn hello() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
}

async fn until(what: impl Fn() -> bool) {
    let waiting = async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(LIMIT, waiting).await.unwrap();
}

#[tokio::test]
async fn no_key_of_a_tool_or_a_result_is_lost() {
    let tool = json!({
        "name": "odd", "title": "Odd", "description": "d", "new": [1],
        "inputSchema": {"type": "object", "$defs": {"x": {}}, "x-y": 1},
        "outputSchema": {"type": "object", "x-z": null},
        "annotations": {"readOnlyHint": true, "unheardOf": 2},
        "execution": {"taskSupport": "forbidden"}, "_meta": {"a/b": {"c": 1}}
    });
    let mut client = Client::start(Script::new(vec![tool.clone()])).await;
    assert_eq!(client.ask("tools/list", json!({})).await["result"], json!({"tools": [tool]}));
    let expected = json!({"content": [{"type": "smell", "strength": 3}], "_meta": {"x/y": [1]}, "new": 1});
    assert_eq!(client.call("odd").await["result"], expected);
    let error = client.call("busy").await["error"].clone();
    assert_eq!(error, json!({"code": -32_050, "message": "busy"}));
    let refused = json!({"content": [{"type": "text", "text": "{\"a\":1}"}], "isError": true});
    assert_eq!(client.call("invalid").await["result"], refused);
}

#[tokio::test]
async fn many_or_large_tools_come_in_pages() {
    let many: Vec<Value> = (0..250).map(|n| json!({"name": format!("t{n}"), "inputSchema": {}})).collect();
    let large: Vec<Value> = (0..3)
        .map(|n| json!({"name": format!("t{n}"), "description": "x".repeat(2 << 20), "inputSchema": {}}))
        .collect();
    for (tools, pages) in [(many, vec![100, 100, 50]), (large, vec![1, 1, 1]), (vec![], vec![0])] {
        let mut client = Client::start(Script::new(tools.clone())).await;
        let (mut listed, mut lengths, mut params) = (Vec::new(), Vec::new(), json!({}));
        loop {
            let answer = client.ask("tools/list", params).await;
            let page = answer["result"]["tools"].as_array().unwrap();
            lengths.push(page.len());
            listed.extend(page.iter().map(|tool| tool["name"].clone()));
            match &answer["result"]["nextCursor"] {
                Value::Null => break,
                cursor => params = json!({"cursor": cursor}),
            }
        }
        assert_eq!(lengths, pages);
        assert!(listed.iter().eq(tools.iter().map(|tool| &tool["name"])));
        for cursor in ["", "-1", "250", "99999999999999999999"] {
            let answer = client.ask("tools/list", json!({"cursor": cursor})).await;
            assert_eq!(answer["error"]["code"], -32_602, "{cursor}");
        }
    }
}

#[tokio::test]
async fn a_crash_ends_the_connection_without_a_word() {
    let script = Script::new(vec![]);
    let mut client = Client::start(script.clone()).await;
    let call = |id: u64, tool: &str| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}});
    client.send(&call(1, "hang")).await;
    until(|| script.hanging.load(Ordering::SeqCst) == 1).await;
    client.send(&call(2, "crash")).await;
    assert_eq!(timeout(LIMIT, &mut client.serving).await.unwrap().unwrap().unwrap(), EndReason::Crashed);
    let mut rest = Vec::new();
    timeout(LIMIT, client.lines.into_inner().read_to_end(&mut rest)).await.unwrap().unwrap();
    assert_eq!(rest, b"");
    until(|| script.hanging.load(Ordering::SeqCst) == 0).await;
}

#[tokio::test]
async fn a_cancelled_call_is_dropped_and_others_go_on() {
    let script = Script::new(vec![]);
    let mut client = Client::start(script.clone()).await;
    client
        .send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "hang"}}))
        .await;
    until(|| script.hanging.load(Ordering::SeqCst) == 1).await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    client.send(&cancel).await;
    until(|| script.hanging.load(Ordering::SeqCst) == 0).await;
    // The next answer belongs to the next call.
    assert_eq!(client.call("busy").await["id"], 1);
}

#[tokio::test]
async fn a_message_that_cannot_be_read_is_answered_with_an_error() {
    let mut client = Client::start(Script::new(Vec::new())).await;
    let call = |id: u64, argument: &str| {
        let params = format!(r#"{{"name":"odd","arguments":{{"x":{argument}}}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
    };
    let large = format!("\"{}\"", "x".repeat(MAX_MESSAGE));
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    for (id, argument, why) in
        [(50, large.as_str(), "larger than"), (51, &deep, "recursion"), (52, r#""\ud800""#, "hex escape")]
    {
        client.input.write_all(format!("{}\n", call(id, argument)).as_bytes()).await.unwrap();
        let answer = client.receive().await;
        assert_eq!(answer["id"], json!(id));
        assert_eq!(answer["error"]["code"], json!(-32600), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{answer}");
    }
    // The largest message is accepted, and the connection stays open.
    let room = MAX_MESSAGE - call(53, "\"\"").len();
    let largest = call(53, &format!("\"{}\"", "x".repeat(room)));
    client.input.write_all(format!("{largest}\n").as_bytes()).await.unwrap();
    assert_eq!(client.receive().await["result"]["new"], json!(1));
}

#[tokio::test]
async fn the_longest_unused_session_makes_place_for_a_new_one() {
    let server = http(vec![Script::new(Vec::new())], &HttpOptions::default()).await.unwrap();
    let path = "/mcp";
    let forgotten = session(server.address(), path).await;
    let used = session(server.address(), path).await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for index in 0..999 {
        session(server.address(), path).await;
        if index % 100 == 0 {
            let answer = post(server.address(), path, Some(&used), &ping).await;
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        }
    }
    let answer = post(server.address(), path, Some(&used), &ping).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let answer = post(server.address(), path, Some(&forgotten), &ping).await;
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    server.stop().await;
}

#[tokio::test]
async fn a_panic_is_an_error_of_its_call() {
    let mut client = Client::start(Script::new(vec![])).await;
    assert_eq!(client.call("panic").await["error"]["code"], -32_603);
    assert_eq!(client.call("busy").await["error"]["code"], -32_050);
}

/// An HTTP request of MCP, and the whole response; the connection is closed after it.
async fn post(address: SocketAddr, path: &str, session: Option<&str>, message: &Value) -> String {
    let body = message.to_string();
    let session = session.map(|id| format!("mcp-session-id: {id}\r\n")).unwrap_or_default();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{session}content-length: {}\r\n\r\n",
        body.len()
    );
    let mut connection = tokio::net::TcpStream::connect(address).await.unwrap();
    connection.write_all((head + &body).as_bytes()).await.unwrap();
    let mut response = Vec::new();
    timeout(LIMIT, connection.read_to_end(&mut response)).await.unwrap().unwrap();
    String::from_utf8(response).unwrap()
}

async fn session(address: SocketAddr, path: &str) -> String {
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()});
    let response = post(address, path, None, &hello).await;
    let id = response.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
    id.unwrap_or_else(|| panic!("{response}")).trim().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http_a_crash_ends_the_session_and_no_other() {
    let script = Script::new(vec![json!({"name": "odd", "inputSchema": {}, "new": 1})]);
    let server = http(vec![script.clone()], &HttpOptions::default()).await.unwrap();
    let (address, path) = (server.address(), "/a%20script%2Fb/mcp");
    let endpoints: Vec<(&str, String)> = server.endpoints().collect();
    assert_eq!(endpoints, [("a script/b", format!("http://{address}{path}"))]);
    let (one, two) = (session(address, path).await, session(address, "/mcp").await);
    let call =
        |tool: &str| json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": tool}});
    let hanging = {
        let (one, call) = (one.clone(), call("hang"));
        tokio::spawn(async move { post(address, path, Some(&one), &call).await })
    };
    until(|| script.hanging.load(Ordering::SeqCst) == 1).await;
    // Both streams end without an answer.
    let crashed = post(address, path, Some(&one), &call("crash")).await;
    for response in [crashed, timeout(LIMIT, hanging).await.unwrap().unwrap()] {
        assert!(!response.contains("\"id\":5") && !response.contains("error"), "{response}");
    }
    until(|| script.hanging.load(Ordering::SeqCst) == 0).await;
    let list = json!({"jsonrpc": "2.0", "id": 6, "method": "tools/list"});
    let is_gone = async {
        while !post(address, path, Some(&one), &list).await.starts_with("HTTP/1.1 404") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LIMIT, is_gone).await.unwrap();
    let response = post(address, path, Some(&two), &list).await;
    assert!(response.contains("\"new\":1"), "keys survive HTTP too: {response}");
    timeout(LIMIT, server.stop()).await.unwrap();
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn what_cannot_be_served_over_http_is_refused() {
    let twice = vec![Script::new(vec![]) as Arc<dyn Toolbox>, Script::new(vec![])];
    let error = http(twice, &HttpOptions::default()).await.unwrap_err();
    assert!(matches!(error, ServeError::DuplicateName { .. }), "{error}");
    let everywhere = HttpOptions { address: "0.0.0.0:0".parse().unwrap(), ..HttpOptions::default() };
    let error = http(vec![Script::new(vec![])], &everywhere).await.unwrap_err();
    assert!(matches!(error, ServeError::Remote { .. }), "{error}");
}
