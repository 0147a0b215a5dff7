//! Servers over streamable HTTP, on 127.0.0.1, written here without a library for the protocol.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{any, post};
use futures_util::{StreamExt as _, stream};
use m3_mcp::config::{ServerConfig, Transport};
use m3_mcp::{CallError, MAX_RESULT, ServerState, StartError};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use super::support::{Hosting, PATIENCE, host_all, marker, server};

pub(super) fn reply(content_type: &str, body: String) -> Response {
    Response::builder().header("content-type", content_type).body(Body::from(body)).unwrap()
}

pub(super) async fn answer(headers: HeaderMap, body: Bytes) -> Response {
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
            let names = [
                "echo",
                "events",
                "unknown",
                "slow",
                "fails",
                "large",
                "large_events",
                "announced",
                "endless",
                "endless_events",
                "extended",
                "extended_events",
                "refuses",
                "garbled",
                "garbled_events",
                "empty",
                "numbered_events",
            ];
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
            "extended" | "extended_events" => extended(),
            "announced" => {
                let body = Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>());
                let response = Response::builder().header("content-type", "application/json");
                return response.header("content-length", 100 << 20).body(body).unwrap();
            }
            "endless" => {
                return endless("application/json", &format!(r#"{{"id":{},"result":""#, message["id"]));
            }
            "endless_events" => return endless("text/event-stream", "id: 1\ndata: "),
            "refuses" => {
                let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "no"}});
                let mut refusal = reply("application/json", error.to_string());
                *refusal.status_mut() = StatusCode::BAD_REQUEST;
                return refusal;
            }
            name if name.starts_with("garbled") => {
                let whole = format!(r#"{{"jsonrpc":"2.0","id":{},"result":"\u00"}}"#, message["id"]);
                return reply_as(name, &whole);
            }
            "empty" => return reply("application/json", String::new()),
            "numbered_events" => {
                let id = message["id"].to_string();
                let whole = json!({"jsonrpc": "2.0", "id": id, "result": extended()}).to_string();
                return reply_as("numbered_events", &whole);
            }
            _ => text(&arguments.to_string()),
        },
        _ => return status(StatusCode::ACCEPTED),
    };
    let whole = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
    reply_as(message["params"]["name"].as_str().unwrap_or_default(), &whole)
}

fn reply_as(tool: &str, message: &str) -> Response {
    if tool.ends_with("events") {
        reply("text/event-stream", format!(": before\n\nevent: message\ndata: {message}\n\n"))
    } else {
        reply("application/json", message.to_owned())
    }
}

/// A result with keys and kinds that the specification does not have.
fn extended() -> Value {
    json!({
        "content": [{"type": "resource_link", "uri": "a:b", "name": "b", "colour": [1, {"x": null}]}],
        "extra": {"a": 1.5}, "nextCursor": "x", "resultType": "complete",
    })
}

/// A body that never ends; reading too much of it fails the test.
fn endless(content_type: &str, start: &str) -> Response {
    const PIECES: usize = 400;
    let piece = Bytes::from(vec![b'x'; 1 << 20]);
    let pieces = stream::iter(0..PIECES).map(move |index| {
        // The host refuses more than 86 MiB; sockets hold some.
        assert!(index < 200, "the host reads on");
        Ok::<_, std::io::Error>(piece.clone())
    });
    let start = stream::iter([Ok(Bytes::from(start.to_owned()))]);
    let response = Response::builder().header("content-type", content_type);
    response.body(Body::from_stream(start.chain(pieces))).unwrap()
}

/// Serves at this address, or at any free one.
async fn serve(address: Option<SocketAddr>) -> (SocketAddr, AbortHandle) {
    serve_router(address, axum::Router::new().route("/mcp", post(answer))).await
}

pub(super) async fn serve_router(
    address: Option<SocketAddr>,
    router: axum::Router,
) -> (SocketAddr, AbortHandle) {
    let listener = TcpListener::bind(address.unwrap_or(([127, 0, 0, 1], 0).into())).await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (address, task.abort_handle())
}

fn web(url: &str, key: &str) -> ServerConfig {
    let headers = BTreeMap::from([("X-Key".to_owned(), key.to_owned())]);
    ServerConfig { transport: Transport::Http { url: url.to_owned(), headers }, ..server("stub", "", "") }
}

pub(super) async fn host_at(address: SocketAddr) -> Hosting {
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
    assert_eq!((ready.tools, ready.rejected), (17, 1));
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
    for tool in ["large", "large_events"] {
        assert_eq!(hosting.text(tool, size(40 << 20)).await.len(), 40 << 20);
    }
    for tool in ["announced", "endless", "endless_events"] {
        let outcome = hosting.call(tool, Value::Null).await;
        let is_too_large = matches!(outcome.result, Err(CallError::TooLarge { limit: MAX_RESULT, .. }));
        assert!(is_too_large, "{tool}: {:?}", outcome.elapsed);
    }
    assert_eq!(hosting.text("echo", json!({})).await, "{}");
    hosting.close().await;
}

#[tokio::test]
async fn results_over_http_lose_nothing() {
    let (address, _) = serve(None).await;
    let hosting = host_at(address).await;
    for tool in ["extended", "extended_events", "numbered_events"] {
        let result = hosting.call(tool, Value::Null).await.result.unwrap().to_wire();
        assert_eq!(result, extended(), "{tool}");
    }
    hosting.close().await;
}

#[tokio::test]
async fn answers_over_http_that_are_none_end_their_call() {
    let (address, _) = serve(None).await;
    let hosting = host_at(address).await;
    for tool in ["garbled", "garbled_events", "empty"] {
        let outcome = hosting.call(tool, Value::Null).await;
        assert!(matches!(outcome.result, Err(CallError::Malformed { .. })), "{tool}: {outcome:?}");
    }
    let outcome = hosting.call("refuses", Value::Null).await;
    assert!(matches!(outcome.result, Err(CallError::Protocol { code: -32600, .. })), "{outcome:?}");
    hosting.close().await;
}

#[tokio::test]
async fn a_session_is_kept_and_made_anew_once_it_has_expired() {
    let (begun, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (sessions, deleted) = (Arc::clone(&begun), Arc::clone(&ended));
    let router = axum::Router::new().route(
        "/mcp",
        post(async move |headers: HeaderMap, body: Bytes| {
            let message: Value = serde_json::from_slice(&body).unwrap();
            let current = sessions.load(Ordering::SeqCst).to_string();
            let session = headers.get("mcp-session-id").map(|session| session.to_str().unwrap().to_owned());
            if message["method"] == "initialize" {
                assert_eq!(session, None);
                let current = sessions.fetch_add(1, Ordering::SeqCst) + 1;
                let mut response = answer(headers, body).await;
                response.headers_mut().insert("mcp-session-id", current.into());
                return response;
            }
            assert_eq!(headers["mcp-protocol-version"], "2025-06-18");
            // The first session ends with the first call.
            let has_expired = session.as_deref() == Some("1") && message["method"] == "tools/call";
            if session != Some(current) || has_expired {
                return Response::builder().status(StatusCode::NOT_FOUND).body(Body::empty()).unwrap();
            }
            answer(headers, body).await
        })
        .delete(async move |headers: HeaderMap| {
            deleted.lock().unwrap().push(headers["mcp-session-id"].to_str().unwrap().to_owned());
        }),
    );
    let address = serve_router(None, router).await.0;
    let hosting = host_at(address).await;
    assert_eq!(hosting.text("echo", json!({"a": 1})).await, r#"{"a":1}"#);
    assert_eq!(hosting.text("events", json!({"a": 2})).await, r#"{"a":2}"#);
    assert_eq!(begun.load(Ordering::SeqCst), 2);
    hosting.close().await;
    let ending = async {
        while ended.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, ending).await.unwrap();
    assert_eq!(*ended.lock().unwrap(), ["2"]);
}

#[tokio::test]
async fn redirects_are_followed_within_one_origin_only() {
    let (elsewhere, _) = serve(None).await;
    let redirect = |target: String| {
        any(async move || {
            let response = Response::builder().status(StatusCode::TEMPORARY_REDIRECT);
            response.header("location", target).body(Body::empty()).unwrap()
        })
    };
    let seen = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&seen);
    let spy = serve_router(
        None,
        axum::Router::new().fallback(async move || {
            asked.fetch_add(1, Ordering::SeqCst);
        }),
    );
    let spy = spy.await.0;
    let router = axum::Router::new()
        .route("/mcp", post(answer))
        .route("/moved", redirect("/mcp".to_owned()))
        .route("/loop", redirect("/loop".to_owned()))
        .route("/spied", redirect(format!("http://{spy}/mcp")))
        .route("/away", redirect(format!("http://{elsewhere}/mcp")));
    let address = serve_router(None, router).await.0;
    let moved = web(&format!("http://{address}/moved"), "secret");
    let hosting = host_all(vec![moved], marker(), None).await;
    assert_eq!(hosting.text("echo", json!({"a": 1})).await, r#"{"a":1}"#);
    hosting.close().await;
    for (path, part) in [("away", "307"), ("spied", "307"), ("loop", "redirect")] {
        let error = failure(web(&format!("http://{address}/{path}"), "secret")).await;
        assert!(error.to_string().contains(part), "{error}");
    }
    assert_eq!(seen.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_server_that_is_down_slow_or_fails_is_reported_and_may_come_back() {
    let (address, server) = serve(None).await;
    let mut config = web(&format!("http://{address}/mcp"), "secret");
    config.timeouts.idle = Duration::from_secs(2);
    let hosting = host_all(vec![config], marker(), None).await;
    let outcome = hosting.call("slow", Value::Null).await;
    assert!(matches!(outcome.result, Err(CallError::TimedOutIdle { .. })), "{outcome:?}");
    let outcome = hosting.call("fails", Value::Null).await;
    assert!(
        matches!(&outcome.result, Err(CallError::Status { status: 500, reason, .. }) if reason.starts_with("HTTP 500 Internal")),
        "{outcome:?}"
    );
    assert_eq!(hosting.text("echo", json!({})).await, "{}");
    server.abort();
    // Open connections are closed with it, a moment later.
    let asking = async {
        loop {
            match hosting.call("echo", json!({})).await.result {
                Ok(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                Err(error) => return error,
            }
        }
    };
    let error = tokio::time::timeout(PATIENCE, asking).await.unwrap();
    assert!(matches!(error, CallError::ServerDied { .. }), "{error:?}");
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
        (format!("http://{address}/mcp"), "wrong", "Bearer ${TOKEN}"),
        (format!("http://{address}/elsewhere"), "secret", "404"),
        // Without a certificate, because the server does not speak TLS.
        (format!("https://{address}/mcp"), "secret", "InvalidContentType"),
        ("no url".to_owned(), "secret", "URL"),
        (format!("http://{address}/mcp"), "line\nbreak", "`X-Key`"),
    ] {
        let error = failure(web(&url, key)).await;
        assert!(matches!(error, StartError::Unreachable { .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.contains(&url) && message.contains(part), "{message}");
        assert!(!message.contains("break"));
    }
    let mut config = web(&format!("http://{address}/mcp"), "secret");
    if let Transport::Http { headers, .. } = &mut config.transport {
        headers.insert("Accept".to_owned(), "text/html".to_owned());
    }
    let message = failure(config).await.to_string();
    assert!(message.contains("`Accept`"), "{message}");
}

#[tokio::test]
async fn an_endpoint_that_does_not_answer_is_given_up_in_time() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = web(&format!("http://{}/mcp", silent.local_addr().unwrap()), "secret");
    config.timeouts.start = Duration::from_millis(500);
    assert!(matches!(failure(config).await, StartError::TimedOut { .. }));
}
