//! `m3 show`: its output for predictions, references and recorded runs, and for hostile input.

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::support::{Folder, call, failure, no_encoder, shared, stdout, text, trajectory};

const REFERENCES: &str = "trajectories/references.json";

/// The output for a file of one trajectory.
fn shown(prediction: &Value, options: &[&str]) -> String {
    let folder = Folder::new();
    let path = folder.json("p.json", &json!([prediction]));
    stdout(no_encoder(&folder).arg("show").arg(path).args(options))
}

/// A prediction as recorded by a run: parallel calls, a failed one, an unanswered one, an image.
fn recorded() -> Value {
    let result = json!({"content": [
        {"type": "text", "text": "Cropped to 660 x 140 pixels.\n  path: parcel-bars.png"},
        {"type": "image", "file": "parcel-bars.png", "mimeType": "image/png"}]});
    json!({
        "id": "00010001", "image": "images/parcel.png", "type": "barcode",
        "question": "What do the two codes on this label say?",
        "steps": [
            {"step": 1, "calls": [
                {"name": "image/crop", "arguments": {"input_path": "images/parcel.png", "x1": 150, "y1": 210,
                    "x2": 810, "y2": 350, "output_path": "parcel-bars.png"},
                 "result": result, "is_error": false, "outcome": "success", "milliseconds": 85},
                {"name": "image/crop", "arguments": {"input_path": "parcel.png"},
                 "result": "`x1` is missing\nhint: say which part", "is_error": true,
                 "outcome": "invalid_arguments", "milliseconds": 3}]},
            {"step": 2, "calls": [
                {"name": "barcode/scan", "arguments": {"image_paths": ["parcel-bars.png"]},
                 "result": {"content": [{"type": "text", "text": "HB-2044-7719-EX"}]}, "is_error": false,
                 "outcome": "success", "milliseconds": 61_250},
                {"name": "barcode/scan_everything_there_is_in_all_of_the_images_of_the_workspace", "arguments": {},
                 "is_error": true, "outcome": "timed_out", "milliseconds": 300_000}]}],
        "final_reply": "The barcode says HB-2044-7719-EX.\n\nThe QR code could not be read.",
        "finish": "max_steps", "reason": "all 2 steps were used",
        "model": {"requested": "openai:gpt-5", "reported": "gpt-5-2025-08-07"}, "mode": "staged",
        "usage": {"input_tokens": 12_345, "cached_input_tokens": 1_024, "output_tokens": 678},
        "turns": [{"purpose": "plan"}, {"purpose": "calls"}],
        "images": [{"image": "images/parcel.png", "sha256": "ab".repeat(32), "width": 1_568, "height": 1_176,
            "mime_type": "image/jpeg", "bytes": 204_800, "changes": ["scaled from 4000 x 3000"]}],
        "dialogue": [
            {"role": "system", "purpose": "plan", "content": "You plan which tools are needed."},
            {"role": "user", "content": {"image": "images/parcel.png", "width": 1_568, "height": 1_176}},
            {"role": "assistant", "purpose": "plan", "thoughts": "Two codes.", "content": "Crop, then scan.",
             "tool_calls": [{"id": "1", "name": "image/crop", "arguments": {"x1": 150}}], "stop": "length"},
            {"role": "tool", "tool_call_id": "1", "name": "image/crop", "content": "Cropped.", "is_error": true,
             "images": [{"image": "parcel-bars.png", "width": 660, "height": 140}]}],
        "run": {"repeat": 2, "attempt": 1, "milliseconds": 365_300}
    })
}

#[test]
fn a_reference_is_shown_in_the_layout_of_the_paper() {
    let printed = stdout(no_encoder(&Folder::new()).args(["show", REFERENCES, "--id", "00010002"]));
    insta::assert_snapshot!(printed);
}

#[test]
fn a_recorded_prediction_is_shown_with_its_results() {
    let printed = shown(&recorded(), &["--images", "--dialogue"]);
    insta::assert_snapshot!(printed);
    for line in printed.lines() {
        assert!(line.width() <= 80 && line.trim_end() == line, "{line}");
    }
}

#[test]
fn a_recorded_prediction_is_written_in_markdown() {
    insta::assert_snapshot!(shown(&recorded(), &["--format", "markdown", "--dialogue"]));
}

#[test]
fn json_has_everything_that_the_file_has() {
    let printed: Value = serde_json::from_str(&shown(&recorded(), &["--format", "json"])).unwrap();
    assert_eq!(printed, recorded());
    let odd = shown(&json!({"id": "a", "steps": [], "final_reply": "\u{202e}"}), &["--format", "json"]);
    assert!(odd.contains("\\u202e"), "{odd}");
}

#[test]
fn only_what_is_on_a_terminal_has_colours() {
    let folder = Folder::new();
    let path = folder.json("p.json", &recorded());
    let styled = stdout(no_encoder(&folder).env("CLICOLOR_FORCE", "1").arg("show").arg(&path));
    let plain = stdout(no_encoder(&folder).arg("show").arg(&path));
    assert!(styled.contains("\u{1b}[1m") && !plain.contains('\u{1b}'));
    let mut bare = String::new();
    let mut parts = styled.split('\u{1b}');
    bare.push_str(parts.next().unwrap());
    for part in parts {
        bare.push_str(part.split_once('m').unwrap().1);
    }
    assert_eq!(bare, plain);
}

#[test]
fn repetitions_are_told_apart() {
    let folder = Folder::new();
    let of = |repeat: u32| {
        let mut prediction = trajectory("a", &[&[call("x/y", json!({"repeat": repeat}))]]);
        prediction["run"] = json!({"repeat": repeat});
        prediction
    };
    let path = folder.json("p.json", &json!([of(1), of(2), trajectory("b", &[]), of(7)]));
    let show = |options: &[&str]| {
        let mut command = no_encoder(&folder);
        command.arg("show").arg(&path).args(options);
        command
    };
    let output = crate::support::run(&mut show(&["--id", "a"]));
    assert!(text(&output.stdout).contains("ARG     repeat=1\n"));
    assert!(text(&output.stderr).contains("note: `a` stands 3 times; --repeat K shows another one"));
    assert!(stdout(&mut show(&["--id", "a", "--repeat", "7"])).contains("ARG     repeat=7\n"));
    let (_, message) = failure(&mut show(&["--repeat", "2"]));
    assert!(message.contains("has 4 trajectories\nhint: name one with --id: `a`, `b`\n"), "{message}");
    let (code, message) = failure(&mut show(&["--id", "a", "--repeat", "3"]));
    assert_eq!(
        (code, message.contains("`a` has no repetition 3\nhint: it has 1, 2, 7")),
        (2, true),
        "{message}"
    );
}

#[test]
fn ids_that_are_not_there_get_hints() {
    let folder = Folder::new();
    let fail = |options: &[&str]| {
        let (code, message) = failure(no_encoder(&folder).args(["show", REFERENCES]).args(options));
        assert_eq!(code, 2);
        message
    };
    let message = fail(&["--format", "json"]);
    assert!(
        message.contains("trajectories\nhint: name one with --id: `00010000`, `00010001`, "),
        "{message}"
    );
    let message = fail(&["--id", "0001002"]);
    assert!(message.contains("has no trajectory `0001002`\nhint: did you mean `00010002`"), "{message}");
    assert!(fail(&["--id", "zzz\u{1b}"]).contains("`zzz\\u{1b}`\nhint: name one with --id: `00010000`"));
    let (code, message) = failure(no_encoder(&folder).args(["show", "trajectories/tasks.json"]));
    assert_eq!((code, message.contains("tasks, not trajectories")), (2, true), "{message}");
}

#[test]
fn hostile_trajectories_are_shown_shortened_and_harmless() {
    let lines = "line\n".repeat(5_000);
    let wide = "漢字".repeat(40_000);
    let prediction = json!({"id": "a\u{1b}[31m", "image": "../../etc/passwd", "question": wide, "steps": [
        {"calls": [{"name": "s\n/t".repeat(500), "arguments": {"k\u{202e}": "x".repeat(1_000_000)}, "result": lines},
            {"name": "a/b", "arguments": "not an object", "result": [1, null, {"a": "\u{7}"}]},
            {"arguments": {}}, 7]},
        {"calls": []}],
        "final_reply": "\r\n\tends", "usage": 3, "turns": {}, "run": "x", "images": [3],
        "dialogue": [1, {"role": []}]});
    for width in ["40", "80", "133"] {
        let printed = shown(&prediction, &["--width", width, "--dialogue", "--images"]);
        let columns: usize = width.parse().unwrap();
        assert!(!printed.contains(['\u{1b}', '\u{202e}', '\u{7}', '\t', '\r']));
        assert!(printed.lines().count() < 600 && printed.contains(" lines and more cut]"), "{printed}");
        for line in printed.lines() {
            assert!(line.width() <= columns, "{width}: {line}");
        }
        let words = printed.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("(not a call)")
                && words.contains(if width == "40" { "and more cut]" } else { "characters cut]" }),
            "{printed}"
        );
    }
    shown(&prediction, &["--format", "markdown", "--dialogue", "--images"]);
}

/// Every file of the benchmark is shown, in any form.
#[test]
fn predictions_of_the_benchmark_are_shown() {
    let Some(folder) = shared("open-m3-bench/predictions") else { return };
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for path in files.iter().filter(|path| !path.to_string_lossy().contains(".published-scorer")) {
        let scratch = Folder::new();
        let list = stdout(no_encoder(&scratch).arg("show").arg(path).arg("-q"));
        let id = list.lines().nth(1).and_then(|line| line.split_whitespace().next());
        let id = id.unwrap_or_else(|| panic!("no id in {list}"));
        let printed = stdout(no_encoder(&scratch).arg("show").arg(path).args(["-q", "--id", id]));
        assert!(printed.contains("Step 1\n") && printed.contains("Final Reply\n"), "{printed}");
    }
}

/// On a terminal of 60 columns the width is 60. Python, which m3 needs anyway, creates the terminal.
#[cfg(unix)]
#[test]
fn the_width_is_the_terminals_where_there_is_one() {
    let folder = Folder::new();
    let path = folder.json("p.json", &recorded());
    let shown = |options: &[&str]| {
        let mut command = assert_cmd::Command::from_std(crate::support::on_terminal(60, &["stdout"]));
        command.arg(assert_cmd::cargo::cargo_bin("m3")).arg("show").arg(&path);
        command.args(options).env("NO_COLOR", "1").current_dir(folder.path());
        let printed = stdout(&mut command);
        printed.lines().map(UnicodeWidthStr::width).max().unwrap()
    };
    assert_eq!(shown(&[]), 60);
    assert_eq!(shown(&["--width", "100"]), 100);
    let piped = stdout(no_encoder(&folder).arg("show").arg(&path));
    assert_eq!(piped.lines().map(UnicodeWidthStr::width).max().unwrap(), 80);
}

/// Counts and questions by hand, from the file.
#[test]
fn without_an_id_the_trajectories_are_listed() {
    let folder = Folder::new();
    let output = crate::support::run(no_encoder(&folder).args(["show", "trajectories/predictions.json"]));
    let list = text(&output.stdout);
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 16);
    assert_eq!(lines[0], "id        type        steps  calls  question");
    assert!(lines[1].starts_with("00010000  barcode         1      2  "), "{list}");
    assert!(lines.iter().all(|line| line.width() <= 80), "{list}");
    assert!(text(&output.stderr).contains("note: 15 trajectories; --id ID shows one"));
    let markdown = stdout(no_encoder(&folder).args(["show", REFERENCES, "--format", "markdown"]));
    assert!(markdown.contains("| id | type | steps | calls | question |"), "{markdown}");
}

#[test]
fn a_list_has_failures_and_repetitions_where_there_are_some() {
    let folder = Folder::new();
    let mut hostile = trajectory("x\u{1b}[31m\n\u{202e}", &[]);
    hostile["question"] = json!("漢字\n".repeat(1_000));
    let path = folder.json("p.json", &json!([recorded(), hostile]));
    for width in ["40", "80", "133"] {
        let list = stdout(no_encoder(&folder).arg("show").arg(&path).args(["--width", width]));
        let lines: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["id", "repeat", "type", "steps", "calls", "failure", "question"]);
        // `max_steps` is the failure `limit`; it has two steps with four calls.
        assert_eq!(lines[1][..6], ["00010001", "2", "barcode", "2", "4", "limit"]);
        assert!(!list.contains(['\u{1b}', '\u{202e}']) && lines.len() == 3, "{list}");
        let widest = list.lines().map(UnicodeWidthStr::width).max().unwrap();
        assert!(widest <= width.parse::<usize>().unwrap().max(80), "{width}: {list}");
    }
}

/// Colours: by option, else by the terminal and `NO_COLOR` (no-color.org).
#[cfg(unix)]
#[test]
fn colours_are_as_asked() {
    let folder = Folder::new();
    let path = folder.json("p.json", &recorded());
    let is_coloured = |is_terminal: bool, options: &[&str], no_color: &str| {
        let mut command = if is_terminal {
            let mut command = assert_cmd::Command::from_std(crate::support::on_terminal(80, &["stdout"]));
            command.arg(assert_cmd::cargo::cargo_bin("m3"));
            command
        } else {
            no_encoder(&folder)
        };
        command.arg("show").arg(&path).args(options).env("NO_COLOR", no_color).env("TERM", "xterm");
        stdout(&mut command).contains('\u{1b}')
    };
    assert!(is_coloured(true, &[], "") && !is_coloured(true, &[], "1") && !is_coloured(false, &[], ""));
    for no_color in ["", "1"] {
        assert!(is_coloured(false, &["--color", "always"], no_color));
        assert!(!is_coloured(true, &["--color", "never"], no_color));
    }
}
