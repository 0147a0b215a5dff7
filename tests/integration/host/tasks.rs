//! Separate instances for each task, and shared ones.

use std::sync::Arc;

use m3_mcp::config::HostConfig;
use m3_mcp::{Host, HostOptions, ToolName};
use serde_json::Map;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::support::{is_same, m3, marker, processes, server};

async fn text(host: &Host, server: &str, tool: &str) -> String {
    let name = ToolName { server: server.to_owned(), tool: tool.to_owned() };
    let outcome = host.call(&name, Map::new(), &CancellationToken::new()).await;
    outcome.result.unwrap().all_text()
}

#[tokio::test]
async fn a_task_sees_no_state_of_another_and_works_in_its_own_folder() {
    let marker = marker();
    let mut shared = server("shared", "default", &marker);
    shared.is_stateless = true;
    let servers = vec![server("own", "default", &marker), shared];
    let config = HostConfig { servers, ..HostConfig::default() };
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap()];
    let options = HostOptions { guard: Some(m3()), ..HostOptions::new(folders[0].path()) };
    let all = Host::start(&config, options, Arc::new(|_| ())).await;
    assert_eq!((all.statuses().await.len(), processes(&marker).len()), (2, 4));
    let before = processes(&marker);
    let all = all.into_shared().await;
    // Only the stateless server with its guard: the same processes as before.
    assert_eq!((all.statuses().await.len(), processes(&marker).len()), (1, 2));
    assert!(processes(&marker).iter().all(|process| before.contains(process)));

    let (one, two) = tokio::join!(all.for_task(folders[1].path()), all.for_task(folders[2].path()));
    let names: Vec<_> = one.statuses().await.into_iter().map(|status| status.server).collect();
    assert_eq!(names, ["own", "shared"]);
    assert_eq!(processes(&marker).len(), 6);
    assert_eq!(text(&one, "own", "count").await, "1");
    assert_eq!(text(&one, "own", "count").await, "2");
    assert_eq!(text(&two, "own", "count").await, "1");
    assert_eq!(text(&one, "shared", "count").await, "1");
    assert_eq!(text(&two, "shared", "count").await, "2");
    assert!(is_same(folders[1].path(), &text(&one, "own", "cwd").await));
    assert!(is_same(folders[2].path(), &text(&two, "own", "cwd").await));
    assert!(is_same(folders[0].path(), &text(&two, "shared", "cwd").await));

    one.close().await;
    assert_eq!(processes(&marker).len(), 4);
    assert_eq!(text(&two, "shared", "count").await, "3");
    tokio::join!(two.close(), all.close());
    assert_eq!(processes(&marker), Vec::<String>::new());
    let name = ToolName { server: "own".to_owned(), tool: "count".to_owned() };
    let after = two.call(&name, Map::new(), &CancellationToken::new()).await;
    assert!(after.result.is_err());
}
