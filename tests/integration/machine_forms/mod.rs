//! Forms of results that build servers and code hosts read: JUnit's XML and SARIF, of every command that has them.

mod junit;
mod sarif;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Folder, call, m3_bare, trajectory};

const REFERENCES: &str = "trajectories/references.json";
const PREDICTIONS: &str = "trajectories/predictions.json";
const POOR: &str = "trajectories/predictions-poor.json";

/// Names as a model might write them to break a document: the end of a section of XML, markup, what a terminal obeys, what
/// reorders text, what XML 1.0 cannot hold, a link and a placeholder of SARIF.
const HOSTILE: &str =
    "]]></failure>[a](http://b) {0}<x y='\"&amp;\u{1b}[31m\u{202e}\u{0}\u{8}\u{fffe}\u{9b}\r\n";

/// A prediction and a reference full of hostile names, in files with hostile names.
fn hostile(folder: &Folder) -> [PathBuf; 2] {
    let id = format!("id {HOSTILE}");
    let of = |tool: &str, value: &str| {
        let mut made = trajectory(&id, &[&[call(&format!("s/{tool}{HOSTILE}"), json!({HOSTILE: value}))]]);
        made["type"] = json!(HOSTILE);
        made
    };
    let whole = |task: Value| {
        // Half a surrogate pair, as JSON can have it.
        json!([task]).to_string().replace("SURROGATE", "\\ud83d")
    };
    [
        folder.write("p & <#1>.json", whole(of("a", "SURROGATE"))),
        folder.write("r'\".json", whole(of("b", "other SURROGATE"))),
    ]
}

/// Results of the same tasks, of which the first is better or worse than the second in every task, or which cannot be told
/// apart. Made by hand from the JSON of scores, so that no encoder is needed: what `m3 compare` reads.
fn results(folder: &Folder, name: &str, recalls: &[f64]) -> PathBuf {
    let metrics = |recall: f64| {
        json!({"reference_calls": 4, "predicted_calls": 4, "recall": recall, "precision": recall,
            "argument_similarity": recall, "step_coherence": recall, "merge_purity": recall,
            "order_consistency": recall, "average": recall, "average_steps": 1.0})
    };
    let of = |(index, recall): (usize, &f64)| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of calls")]
        let found = (recall * 4.0) as usize;
        let place = |index: usize| json!({"step": 0, "call": index, "index": index});
        let matches: Vec<Value> = (0..found)
            .map(|index| {
                json!({"tool": "s/t", "similarity": 1.0, "strength": "strong", "reference": place(index),
                    "predicted": place(index), "argument_fidelity": 1.0})
            })
            .collect();
        let unmatched: Vec<Value> = (found..4)
            .map(|index| json!({"tool": "s/t", "step": 0, "call": index, "index": index}))
            .collect();
        json!({"id": format!("task-{index:02}"), "type": "test", "metrics": metrics(*recall),
            "matches": matches, "unmatched_references": unmatched})
    };
    let trajectories: Vec<Value> = recalls.iter().enumerate().map(of).collect();
    folder.json(
        name,
        &json!({"schema": "m3.score/1", "profile": "paper",
            "encoder": {"name": "none", "fingerprint": "sha256:0", "dimensions": 1, "max_tokens": 1}, "thresholds": {"weak": 0.6, "strong": 0.8},
            "trajectories": trajectories}),
    )
}

/// Two results of twenty tasks: the second better or worse by half in each, or better and worse in turn.
fn compared(folder: &Folder, second: &str) -> [PathBuf; 2] {
    let first = vec![0.5; 20];
    let second = (0..20).map(|task| match (second, task % 2) {
        ("better", _) => 1.0,
        ("worse", _) => 0.25,
        (_, 0) => 0.75,
        _ => 0.25,
    });
    let second: Vec<f64> = second.collect();
    [results(folder, "before.json", &first), results(folder, "after.json", &second)]
}

/// `m3 compare` of two results.
fn compare(folder: &Folder, [first, second]: &[PathBuf; 2], options: &[&str]) -> std::process::Output {
    crate::support::run(m3_bare(folder.path()).arg("compare").arg(first).arg(second).args(options))
}
