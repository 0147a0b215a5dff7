//! `--match`: agreement with the installed `agentevals`, and what the reports say.

use std::collections::BTreeMap;

use m3_score::{ArgumentMode, ArgumentRule, MatchMode, MatchOptions, matches};
use m3_trajectory::{Duplicates, TrajectoryFile};
use serde_json::{Value, json};

use crate::support::{
    Folder, call, failure, follows_kept_schema, json_of, m3, python_with, report, root, stdout, trajectory,
};

/// The verdicts of `agentevals` on its own cases and on random ones, in all modes.
fn agentevals() -> Option<Value> {
    let python = python_with("tests/integration/trajectory_match/requirements.txt")?;
    let script = root().join("tests/integration/trajectory_match/verdicts.py");
    let output = python.command().arg(script).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn rule(value: &Value) -> ArgumentRule {
    match value.as_str() {
        Some(name) => ArgumentRule::Mode(ArgumentMode::from_name(name).unwrap()),
        None => ArgumentRule::Keys(serde_json::from_value(value.clone()).unwrap()),
    }
}

fn options(verdicts: &Value) -> MatchOptions {
    let modes = [MatchMode::Strict, MatchMode::Unordered, MatchMode::Subset, MatchMode::Superset];
    let tools = verdicts["tools"].as_object().unwrap().iter();
    MatchOptions {
        mode: modes.into_iter().find(|mode| verdicts["mode"] == mode.name()).unwrap(),
        arguments: ArgumentMode::from_name(verdicts["arguments"].as_str().unwrap()).unwrap(),
        tools: tools.map(|(tool, value)| (tool.clone(), rule(value))).collect(),
    }
}

#[test]
fn verdicts_are_those_of_agentevals() {
    let Some(theirs) = agentevals() else { return };
    let folder = Folder::new();
    let open = |side: &str| {
        let path = folder.json(side, &theirs[side]);
        TrajectoryFile::open(&path, Duplicates::Error).unwrap()
    };
    let (predictions, references) = (open("predictions"), open("references"));
    let mut rates = BTreeMap::new();
    for verdicts in theirs["verdicts"].as_array().unwrap() {
        let options = options(verdicts);
        for (index, passed) in verdicts["passed"].as_array().unwrap().iter().enumerate() {
            let (prediction, reference) = (predictions.read(index).unwrap(), references.read(index).unwrap());
            let found = matches(&prediction, &reference, &options);
            let case = || {
                format!(
                    "{options:?}: {} {}",
                    prediction.to_json().to_plain_text(),
                    reference.to_json().to_plain_text()
                )
            };
            assert_eq!(json!(found.is_ok()), *passed, "{}", case());
            let (passing, all) = rates.entry(options.mode.name()).or_insert((0, 0));
            *passing += usize::from(found.is_ok());
            *all += 1;
        }
    }
    // Both verdicts are common in every mode.
    assert!(
        rates.len() == 4 && rates.values().all(|(passing, all)| (all / 10..all * 9 / 10).contains(passing)),
        "{rates:?}"
    );
}

/// A prediction that is right, one with another argument, one that failed, one that is missing.
fn files(folder: &Folder) -> [std::path::PathBuf; 2] {
    let crop = |x: u32| call("image/crop", json!({"x": x, "box": {"w": 1}}));
    let calls = ["right", "wrong", "failed", "missing"].map(|id| trajectory(id, &[&[crop(3)]]));
    let mut failed = trajectory("failed", &[&[crop(3)]]);
    failed["finish"] = json!("error");
    failed["reason"] = json!("time");
    failed["failure"] = json!("time");
    let predictions = json!([calls[0], trajectory("wrong", &[&[crop(4)]]), failed]);
    [folder.json("p.json", &predictions), folder.json("r.json", &json!(calls))]
}

#[test]
fn every_form_of_a_score_says_who_passes() {
    let folder = Folder::new();
    let files = files(&folder);
    let Some(mut command) = m3() else { return };
    let found = report(command.arg("score").args(&files).args(["--match", "strict"]));
    follows_kept_schema("score", &found);
    assert_eq!(found["match"], json!({"mode": "strict", "arguments": "exact"}));
    assert_eq!(found["aggregate"]["match"], json!({"mode": "strict", "passed": 1, "of": 4}));
    assert_eq!(found["by_type"]["test"]["match"], found["aggregate"]["match"]);
    let reasons = [
        json!({"passed": true}),
        json!({"passed": false, "reason": "predicted call 1.1 (image/crop) is like no reference one: `x` differs from 1.1"}),
        json!({"passed": false, "reason": "the task failed: time"}),
        json!({"passed": false, "reason": "there is no prediction"}),
    ];
    for (trajectory, reason) in found["trajectories"].as_array().unwrap().iter().zip(reasons) {
        assert_eq!(trajectory["match"], reason);
        assert!(trajectory["metrics"].get("match").is_none());
    }
    assert!(found["signature"].as_str().unwrap().ends_with("|match:strict/exact"));

    let run = |form: &str, more: &[&str]| {
        stdout(m3().unwrap().args(["score", "-q", "--format", form]).args(&files).args(more))
    };
    let table = run("table", &["--match", "strict"]);
    assert!(table.contains("\nstrict match         1 of 4 trajectories\n"), "{table}");
    let other = ["--match", "superset", "--match-args", "ignore", "--match-tool", "image/crop=box.w,y"];
    let table = run("table", &other);
    assert!(
        table.contains("superset match       2 of 4 trajectories, arguments ignore, 1 tool otherwise\n"),
        "{table}"
    );
    let markdown = run("markdown", &["--match", "strict"]);
    assert!(markdown.contains("| strict match |"), "{markdown}");
    let csv = run("csv", &["--match", "strict"]);
    let column = |line: &str| line.rsplit(',').nth(1).unwrap().to_owned();
    assert_eq!(csv.lines().map(column).collect::<Vec<_>>(), ["match", "1", "0", "0", "0", "1", "1"]);
}

#[test]
fn no_other_number_changes() {
    let folder = Folder::new();
    let files = files(&folder);
    let Some(_) = m3() else { return };
    let lines = |more: &[&str]| -> Vec<Value> {
        let text = stdout(m3().unwrap().args(["score", "-q", "--format", "jsonl"]).args(&files).args(more));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (plain, mut matched) = (lines(&[]), lines(&["--match", "subset"]));
    assert!(!json!(plain).to_string().contains("\"match\""));
    for line in &mut matched {
        assert!(line.as_object_mut().unwrap().remove("match").is_some());
        for pointer in ["/aggregate", "/by_type/test"] {
            line.pointer_mut(pointer).and_then(|found| found.as_object_mut()?.remove("match"));
        }
        if let Some(signature) = line.get_mut("signature") {
            *signature = json!(signature.as_str().unwrap().replace("|match:subset/exact", ""));
        }
    }
    assert_eq!(plain, matched);
}

#[test]
fn audits_say_who_passes_and_comparisons_take_such_scores() {
    let folder = Folder::new();
    let files = files(&folder);
    let Some(mut command) = m3() else { return };
    let audit = report(command.arg("audit").args(&files).args(["--match", "strict", "--worst", "4"]));
    follows_kept_schema("audit", &audit);
    assert_eq!(audit["score"]["aggregate"]["match"]["passed"], 1);
    let page = folder.path().join("a.html");
    let shown =
        stdout(m3().unwrap().args(["audit", "-q", "--match", "strict", "--id", "wrong"]).args(&files));
    assert!(shown.starts_with("strict match 1 of 4 trajectories\n"), "{shown}");
    assert!(shown.contains("\nmatch failed: predicted call 1.1 (image/crop)"), "{shown}");
    stdout(m3().unwrap().args(["audit", "-q", "--match", "strict", "--html"]).arg(&page).args(&files));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("strict match 1 of 4 trajectories") && page.contains("match passed"));

    let scores = ["a.json", "b.json"].map(|name| folder.path().join(name));
    for (score, mode) in scores.iter().zip(["strict", "subset"]) {
        stdout(m3().unwrap().args(["score", "-q", "--match", mode]).args(&files).arg("--out").arg(score));
        assert_eq!(json_of(score)["match"]["mode"], mode);
    }
    stdout(m3().unwrap().arg("compare").args(&scores));
    stdout(m3().unwrap().arg("leaderboard").args(&scores));
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let folder = Folder::new();
    let files = files(&folder);
    let Some(_) = m3() else { return };
    for (wrong, said) in [
        (&["--match-args", "exact"][..], "--match"),
        (&["--match", "strict", "--match-tool", "image/crop"], "TOOL=MODE"),
        (&["--match", "strict", "--match-tool", "image/crop="], "no mode and no key"),
        (&["--match", "strict", "--match-tool", "image/crop=exat"], "`exact` is"),
    ] {
        let (code, message) = failure(m3().unwrap().arg("score").args(&files).args(wrong));
        assert!(code == 2 && message.contains(said), "{message}");
    }
}
