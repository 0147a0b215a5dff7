//! What `--record` adds to an existing cassette.

use std::path::Path;

use super::{command, math_arguments, model, output_of, questions, without_times};
use crate::support::{Folder, failure, json_of, m3_bare, stdout};

#[cfg(unix)]
#[test]
fn a_cassette_is_not_played_and_recorded_into_at_once() {
    let (folder, model) = (Folder::new(), model());
    let cassette = folder.path().join("run.cassette");
    stdout(command(&model, &output_of(&folder)).args(["--id", "00010000", "--record"]).arg(&cassette));
    let before = std::fs::read(&cassette).unwrap();
    let link = folder.path().join("link.cassette");
    std::os::unix::fs::symlink(&cassette, &link).unwrap();
    let again = folder.path().join("again");
    for name in [&cassette, &link] {
        let mut command = m3_bare(folder.path());
        command.args(["run", "trajectories/tasks.json", "--mode", "native", "--id", "00010000", "--llm"]);
        command.arg(format!("replay:{}", cassette.display())).arg("-o").arg(&again);
        let (code, said) = failure(command.arg("--record").arg(name));
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("is played, and cannot be recorded into as well"), "{said}");
    }
    assert_eq!(std::fs::read(&cassette).unwrap(), before);
    assert!(!again.exists());
}

/// A copy of a cassette, made by replaying it, replays in the same way: without servers, and again.
#[test]
fn what_is_played_is_recorded_with_its_calls() {
    let (folder, model) = (Folder::new(), model());
    let first = folder.path().join("first.cassette");
    let two = ["--id", "00010000", "--id", "00010001"];
    stdout(command(&model, &output_of(&folder)).args(two).arg("--record").arg(&first));
    let lines = |path: &Path, kind: &str| {
        let start = format!("{{\"kind\":\"{kind}\"");
        std::fs::read_to_string(path).unwrap().lines().filter(|line| line.starts_with(&start)).count()
    };
    let mut played = first.clone();
    for name in ["second", "third"] {
        let copy = folder.path().join(format!("{name}.cassette"));
        let output = folder.path().join(name);
        let mut command = m3_bare(folder.path());
        command.args(["run", "trajectories/tasks.json", "--mode", "native"]).args(two).arg("--llm");
        command.arg(format!("replay:{}", played.display())).arg("-o").arg(&output);
        stdout(command.arg("--record").arg(&copy));
        for kind in ["call", "model", "catalog"] {
            assert_eq!(lines(&copy, kind), lines(&first, kind), "{kind} {name}");
        }
        assert_eq!(
            without_times(output.join("predictions.json")),
            without_times(output_of(&folder).join("predictions.json"))
        );
        played = copy;
    }
    // Two calls and the list of files, for two tasks.
    assert_eq!(lines(&first, "call"), 6);
}

/// A cassette is never compressed, so this name would be wrong.
#[test]
fn a_cassette_that_is_named_like_a_compressed_one_is_refused() {
    let (folder, model) = (Folder::new(), model());
    let cassette = folder.path().join("run.tape.GZ");
    let (code, said) = failure(command(&model, &output_of(&folder)).arg("--record").arg(&cassette));
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("hint: name it without `.gz`"), "{said}");
    assert!(!cassette.exists() && model.requests().is_empty());
}

/// Answers for one repetition or task are not used for another.
#[test]
fn what_was_not_recorded_of_a_repetition_or_a_task_is_not_played_for_it() {
    let (folder, model) = (Folder::new(), model());
    let cassette = folder.path().join("run.cassette");
    let tasks = questions(&folder, 2);
    let arguments = |llm: &str, output: &str| {
        let mut arguments = math_arguments(&tasks, llm, &folder.path().join(output));
        arguments.retain(|argument| {
            !["--servers", "servers/local.json", "--server", "math"].contains(&argument.as_str())
        });
        arguments
    };
    let live = format!("openai@{}:scripted", model.base_url());
    let recorded = math_arguments(&tasks, &live, &output_of(&folder));
    stdout(m3_bare(folder.path()).args(recorded).arg("--record").arg(&cassette));
    let replay = format!("replay:{}", cassette.display());
    let (code, _) = failure(m3_bare(folder.path()).args(arguments(&replay, "twice")).args(["--repeat", "2"]));
    assert_eq!(code, 3);
    let second = json_of(folder.path().join("twice/predictions/t00~2.json"));
    let reason = second["reason"].as_str().unwrap();
    assert!(
        reason.contains("recorded in repetition 1 of the task, and is asked in repetition 2\nhint: "),
        "{reason}"
    );
    assert_eq!(json_of(folder.path().join("twice/predictions/t00.json"))["finish"], "answered");
    // The first task's calls are removed; those of the second are the same.
    let kept = std::fs::read_to_string(&cassette).unwrap();
    let is_lost = |line: &&str| line.starts_with("{\"kind\":\"call\"") && line.contains("\"t00\"");
    let left: Vec<&str> = kept.lines().filter(|line| !is_lost(line)).collect();
    assert!(left.len() < kept.lines().count());
    std::fs::write(&cassette, left.join("\n") + "\n").unwrap();
    let (code, _) = failure(m3_bare(folder.path()).args(arguments(&replay, "lost")));
    assert_eq!(code, 3);
    let lost = json_of(folder.path().join("lost/predictions/t00.json"));
    let reason = lost["reason"].as_str().unwrap();
    assert!(reason.contains("the cassette has no call of `math/add`"), "{reason}");
    assert!(reason.contains("recorded for task `t01`, and is asked for task `t00`"), "{reason}");
    assert_eq!(json_of(folder.path().join("lost/predictions/t01.json"))["finish"], "answered");
}

/// The tools are the same each time, however often the run is started.
#[test]
fn tools_are_recorded_once_however_often_a_run_is_begun() {
    let (folder, model) = (Folder::new(), model());
    let cassette = folder.path().join("run.cassette");
    for _ in 0..3 {
        stdout(command(&model, &output_of(&folder)).args(["--id", "00010000", "--record"]).arg(&cassette));
    }
    let content = std::fs::read_to_string(&cassette).unwrap();
    let count = |kind: &str| content.lines().filter(|line| line.contains(kind)).count();
    assert_eq!((count("{\"kind\":\"catalog\""), count("{\"kind\":\"session\"")), (1, 2));
    stdout(command(&model, &output_of(&folder)).args(["--server", "math", "--record"]).arg(&cassette));
    assert_eq!(std::fs::read_to_string(&cassette).unwrap().matches("{\"kind\":\"catalog\"").count(), 2);
}
