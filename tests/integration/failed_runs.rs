//! Predictions that failed, were not finished or are missing: they are named before any number, and score 0.

use serde_json::{Value, json};

use crate::audit::embedded;
use crate::support::{Folder, m3, report, root, stdout};

const REFERENCES: &str = "trajectories/references.json";

/// The good predictions of the small benchmark, each modified by `change`.
fn predictions(change: impl Fn(&mut Value)) -> Value {
    let text = std::fs::read_to_string(root().join("trajectories/predictions.json")).unwrap();
    let mut predictions: Value = serde_json::from_str(&text).unwrap();
    predictions.as_array_mut().unwrap().iter_mut().for_each(change);
    predictions
}

fn finish(prediction: &mut Value, members: &Value) {
    let prediction = prediction.as_object_mut().unwrap();
    prediction.extend(members.as_object().unwrap().clone());
}

/// Every task failed before its first call, because the model was not available.
fn all_failed() -> Value {
    predictions(|prediction| {
        prediction["steps"] = json!([]);
        finish(prediction, &json!({"finish": "error", "reason": "openai answers 401"}));
    })
}

const METRICS: [&str; 8] = [
    "recall",
    "precision",
    "argument_similarity",
    "argument_fidelity",
    "step_coherence",
    "merge_purity",
    "order_consistency",
    "average",
];

fn numbers(metrics: &Value) -> Vec<f64> {
    METRICS.iter().map(|name| metrics[name].as_f64().unwrap()).collect()
}

#[test]
fn a_run_that_failed_earns_nothing_and_says_so_first() {
    let folder = Folder::new();
    let failed = folder.json("failed.json", &all_failed());
    let Some(mut command) = m3() else { return };
    let found = report(command.arg("score").arg(&failed).arg(REFERENCES));
    assert_eq!(numbers(&found["aggregate"]), [0.0; 8]);
    // The references of this type require no calls.
    assert_eq!(numbers(&found["by_type"]["look"]), [0.0; 8]);
    assert_eq!(found["ledger"]["errored"].as_array().unwrap().len(), 15);
    assert_eq!(found["ledger"]["failures"], json!({"provider": 15}));
    assert_eq!(found["coverage"], json!({"references": 15, "predictions": 15, "shared": 15, "finished": 0}));
    for trajectory in found["trajectories"].as_array().unwrap() {
        assert_eq!(trajectory["failure"], "provider");
        assert_eq!(numbers(&trajectory["metrics"]), [0.0; 8]);
    }

    let table = stdout(m3().unwrap().args(["score", "-q"]).arg(&failed).arg(REFERENCES));
    let place = |text: &str| table.find(text).unwrap_or_else(|| panic!("no `{text}` in\n{table}"));
    let warning = place("warning: 15 of 15 tasks failed, scored with the calls they have:");
    assert!(warning < place("provider 15 (100.0 %)") && warning < place("recall"), "{table}");
    let markdown =
        stdout(m3().unwrap().args(["score", "-q", "--format", "markdown"]).arg(&failed).arg(REFERENCES));
    let place = |text: &str| markdown.find(text).unwrap();
    assert!(place("> **Warning**: 15 of 15 tasks failed") < place("| recall |"), "{markdown}");
    let csv = stdout(m3().unwrap().args(["score", "-q", "--format", "csv"]).arg(&failed).arg(REFERENCES));
    let ends: Vec<&str> = csv.lines().map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!((ends[0], &ends[1..16], ends.last().unwrap()), ("failure", &["provider"; 15][..], &""));
    let page = stdout(m3().unwrap().args(["audit", "-q", "--html", "-"]).arg(&failed).arg(REFERENCES));
    // The page shows warnings above the numbers.
    let warnings = embedded(&page, "run/0.json")["set"]["warnings"].clone();
    assert!(warnings[0].as_str().unwrap().contains("15 of 15 tasks failed"), "{warnings}");
}

/// The published program leaves out tasks without a prediction; if this is all of them, everything is 0.
#[test]
fn the_published_programs_profile_leaves_failed_tasks_out() {
    let folder = Folder::new();
    let scored = |predictions: &Value| {
        let file = folder.json("p.json", predictions);
        Some(report(m3()?.arg("score").arg(file).args([REFERENCES, "--profile", "open-m3-bench"])))
    };
    let Some(all) = scored(&all_failed()) else { return };
    assert_eq!((&all["ledger"]["scored"], all["trajectories"].as_array().unwrap().len()), (&json!(0), 0));
    assert_eq!(numbers(&all["aggregate"]), [0.0; 8]);
    let one = |prediction: &mut Value| {
        if prediction["id"] == "00020000" {
            finish(prediction, &json!({"finish": "budget", "reason": "tokens: 9 are used, the limit is 8"}));
        }
    };
    let one = scored(&predictions(one)).unwrap();
    assert_eq!(one["ledger"]["unfinished"], json!(["00020000"]));
    let mut without = predictions(|_| ());
    without.as_array_mut().unwrap().retain(|prediction| prediction["id"] != "00020000");
    let without = scored(&without).unwrap();
    assert_eq!(one["aggregate"], without["aggregate"]);
    assert_eq!(without["ledger"]["failures"], json!({"missing": 1}));
}

/// A task that was cut off is scored with its calls; only if no call was needed does this count as a failure.
#[test]
fn unfinished_tasks_are_scored_with_the_calls_they_have() {
    let folder = Folder::new();
    let scored = |predictions: &Value| {
        Some(report(m3()?.arg("score").arg(folder.json("p.json", predictions)).arg(REFERENCES)))
    };
    let Some(whole) = scored(&predictions(|_| ())) else { return };
    let cut = scored(&predictions(|prediction| finish(prediction, &json!({"finish": "max_steps"})))).unwrap();
    assert_eq!(cut["ledger"]["failures"], json!({"limit": 15}));
    assert_eq!(cut["ledger"]["unfinished"].as_array().unwrap().len(), 15);
    // What a task says that failed is no answer.
    let of_calls = |numbers: &Value| {
        let mut numbers = numbers.as_object().unwrap().clone();
        numbers.retain(|name, _| !["answer_agreement", "jobs", "verdict"].contains(&name.as_str()));
        numbers
    };
    assert_eq!(of_calls(&cut["aggregate"]), of_calls(&whole["aggregate"]));
    let trajectories = |found: &Value| found["trajectories"].as_array().unwrap().clone();
    for (cut, whole) in trajectories(&cut).iter().zip(&trajectories(&whole)) {
        if whole["metrics"]["reference_calls"] == 0 {
            assert_eq!(numbers(&cut["metrics"]), [0.0; 8], "{}", cut["id"]);
        } else {
            assert_eq!(of_calls(&cut["metrics"]), of_calls(&whole["metrics"]));
        }
    }
}

/// `m3 run` writes the class; older records have `finish` and `reason`.
#[test]
fn failures_are_told_apart_by_what_is_recorded() {
    let folder = Folder::new();
    let cases = [
        (json!({"finish": "error", "failure": "server_lost", "reason": "x"}), Some("server_lost")),
        (json!({"finish": "error", "failure": "of a later version"}), Some("other")),
        (json!({"finish": "error", "reason": "openai answers 500"}), Some("provider")),
        (json!({"finish": "error", "reason": "the server `image` was lost"}), Some("server_lost")),
        (json!({"finish": "budget", "reason": "time: the limit is 60s"}), Some("time")),
        (json!({"finish": "budget", "reason": "calls: the limit is 20"}), Some("limit")),
        (json!({"finish": "max_steps"}), Some("limit")),
        (json!({"finish": "context_overflow"}), Some("context")),
        (json!({"finish": "answered"}), None),
        // Words of other programs have no known meaning.
        (json!({"finish": "stop"}), None),
        (json!({"finish": 7}), None),
        (json!({}), None),
        (json!({"failure": "none"}), None),
        (json!({"failure": "time"}), Some("time")),
    ];
    let mut all = predictions(|_| ());
    all.as_array_mut().unwrap().truncate(cases.len());
    for (prediction, (members, _)) in all.as_array_mut().unwrap().iter_mut().zip(&cases) {
        finish(prediction, members);
    }
    let Some(mut m3) = m3() else { return };
    let found = report(m3.arg("score").arg(folder.json("p.json", &all)).arg(REFERENCES));
    for (prediction, (members, expected)) in all.as_array().unwrap().iter().zip(&cases) {
        let trajectories = found["trajectories"].as_array().unwrap();
        let scored = trajectories.iter().find(|found| found["id"] == prediction["id"]).unwrap();
        assert_eq!(scored.get("failure").and_then(Value::as_str), *expected, "{members}");
    }
    let failures = &found["ledger"]["failures"];
    assert_eq!(
        failures,
        &json!({"server_lost": 2, "other": 1, "provider": 1, "time": 2, "limit": 2, "context": 1, "missing": 1})
    );
}

/// A leaderboard and a comparison treat failed tasks like the score.
#[test]
fn a_leaderboard_gives_failed_tasks_nothing_either() {
    let folder = Folder::new();
    let failed = folder.json("failed.json", &all_failed());
    let score = folder.path().join("score.json");
    let Some(mut command) = m3() else { return };
    stdout(command.args(["score", "-q"]).arg(&failed).arg(REFERENCES).arg("--out").arg(&score));
    let board = report(m3().unwrap().args(["leaderboard", "--by-type"]).arg(&score));
    // A probability is never 0.
    let most = |metric: &str| if metric == "verdict" { 0.2 } else { 0.0 };
    for (metric, estimate) in board["models"][0]["metrics"].as_object().unwrap() {
        assert!(estimate["value"].as_f64().unwrap() <= most(metric), "{metric}");
    }
    let look = board["types"].as_array().unwrap().iter().find(|found| found["type"] == "look").unwrap();
    for (metric, value) in look["models"][0]["metrics"].as_object().unwrap() {
        assert!(value["value"].as_f64().or(value.as_f64()).unwrap() <= most(metric), "{metric}");
    }
}
