//! Input in every form, and reports in every form.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::support::{
    Folder, call, failure, follows_kept_schema, json_of, m3, m3_bare, m3_process, report, run, stdout, text,
    trajectory,
};

const PREDICTIONS: &str = "trajectories/predictions.json";
const REFERENCES: &str = "trajectories/references.json";

fn small_set() -> Vec<Value> {
    let eel = || call("wiki/summary", json!({"title": "American eel"}));
    let trout = || call("wiki/search", json!({"q": "Sea trout — Größe", "n": 3}));
    vec![trajectory("a", &[&[eel()], &[trout()]]), trajectory("b", &[&[trout(), eel()]])]
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn every_shape_of_file_gives_the_same_scores() {
    let folder = Folder::new();
    let set = small_set();
    let references = folder.json("references.json", &json!(set));
    let list = json!(set).to_string();
    let keyed = json!({"a": without_id(&set[0]), "b": set[1]});
    let pretty = serde_json::to_string_pretty(&set).unwrap();
    let lines = format!("{}\r\n\n{}", set[0], set[1]);
    let shapes: [(&str, Vec<u8>); 8] = [
        ("list.json", list.clone().into()),
        ("pretty.json", pretty.into()),
        ("mark.json", format!("\u{feff}{list}").into()),
        ("keyed.json", keyed.to_string().into()),
        ("lines.jsonl", lines.clone().into()),
        ("lines-by-content.json", lines.clone().into()),
        ("list.json.gz", gzip(&list)),
        ("lines.jsonl.gz", gzip(&lines)),
    ];
    let mut expected: Option<Value> = None;
    for (name, content) in shapes {
        let file = folder.write(name, content);
        let Some(mut m3) = m3() else { return };
        let mut found = report(m3.arg("score").args([&file, &references]));
        assert_eq!(found["aggregate"]["recall"], 1.0, "{name}");
        // The files differ, and the score shows it.
        for key in ["inputs", "signature"] {
            assert!(found.as_object_mut().unwrap().remove(key).is_some());
        }
        let expected = expected.get_or_insert_with(|| found.clone());
        assert_eq!(&found, expected, "{name}");
    }
}

fn without_id(trajectory: &Value) -> Value {
    let mut trajectory = trajectory.clone();
    trajectory.as_object_mut().unwrap().remove("id");
    trajectory
}

#[test]
fn one_trajectory_without_an_id_is_scored_against_another() {
    let folder = Folder::new();
    let one = folder.json("one.json", &without_id(&small_set()[0]));
    let Some(mut m3) = m3() else { return };
    let report = report(m3.arg("score").args([&one, &one]));
    assert_eq!(report["aggregate"]["average"], 1.0);
}

#[test]
fn standard_input_is_read_and_gunzipped() {
    let folder = Folder::new();
    let set = json!(small_set()).to_string();
    let references = folder.write("references.json", &set);
    for input in [set.clone().into_bytes(), gzip(&set)] {
        let Some(mut m3) = m3() else { return };
        let report = report(m3.args(["score", "-"]).arg(&references).write_stdin(input));
        assert_eq!(report["aggregate"]["average"], 1.0);
    }
}

#[test]
fn reading_and_writing_a_trajectory_loses_nothing() {
    let Some(folder) = crate::support::shared("open-m3-bench") else { return };
    let file =
        m3_trajectory::TrajectoryFile::open(&folder.join("references.json"), m3_trajectory::Duplicates::Last)
            .unwrap();
    let original: Value = json_of(folder.join("references.json"));
    for index in 0..file.len() {
        let trajectory = file.read(index).unwrap();
        let written = trajectory.to_json().to_text(m3_trajectory::json::Keys::AsRead);
        let written: Value = serde_json::from_str(&written).unwrap();
        let last = original.as_array().unwrap().iter().rfind(|t| t["id"] == written["id"]).unwrap();
        assert_eq!(&written, last);
    }
    assert_eq!(file.len(), 208);
}

#[test]
fn the_report_follows_its_schema_which_is_kept_in_docs() {
    for (name, output) in [
        (
            "score",
            m3().map(|mut m3| stdout(m3.args(["score", "-q", PREDICTIONS, REFERENCES, "--format", "json"]))),
        ),
        (
            "audit",
            m3().map(|mut m3| stdout(m3.args(["audit", "-q", PREDICTIONS, REFERENCES, "--format", "json"]))),
        ),
        (
            "validate",
            m3().map(|mut m3| {
                text(&run(m3.args(["validate", PREDICTIONS, "Cargo.toml", "--format", "json"])).stdout)
            }),
        ),
    ] {
        let Some(output) = output else { return };
        follows_kept_schema(name, &serde_json::from_str(&output).unwrap());
    }
}

#[test]
fn json_lines_and_json_say_the_same() {
    let Some(mut as_json) = m3() else { return };
    let whole = report(as_json.args(["score", PREDICTIONS, REFERENCES]));
    let lines = stdout(m3().unwrap().args(["score", "-q", PREDICTIONS, REFERENCES, "--format", "jsonl"]));
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (summary, trajectories) = lines.split_last().unwrap();
    assert_eq!(whole["trajectories"].as_array().unwrap(), trajectories);
    assert_eq!(whole["aggregate"], summary["aggregate"]);
    assert_eq!(summary["schema"], "m3.score/1");
}

#[test]
fn csv_has_a_row_for_each_trajectory_type_and_the_whole() {
    let Some(mut m3) = m3() else { return };
    let table = stdout(m3.args(["score", "-q", PREDICTIONS, REFERENCES, "--format", "csv"]));
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let scopes = |scope: &str| rows.iter().filter(|row| &row[0] == scope).count();
    assert_eq!((scopes("trajectory"), scopes("type"), scopes("all")), (15, 7, 1));
}

#[test]
fn markdown_prints_these_tables() {
    let Some(mut m3) = m3() else { return };
    insta::assert_snapshot!(stdout(m3.args([
        "score",
        "-q",
        PREDICTIONS,
        REFERENCES,
        "--format",
        "markdown"
    ])));
}

#[test]
fn out_writes_the_form_that_the_ending_says() {
    let folder = Folder::new();
    for (name, start) in
        [("a.json", "{\n  \"schema\""), ("a.csv", "scope,"), ("a.md", "**m3"), ("a.txt", "profile")]
    {
        let path = folder.path().join(name);
        let Some(mut m3) = m3() else { return };
        assert_eq!(stdout(m3.args(["score", "-q", PREDICTIONS, REFERENCES, "--out"]).arg(&path)), "");
        let written = std::fs::read_to_string(&path).unwrap();
        assert!(written.starts_with(start), "{written}");
        assert!(!written.contains('\u{1b}'));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4, "nothing else is left");
}

#[test]
fn fail_under_decides_the_exit_code() {
    let check = |floors: &[&str]| {
        let mut m3 = m3()?;
        m3.args(["score", "-q", PREDICTIONS, REFERENCES]);
        for floor in floors {
            m3.args(["--fail-under", floor]);
        }
        let output = run(&mut m3);
        Some((output.status.code().unwrap(), text(&output.stderr)))
    };
    let Some((code, _)) = check(&["recall=0.9", "average=0.9"]) else { return };
    assert_eq!(code, 0);
    let (code, message) = check(&["recall=0.99", "order_consistency=1", "precision=0.1"]).unwrap();
    assert_eq!(code, 1);
    assert!(
        message.contains("recall is 0.9744, below") && message.contains("order_consistency is"),
        "{message}"
    );
    assert!(!message.contains("precision"));
    for bad in ["recall", "speed=1", "recall=2", "recall=x", "recall=NaN"] {
        assert_eq!(check(&[bad]).unwrap().0, 2, "{bad}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let Some(assets) = crate::support::encoder() else { return };
    let folder = Folder::new();
    let mut child = m3_process(folder.path(), assets)
        .args(["score", "-q", PREDICTIONS, REFERENCES, "--format", "json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
}

/// `m3 score .. --fail-under .. | head` in a pipeline that fails when one of its commands does.
#[test]
fn a_gate_holds_even_if_nobody_reads_the_report() {
    let Some(assets) = crate::support::encoder() else { return };
    let folder = Folder::new();
    let broken = folder.write("broken.jsonl", "{\n".repeat(3000));
    let run = |arguments: &[&str]| {
        let mut child = m3_process(folder.path(), assets)
            .args(arguments)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        child.wait_with_output().unwrap().status.code()
    };
    for format in ["json", "jsonl", "csv", "table"] {
        let score =
            ["score", "-q", PREDICTIONS, REFERENCES, "--fail-under", "recall=0.99", "--format", format];
        assert_eq!(run(&score), Some(1), "{format}");
    }
    assert_eq!(run(&["validate", broken.to_str().unwrap()]), Some(2));
}

#[test]
fn a_report_never_replaces_what_it_is_made_from() {
    let folder = Folder::new();
    let set = json!(small_set());
    let (predictions, references) = (folder.json("p.json", &set), folder.json("r.json", &set));
    for target in ["p.json", "r.json", "./p.json"] {
        let Some(mut m3) = m3() else { return };
        m3.arg("score").args([&predictions, &references]).arg("--out").arg(folder.path().join(target));
        let (code, message) = failure(&mut m3);
        assert_eq!(code, 2, "{message}");
        assert!(message.contains("is one of the files that are read"), "{message}");
    }
    assert_eq!(std::fs::read_to_string(&predictions).unwrap(), set.to_string());
    assert!(
        stdout(m3().unwrap().arg("score").args([&predictions, &references, &"--out".into(), &"-".into()]))
            .contains("recall")
    );
}

#[test]
fn a_list_in_a_file_named_as_lines_is_a_list() {
    let folder = Folder::new();
    let set = json!(small_set());
    let references = folder.json("r.json", &set);
    let pretty = serde_json::to_string_pretty(&json!({"a": set[0], "b": set[1]})).unwrap();
    for content in [gzip(&set.to_string()), pretty.into_bytes()] {
        let file = folder.write("list.jsonl", content);
        let Some(mut m3) = m3() else { return };
        assert_eq!(report(m3.arg("score").args([&file, &references]))["aggregate"]["average"], 1.0);
    }
}

/// As in the published scorer: `{**v, "id": k}` only if there is no `id`.
#[test]
fn the_id_of_a_trajectory_counts_more_than_its_key() {
    let folder = Folder::new();
    let set = small_set();
    let keyed = folder.json("keyed.json", &json!({"other": set[0], "b": without_id(&set[1])}));
    let references = folder.json("r.json", &json!(set));
    let Some(mut m3) = m3() else { return };
    let report = report(m3.arg("score").args([&keyed, &references]));
    assert_eq!(report["ledger"]["missing"], json!([]));
    assert_eq!(report["aggregate"]["recall"], 1.0);
}

#[test]
fn a_catalog_that_cannot_matter_is_named() {
    let folder = Folder::new();
    let catalog = folder.json("tools.json", &json!({"other": {"tools": [{"name": "t", "inputSchema": {}}]}}));
    for options in [vec!["--profile", "open-m3-bench"], vec![]] {
        let Some(mut m3) = m3() else { return };
        let output = run(m3.args(["score", PREDICTIONS, REFERENCES, "--tools"]).arg(&catalog).args(&options));
        assert!(output.status.success());
        assert!(text(&output.stderr).contains("it changed nothing"), "{}", text(&output.stderr));
    }
}

#[test]
fn hostile_names_cannot_act_on_the_terminal() {
    let folder = Folder::new();
    let evil = "\u{1b}[2J\u{202e}\u{9b}evil\nerror: forged\n::set-env\u{7}";
    let mut hostile = trajectory(evil, &[&[call(evil, json!({evil: evil}))]]);
    hostile["type"] = json!(evil);
    hostile[evil] = json!(evil);
    let mut other = trajectory("other", &[&[call("s/t", json!({}))]]);
    other["type"] = json!("other");
    let file = folder.json(evil, &json!([hostile, hostile, other]));
    for format in ["table", "markdown", "csv", "json", "jsonl"] {
        let Some(mut m3) = m3() else { return };
        let output = run(m3.arg("score").args([&file, &file]).args(["--format", format]));
        let all = text(&output.stdout) + &text(&output.stderr);
        assert!(!all.contains(['\u{1b}', '\u{202e}', '\u{7}', '\u{9b}']), "{all:?}");
        assert!(all.contains("\\u{1b}[2J") || all.contains("\\u001b[2J"), "{all}");
        assert!(
            !all.lines().any(|line| line.starts_with("error: forged") || line.starts_with("::")),
            "{all}"
        );
    }
    // Names in errors: an id without a counterpart, a call without a name, a missing file.
    let broken = folder.json("broken.json", &json!([{"id": evil, "steps": [{"calls": [{evil: 1}]}]}]));
    let lonely = folder.json("lonely.json", &json!([{"id": evil, "steps": []}]));
    let apart = folder.json("apart.json", &json!([{"id": "x", "steps": []}]));
    for files in [[&broken, &apart], [&lonely, &apart], [&apart, &folder.path().join(evil).join("x")]] {
        let (_, message) = failure(m3().unwrap().arg("score").args(files));
        assert!(!message.contains(['\u{1b}', '\u{202e}', '\u{7}', '\u{9b}']), "{message:?}");
        assert!(
            !message.lines().any(|line| line.starts_with("error: forged") || line.starts_with("::")),
            "{message}"
        );
    }
}

/// The help, which people read first; changes to it show in the snapshot.
#[test]
fn help_is_as_kept() {
    for command in [
        "",
        "score",
        "audit",
        "show",
        "leaderboard",
        "compare",
        "outcomes",
        "record",
        "validate",
        "run",
        "judge",
        "tools",
        "call",
        "serve",
        "serve simulated",
        "setup",
        "cache",
        "grade",
        "calibrate",
        "schema",
        "review",
    ] {
        let Some(mut m3) = m3() else { return };
        let name = if command.is_empty() { "m3" } else { command };
        let help = stdout(m3.args(command.split_whitespace()).arg("--help"));
        insta::assert_snapshot!(format!("help_{}", name.replace(' ', "_")), help);
    }
}

/// Mistaken options are quoted, and what acts on a terminal is shown instead.
#[test]
fn what_options_hold_does_not_act_on_the_terminal() {
    let folder = Folder::new();
    for arguments in [
        ["score", "p.json", "r.json", "--profile", "x\u{202e}\u{9b}31m"],
        ["import", "p.json", "--from", "\u{9b}2J", "--quiet"],
        ["compare", "a.json", "b.json", "--metric", "\u{202e}recall"],
    ] {
        let (code, message) = failure(m3_bare(folder.path()).args(arguments));
        assert_eq!(code, 2, "{message}");
        assert!(!message.contains(['\u{202e}', '\u{9b}', '\u{1b}']), "{message:?}");
        assert!(message.contains("\\u{"), "{message:?}");
    }
}
