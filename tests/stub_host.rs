//! Hosts one stub server in a separate process, for tests that cannot observe this in their own process: with all
//! kinds of descendants until it is killed (nothing may be left then), or for many calls (which may take no memory).
//!
//! `stub_host M3 STUB SCENARIO MARKER descend|call`

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "it belongs to the tests")]

use std::sync::Arc;

use m3_mcp::config::{HostConfig, ServerConfig, Transport};
use m3_mcp::{Host, HostOptions, ToolName};
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [guard, stub, scenario, marker, task] = args.try_into().unwrap();
    let args = vec![scenario, "--marker".to_owned(), marker];
    let env = std::collections::BTreeMap::new();
    let server = ServerConfig::new("stub", Transport::Stdio { command: stub, args, env, cwd: None });
    let config = HostConfig { servers: vec![server], ..HostConfig::default() };
    let options = HostOptions { guard: Some(guard.into()), ..HostOptions::new(std::env::temp_dir()) };
    let host = Host::start(&config, options, Arc::new(|_| ())).await;
    if task == "call" {
        call(&host, 1000).await;
        let before = resident();
        call(&host, 9000).await;
        println!("{before} {}", resident());
        host.close().await;
    } else {
        descend(&host).await;
        println!("ready");
        std::future::pending::<()>().await;
    }
}

/// Makes the server start processes that are hard to end.
async fn descend(host: &Host) {
    let name = ToolName { server: "stub".to_owned(), tool: "spawn".to_owned() };
    for what in ["sleeper", "sleeper-stubborn", "sleeper-session", "sleeper-daemon"] {
        let arguments = Map::from_iter([("what".to_owned(), json!(what))]);
        host.call(&name, arguments, &CancellationToken::new()).await.result.unwrap();
    }
}

/// Makes calls, one after another.
async fn call(host: &Host, calls: usize) {
    let name = ToolName { server: "stub".to_owned(), tool: "echo".to_owned() };
    for index in 0..calls {
        let arguments = Map::from_iter([("index".to_owned(), json!(index))]);
        host.call(&name, arguments, &CancellationToken::new()).await.result.unwrap();
    }
}

/// Bytes of memory in use (`proc_pid_statm(5)`), in pages of 4 KiB.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}
