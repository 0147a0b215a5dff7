//! What `bfcl-eval` 2026.3.23 says of a sample of its own gold and of predictions with a change (tests/data/README.md).

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::io::Read as _;

use m3_suites::{ChosenSuite, Trial};
use m3_trajectory::json::{Json, Keys, parse};
use m3_trajectory::{Duplicates, Trajectory, TrajectoryFile};

fn trajectory(value: &Json) -> Trajectory {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), value.to_text(Keys::AsRead)).unwrap();
    TrajectoryFile::open(file.path(), Duplicates::Last).unwrap().read(0).unwrap()
}

#[test]
fn verdicts_and_types_of_errors_are_those_of_bfcl_eval() {
    let mut text = String::new();
    let bytes = include_bytes!("data/bfcl.jsonl.gz");
    flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    let mut wrong = Vec::new();
    for line in text.lines() {
        let (case, _) = parse(line.as_bytes()).unwrap();
        let part = |key: &str| trajectory(case.get(key).unwrap());
        let (reference, prediction) = (part("reference"), part("prediction"));
        let mut scorer = "bfcl".parse::<ChosenSuite>().unwrap().open(None);
        let ast = scorer.trial(&Trial::new(&reference, Some(&prediction), 1)).get("ast");
        let result = scorer.finish();
        let error =
            result.groups.iter().find(|group| group.by == "error").map_or("", |group| group.name.as_str());
        let is_right = *case.get("right").unwrap() == Json::Bool(true);
        let why = case.get("error").and_then(Json::as_str).unwrap();
        if ast != Some(f64::from(u8::from(is_right))) || error != why {
            wrong.push(format!("{}: {ast:?} {error}, not {is_right} {why}", reference.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(text.lines().count() > 300);
}

#[test]
fn without_functions_or_calls_there_is_an_answer() {
    let score = |reference: &str, prediction: &str| {
        let read = |text: &str| trajectory(&parse(text.as_bytes()).unwrap().0);
        let mut scorer = "bfcl".parse::<ChosenSuite>().unwrap().open(None);
        scorer.trial(&Trial::new(&read(reference), Some(&read(prediction)), 1)).get("ast")
    };
    let calls = |calls: &str| format!(r#"{{"id": "a", "steps": [{{"calls": [{calls}]}}]}}"#);
    let none = r#"{"id": "a", "steps": []}"#;
    for (reference, prediction, right) in [
        (none.to_owned(), none.to_owned(), 1.0),
        (none.to_owned(), calls(r#"{"name": "f", "arguments": {}}"#), 0.0),
        (
            calls(r#"{"name": "f", "arguments": {"a": 1.5, "b": {"c": "D e"}}}"#),
            calls(r#"{"name": "s/f", "arguments": {"a": 1.5, "b": {"c": "d.E"}}}"#),
            1.0,
        ),
        (
            calls(r#"{"name": "f", "arguments": {"a": 1}}"#),
            calls(r#"{"name": "f", "arguments": "no JSON"}"#),
            0.0,
        ),
        (
            calls(r#"{"name": "f", "arguments": {"a": 1}}"#),
            calls(r#"{"name": "f", "arguments": {"a": "1"}}"#),
            0.0,
        ),
        (calls(r#"{"name": "f", "arguments": {}}"#), none.to_owned(), 0.0),
        (
            calls(r#"{"name": "f", "accepted": {"a": ["x", "y"], "b": [1, ""]}}"#),
            calls(r#"{"name": "f", "arguments": {"a": "Y"}}"#),
            1.0,
        ),
    ] {
        assert_eq!(score(&reference, &prediction), Some(right), "{reference} {prediction}");
    }
}
