//! `m3 validate`

use serde_json::{Value, json};

use crate::support::{Folder, call, no_encoder, run, shared, text, trajectory};

#[test]
fn problems_of_every_kind_print_these_lines() {
    let folder = Folder::new();
    let odd = folder.write(
        "odd.json",
        r#"[{"id": 7, "steps": [{"step": 2, "calls": []}, {"step": 1, "calls": [
            {"name": "s/t", "arguments": {"a": 1, "a": 2}, "id": "c1"}, {"name": "s/t"}]}],
            "image": 5, "num_step": 3, "final_reply": "\ud83d"}]"#,
    );
    let good = folder.json("good.json", &json!([trajectory("a", &[&[call("s/t", json!({}))]])]));
    let output = run(no_encoder(&folder).arg("validate").args([&odd, &good]));
    assert_eq!(output.status.code(), Some(0));
    let lines = text(&output.stdout).replace(&format!("{}/", folder.path().display()), "");
    insta::assert_snapshot!(lines);
}

#[test]
fn an_error_in_one_file_gives_exit_code_2() {
    let folder = Folder::new();
    let good = folder.json("good.json", &json!([trajectory("a", &[])]));
    let bad = folder.write("bad.json", "[{\"id\": \"a\", \"steps\": 5}]");
    let output = run(no_encoder(&folder).arg("validate").args([&good, &bad]).arg("missing.json"));
    assert_eq!(output.status.code(), Some(2));
    let output = run(no_encoder(&folder).arg("validate").args([&bad]).args(["--format", "json"]));
    assert_eq!(output.status.code(), Some(2));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["files"][0]["errors"], 1);
    assert_eq!(report["files"][0]["problems"][0]["pointer"], "/0/steps");
}

/// The oddities named in the data's README: five repeated ids, two of them with different content; a call without
/// arguments and with a stray id; unknown keys in three tasks.
#[test]
fn the_real_references_load_with_their_oddities_named() {
    let Some(folder) = shared("open-m3-bench") else { return };
    let scratch = Folder::new();
    let validate = |name: &str, options: &[&str]| -> Value {
        let output = run(no_encoder(&scratch)
            .arg("validate")
            .arg(folder.join(name))
            .args(["--format", "json"])
            .args(options));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["files"][0].clone()
    };
    let references = validate("references.json", &["--duplicates", "last"]);
    assert_eq!((&references["entries"], &references["errors"]), (&json!(208), &json!(0)));
    // 664 steps and 1387 calls in 213 trajectories; 1355 calls in the 208 that are used.
    assert_eq!((&references["calls"], &references["tools"]), (&json!(1355), &json!(70)));
    let problems = references["problems"].as_array().unwrap();
    let about =
        |text: &str| problems.iter().filter(|p| p["message"].as_str().unwrap().contains(text)).count();
    assert_eq!(about("with the same content"), 4);
    assert_eq!(about("with other content"), 1);
    assert_eq!(about("no `arguments`"), 1);
    assert_eq!((about("`num_step`"), about("`max_num_concurrent`"), about("`id`, kept")), (3, 3, 1));

    let strict = validate("references.json", &[]);
    assert_eq!(strict["errors"], 1);
    assert_eq!(
        strict["problems"].as_array().unwrap().iter().find(|p| p["severity"] == "error").unwrap()["id"],
        "00070008"
    );
    let tasks = validate("tasks.json", &[]);
    assert_eq!(
        (&tasks["is_tasks"], &tasks["entries"], &tasks["errors"]),
        (&json!(true), &json!(141), &json!(0))
    );
    for name in ["strong", "medium", "weak"] {
        assert_eq!(validate(&format!("predictions/{name}.json"), &["--duplicates", "last"])["errors"], 0);
    }
}

/// There are no notes on the keys in `m3 schema prediction`, and on these keys only.
#[test]
fn keys_that_a_run_writes_are_known() {
    let folder = Folder::new();
    let schema = std::fs::read(crate::support::root().join("docs/schemas/prediction.schema.json")).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    let with_null = |properties: &Value| -> Value {
        properties.as_object().unwrap().keys().map(|key| (key.clone(), Value::Null)).collect()
    };
    let mut prediction = with_null(&schema["properties"]);
    let mut call = with_null(&schema["$defs"]["CallRecord"]["properties"]);
    call["name"] = json!("s/t");
    call["surprise"] = json!(1);
    prediction["id"] = json!("a");
    prediction["steps"] = json!([{"step": 1, "calls": [call]}]);
    prediction["level"] = json!(3);
    let mut notes = |versions: Value| -> Vec<String> {
        prediction["versions"] = versions;
        let path = folder.json("p.json", &json!([prediction]));
        let output = run(no_encoder(&folder).args(["validate", "--format", "json"]).arg(&path));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let problems = report["files"][0]["problems"].as_array().unwrap();
        let notes = problems.iter().filter(|problem| problem["severity"] == "note");
        notes.map(|note| note["pointer"].as_str().unwrap().to_owned()).collect()
    };
    let recorded = notes(json!({"m3": "0.1.0", "schema": "m3.prediction/1"}));
    assert_eq!(recorded, ["/0/steps/0/calls/0/surprise", "/0/level"]);
    // In a file of another program, the same keys are unknown.
    assert!(notes(json!({})).len() > 10);
}
