//! Servers over streamable HTTP, on 127.0.0.1, written here without a library for the protocol.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::post;
use m3::mcp::config::{ServerConfig, Transport};
use m3::mcp::{CallError, ServerState, StartError};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use super::support::{Hosting, host_all, marker, server};

fn reply(content_type: &str, body: String) -> Response {
    Response::builder().header("content-type", content_type).body(Body::from(body)).unwrap()
}

async fn answer(headers: HeaderMap, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let status = |status: StatusCode| Response::builder().status(status).body(Body::empty()).unwrap();
    if headers.get("x-key").is_none_or(|key| key != "secret") {
        return status(StatusCode::UNAUTHORIZED);
    }
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    let arguments = &message["params"]["arguments"];
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "web", "version": "1"}}),
        "tools/list" => {
            let names = ["echo", "events", "unknown", "slow", "fails", "large", "large_events"];
            let mut tools: Vec<_> =
                names.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}})).collect();
            tools.push(json!({"name": "broken"}));
            json!({ "tools": tools })
        }
        "tools/call" => match message["params"]["name"].as_str().unwrap() {
            "unknown" => json!({"content": [{"type": "hologram", "depth": 3}]}),
            "slow" => {
                tokio::time::sleep(Duration::from_secs(5)).await;
                text("done")
            }
            "fails" => return status(StatusCode::INTERNAL_SERVER_ERROR),
            "large" | "large_events" => {
                text(&"x".repeat(usize::try_from(arguments["bytes"].as_u64().unwrap()).unwrap()))
            }
            _ => text(&arguments.to_string()),
        },
        _ => return status(StatusCode::ACCEPTED),
    };
    let whole = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
    let is_stream = message["params"]["name"].as_str().is_some_and(|name| name.ends_with("events"));
    if is_stream {
        reply("text/event-stream", format!("data: {whole}\n\n"))
    } else {
        reply("application/json", whole)
    }
}

/// Serves at this address, or at any.
async fn serve(address: Option<SocketAddr>) -> (SocketAddr, AbortHandle) {
    let listener = TcpListener::bind(address.unwrap_or(([127, 0, 0, 1], 0).into())).await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().route("/mcp", post(answer));
    let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (address, task.abort_handle())
}

fn web(url: &str, key: &str) -> ServerConfig {
    let headers = BTreeMap::from([("X-Key".to_owned(), key.to_owned())]);
    ServerConfig { transport: Transport::Http { url: url.to_owned(), headers }, ..server("stub", "", "") }
}

async fn host_at(address: SocketAddr) -> Hosting {
    host_all(vec![web(&format!("http://{address}/mcp"), "secret")], marker(), None).await
}

async fn failure(config: ServerConfig) -> StartError {
    let hosting = host_all(vec![config], marker(), None).await;
    match hosting.host.statuses().await.remove(0).state {
        ServerState::Failed(error) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_over_http_is_listed_and_called() {
    let (address, _) = serve(None).await;
    let hosting = host_at(address).await;
    let statuses = hosting.host.statuses().await;
    let ServerState::Ready(ready) = &statuses[0].state else { panic!("{statuses:?}") };
    assert_eq!((ready.name.as_str(), ready.protocol_version.as_str()), ("web", "2025-06-18"));
    assert_eq!((ready.tools, ready.rejected), (7, 1));
    for tool in ["echo", "events"] {
        assert_eq!(hosting.text(tool, json!({"a": 1})).await, r#"{"a":1}"#);
    }
    let unknown = hosting.call("unknown", Value::Null).await.result.unwrap();
    assert_eq!(unknown.to_wire()["content"][0], json!({"type": "hologram", "depth": 3}));
    hosting.close().await;
}

#[tokio::test]
async fn results_over_http_are_bounded() {
    let (address, _) = serve(None).await;
    let hosting = host_at(address).await;
    let size = |bytes: usize| json!({ "bytes": bytes });
    assert_eq!(hosting.text("large", size(10 << 20)).await.len(), 10 << 20);
    assert_eq!(hosting.text("large_events", size(40 << 20)).await.len(), 40 << 20);
    let outcome = hosting.call("large", size(20 << 20)).await;
    assert!(matches!(outcome.result, Err(CallError::TooLarge { .. })), "{:?}", outcome.elapsed);
    assert_eq!(hosting.text("echo", json!({})).await, "{}");
    hosting.close().await;
}

#[tokio::test]
async fn a_server_that_is_down_slow_or_fails_is_reported_and_may_come_back() {
    let (address, server) = serve(None).await;
    let mut config = web(&format!("http://{address}/mcp"), "secret");
    config.timeouts.idle = Duration::from_secs(1);
    let hosting = host_all(vec![config], marker(), None).await;
    let outcome = hosting.call("slow", Value::Null).await;
    assert!(matches!(outcome.result, Err(CallError::TimedOutIdle { .. })), "{outcome:?}");
    let outcome = hosting.call("fails", Value::Null).await;
    assert!(
        matches!(&outcome.result, Err(CallError::ServerDied { reason, .. }) if reason.contains("500")),
        "{outcome:?}"
    );
    assert_eq!(hosting.text("echo", json!({})).await, "{}");
    server.abort();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let outcome = hosting.call("echo", json!({})).await;
    assert!(matches!(outcome.result, Err(CallError::ServerDied { .. })), "{outcome:?}");
    let (_, _server) = serve(Some(address)).await;
    assert_eq!(hosting.text("echo", json!({})).await, "{}");
    hosting.close().await;
}

#[tokio::test]
async fn an_endpoint_that_cannot_be_used_is_named() {
    let (address, _) = serve(None).await;
    // Nothing listens at a port that was free a moment ago.
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for (url, key, part) in [
        (format!("http://{free}/mcp"), "secret", "Connection refused"),
        (format!("http://{address}/mcp"), "wrong", "401"),
        (format!("http://{address}/elsewhere"), "secret", "404"),
        // No certificate: what answers there does not speak TLS.
        (format!("https://{address}/mcp"), "secret", "http"),
        ("no url".to_owned(), "secret", "URL"),
        (format!("http://{address}/mcp"), "line\nbreak", "`X-Key`"),
    ] {
        let error = failure(web(&url, key)).await;
        assert!(matches!(error, StartError::Unreachable { .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.contains(&url) && message.contains(part), "{message}");
        assert!(!message.contains("break"));
    }
}

#[tokio::test]
async fn an_endpoint_that_does_not_answer_is_given_up_in_time() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = web(&format!("http://{}/mcp", silent.local_addr().unwrap()), "secret");
    config.timeouts.start = Duration::from_millis(500);
    assert!(matches!(failure(config).await, StartError::TimedOut { .. }));
}
