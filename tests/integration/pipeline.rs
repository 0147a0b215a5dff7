//! `docs/pipeline.md`: its commands, executed as written, print the documented output.
#![cfg(unix)]

use std::path::Path;

use m3_testkit::sequence::{PIPELINE, blocks, commands, copy_needed, in_folder};

use crate::support::{Folder, encoder, program_with_cache, root, text};

/// A step of the document: its commands, and what they print, standard error first.
struct Documented {
    commands: Vec<String>,
    printed: String,
}

fn documented() -> Vec<Documented> {
    let document = std::fs::read_to_string(root().join(PIPELINE)).unwrap();
    let parts = document.split("```sh\n").skip(1).map(|part| format!("```sh\n{part}"));
    let step = |part: String| {
        let [shell, printed] = ["sh", "text"].map(|language| blocks(&part, language));
        assert_eq!((shell.len(), printed.len()), (1, 1), "commands and what they print: {part}");
        Documented { commands: commands(&shell[0]), printed: printed[0].clone() }
    };
    parts.map(step).collect()
}

/// The output without times.
fn without_times(printed: &str) -> String {
    let line =
        |line: &str| if line.starts_with("time  ") { "time\n".to_owned() } else { format!("{line}\n") };
    printed.lines().map(line).collect()
}

/// Run, judge, review, score and grade, without a network. If prompts, tools or our benchmark have changed:
/// `cargo build && cargo run --example record_cassettes`.
#[test]
fn the_documented_commands_go_from_a_run_to_grades() {
    let Some(assets) = encoder() else { return };
    let folder = Folder::new();
    copy_needed(root(), folder.path());
    let (cache, m3) =
        (Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"), assert_cmd::cargo::cargo_bin("m3"));
    let mut asked = Vec::new();
    for Documented { commands, printed } in documented() {
        let mut found = String::new();
        for command in commands {
            let shell = program_with_cache("sh", &cache, assets);
            let done = in_folder(shell, &command, folder.path(), &m3).output().unwrap();
            let said = text(&done.stderr) + &text(&done.stdout);
            // One grader's answer is missing.
            let code = if command.starts_with("m3 grade") { 3 } else { 0 };
            assert_eq!(done.status.code(), Some(code), "{command}\n{said}");
            found += &said;
            asked.extend(
                command.strip_prefix("m3 ").and_then(|rest| rest.split(' ').next()).map(str::to_owned),
            );
        }
        let found = without_times(&found);
        let mut rest = found.as_str();
        for shown in without_times(&printed).split("...\n") {
            let Some((_, after)) = rest.split_once(shown) else {
                panic!("{PIPELINE} shows\n{shown}\nwhere this is printed:\n{found}")
            };
            rest = after;
        }
    }
    assert_eq!(asked, ["run", "judge", "review", "review", "review", "score", "grade"]);
    // The written files cause no warnings in m3.
    for file in
        ["runs/first/predictions.json", "runs/references.json", "runs/reviewed.json", "runs/graded.json"]
    {
        let mut m3 = program_with_cache(&m3, &cache, assets);
        let said = text(&m3.arg("validate").arg(folder.path().join(file)).output().unwrap().stdout);
        assert!(said.ends_with("; 0 errors, 0 warnings, 0 notes\n"), "{said}");
    }
}
