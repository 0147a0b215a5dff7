//! Servers over HTTP that speak MCP 2026-07-28 alone, that are busy, or whose bodies are odd.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::post;
use m3_mcp::{CallError, ServerState};
use serde_json::{Value, json};

use super::http::{answer, host_at, reply, serve_router};

#[tokio::test]
async fn a_server_over_http_that_needs_no_handshake_is_spoken_with() {
    let router = axum::Router::new().route("/mcp", post(newest));
    let hosting = host_at(serve_router(None, router).await.0).await;
    let statuses = hosting.host.statuses().await;
    let ServerState::Ready(ready) = &statuses[0].state else { panic!("{statuses:?}") };
    assert_eq!(ready.protocol_version, "2026-07-28");
    assert_eq!(hosting.text("echo", json!({"a": 1, "region": "eu"})).await, r#"{"a":1,"region":"eu"}"#);
    hosting.close().await;
}

/// A server that speaks MCP 2026-07-28 alone: it refuses requests whose headers do not say what their bodies do.
async fn newest(headers: HeaderMap, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let header =
        |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let refusal = |code: i64| {
        let error = json!({"code": code, "message": "no", "data": {"supported": ["2026-07-28"]}});
        let mut refusal = reply(
            "application/json",
            json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string(),
        );
        *refusal.status_mut() = StatusCode::BAD_REQUEST;
        refusal
    };
    if message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] != "2026-07-28" {
        return refusal(-32022);
    }
    let tool = message["params"]["name"].as_str().unwrap_or_default();
    let is_wrong = header("mcp-protocol-version") != "2026-07-28"
        || header("mcp-method") != message["method"].as_str().unwrap()
        || header("mcp-name") != tool
        || (tool == "echo" && header("mcp-param-region") != "eu");
    if is_wrong {
        return refusal(-32020);
    }
    let schema =
        json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let result = match message["method"].as_str().unwrap_or_default() {
        "server/discover" => {
            json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            "ttlMs": 0, "cacheScope": "private"})
        }
        "tools/list" => json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "tools": [{"name": "echo", "inputSchema": schema}]}),
        _ => {
            json!({"resultType": "complete", "content": [{"type": "text", "text": message["params"]["arguments"].to_string()}]})
        }
    };
    reply("application/json", json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string())
}

#[tokio::test]
async fn busy_servers_are_asked_again_and_odd_bodies_are_read() {
    use std::io::Write as _;
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let router = axum::Router::new().route(
        "/mcp",
        post(async move |headers: HeaderMap, body: Bytes| {
            let message: Value = serde_json::from_slice(&body).unwrap();
            let status = |status: u16, header: &str, value: &str| {
                Response::builder().status(status).header(header, value).body(Body::from("slow")).unwrap()
            };
            match message["params"]["name"].as_str().unwrap_or_default() {
                "echo" if counted.fetch_add(1, Ordering::SeqCst) == 0 => status(429, "retry-after", "0"),
                "events" => status(429, "retry-after", "100000"),
                "slow" => {
                    counted.fetch_add(10, Ordering::SeqCst);
                    status(503, "retry-after", "0")
                }
                "unknown" => {
                    let answer = answer(headers, body).await;
                    let plain = axum::body::to_bytes(answer.into_body(), 1 << 20).await.unwrap();
                    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                    packed.write_all(&plain).unwrap();
                    Response::builder()
                        .header("content-encoding", "gzip")
                        .body(Body::from(packed.finish().unwrap()))
                        .unwrap()
                }
                _ => answer(headers, body).await,
            }
        }),
    );
    let hosting = host_at(serve_router(None, router).await.0).await;
    assert_eq!(hosting.text("echo", json!({})).await, "{}");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    // The tool may have done its work, so the call is not made twice.
    let outcome = hosting.call("slow", Value::Null).await;
    assert!(matches!(outcome.result, Err(CallError::Status { status: 503, .. })), "{outcome:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 12);
    // Nobody waits for a day.
    let outcome = hosting.call("events", Value::Null).await;
    assert!(matches!(outcome.result, Err(CallError::Status { status: 429, .. })), "{outcome:?}");
    // A body without a type that was compressed unasked.
    let unknown = hosting.call("unknown", Value::Null).await.result.unwrap();
    assert_eq!(unknown.to_wire()["content"][0]["type"], "hologram");
    hosting.close().await;
}
