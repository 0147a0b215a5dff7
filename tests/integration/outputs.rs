//! What is written to where `--out` and `-o` lead: pipes, devices and descriptors are written into, links followed, and nothing that
//! a file held is lost where standard output is appended to it.

use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::process::Command as Plain;

use serde_json::{Value, json};

use crate::support::{Folder, encoder, m3_bare, run, text};

/// Commands that need no encoder, each without the name of its output.
const COMMANDS: [&str; 10] = [
    "outcomes trajectories/predictions.json --tools trajectories/tools.json --format json --out",
    "export trajectories/predictions.json --to otel -o",
    "import \"$DIR/trace.json\" -o",
    "import \"$DIR/trace.json\" -o \"$DIR/other\" --report",
    "record trajectories/predictions-poor.json --servers servers/local.json --images images --inline-pictures -o",
    "tools servers/local.json --format json --out",
    "call servers/local.json math/add '{\"firstNumber\":1,\"secondNumber\":2}' --out",
    "leaderboard \"$DIR/first.json\" \"$DIR/second.json\" --format json --out",
    "compare \"$DIR/first.json\" \"$DIR/second.json\" --format json --out",
    "agree \"$DIR/first.json\" \"$DIR/second.json\" --format json --out",
];

/// Commands that need the encoder.
const ENCODING_COMMANDS: [&str; 6] = [
    "score trajectories/predictions.json trajectories/references.json --format json --out",
    "audit trajectories/predictions.json trajectories/references.json --format json --out",
    "audit trajectories/predictions.json trajectories/references.json --html",
    "compare-traces trajectories/predictions.json trajectories/predictions.json --format json --out",
    "fidelity tests/integration/fidelity/held-out.json --format json --out",
    "calibrate \"$DIR/labels.json\" --resamples 100 --format json --out",
];

/// The exit code of a script, and what it says.
fn shell(folder: &Folder, script: &str) -> (Option<i32>, String) {
    let m3 = assert_cmd::cargo::cargo_bin("m3");
    let mut command = Plain::new("sh");
    command.args(["-c", script]).current_dir(crate::support::root()).env("M3", m3).env("DIR", folder.path());
    command.env("M3_CACHE_DIR", folder.path().join("cache"));
    if let Some(assets) = encoder() {
        command.env("M3_ENCODER_DIR", &assets.encoder_dir).env("ORT_DYLIB_PATH", &assets.runtime_library);
    }
    let output = command.output().unwrap();
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

#[test]
fn every_kind_of_output_is_written_into() {
    every_kind_is_written_into(&COMMANDS);
}

#[test]
fn every_kind_of_output_of_commands_that_embed_is_written_into() {
    if encoder().is_some() {
        every_kind_is_written_into(&ENCODING_COMMANDS);
    }
}

fn every_kind_is_written_into(commands: &[&str]) {
    for command in commands {
        let folder = Folder::new();
        let function = json!({"name": "scan", "arguments": "{}"});
        folder.json(
            "trace.json",
            &json!({"messages": [{"role": "user", "content": "What?"},
            {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": "1", "content": "ok"}]}),
        );
        crate::calibrate::labels(&folder);
        crate::agree::result(&folder, "first.json", [(1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (1.0, 0.0)]);
        crate::agree::result(&folder, "second.json", [(1.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.0, 0.0)]);
        let (code, said) = shell(&folder, &format!("\"$M3\" -q {command} \"$DIR/file\""));
        let wanted = std::fs::read_to_string(folder.path().join("file"));
        let Ok(wanted) = wanted else { panic!("{command}: {said}") };
        std::fs::write(folder.path().join("appended"), "before\n").unwrap();
        std::fs::write(folder.path().join("linked"), "before, and longer than what comes".repeat(1000))
            .unwrap();
        symlink("linked", folder.path().join("link")).unwrap();
        // A pipe, by the names of standard output and of another descriptor, what holds something already, and a link.
        for (kind, script) in [
            ("pipe", format!("\"$M3\" -q {command} /dev/stdout 2>/dev/null > \"$DIR/fifo\"")),
            ("descriptor", format!("\"$M3\" -q {command} /dev/fd/7 7> \"$DIR/fifo\" >/dev/null 2>&1")),
            ("appended", format!("\"$M3\" -q {command} /dev/stdout >> \"$DIR/appended\" 2>/dev/null")),
            ("linked", format!("\"$M3\" -q {command} \"$DIR/link\" >/dev/null 2>&1")),
        ] {
            let script = if kind == "pipe" || kind == "descriptor" {
                format!(
                    "mkfifo \"$DIR/fifo\"; cat \"$DIR/fifo\" > \"$DIR/{kind}\" & {script}; code=$?; wait; \
                     rm \"$DIR/fifo\"; exit $code"
                )
            } else {
                script
            };
            assert_eq!(shell(&folder, &script).0, code, "{command}, {kind}");
            let written = std::fs::read_to_string(folder.path().join(kind)).unwrap_or_default();
            let written = if kind == "appended" {
                written.strip_prefix("before\n").unwrap_or_else(|| panic!("{command}: what it held is lost"))
            } else {
                &written
            };
            assert_eq!(without_times(written), without_times(&wanted), "{command}, {kind}: {said}");
        }
        assert!(folder.path().join("link").is_symlink(), "{command}");
        assert_eq!(shell(&folder, &format!("\"$M3\" -q {command} /dev/null")).0, code, "{command}");
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device(), "{command}");
    }
}

/// The values of JSON, or of its lines, without those that say when something was made or how long it took.
fn without_times(written: &str) -> Vec<Value> {
    fn cut(value: &mut Value) {
        let is_time = |key: &str| ["time", "Time", "seconds", "Nano"].iter().any(|word| key.contains(word));
        match value {
            Value::Object(members) => {
                members.retain(|key, _| !is_time(key));
                members.values_mut().for_each(cut);
            }
            Value::Array(items) => items.iter_mut().for_each(cut),
            _ => {}
        }
    }
    let whole = serde_json::from_str(written).map(|value| vec![value]);
    // A page says when it was made.
    if written.starts_with("<!DOCTYPE html>") {
        return vec![json!({"is_whole": written.ends_with("</html>\n")})];
    }
    let lines = || written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut values: Vec<Value> = whole.unwrap_or_else(|_| lines());
    values.iter_mut().for_each(cut);
    assert!(
        !["", "[]", "{}", "null"].contains(&&*values.iter().map(Value::to_string).collect::<String>()),
        "{written}"
    );
    values
}

/// A picture has an ending that says what it is, which a pipe and a link may have too.
#[test]
fn a_picture_is_written_into_pipes_and_links() {
    let folder = Folder::new();
    crate::agree::result(&folder, "first.json", [(1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (1.0, 0.0)]);
    crate::agree::result(&folder, "second.json", [(1.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.0, 0.0)]);
    let agree = "\"$M3\" -q agree \"$DIR/first.json\" \"$DIR/second.json\" --format json";
    let drawn = |script: &str| shell(&folder, script);
    assert_eq!(drawn(&format!("{agree} --picture \"$DIR/file.svg\" > /dev/null")).0, Some(0));
    let picture = std::fs::read_to_string(folder.path().join("file.svg")).unwrap();
    assert!(picture.starts_with("<svg"), "{picture}");
    symlink("linked", folder.path().join("link.svg")).unwrap();
    assert_eq!(drawn(&format!("{agree} --picture \"$DIR/link.svg\" > /dev/null")).0, Some(0));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(folder.path().join("link.svg").is_symlink() && read("linked") == picture);
    let script = format!(
        "mkfifo \"$DIR/fifo.svg\"; cat \"$DIR/fifo.svg\" > \"$DIR/piped\" & {agree} --picture \"$DIR/fifo.svg\" > /dev/null; \
         code=$?; wait; exit $code"
    );
    assert_eq!((drawn(&script).0, read("piped")), (Some(0), picture));
    // Nothing is written if one of two files cannot be, or if both are the same.
    for (out, picture) in [("first-out.json", "none/picture.svg"), ("same.svg", "same.svg")] {
        let script = format!("{agree} --out \"$DIR/{out}\" --picture \"$DIR/{picture}\"");
        let (code, said) = drawn(&script);
        assert!(matches!(code, Some(2 | 4)) && !folder.path().join(out).exists(), "{code:?} {said}");
    }
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

/// A machine that lets no more servers be started is no reason to write results that are missing for that.
#[test]
fn nothing_is_recorded_where_no_more_files_may_be_opened() {
    let record =
        "record trajectories/predictions.json --servers servers/local.json -o \"$DIR/recorded.json\"";
    for limit in [24, 32] {
        let folder = Folder::new();
        let (code, said) = shell(&folder, &format!("ulimit -n {limit}; \"$M3\" -q {record}"));
        assert_eq!(code, Some(4), "{said}");
        assert!(said.contains("Too many open files") && said.contains("ulimit -n"), "{said}");
        assert!(!folder.path().join("recorded.json").exists());
    }
}
