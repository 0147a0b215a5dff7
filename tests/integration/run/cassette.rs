//! The cassette that comes with m3, and the README's third command.

use std::time::Duration;

use m3_testkit::sequence::{blocks, commands};
use serde_json::Value;

use super::{output_of, predictions, without_times};
use crate::support::{Folder, encoder, json_of, m3_bare, program_with_cache, root, stdout, text};

const CASSETTE: &str = "replay:trajectories/cassette.jsonl.gz";

/// The calls of a trajectory, tool by tool.
fn calls(trajectory: &Value) -> Vec<(usize, &Value, &Value)> {
    let steps = trajectory["steps"].as_array().unwrap().iter().enumerate();
    steps
        .flat_map(|(step, found)| found["calls"].as_array().unwrap().iter().map(move |call| (step, call)))
        .map(|(step, call)| (step, &call["name"], &call["arguments"]))
        .collect()
}

/// The README's command that runs and scores the benchmark, exactly as written.
fn third_command(readme: &str) -> String {
    let block = blocks(readme.split("## Three commands").nth(1).unwrap(), "sh").remove(0);
    let mut commands = commands(&block);
    assert_eq!(commands.len(), 3, "{commands:?}");
    commands.remove(2)
}

/// Image in, tools really called, prediction out, table printed. If prompts, tools or our benchmark have changed:
/// `cargo build && cargo run --example record_cassettes`.
#[cfg(unix)]
#[test]
fn the_third_command_of_the_readme_runs_and_scores_our_benchmark() {
    use std::os::unix::fs::PermissionsExt as _;

    let Some(assets) = encoder() else { return };
    let folder = Folder::new();
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    // Only the folder differs.
    let command = third_command(&readme);
    assert_eq!(command.matches("runs/first").count(), 2, "{command}");
    let command = command.replace("runs/first", "\"$OUT\"");
    // The built program replaces a build that would take minutes.
    let cargo = "#!/bin/sh\n[ \"$1 $2 $3\" = 'run --release --' ] || exit 99\nshift 3\nexec \"$M3\" \"$@\"\n";
    let cargo = folder.write("cargo", cargo);
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let mut shell =
        program_with_cache("sh", &std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"), assets);
    shell.args(["-c", &command]).env("PATH", path).env("M3", assert_cmd::cargo::cargo_bin("m3"));
    let done = shell.env("OUT", output_of(&folder)).output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    let printed = text(&done.stdout);
    assert!(printed.contains("answered   15\n") && printed.contains("calls      40\n"), "{printed}");
    // The cassette makes the calls of the predictions that the first command scores.
    let document = std::fs::read_to_string(root().join("docs/score.md")).unwrap();
    let shown = blocks(&document, "text").remove(0);
    // The signature contains the hash of the predictions, which differs here.
    let unsigned =
        |report: &str| report.rsplit_once("m3|v:").map(|(unsigned, _)| unsigned.to_owned()).unwrap();
    assert!(unsigned(&printed).ends_with(&unsigned(&shown)), "{printed}");
    let wanted = json_of(root().join("trajectories/predictions.json"));
    let made = predictions(&output_of(&folder));
    assert_eq!(made.len(), 15);
    for (made, wanted) in made.iter().zip(wanted.as_array().unwrap()) {
        assert_eq!(calls(made), calls(wanted), "{}", made["id"]);
        assert_eq!(made["final_reply"], wanted["final_reply"]);
    }
}

#[test]
fn the_cassette_plays_our_benchmark_with_real_servers_and_without() {
    let folder = Folder::new();
    let (real, played) = (output_of(&folder), folder.path().join("played"));
    for (output, servers) in [(&real, &["--servers", "servers/local.json"][..]), (&played, &[])] {
        let mut command = m3_bare(folder.path());
        command.args(["run", "trajectories/tasks.json", "--llm", CASSETTE, "-o"]).arg(output).args(servers);
        stdout(command.timeout(Duration::from_mins(3)));
    }
    assert_eq!(predictions(&real).len(), 15);
    // Results of our servers contain no workspace paths, so both are the same.
    assert_eq!(without_times(real.join("predictions.json")), without_times(played.join("predictions.json")));
}
