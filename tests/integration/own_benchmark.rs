//! The small benchmark in `trajectories/`: what a new user scores first. Good predictions with one flaw in
//! each task, and poor ones that have every degenerate case.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

use crate::support::{json_of, m3, m3_bare, report, root, stdout};

const REFERENCES: &str = "trajectories/references.json";

fn table(predictions: &str) -> Option<String> {
    Some(stdout(m3()?.args(["score", "--quiet", predictions, REFERENCES])))
}

#[test]
fn good_predictions_print_this_table() {
    let Some(table) = table("trajectories/predictions.json") else { return };
    insta::assert_snapshot!(table);
}

#[test]
fn poor_predictions_print_this_table() {
    let Some(table) = table("trajectories/predictions-poor.json") else { return };
    insta::assert_snapshot!(table);
}

#[test]
fn tables_fit_80_columns() {
    for predictions in ["trajectories/predictions.json", "trajectories/predictions-poor.json"] {
        let Some(table) = table(predictions) else { return };
        // A signature is copied as one word.
        for line in table.lines().filter(|line| !line.starts_with("m3|")) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

fn by_id(report: &Value, id: &str) -> Value {
    let trajectories = report["trajectories"].as_array().unwrap();
    trajectories.iter().find(|t| t["id"] == id).unwrap().clone()
}

/// Each number by hand from `trajectories/`: the flaw in each task shows in its metric.
#[test]
fn each_flaw_shows_in_its_metric() {
    let Some(mut m3) = m3() else { return };
    let report = report(m3.args(["score", "trajectories/predictions.json", REFERENCES]));
    let metric = |id: &str, name: &str| by_id(&report, id)["metrics"][name].as_f64().unwrap();
    let equals = |id: &str, name: &str, expected: f64| {
        let found = metric(id, name);
        assert!((found - expected).abs() < 1e-12, "{name} of {id} is {found}, not {expected}");
    };
    // Both calls of the only step, in reverse order.
    equals("00010000", "average", 1.0);
    // Steps of 2 and 1 calls; the first is split in two: (2 x 1/2 + 1) / 3. The set of paths is reversed, which makes
    // no difference.
    equals("00010001", "step_coherence", 2.0 / 3.0);
    equals("00010001", "argument_similarity", 1.0);
    // Four reference calls, one of them made twice: 4 of 5 predicted calls match.
    equals("00020000", "precision", 0.8);
    // Two steps in one: H = ln 2, G_act = 2.
    equals("00020001", "merge_purity", 0.0);
    // Two steps in the wrong order: of one pair, one is inverted.
    equals("00050000", "order_consistency", 0.0);
    // Four of five reference calls.
    equals("00060001", "recall", 0.8);
    // Neither the reference nor the prediction has a call.
    equals("00070000", "average", 1.0);
    // No call in the reference, one in the prediction.
    equals("00070001", "recall", 1.0);
    equals("00070001", "precision", 0.0);
}

#[test]
fn poor_predictions_have_every_degenerate_case() {
    let Some(mut m3) = m3() else { return };
    let report = report(m3.args(["score", "trajectories/predictions-poor.json", REFERENCES]));
    let ledger = &report["ledger"];
    assert_eq!(ledger["missing"], serde_json::json!(["00060000"]));
    assert_eq!(ledger["extra"], serde_json::json!(["00990000"]));
    assert_eq!(ledger["duplicate"], serde_json::json!(["00050000"]));
    assert_eq!(ledger["empty"], serde_json::json!(["00020001", "00070000"]));
    // Nothing is matched, because the tool differs from the reference's.
    assert_eq!(by_id(&report, "00010001")["metrics"]["matched"], 0);
    assert_eq!(by_id(&report, "00010001")["metrics"]["step_coherence"], 0.0);
    // The prediction is missing, so it is scored as empty: 2 unmatched reference calls.
    let missing = by_id(&report, "00060000");
    assert_eq!(missing["metrics"]["recall"], 0.0);
    assert_eq!(missing["unmatched_references"][0]["reason"], "tool_not_in_prediction");
    let mut reasons: Vec<String> = Vec::new();
    for trajectory in report["trajectories"].as_array().unwrap() {
        for list in ["unmatched_references", "unmatched_predictions"] {
            let unmatched = trajectory[list].as_array().unwrap().iter();
            reasons.extend(unmatched.map(|call| call["reason"].as_str().unwrap().to_owned()));
        }
    }
    reasons.sort();
    reasons.dedup();
    assert_eq!(
        reasons,
        ["assigned_elsewhere", "below_threshold", "tool_not_in_prediction", "tool_not_in_reference"]
    );
}

#[test]
fn a_catalog_makes_a_null_argument_say_nothing() {
    let similarity = |catalog: &[&str]| {
        let report = report(m3()?.args(["score", "trajectories/predictions.json", REFERENCES]).args(catalog));
        // The prediction has `"output_path": null`, the reference no such argument.
        by_id(&report, "00060000")["matches"][1]["similarity"].as_f64()
    };
    let (Some(without), Some(with)) = (similarity(&[]), similarity(&["--tools", "trajectories/tools.json"]))
    else {
        return;
    };
    assert!(without < 0.9999);
    assert!((with - 1.0).abs() < f64::EPSILON);
}

#[test]
fn there_are_enough_tasks_with_images() {
    let tasks: Value = json_of(root().join("trajectories/tasks.json"));
    let tasks = tasks.as_array().unwrap();
    let types: BTreeSet<_> = tasks.iter().map(|task| task["type"].as_str().unwrap()).collect();
    assert!(tasks.len() >= 12 && types.len() >= 6);
    for task in tasks {
        assert!(root().join(task["image"].as_str().unwrap()).is_file(), "{}", task["image"]);
    }
}

#[test]
fn every_call_of_the_references_works_on_our_own_servers() {
    let folder = tempfile::tempdir().unwrap();
    let mut m3 = m3_bare(folder.path());
    m3.args(["outcomes", "trajectories/references.json", "--servers", "servers/local.json"]);
    let report = report(&mut m3);
    // 15 trajectories, 39 calls, as the scores' ledger counts them.
    assert_eq!(report["aggregate"]["calls"], 39, "{report}");
    assert_eq!(report["aggregate"]["outcomes"]["success"], 39, "{report}");
}

/// Also of the poor predictions, which hold an id twice and calls that nobody can make.
#[test]
fn results_are_those_that_our_own_servers_return() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["references", "predictions", "predictions-poor"] {
        let (kept, again) = (format!("trajectories/{name}.json"), folder.path().join("again.json"));
        let mut m3 = m3_bare(folder.path());
        m3.args(["record", &kept, "--servers", "servers/local.json", "--quiet", "-o"]).arg(&again);
        stdout(&mut m3);
        assert!(
            json_of(&again) == json_of(root().join(&kept)),
            "`m3 record {kept} --servers servers/local.json -o ..` records them again, pictures too"
        );
    }
    let pictures = |folder: &Path| -> BTreeSet<OsString> {
        folder.join("results").read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    assert_eq!(pictures(folder.path()), pictures(&root().join("trajectories")));
}

#[test]
fn the_catalog_is_what_our_own_servers_list() {
    let folder = tempfile::tempdir().unwrap();
    let mut m3 = m3_bare(folder.path());
    let listed = stdout(m3.args(["tools", "servers/local.json", "--format", "json", "--quiet"]));
    let kept = std::fs::read_to_string(root().join("trajectories/tools.json")).unwrap();
    assert!(
        listed == kept,
        "`m3 tools servers/local.json --format json --out trajectories/tools.json` keeps it"
    );
}
