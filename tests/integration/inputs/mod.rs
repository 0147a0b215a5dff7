//! Files that are not what they seem: the small benchmark in `trajectories/`, written as other programs write it, and
//! files that hold no trajectories at all.

mod foreign;
mod forms;
mod names;
mod order;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Folder, copy_folder, m3, root, run, text};

const REFERENCES: &str = "trajectories/references.json";

/// The predictions of the small benchmark, with each call changed by `edit`.
fn edited(edit: impl Fn(&mut Value)) -> Value {
    let read = std::fs::read(root().join("trajectories/predictions.json")).unwrap();
    let mut predictions: Value = serde_json::from_slice(&read).unwrap();
    for trajectory in predictions.as_array_mut().unwrap() {
        for step in trajectory["steps"].as_array_mut().unwrap() {
            step["calls"].as_array_mut().unwrap().iter_mut().for_each(&edit);
        }
    }
    predictions
}

/// The messages and the numbers of a score, without how it was made.
fn scored(predictions: &Value, options: &[&str]) -> Option<(String, Value)> {
    let folder = Folder::new();
    let path: PathBuf = folder.json("p.json", predictions);
    copy_folder(&root().join("trajectories/results"), &folder.path().join("results"));
    let output = run(m3()?.arg("score").arg(path).args([REFERENCES, "--format", "json"]).args(options));
    let said = text(&output.stderr).replace(&format!("{}/", folder.path().display()), "");
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    Some((said, report))
}

const NUMBERS: [&str; 6] =
    ["ledger", "aggregate", "by_type", "trajectories", "wrong_arguments", "rejected_matches"];

fn numbers(report: &Value) -> Value {
    NUMBERS.map(|key| (key.to_owned(), report[key].clone())).into_iter().collect()
}

/// The numbers of the unchanged benchmark.
fn usual(options: &[&str]) -> Option<Value> {
    Some(numbers(&scored(&edited(|_| ()), options)?.1))
}

fn average(report: &Value) -> f64 {
    report["aggregate"]["average"].as_f64().unwrap()
}

/// An empty trajectory with these additional members.
fn marked(id: &str, members: &Value) -> Value {
    let mut trajectory = json!({"id": id, "steps": []});
    trajectory.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    trajectory
}
