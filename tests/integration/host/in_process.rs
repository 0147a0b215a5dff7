//! Servers within the process: the same limits, the same outcomes.

use std::sync::Arc;
use std::time::Duration;

use m3_mcp::config::{InProcess, ServerConfig, Transport};
use m3_mcp::{Answer, Answering, CallError, HostEvent, Tool, ToolResult, Toolbox};
use serde_json::{Map, Value, json};

use super::support::{host_all, marker, server};

/// Tools named by what they do.
struct Box {
    tools: Vec<Tool>,
}

impl Toolbox for Box {
    fn name(&self) -> &'static str {
        "box"
    }

    fn tools(&self) -> &[Tool] {
        &self.tools
    }

    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> Answering<'a> {
        std::boxed::Box::pin(async move {
            match tool {
                "echo" => Answer::Result(ToolResult::text(Value::Object(arguments).to_string())),
                "hang" => std::future::pending().await,
                "crash" => Answer::Crash,
                "panic" => panic!("a mistake in a toolbox"),
                "busy" => {
                    // Work that never releases its thread.
                    std::thread::sleep(Duration::from_secs(3));
                    Answer::Result(ToolResult::text("late"))
                }
                "invalid" => Answer::InvalidArguments("`a` is missing".to_owned()),
                _ => Answer::UnknownTool,
            }
        })
    }
}

fn in_process(name: &str) -> ServerConfig {
    let tool =
        |name: &str| -> Tool { serde_json::from_value(json!({"name": name, "inputSchema": {}})).unwrap() };
    let tools = ["echo", "hang", "crash", "panic", "busy", "invalid", "odd"].map(tool).to_vec();
    let transport = Transport::InProcess(InProcess(Arc::new(Box { tools })));
    let mut config = ServerConfig { transport, ..server(name, "", "") };
    config.timeouts.idle = Duration::from_secs(1);
    config
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_end_as_they_do_with_other_servers() {
    let hosting = host_all(vec![in_process("stub")], marker(), None).await;
    assert_eq!(hosting.text("echo", json!({"a": 1})).await, r#"{"a":1}"#);
    for tool in ["hang", "busy"] {
        let outcome = hosting.call(tool, Value::Null).await;
        assert!(matches!(outcome.result, Err(CallError::TimedOutIdle { .. })), "{tool}: {outcome:?}");
    }
    let refused = hosting.call("invalid", Value::Null).await.result.unwrap();
    assert!(refused.is_error && refused.all_text() == "`a` is missing", "{refused:?}");
    let unknown = hosting.call("odd", Value::Null).await;
    assert!(matches!(unknown.result, Err(CallError::Protocol { code: -32602, .. })), "{unknown:?}");
    for tool in ["crash", "panic"] {
        let outcome = hosting.call(tool, Value::Null).await;
        assert!(matches!(outcome.result, Err(CallError::ServerDied { .. })), "{tool}: {outcome:?}");
        assert_eq!(hosting.text("echo", json!({})).await, "{}");
    }
    assert_eq!(hosting.host.statuses().await[0].restarts, 2);
    // The configuration allows two restarts.
    assert!(hosting.call("crash", Value::Null).await.result.is_err());
    let outcome = hosting.call("echo", Value::Null).await;
    assert!(matches!(outcome.result, Err(CallError::Unavailable { .. })), "{outcome:?}");
    hosting.close().await;
}

#[tokio::test]
async fn a_crash_loses_the_calls_that_are_under_way() {
    let hosting = host_all(vec![in_process("stub")], marker(), None).await;
    let (hanging, crashed) =
        tokio::join!(hosting.call("hang", Value::Null), hosting.call("crash", Value::Null));
    for outcome in [hanging, crashed] {
        assert!(matches!(outcome.result, Err(CallError::ServerDied { .. })), "{outcome:?}");
    }
    hosting.close().await;
}

#[tokio::test]
async fn many_start_at_once() {
    let servers = (0..27).map(|index| in_process(&format!("box{index}"))).collect();
    let hosting = host_all(servers, marker(), None).await;
    assert_eq!(hosting.host.catalog().len(), 27 * 7);
    let ready = hosting.events().into_iter().filter(|event| matches!(event, HostEvent::Ready { .. }));
    assert_eq!(ready.count(), 27);
    hosting.close().await;
}
