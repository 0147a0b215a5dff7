//! Hosts one stub server with all kinds of descendants until it is killed; for the test that nothing is left then.
//!
//! `stub_host M3 STUB SCENARIO MARKER`

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "it belongs to the tests")]

use std::sync::Arc;

use m3::mcp::config::{HostConfig, Restarts, ServerConfig, Timeouts, ToolFilter, Transport};
use m3::mcp::{Host, HostOptions, ToolName};
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [guard, stub, scenario, marker] = args.try_into().unwrap();
    let server = ServerConfig {
        name: "stub".to_owned(),
        transport: Transport::Stdio {
            command: stub,
            args: vec![scenario, "--marker".to_owned(), marker],
            env: std::collections::BTreeMap::new(),
            cwd: None,
        },
        is_disabled: false,
        is_stateless: false,
        max_concurrent: None,
        timeouts: Timeouts::default(),
        restarts: Restarts::default(),
        tools: ToolFilter::default(),
        secrets: Vec::new(),
    };
    let config = HostConfig { servers: vec![server], ..HostConfig::default() };
    let options = HostOptions { guard: Some(guard.into()), ..HostOptions::new(std::env::temp_dir()) };
    let host = Host::start(&config, options, Arc::new(|_| ())).await;
    let name = ToolName { server: "stub".to_owned(), tool: "spawn".to_owned() };
    for what in ["sleeper", "sleeper-stubborn", "sleeper-session", "sleeper-daemon"] {
        let arguments = Map::from_iter([("what".to_owned(), json!(what))]);
        host.call(&name, arguments, &CancellationToken::new()).await.result.unwrap();
    }
    println!("ready");
    std::future::pending::<()>().await;
}
