//! BFCL: the verdicts of its program on made-up predictions for gold of MCPToolBench++, and on its own gold and
//! perturbations of it (`compare/bfcl.py` made them).

use std::collections::HashMap;

use m3_suites::{ChosenSuite, Trial};
use m3_trajectory::json::{Json, Keys, parse};
use m3_trajectory::{Trajectory, TrajectoryFile};

use super::{call, items, read, text, trajectory};

/// What is said of a prediction: the error type, if it is wrong.
fn error_type(reference: &Trajectory, prediction: &Trajectory) -> Option<String> {
    let mut scorer = "bfcl".parse::<ChosenSuite>().unwrap().open(None);
    let values = scorer.trial(&Trial::new(reference, Some(prediction), 1));
    let label = values.label("error_type").map(str::to_owned);
    assert_eq!(values.get("ast"), Some(if label.is_none() { 1.0 } else { 0.0 }));
    assert_eq!(values.label("error").is_none(), label.is_none());
    label
}

/// All tools of the records, as BFCL writes functions.
fn functions() -> Option<Json> {
    let mut functions = HashMap::new();
    for file in [
        "browser/browser_0724_single_v3.json.gz",
        "file_system/filesystem_0723_single.json.gz",
        "search/search_0725_single_v2.json.gz",
        "finance/finance_0724_single_v3.json.gz",
        "pay/pay_single_demo.json",
        "map/map_single_demo.repaired.json",
    ] {
        let records = read(&format!("mcptoolbenchpp/data/{file}"))?;
        for tool in items(&records).iter().flat_map(|record| items(record.get("tools").unwrap())) {
            let name = text(tool, "name");
            functions.entry(name.clone()).or_insert_with(|| {
                let parameters = tool.get("input_schema").unwrap().clone();
                Json::Object(vec![
                    ("name".to_owned(), Json::String(name)),
                    ("parameters".to_owned(), parameters),
                ])
            });
        }
    }
    Some(Json::Array(functions.into_values().collect()))
}

fn one_step(calls: &Json) -> Trajectory {
    let calls = items(calls).iter().map(|it| call(&text(it, "name"), it.get("input").cloned()));
    trajectory("t", vec![calls.collect()])
}

#[test]
fn made_up_cases() {
    let Some(oracle) = read("mcptoolbenchpp/oracle/calls.json") else { return };
    let functions = functions().unwrap();
    let mut wrong = Vec::new();
    let mut cases = 0;
    for case in items(oracle.get("cases").unwrap()) {
        // A case without a verdict has no label.
        let Some(verdict @ Json::Object(_)) = case.get("bfcl") else { continue };
        cases += 1;
        let mut reference = one_step(case.get("label").unwrap());
        reference.task_type = Some(text(verdict, "category"));
        reference.extra.push(("functions".to_owned(), functions.clone()));
        let actual = error_type(&reference, &one_step(case.get("prediction").unwrap()));
        let wanted = verdict.get("error_type").and_then(Json::as_str);
        if actual.as_deref() != wanted {
            wrong.push(format!("{} {}: {actual:?}, not {wanted:?}", text(case, "id"), text(case, "kind")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(cases, 112);
}

/// The sample that `compare/bfcl.py` wrote: a line about its source, then cases with the program's verdicts.
#[test]
fn sample_of_the_comparison() {
    let lines = include_str!("../data/bfcl.jsonl").lines().skip(1);
    let cases: Vec<Json> = lines.map(|line| parse(line.as_bytes()).unwrap().0).collect();
    let folder = tempfile::tempdir().unwrap();
    let open = |key: &str| {
        let path = folder.path().join(key);
        let lines = cases.iter().map(|case| case.get(key).unwrap().to_text(Keys::AsRead));
        std::fs::write(&path, lines.collect::<Vec<_>>().join("\n")).unwrap();
        TrajectoryFile::open_all(&path, &mut |_, _| {}).unwrap()
    };
    let (references, predictions) = (open("reference"), open("prediction"));
    let mut wrong = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let (reference, prediction) = (references.read(index).unwrap(), predictions.read(index).unwrap());
        let actual = error_type(&reference, &prediction);
        let wanted = case.get("verdict").unwrap().as_str();
        // Where the program breaks off, the calls are not accepted.
        let agrees = match wanted {
            Some(error) if error.starts_with("raises ") => actual.is_some(),
            wanted => actual.as_deref() == wanted,
        };
        if !agrees {
            wrong.push(format!("{} {}: {actual:?}, not {wanted:?}", prediction.id, text(case, "kind")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(cases.len(), 300);
}
