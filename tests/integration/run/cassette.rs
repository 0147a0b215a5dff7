//! The cassette that comes with m3, and the README's third command.

use std::time::Duration;

use serde_json::Value;

use super::{json_of, output_of, predictions, without_times};
use crate::support::{Folder, m3, m3_bare, root, stdout};

const CASSETTE: &str = "replay:trajectories/cassette.jsonl.gz";

/// Tool by tool what a trajectory calls.
fn calls(trajectory: &Value) -> Vec<(usize, &Value, &Value)> {
    let steps = trajectory["steps"].as_array().unwrap().iter().enumerate();
    steps
        .flat_map(|(step, found)| found["calls"].as_array().unwrap().iter().map(move |call| (step, call)))
        .map(|(step, call)| (step, &call["name"], &call["arguments"]))
        .collect()
}

/// Image in, tools called for real, prediction out, table printed. If prompts, tools or our benchmark have changed:
/// `cargo build && cargo run --example record_cassette`.
#[test]
fn the_cassette_plays_our_benchmark_with_real_servers_and_without() {
    let folder = Folder::new();
    let (real, played) = (output_of(&folder), folder.path().join("played"));
    let run = |output: &std::path::Path, servers: &[&str]| {
        let mut command = m3_bare(folder.path());
        command.args(["run", "trajectories/tasks.json", "--llm", CASSETTE, "-o"]).arg(output).args(servers);
        stdout(command.timeout(Duration::from_mins(3)))
    };
    let table = run(&real, &["--servers", "servers/local.json"]);
    assert!(table.contains("answered   15\n") && table.contains("calls      40\n"), "{table}");
    run(&played, &[]);
    // Paths of the workspace are in no result of our servers, so that these two are the same.
    assert_eq!(without_times(real.join("predictions.json")), without_times(played.join("predictions.json")));
    let wanted = json_of(root().join("trajectories/predictions.json"));
    for (made, wanted) in predictions(&real).iter().zip(wanted.as_array().unwrap()) {
        assert_eq!(calls(made), calls(wanted), "{}", made["id"]);
        assert_eq!(made["final_reply"], wanted["final_reply"]);
    }
    let Some(mut score) = m3() else { return };
    score.args(["score", "-q"]).arg(real.join("predictions.json")).arg("trajectories/references.json");
    let Some(mut shown) = m3() else { return };
    shown.args(["score", "-q", "trajectories/predictions.json", "trajectories/references.json"]);
    assert_eq!(stdout(&mut score), stdout(&mut shown));
}
