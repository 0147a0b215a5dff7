//! Samples that the real programs wrote, against the steps that each of them holds. They are not part of the repository.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use m3_testkit::shared;
use m3_traces::{FORMATS, ReadError, Sink, Trace, recognize};
use m3_trajectory::Source;
use m3_trajectory::json::Keys;
use serde_json::{Map, Value, json};

/// Keeps everything.
#[derive(Default)]
struct CollectingSink {
    traces: Vec<Trace>,
    warnings: Vec<String>,
}

impl Sink for CollectingSink {
    fn trace(&mut self, _: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        self.traces.push(trace);
        Ok(())
    }

    fn warn(&mut self, line: Option<u64>, message: &str) {
        self.warnings.push(format!("{line:?}: {message}"));
    }
}

fn json_file(path: &Path) -> Option<Value> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

/// The steps of a trajectory as `expected.json` writes them.
fn steps(trace: &Value) -> Value {
    let call = |call: &Value| {
        let mut out = Map::new();
        out.insert("tool".to_owned(), call["name"].clone());
        for key in ["arguments", "result"] {
            if let Some(value) = call.get(key) {
                out.insert(key.to_owned(), plain(value));
            }
        }
        if call["is_error"] == true {
            out.insert("error".to_owned(), json!(true));
        }
        sorted(Value::Object(out))
    };
    let step = |step: &Value| {
        let mut calls: Vec<Value> = step["calls"].as_array().unwrap().iter().map(call).collect();
        calls.sort_by_key(ToString::to_string);
        Value::Array(calls)
    };
    Value::Array(trace["steps"].as_array().unwrap().iter().map(step).collect())
}

/// Media in the words of `expected.json`.
fn plain(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
        Value::Object(members) if members.get("type").is_some_and(|kind| kind == "image") => {
            let mut out = members.clone();
            if let Some(media_type) = out.remove("mimeType") {
                out.insert("media_type".to_owned(), media_type);
            }
            if let Some(path) = out.remove("uri") {
                out.insert("path".to_owned(), path);
            }
            Value::Object(out)
        }
        other => other.clone(),
    }
}

/// Numbers as numbers, keys in order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(members) => {
            let members: BTreeMap<String, Value> =
                members.into_iter().map(|(key, it)| (key, sorted(it))).collect();
            members.into_iter().collect::<Map<String, Value>>().into()
        }
        other => other,
    }
}

fn expected_steps(steps: &Value) -> Value {
    let step = |step: &Value| {
        let mut calls: Vec<Value> = step.as_array().unwrap().iter().cloned().map(sorted).collect();
        calls.sort_by_key(ToString::to_string);
        Value::Array(calls)
    };
    Value::Array(steps.as_array().unwrap().iter().map(step).collect())
}

fn as_json(trace: Trace) -> Value {
    let trajectory = trace.into_trajectory("x".to_owned(), "x");
    serde_json::from_str(&trajectory.to_json().to_text(Keys::AsRead)).unwrap()
}

/// What is wrong with a trajectory, against what is known of it.
fn compare(
    (found, nested): (&Value, &[(String, Value)]),
    (expected, extra): (&Value, &Value),
    texts: &str,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let (ours, theirs) = (steps(found), expected_steps(expected));
    if ours != theirs {
        wrong.push(format!("steps: {ours}\n   expected {theirs}"));
    }
    let mut check = |key: &str, ours: Value| {
        if let Some(theirs) = extra.get(key)
            && *theirs != ours
        {
            wrong.push(format!("{key}: {ours}, expected {theirs}"));
        }
    };
    // What the model was asked is not in every file.
    let is_told = extra["question"].as_str().is_none_or(|question| texts.contains(question));
    if is_told || !found["question"].is_null() {
        check("question", found["question"].clone());
    }
    check("final_reply", found["final_reply"].clone());
    check("model", found["model"].clone());
    check("id", found["import"]["id"].clone());
    if let Some(usage) = extra.get("usage").and_then(Value::as_object) {
        for (key, theirs) in usage {
            let ours = &found["usage"][key];
            // A zero is not always told.
            if ours != theirs && !(ours.is_null() && *theirs == 0) {
                wrong.push(format!("usage {key}: {ours}, expected {theirs}"));
            }
        }
    }
    if let Some(agents) = extra.get("nested").and_then(Value::as_object) {
        for (name, expected) in agents {
            let inner: Vec<&Value> = nested.iter().map(|(_, steps)| steps).collect();
            if !inner.iter().any(|inner| steps(inner) == expected_steps(expected)) {
                wrong.push(format!("nested {name}: {nested:?}\n   expected {expected}"));
            }
        }
    }
    wrong
}

/// A trajectory: its id, itself, and those of its sub-agents.
type TrajectoryParts = (Option<String>, Value, Vec<(String, Value)>);

/// What is wrong with a sample.
fn check(folder: &Path) -> Vec<String> {
    let expected = json_file(&folder.join("expected.json")).unwrap();
    let extra = json_file(&folder.join("expected_extra.json")).unwrap_or(Value::Null);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            path.is_file() && name != "NOTE.md" && !name.starts_with("expected")
        })
        .collect();
    files.sort();
    // The files of sub-agents belong to the session beside them.
    files.retain(|path| !path.file_name().unwrap().to_string_lossy().starts_with("agent-"));
    let mut kept = CollectingSink::default();
    let texts: String = files
        .iter()
        .map(|file| String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned())
        .collect();
    for file in files {
        let source = Source::open(&file).unwrap();
        let Some(recognized) = recognize(&source).unwrap() else {
            return vec![format!("not recognized: {file:?}")];
        };
        match recognized.read(&mut kept) {
            Ok(()) => {}
            Err(_) if extra["refuse"] == true => return Vec::new(),
            Err(error) => return vec![format!("{error}")],
        }
    }
    if extra["refuse"] == true {
        return vec!["should be refused".to_owned()];
    }
    let all: Vec<TrajectoryParts> = kept
        .traces
        .into_iter()
        .map(|trace| {
            let nested =
                trace.nested.iter().map(|(name, inner)| (name.clone(), as_json(inner.clone()))).collect();
            (trace.id.clone(), as_json(trace), nested)
        })
        .collect();
    match &expected {
        Value::Array(_) => match &all[..] {
            [(_, found, nested)] => compare((found, nested), (&expected, &extra), &texts),
            other => vec![format!("{} trajectories instead of one", other.len())],
        },
        Value::Object(several) => {
            let mut wrong = Vec::new();
            let ids: Vec<&str> = all.iter().map(|(id, ..)| id.as_deref().unwrap_or("-")).collect();
            for (id, expected) in several {
                match all.iter().find(|(found, ..)| found.as_ref() == Some(id)) {
                    Some((_, found, nested)) => {
                        let extra = extra.get(id).unwrap_or(&Value::Null);
                        wrong.extend(compare((found, nested), (expected, extra), &texts));
                    }
                    None => wrong.push(format!("no trajectory `{id}`, there are {ids:?}")),
                }
            }
            if all.len() != several.len() {
                wrong.push(format!("{} trajectories instead of {}: {ids:?}", all.len(), several.len()));
            }
            wrong
        }
        other => panic!("{other}"),
    }
}

#[test]
fn all_samples_hold_what_is_known_of_them() {
    let Some(folder) = shared("traces") else { return };
    let only = std::env::var("M3_SAMPLES").unwrap_or_default();
    let (mut failed, mut passed) = (Vec::new(), 0);
    let mut formats: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    formats.sort();
    for format in formats.iter().filter(|path| path.is_dir()) {
        let mut samples: Vec<PathBuf> =
            std::fs::read_dir(format).unwrap().map(|entry| entry.unwrap().path()).collect();
        samples.sort();
        for sample in samples.iter().filter(|sample| sample.to_string_lossy().contains(&only)) {
            passed += 1;
            let shown = |wrong: String| wrong.chars().take(3000).collect::<String>();
            failed.extend(
                check(sample).into_iter().map(|wrong| format!("{}: {}", sample.display(), shown(wrong))),
            );
        }
    }
    assert!(FORMATS.len() > 1 && passed > 0);
    assert!(failed.is_empty(), "of {passed} samples:\n{}", failed.join("\n"));
}
