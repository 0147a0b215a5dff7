//! What the host costs: `cargo bench --bench host`. Prints the lines of benches/RESULTS.md.
//!
//! The servers are `m3 serve math`, started and guarded as the program does it, once late on purpose; their own
//! work is adding two numbers. Memory is this process's, where Linux tells.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and stops at a surprise")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use m3_mcp::config::HostConfig;
use m3_mcp::{Host, HostOptions, ToolName};
use m3_servers::simulated::SimulatedOptions;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How long the late server sleeps, in seconds.
const LATE: u64 = 2;

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    println!("| what | result |\n| --- | --- |");
    runtime.block_on(async {
        starting().await;
        calling().await;
        at_once().await;
        simulated().await;
    });
}

/// A host of these servers in its own folder.
async fn host(config: &Value, folder: &Path) -> Host {
    let path = folder.join("servers.json");
    std::fs::write(&path, config.to_string()).unwrap();
    let (config, _) = HostConfig::open(&path).unwrap();
    start(&config, folder).await
}

async fn start(config: &HostConfig, folder: &Path) -> Host {
    let mut options = HostOptions::new(folder);
    options.guard = Some(PathBuf::from(env!("CARGO_BIN_EXE_m3")));
    Host::start(config, options, Arc::new(|_| ())).await
}

fn math() -> Value {
    json!({"command": env!("CARGO_BIN_EXE_m3"), "args": ["serve", "math"]})
}

async fn starting() {
    let folder = tempfile::tempdir().unwrap();
    let mut servers: Map<String, Value> = (1..27).map(|n| (format!("math{n}"), math())).collect();
    let late = format!("sleep {LATE}; exec {} serve math", env!("CARGO_BIN_EXE_m3"));
    servers.insert("late".to_owned(), json!({"command": "sh", "args": ["-c", late]}));
    let begun = Instant::now();
    let host = host(&json!({ "mcpServers": servers }), folder.path()).await;
    let took = begun.elapsed();
    assert_eq!(host.catalog().len(), 27 * 22);
    println!(
        "| 27 servers started together, one of them {LATE} s late | {:.2} s after the late one |",
        took.saturating_sub(Duration::from_secs(LATE)).as_secs_f64()
    );
    let begun = Instant::now();
    host.close().await;
    println!("| the same ended together | {:.2} s |", begun.elapsed().as_secs_f64());
}

/// Adds two numbers; the result is checked.
async fn add(host: &Host, server: &str, n: u32) {
    let name = ToolName { server: server.to_owned(), tool: "add".to_owned() };
    let arguments =
        Map::from_iter([("firstNumber".to_owned(), json!(n)), ("secondNumber".to_owned(), json!(1))]);
    let outcome = host.call(&name, arguments, &CancellationToken::new()).await;
    assert_eq!(outcome.result.unwrap().all_text(), (n + 1).to_string());
}

async fn calling() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(&json!({"mcpServers": {"math": math()}}), folder.path()).await;
    for n in 0..1000 {
        add(&host, "math", n).await;
    }
    let before = memory();
    let mut times: Vec<Duration> = Vec::new();
    for n in 0..10_000 {
        let begun = Instant::now();
        add(&host, "math", n).await;
        times.push(begun.elapsed());
    }
    let after = memory();
    times.sort();
    println!(
        "| a call over standard input and output, there and back, of 10,000 | median {:.3} ms, 99 % below {:.3} ms |",
        times[5000].as_secs_f64() * 1e3,
        times[9900].as_secs_f64() * 1e3
    );
    println!("| memory of the host before and after these 10,000 calls | {before:.1} MB, {after:.1} MB |");
    host.close().await;
}

async fn at_once() {
    let folder = tempfile::tempdir().unwrap();
    let servers: Map<String, Value> = (0..10).map(|n| (format!("math{n}"), math())).collect();
    let host = Arc::new(host(&json!({ "mcpServers": servers }), folder.path()).await);
    let begun = Instant::now();
    let mut calls = JoinSet::new();
    for n in 0..100 {
        let host = Arc::clone(&host);
        calls.spawn(async move { add(&host, &format!("math{}", n % 10), n).await });
    }
    calls.join_all().await;
    println!("| 100 calls at once over 10 servers | {:.1} ms |", begun.elapsed().as_secs_f64() * 1e3);
    host.close().await;
}

/// All servers of the benchmark's catalog in this process.
async fn simulated() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/open-m3-bench");
    if !data.exists() {
        println!("skipped: ../shared/data is not here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let options = json!({"catalog": data.join("tools.json"), "trajectories": [data.join("references.json")]});
    let path = folder.path().join("servers.json");
    std::fs::write(&path, json!({ "simulated": options }).to_string()).unwrap();
    let begun = Instant::now();
    let (mut config, _) = HostConfig::open(&path).unwrap();
    SimulatedOptions::from_config(&config).unwrap().unwrap().add_to(&mut config, None).unwrap();
    let host = start(&config, folder.path()).await;
    assert_eq!(host.catalog().len(), 232);
    println!(
        "| the benchmark's 27 servers and 232 tools simulated in one process, recordings read | {:.3} s |",
        begun.elapsed().as_secs_f64()
    );
    host.close().await;
}

/// The memory of this process, in MB; zero where the system does not say.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}
