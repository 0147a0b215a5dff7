//! The speed and the peak memory of the executor: `cargo bench --bench run`. Prints the lines of benches/RESULTS.md.
//!
//! 200 tasks with 64 workers against a model that answers every request after 50 ms, on the same machine: each task
//! has an image of our own benchmark, makes a call of the math server in each step and then answers. The model
//! counts the results in a request instead of reading it, so that it takes little of the two cores.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and stops at a surprise")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use serde_json::{Value, json};

const TASKS: usize = 200;
const WORKERS: usize = 64;
/// The largest peak memory allowed, in MB.
const LARGEST: u64 = 300;
const REPLY: Duration = Duration::from_millis(50);
/// The smallest share of the ideal speed allowed, in per cent. Not asserted for tasks of 4 replies, where most of the
/// loss is the start and the end of the program.
const SMALLEST_SHARE: f64 = 90.0;
/// The number of runs; the median counts.
const RUNS: usize = 5;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let url = runtime.block_on(model());
    println!(
        "| replies of a task | ideal | took | of the ideal | peak memory |\n| --- | --- | --- | --- | --- |"
    );
    // Removed at the end: on a file system without a journal, creating files is slow for a while after many were
    // deleted.
    let mut folders = Vec::new();
    for replies in [4, 7, 13] {
        let mut one = |_| {
            let folder = tempfile::tempdir().unwrap();
            let found = run(folder.path(), &url, replies);
            folders.push(folder);
            found
        };
        let mut runs: Vec<(Duration, u64)> = (0..RUNS).map(&mut one).collect();
        runs.sort_unstable();
        let took = runs[RUNS / 2].0.as_secs_f64();
        let memory = runs.iter().map(|(_, memory)| *memory).max().unwrap_or(0);
        // 64 workers take tasks of equal length in whole rounds.
        let ideal = REPLY.as_secs_f64() * replies as f64 * TASKS.div_ceil(WORKERS) as f64;
        let share = 100.0 * ideal / took;
        println!("| {replies} | {ideal:.2} s | {took:.2} s | {share:.0} % | {memory} MB |");
        assert!((1..LARGEST).contains(&memory), "more than {LARGEST} MB, or unknown");
        assert!(replies < 7 || share >= SMALLEST_SHARE, "below {SMALLEST_SHARE} % of the ideal");
    }
}

/// A model that makes calls until the task has as many results as its question says, then answers.
async fn model() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(axum::serve(listener, Router::new().fallback(reply)).into_future());
    url
}

async fn reply(body: Bytes) -> ([(&'static str, &'static str); 1], String) {
    tokio::time::sleep(REPLY).await;
    let body = std::str::from_utf8(&body).unwrap();
    let calls = body.split_once("calls=").unwrap().1.split('.').next().unwrap().parse().unwrap();
    let done = body.matches("\"tool_call_id\"").count();
    let message = if done < calls {
        let arguments = json!({"firstNumber": done, "secondNumber": 1}).to_string();
        let function = json!({"name": "math__add", "arguments": arguments});
        json!({"role": "assistant", "content": null,
               "tool_calls": [{"id": format!("call_{done}"), "type": "function", "function": function}]})
    } else {
        json!({"role": "assistant", "content": "Done."})
    };
    let finish = if done < calls { "tool_calls" } else { "stop" };
    let reply = json!({
        "id": "1", "object": "chat.completion", "created": 0, "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    });
    ([("content-type", "application/json")], reply.to_string())
}

/// Runs all tasks. Returns the time from the program's start to its end, and its peak memory in MB.
fn run(folder: &Path, url: &str, replies: usize) -> (Duration, u64) {
    let images = ["badges", "chart", "clock", "crowd", "dice", "garden", "parcel", "plan", "poster", "shelf"];
    let task = |number: usize| {
        json!({"id": format!("{number:04}"), "image": format!("images/{}.png", images[number % images.len()]),
               "question": format!("Add so often: calls={}.", replies - 1)})
    };
    let tasks: Vec<Value> = (0..TASKS).map(task).collect();
    std::fs::write(folder.join("tasks.json"), Value::from(tasks).to_string()).unwrap();
    let servers = json!({"mcpServers": {"math": {
        "command": env!("CARGO_BIN_EXE_m3"), "args": ["serve", "math"], "stateless": true}}});
    std::fs::write(folder.join("servers.json"), servers.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_m3"));
    command.arg("run").arg(folder.join("tasks.json"));
    command.args(["--llm", &format!("openai@{url}:scripted"), "--mode", "native", "--max-steps", "20"]);
    command.arg("--servers").arg(folder.join("servers.json")).arg("-o").arg(folder.join("out"));
    command.args(["--workers", &WORKERS.to_string(), "--quiet", "--images"]).arg(env!("CARGO_MANIFEST_DIR"));
    let begun = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let mut memory = 0;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        memory = memory.max(peak_memory(child.id()));
        std::thread::sleep(Duration::from_millis(5));
    };
    let took = begun.elapsed();
    assert!(status.success(), "{status}");
    let written = std::fs::read(folder.join("out/predictions.json")).unwrap();
    let written: Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(written.as_array().unwrap().len(), TASKS);
    (took, memory)
}

/// The process's peak memory in MB; known on Linux only.
fn peak_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1000
}
