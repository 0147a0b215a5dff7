//! What is written to where `--out` and `-o` lead: pipes, devices and descriptors are written into, links followed, and nothing that
//! a file held is lost where standard output is appended to it.

use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::process::Command as Plain;

use serde_json::json;

use crate::support::{Folder, m3_bare, run, text};

/// Commands that need no encoder, each without the name of its output.
const COMMANDS: [&str; 6] = [
    "outcomes trajectories/predictions.json --tools trajectories/tools.json --format json --out",
    "export trajectories/predictions.json --to otel -o",
    "import \"$DIR/trace.json\" -o",
    "record trajectories/predictions-poor.json --servers servers/local.json --images images --inline-pictures -o",
    "tools servers/local.json --format json --out",
    "call servers/local.json math/add '{\"firstNumber\":1,\"secondNumber\":2}' --out",
];

/// What a command writes to an output that the shell names.
fn shell(folder: &Folder, script: &str) -> String {
    let m3 = assert_cmd::cargo::cargo_bin("m3");
    let mut command = Plain::new("sh");
    command.args(["-c", script]).current_dir(crate::support::root()).env("M3", m3).env("DIR", folder.path());
    command.env("M3_CACHE_DIR", folder.path().join("cache"));
    let output = command.output().unwrap();
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn every_kind_of_output_is_written_into() {
    for command in COMMANDS {
        let folder = Folder::new();
        let function = json!({"name": "scan", "arguments": "{}"});
        folder.json(
            "trace.json",
            &json!({"messages": [{"role": "user", "content": "What?"},
            {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": "1", "content": "ok"}]}),
        );
        let said = shell(&folder, &format!("\"$M3\" -q {command} \"$DIR/file\""));
        let wanted = std::fs::read_to_string(folder.path().join("file"));
        let Ok(wanted) = wanted else { panic!("{command}: {said}") };
        // A pipe, by the names of standard output and of another descriptor, and what holds something already.
        for (kind, script) in [
            ("pipe", format!("\"$M3\" -q {command} /dev/stdout 2>/dev/null | cat > \"$DIR/pipe\"")),
            (
                "descriptor",
                format!("\"$M3\" -q {command} /dev/fd/7 7>&1 >/dev/null 2>&1 | cat > \"$DIR/descriptor\""),
            ),
            ("appended", format!("\"$M3\" -q {command} /dev/stdout >> \"$DIR/appended\" 2>/dev/null")),
            ("device", format!("\"$M3\" -q {command} /dev/null")),
        ] {
            std::fs::write(folder.path().join("appended"), "before\n").unwrap();
            let said = shell(&folder, &script);
            let written = std::fs::read_to_string(folder.path().join(kind)).unwrap_or_default();
            let is_same = |written: &str| without_times(written) == without_times(&wanted);
            match kind {
                "device" => {
                    let kind = std::fs::metadata("/dev/null").unwrap().file_type();
                    assert!(kind.is_char_device(), "{command}: {said}");
                }
                "appended" => {
                    let after = written.strip_prefix("before\n");
                    assert!(
                        after.is_some_and(|after| after.get(..2) == wanted.get(..2)),
                        "{command}: {said}"
                    );
                }
                _ => assert!(is_same(&written), "{command}, {kind}: {said}"),
            }
        }
        symlink("linked", folder.path().join("link")).unwrap();
        shell(&folder, &format!("\"$M3\" -q {command} \"$DIR/link\""));
        assert!(
            folder.path().join("linked").exists() && folder.path().join("link").is_symlink(),
            "{command}"
        );
    }
}

/// Lines that say when something was made, or how long it took.
fn without_times(written: &str) -> String {
    let is_time = |line: &&str| ["time", "Time", "seconds", "Nano"].iter().any(|word| line.contains(word));
    written.lines().filter(|line| !is_time(line)).collect()
}

/// Where other files are put beside an output, it has to be a plain one.
#[test]
fn what_others_are_put_beside_is_a_plain_file() {
    for (arguments, reason) in [
        ("record trajectories/predictions.json --servers servers/local.json -o /dev/stdout", "is no place"),
        ("judge trajectories/predictions.json --rules-only -o /dev/stdout", "is no plain file"),
    ] {
        let folder = Folder::new();
        let output = run(m3_bare(folder.path()).args(arguments.split(' ')));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(reason), "{said}");
    }
    assert!(!std::path::Path::new("/dev/results").exists());
}
