//! Calls in the forms of other programs.

use serde_json::{Value, json};

use super::{average, edited, numbers, scored, usual};
use crate::support::{Folder, call, no_encoder, run, text};

/// Writes every call's arguments as text, as OpenAI's interface does.
fn as_text(call: &mut Value) {
    call["arguments"] = json!(call["arguments"].to_string());
}

/// The steps with OpenAI's `tool_calls`.
fn as_tool_calls() -> Value {
    let mut predictions = edited(|call| {
        as_text(call);
        *call = json!({"id": "call_1", "type": "function", "function": call});
    });
    for trajectory in predictions.as_array_mut().unwrap() {
        for step in trajectory["steps"].as_array_mut().unwrap() {
            let calls = step.as_object_mut().unwrap().remove("calls").unwrap();
            step["tool_calls"] = calls;
        }
    }
    predictions
}

#[test]
fn arguments_as_text_are_read_as_the_objects_they_hold() {
    let Some(expected) = usual(&[]) else { return };
    let (said, report) = scored(&edited(as_text), &[]).unwrap();
    assert_eq!(numbers(&report), expected);
    // README.md: the average of the small benchmark.
    assert!((average(&report) - 0.9482).abs() < 5e-5);
    // Reported once for all 40 calls.
    let note = "p.json /0/steps/0/calls/0/arguments (id `00010000`): `arguments` is a text that holds an object; read as \
                that object (39 more like it)";
    assert_eq!(said.matches("warning: ").count(), 1, "{said}");
    assert!(said.contains(note), "{said}");
}

#[test]
fn text_without_an_object_stays_text() {
    for text in ["eel", "[1]", "{\"q\": ", "", "5"] {
        let only = json!([{"id": "00010000", "steps": [{"calls": [call("math/add", json!(text))]}]}]);
        let Some((said, _)) = scored(&only, &[]) else { return };
        assert!(
            said.contains("`arguments` should be an object, and is a string; compared as it is"),
            "{said}"
        );
    }
}

#[test]
fn tool_calls_are_read_as_calls() {
    let Some(expected) = usual(&[]) else { return };
    let (said, report) = scored(&as_tool_calls(), &[]).unwrap();
    assert_eq!(numbers(&report), expected);
    assert!(said.contains("`tool_calls` is read as `calls` ("), "{said}");
    assert_eq!(said.matches("warning: ").count(), 2, "{said}");
}

/// Some programs write both keys.
#[test]
fn tool_calls_beside_empty_calls_are_read() {
    let Some(expected) = usual(&[]) else { return };
    let mut both = as_tool_calls();
    for trajectory in both.as_array_mut().unwrap() {
        for step in trajectory["steps"].as_array_mut().unwrap() {
            step["calls"] = json!([]);
        }
    }
    let (said, report) = scored(&both, &[]).unwrap();
    assert_eq!(numbers(&report), expected);
    assert!(said.contains("`tool_calls` is read as `calls` ("), "{said}");
    let (said, report) = scored(&both, &["--profile", "open-m3-bench"]).unwrap();
    assert_eq!(report["aggregate"]["predicted_calls"], 0);
    assert!(said.contains("a step without calls in the profile open-m3-bench"), "{said}");
    // If both are empty there is nothing to warn of.
    let none = json!([{"id": "00010000", "steps": [{"calls": [], "tool_calls": []}]}]);
    assert_eq!(scored(&none, &[]).unwrap().0.matches("calls`").count(), 0);
}

/// The program published with the benchmark takes `step.get("calls", [])` and `json.dumps` of whatever `arguments` is
/// (`evaluate_trajectories.py`).
#[test]
fn the_published_profile_reads_what_the_published_program_reads() {
    let profile = ["--profile", "open-m3-bench"];
    let Some(usual) = usual(&profile) else { return };
    let (said, report) = scored(&edited(as_text), &profile).unwrap();
    assert!(said.contains("the profile open-m3-bench compares the text (39 more like it)"), "{said}");
    let similarity = |report: &Value| report["aggregate"]["argument_similarity"].as_f64().unwrap();
    assert!(similarity(&report) < similarity(&usual) - 0.01);
    let (said, report) = scored(&as_tool_calls(), &profile).unwrap();
    assert!(said.contains("a step without calls in the profile open-m3-bench"), "{said}");
    assert_eq!(report["aggregate"]["predicted_calls"], 0);
}

/// Malformed calls recorded by `m3 run` are what the model wrote, so there is no warning.
#[test]
fn of_what_a_run_records_nothing_is_said() {
    let folder = Folder::new();
    let calls = [json!(null), json!("x=1"), json!("{\"x\": 1}"), json!([1])].map(|arguments| {
        let mut call = call("(no name)", arguments);
        call["outcome"] = json!("illegal_format");
        call
    });
    let members = json!({
        "steps": [{"step": 1, "calls": calls}], "versions": {"m3": "0.1.0", "schema": "m3.prediction/1"},
        "finish": "error", "reason": "the provider failed", "failure": "provider",
        "grades": {"rubric": "benchmark"}, "other_grades": [],
    });
    let path = folder.json("p.json", &json!([super::marked("a", &members)]));
    let output = run(no_encoder(&folder).arg("validate").arg(&path));
    let said = text(&output.stdout);
    assert!(
        said.contains("1 trajectory, 1 step, 4 calls of 1 tool; 0 errors, 0 warnings, 0 notes"),
        "{said}"
    );
}
