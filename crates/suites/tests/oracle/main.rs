//! What the published programs answer, `../shared/data/benchmarks` (its ORACLES.md says how it was made).

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

mod bfcl;
mod mcp_agentbench;
mod mcp_bench;
mod mcpagentbench;
mod mcptoolbenchpp;

use std::io::Read as _;

use m3_testkit::shared;
use m3_trajectory::json::{Json, parse};
use m3_trajectory::{Call, Step, Trajectory};

/// A file of the benchmarks' data, with gzip or without; `None` where the data are not here.
fn read(path: &str) -> Option<Json> {
    let bytes = std::fs::read(shared("benchmarks")?.join(path)).unwrap();
    let mut text = Vec::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut text).unwrap();
    } else {
        text = bytes;
    }
    Some(parse(&text).unwrap().0)
}

fn items(value: &Json) -> &[Json] {
    match value {
        Json::Array(items) => items,
        _ => panic!("no list: {value:?}"),
    }
}

fn text(value: &Json, key: &str) -> String {
    value.get(key).and_then(Json::as_str).unwrap().to_owned()
}

fn number(value: &Json) -> f64 {
    match value {
        Json::Integer(number) => *number as f64,
        Json::Float(number) => *number,
        _ => panic!("no number: {value:?}"),
    }
}

fn call(tool: &str, arguments: Option<Json>) -> Call {
    Call { tool: tool.to_owned(), arguments, result: None, extra: Vec::new() }
}

fn trajectory(id: &str, steps: Vec<Vec<Call>>) -> Trajectory {
    let steps = steps.into_iter().map(|calls| Step { calls, ..Step::default() }).collect();
    Trajectory { id: id.to_owned(), steps, ..Trajectory::default() }
}
