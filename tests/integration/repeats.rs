//! Repetitions of the same tasks: pass@k, pass^k and the spread in `m3 score`, `m3 leaderboard` and `m3 compare`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{
    Folder, call, failure, follows_kept_schema, json_of, m3, m3_bare, report, root, run, stdout, text,
};

const REFERENCES: &str = "trajectories/references.json";

fn read(path: &str) -> Vec<Value> {
    json_of(root().join(path)).as_array().unwrap().clone()
}

fn replace(trajectories: &mut [Value], id: &str, by: &[Value]) {
    let other = by.iter().find(|other| other["id"] == id).unwrap().clone();
    *trajectories.iter_mut().find(|found| found["id"] == id).unwrap() = other;
}

/// A run's folder with three repetitions of the benchmark's 15 tasks, each the references but for
///
/// 1. nothing,
/// 2. `00010000`, which is missing, and `00050000` with other files, as in the benchmark's predictions,
/// 3. `00050000` and `00040001` with wrong arguments that the embedding takes for right, `00020000` with a call too many,
///    and `00070000` with a call where none is needed.
fn repetitions(folder: &Folder) -> PathBuf {
    let (references, flawed) = (read(REFERENCES), read("trajectories/predictions.json"));
    let mut second = references.clone();
    second.retain(|found| found["id"] != "00010000");
    replace(&mut second, "00050000", &flawed);
    let mut third = references.clone();
    for id in ["00050000", "00040001", "00020000"] {
        replace(&mut third, id, &flawed);
    }
    // The circle is around another day.
    let marking = third.iter_mut().find(|found| found["id"] == "00040001").unwrap();
    marking["steps"][1]["calls"][0]["arguments"]["circles"][0]["center_x"] = json!(135);
    let needless = json!({"step": 1, "calls": [call("image/crop", json!({"x1": 0}))]});
    third.iter_mut().find(|found| found["id"] == "00070000").unwrap()["steps"] = json!([needless]);
    folder.json("predictions.json", &json!(references));
    folder.json("predictions-2.json", &json!(second));
    folder.json("predictions-3.json", &json!(third));
    folder.path().to_owned()
}

fn near(value: &Value, expected: f64) {
    assert!(value.as_f64().is_some_and(|value| (value - expected).abs() < 1e-12), "{value}, not {expected}");
}

fn values(rates: &Value) -> Vec<f64> {
    rates.as_array().unwrap().iter().map(|rate| rate["value"].as_f64().unwrap()).collect()
}

/// By hand: `00010000`, `00040001` and `00070000` pass twice of three, `00050000` once, the other eleven always. C(3,2) = 3,
/// so pass@2 of one pass is 1 - 1/3 and pass^2 of two passes 1/3. The references have 39 calls, `00010000` two of them.
/// (Without results, which show that the other files of `00050000` lead to the same picture.)
#[test]
fn rates_and_spread_are_those_of_the_trials() {
    let folder = Folder::new();
    let runs = repetitions(&folder);
    let Some(mut m3) = m3() else { return };
    let found = report(m3.arg("score").arg(&runs).args([REFERENCES, "--results", "off"]));
    follows_kept_schema("score", &found);
    let repeats = &found["repeats"];
    assert_eq!(repeats["count"], 3);
    assert_eq!(repeats["pass"], json!({"lowest_argument_fidelity": 0.5}));
    for (rates, expected) in [
        (&repeats["pass_at"], [40.0 / 45.0, 44.0 / 45.0, 1.0]),
        (&repeats["pass_all"], [40.0 / 45.0, 12.0 / 15.0, 11.0 / 15.0]),
    ] {
        for (index, (rate, expected)) in rates.as_array().unwrap().iter().zip(expected).enumerate() {
            near(&rate["value"], expected);
            assert_eq!((&rate["k"], &rate["tasks"]), (&json!(index + 1), &json!(15)));
            let (low, high) = (rate["low"].as_f64().unwrap(), rate["high"].as_f64().unwrap());
            assert!(
                0.0 <= low && low <= expected + 1e-12 && expected - 1e-12 <= high && high <= 1.0,
                "{rate}"
            );
        }
    }
    assert_eq!(repeats["pass_at"][2]["has_no_spread"], true);
    let passes: Vec<(&str, &Value)> = repeats["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|task| task["passes"] != task["trials"])
        .map(|task| (task["id"].as_str().unwrap(), &task["passed"]))
        .collect();
    let expected = [
        ("00010000", &json!([1, 3])),
        ("00040001", &json!([1, 2])),
        ("00050000", &json!([1])),
        ("00070000", &json!([1, 2])),
    ];
    assert_eq!(passes, expected);
    // Recall 1, 37/39, 1: the mean is 115/117, the squared deviations are (4 + 4 + 16) / 117^2.
    let recall = &repeats["spread"]["recall"];
    near(&recall["mean"], 115.0 / 117.0);
    near(&recall["sd"], 12_f64.sqrt() / 117.0);
    near(&recall["min"], 37.0 / 39.0);
    near(&recall["max"], 1.0);
    near(&found["aggregate"]["recall"], 115.0 / 117.0);
    assert_eq!(found["by_type"]["look"]["trajectories"], 6);
    // The ledger of all repetitions, and of each.
    let ledger = &found["ledger"];
    assert_eq!(
        (&ledger["references"], &ledger["predictions"], &ledger["scored"]),
        (&json!(15), &json!(44), &json!(45))
    );
    assert_eq!(ledger["missing"], json!(["00010000"]));
    let missing = |index: usize| repeats["repetitions"][index]["ledger"]["missing"].as_array().unwrap().len();
    assert_eq!([missing(0), missing(1), missing(2)], [0, 1, 0]);
    let numbers =
        found["trajectories"].as_array().unwrap().iter().map(|found| found["repeat"].as_u64().unwrap());
    let expected: Vec<u64> = (1..=3).flat_map(|repeat| [repeat; 15]).collect();
    assert_eq!(numbers.collect::<Vec<_>>(), expected);
    // Equal pairs of different repetitions are all listed.
    let rejected = found["rejected_matches"]["matches"].as_array().unwrap();
    assert_eq!(found["rejected_matches"]["count"], rejected.len());
    assert!(
        rejected.iter().any(|pair| pair["repeat"] == 2) && rejected.iter().any(|pair| pair["repeat"] == 3)
    );
}

#[test]
fn files_are_named_one_by_one_or_by_the_folder_of_their_run() {
    let folder = Folder::new();
    let runs = repetitions(&folder);
    // Not written by `m3 run`, but its number would make it the third of the further repetitions.
    std::fs::copy(runs.join("predictions-2.json"), runs.join("predictions-02.json")).unwrap();
    std::fs::copy(runs.join("predictions-2.json"), runs.join("predictions-10.json")).unwrap();
    let Some(mut of_folder) = m3() else { return };
    let of_folder = report(of_folder.arg("score").arg(&runs).arg(REFERENCES));
    let file = |name: &str| runs.join(name);
    let mut one_by_one = m3().unwrap();
    one_by_one.arg("score").arg(file("predictions.json")).arg(REFERENCES);
    for name in ["predictions-2.json", "predictions-3.json", "predictions-10.json"] {
        one_by_one.arg("--repeat").arg(file(name));
    }
    assert_eq!(report(&mut one_by_one), of_folder);
    assert_eq!(of_folder["repeats"]["count"], 4);
    // If one of the files is named, only this one is scored.
    let mut alone = m3().unwrap();
    let alone = report(alone.arg("score").arg(file("predictions.json")).arg(REFERENCES));
    assert!(alone.get("repeats").is_none() && alone["trajectories"][0].get("repeat").is_none());
    // The audit shows a single repetition, and says so.
    let mut audit = m3().unwrap();
    let audit = run(audit.arg("audit").arg(&runs).args([REFERENCES, "--worst", "1"]));
    let said = text(&audit.stderr);
    assert!(audit.status.success() && said.contains("predictions.json` alone"), "{said}");
    assert!(said.contains("predictions-2.json`"), "{said}");
}

#[test]
fn what_passes_is_a_matter_of_choice() {
    let folder = Folder::new();
    let runs = repetitions(&folder);
    let with = |options: &[&str]| {
        let found = report(m3()?.arg("score").arg(&runs).arg(REFERENCES).args(options));
        Some(values(&found["repeats"]["pass_at"])[0])
    };
    // Recall alone accepts wrong arguments, and calls where none was needed: only missing calls fail.
    let Some(recall) = with(&["--pass", "recall=1"]) else { return };
    assert!((recall - 44.0 / 45.0).abs() < 1e-12, "{recall}");
    // With precision the extra call of `00020000` fails, and so does that of `00070000`.
    let precision = with(&["--pass", "recall=1", "--pass", "precision=1"]).unwrap();
    assert!((precision - 42.0 / 45.0).abs() < 1e-12, "{precision}");
    // A single run has one trial for each task: of the third repetition, eleven tasks and `00010000` pass.
    let mut one = m3().unwrap();
    one.arg("score").arg(runs.join("predictions-3.json")).arg(REFERENCES);
    let one = report(one.args(["--pass", "recall=1", "--pass", "lowest_argument_fidelity=0.5"]));
    assert_eq!(one["repeats"]["count"], 1);
    near(&one["repeats"]["pass_at"][0]["value"], 12.0 / 15.0);
    assert_eq!(one["repeats"]["spread"]["recall"]["sd"], Value::Null);
    // A missing trial fails in one profile, and is left out in the other, which names the task.
    let mut published = m3().unwrap();
    published.arg("score").arg(&runs).args([REFERENCES, "--profile", "open-m3-bench"]);
    let published = report(&mut published);
    assert_eq!(published["repeats"]["fewer_trials"], json!(["00010000"]));
    assert_eq!(published["repeats"]["pass_at"][2]["tasks"], 14);
    assert_eq!(published["repeats"]["pass_at"][1]["tasks"], 15);
}

#[test]
fn people_read_the_same() {
    let folder = Folder::new();
    let runs = repetitions(&folder);
    let form =
        |form: &str| Some(stdout(m3()?.arg("score").arg(&runs).args([REFERENCES, "-q", "--format", form])));
    let Some(table) = form("table") else { return };
    insta::assert_snapshot!("repeats_table", table);
    // Except for the signature, which is one line.
    let mut lines = table.lines().filter(|line| !line.starts_with("m3|"));
    assert!(lines.all(|line| line.chars().count() <= 80), "{table}");
    insta::assert_snapshot!("repeats_markdown", form("markdown").unwrap());
    let csv = form("csv").unwrap();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let repeat = reader.headers().unwrap().iter().position(|name| name == "repeat").unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let last = |row: usize| rows[row].get(repeat).unwrap().to_owned();
    assert_eq!([last(0), last(15), last(30), last(rows.len() - 1)], ["1", "2", "3", ""]);
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = Folder::new();
    let runs = repetitions(&folder);
    let refused = |options: &[&str]| {
        let mut m3 = m3_bare(folder.path());
        failure(m3.arg("score").arg(runs.join("predictions.json")).arg(REFERENCES).args(options))
    };
    let second = runs.join("predictions-2.json");
    let second = second.to_str().unwrap();
    let (code, message) = refused(&["--repeat", second, "--repeat", second]);
    assert!(code == 2 && message.contains("is given twice"), "{message}");
    let (code, message) = refused(&["--repeat", second, "--outcomes", second]);
    assert!(code == 2 && message.contains("`--outcomes` has 1 file for 2 repetitions"), "{message}");
    let (code, message) = refused(&["--pass", "fidelity=1"]);
    assert!(code == 2 && message.contains("lowest_argument_fidelity"), "{message}");
    let (code, message) = refused(&["--pass", "recall=2"]);
    assert!(code == 2 && message.contains("between 0 and 1"), "{message}");
    let (code, message) = refused(&["--repeat", "none.json"]);
    assert!(code == 2 && message.contains("none.json"), "{message}");
}

/// Scores of one run, of three repetitions, and of one run used three times.
fn scores(folder: &Folder) -> Option<[PathBuf; 3]> {
    let runs = repetitions(folder);
    let score = |name: &str, predictions: &[PathBuf], options: &[&str]| {
        let out = folder.path().join(format!("{name}.score.json"));
        let mut m3 = m3()?;
        m3.args(["score", "-q", "--results", "off"]).arg(&predictions[0]).arg(REFERENCES);
        m3.args(options).arg("--out").arg(&out);
        for file in &predictions[1..] {
            m3.arg("--repeat").arg(file);
        }
        stdout(&mut m3);
        Some(out)
    };
    let flawed = read("trajectories/predictions.json");
    let copies = ["a", "b", "c"].map(|name| folder.json(&format!("{name}.json"), &json!(flawed)));
    Some([
        score("one", &copies[..1], &["--pass", "lowest_argument_fidelity=0.5"])?,
        score("same", &copies, &[])?,
        score("three", &[runs], &[])?,
    ])
}

/// Using one run three times adds nothing: repetitions of a task are one unit, and every interval stays the same.
#[test]
fn leaderboards_keep_the_repetitions_of_a_task_together() {
    let folder = Folder::new();
    let Some([one, same, three]) = scores(&folder) else { return };
    let mut board = m3_bare(folder.path());
    let board = report(board.arg("leaderboard").args([&one, &same, &three]));
    follows_kept_schema("leaderboard", &board);
    let model = |name: &str| {
        let models = board["models"].as_array().unwrap();
        models.iter().find(|found| found["model"] == format!("{name}.score")).unwrap().clone()
    };
    let (one, same, three) = (model("one"), model("same"), model("three"));
    for (name, estimate) in one["metrics"].as_object().unwrap() {
        for end in ["value", "low", "high"] {
            match estimate[end].as_f64() {
                Some(expected) => near(&same["metrics"][name][end], expected),
                None => assert_eq!(same["metrics"][name][end], estimate[end]),
            }
        }
    }
    assert_eq!(one["calls"], same["calls"]);
    // One of them has a single trial, so k is 1.
    assert_eq!(board["passing"]["k"], 1);
    near(&three["passing"]["pass_at_1"]["value"], 40.0 / 45.0);
    assert_eq!(one["passing"]["pass_at_1"], same["passing"]["pass_at_1"]);
}

#[test]
fn leaderboards_and_comparisons_have_the_rates() {
    let folder = Folder::new();
    let Some([one, same, three]) = scores(&folder) else { return };
    let mut board = m3_bare(folder.path());
    let board = report(board.arg("leaderboard").args([&same, &three]));
    assert_eq!((&board["passing"]["k"], &board["passing"]["tasks"]), (&json!(3), &json!(15)));
    let first =
        board["models"].as_array().unwrap().iter().find(|found| found["model"] == "three.score").unwrap();
    near(&first["passing"]["pass_at"]["value"], 1.0);
    near(&first["passing"]["pass_all"]["value"], 11.0 / 15.0);
    let mut table = m3_bare(folder.path());
    let table = stdout(table.arg("leaderboard").args([&same, &three]));
    assert!(table.contains("Passing, 3 trials of each task") && table.contains("pass^3"), "{table}");
    assert!(
        table.lines().filter(|line| !line.starts_with("m3|")).all(|line| line.chars().count() <= 80),
        "{table}"
    );

    let mut comparison = m3_bare(folder.path());
    let comparison = report(comparison.arg("compare").args([&same, &three]));
    follows_kept_schema("comparison", &comparison);
    let differences = comparison["passing"]["differences"].as_array().unwrap();
    let names: Vec<&str> = differences.iter().map(|found| found["metric"].as_str().unwrap()).collect();
    assert_eq!(names, ["pass@1", "pass@3", "pass^3"]);
    let score: Value = json_of(&same);
    // A run thrice over passes always or never: all its rates are the same.
    let always = values(&score["repeats"]["pass_at"]);
    for (found, expected) in differences.iter().zip([40.0 / 45.0, 1.0, 11.0 / 15.0]) {
        near(&found["second"], expected);
        near(&found["first"], always[0]);
        near(&found["difference"], expected - always[0]);
        assert!(found["low"].as_f64().unwrap() <= found["high"].as_f64().unwrap());
    }
    // No task of the benchmark needs more than five calls: they are counted once, not for each repetition.
    let changed = comparison["changed"].as_array().unwrap();
    assert!(changed.iter().all(|task| task["reference_calls"].as_u64().unwrap() <= 5), "{changed:?}");

    // Results with other criteria are not compared.
    let other = folder.path().join("other.json");
    let mut m3 = m3().unwrap();
    m3.args(["score", "-q"])
        .arg(folder.path())
        .args([REFERENCES, "--pass", "recall=0.5", "--out"])
        .arg(&other);
    stdout(&mut m3);
    let mut board = m3_bare(folder.path());
    let board = report(board.arg("leaderboard").args([&other, &three, &one]));
    assert!(board.get("passing").is_none());
    assert!(board["notes"].to_string().contains("do not agree on what passes"), "{}", board["notes"]);
}
