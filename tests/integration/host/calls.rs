//! Calls and their results.

use m3::mcp::{CallError, Content, ServerState};
use serde_json::{Value, json};

use super::support::{host, is_same};

#[tokio::test]
async fn a_server_is_started_listed_called_and_closed() {
    let hosting = host("default").await;
    let statuses = hosting.host.statuses().await;
    let ServerState::Ready(ready) = &statuses[0].state else { panic!("{statuses:?}") };
    assert_eq!((ready.name.as_str(), ready.version.as_str()), ("stub", "1.2.3"));
    assert_eq!(ready.protocol_version, "2025-11-25");
    assert_eq!(hosting.host.catalog().len(), ready.tools);
    assert_eq!(hosting.text("echo", json!({"a": "é", "b": [1, 2.5]})).await, r#"{"a":"é","b":[1,2.5]}"#);
    assert!(is_same(hosting.workspace.path(), &hosting.text("cwd", Value::Null).await));
    hosting.close().await;
}
