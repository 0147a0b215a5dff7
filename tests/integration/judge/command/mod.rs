//! `m3 judge`, against a scripted judge and our own servers.

mod hostile;
mod references;
mod refused;
mod replaced;
mod resume;
mod several;
mod verify;

use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest};
use serde_json::{Value, json};

use crate::support::{Folder, call, follow_kept_schema, json_of, m3_bare, root};

const SUCCESS: &str = r#"{"verdict": "success", "reason": "Both sums were made before the product."}"#;

fn one() -> Value {
    call("math/add", json!({"firstNumber": 1200, "secondNumber": 34}))
}

fn two() -> Value {
    call("math/add", json!({"firstNumber": 70_000, "secondNumber": 7}))
}

/// A call that uses the results of the calls `one` and `two`.
fn product() -> Value {
    call("math/multiply", json!({"firstNumber": 1234, "SecondNumber": 70_007}))
}

/// A call that was made, as `m3 run` records it.
fn made(mut call: Value, result: &str) -> Value {
    call["result"] = json!(result);
    call["is_error"] = json!(false);
    call["outcome"] = json!("success");
    call["milliseconds"] = json!(1);
    call
}

/// A call of a reference, with what it returned in its run.
fn kept(mut call: Value, result: &str) -> Value {
    call["result"] = json!(result);
    call
}

/// The steps of the best trajectory of `long_run`, as a reference keeps them.
fn kept_steps() -> Value {
    json!([
        {"step": 1, "calls": [kept(one(), "1234"), kept(two(), "70007")]},
        {"step": 2, "calls": [kept(product(), "86388638")]},
    ])
}

/// A call that failed.
fn failed(tool: &str) -> Value {
    let mut call = made(call(tool, json!({"title": "Sum"})), "no such page");
    call["is_error"] = json!(true);
    call["outcome"] = json!("resource_not_found");
    call
}

/// A prediction as `m3 run` writes it, as far as it matters here.
fn prediction(id: &str, model: &str, steps: &[Vec<Value>]) -> Value {
    let steps: Vec<Value> =
        steps.iter().enumerate().map(|(index, calls)| json!({"step": index + 1, "calls": calls})).collect();
    json!({
        "id": id, "image": "images/shelf.png", "type": "sums", "question": format!("What is the sum of {id}?"),
        "level": 3, "steps": steps, "final_reply": "86388638.", "finish": "answered",
        "model": {"requested": model}, "run": {"repeat": 1},
        "versions": {"m3": "0.1.0", "schema": "m3.prediction/1"},
    })
}

/// Four calls in four steps: one fails, and two independent ones were made one after the other.
fn long_run(id: &str) -> Value {
    let steps = [
        vec![made(one(), "1234")],
        vec![failed("wiki/summary")],
        vec![made(two(), "70007")],
        vec![made(product(), "86388638")],
    ];
    prediction(id, "openai:tested", &steps)
}

/// The best trajectory of `long_run`, as a judge proposes it.
fn best() -> String {
    json!({"steps": [{"calls": [one(), two()]}, {"calls": [product()]}]}).to_string()
}

fn is_verdict(seen: &SeenRequest) -> bool {
    seen.system.starts_with("You audit records")
}

/// The id of the task that a request is about.
fn task(seen: &SeenRequest) -> String {
    let question = seen.texts.iter().find_map(|text| text.split_once("What is the sum of "));
    question.unwrap().1.split('?').next().unwrap().to_owned()
}

/// A judge that calls every run a success and proposes the best trajectory.
fn kind(seen: &SeenRequest) -> ScriptedReply {
    ScriptedReply::Say(if is_verdict(seen) { SUCCESS.to_owned() } else { best() })
}

fn judge_by(script: impl Fn(&SeenRequest) -> ScriptedReply + Send + Sync + 'static) -> ScriptedModel {
    ScriptedModel::start(ScriptedWire::OpenAi, script)
}

fn name_of(model: &ScriptedModel) -> String {
    format!("openai@{}:scripted", model.base_url())
}

fn target(folder: &Folder) -> PathBuf {
    folder.path().join("references.json")
}

/// `m3 judge` on these files, into the folder.
fn command(folder: &Folder, predictions: &[&Path]) -> Command {
    let mut command = m3_bare(folder.path());
    command.env("M3_CACHE_DIR", "/nonexistent").timeout(Duration::from_mins(3));
    command.arg("judge").args(predictions).arg("-o").arg(target(folder));
    command
}

/// `m3 judge` on these files with a judge that sees the images of our own benchmark.
fn asking(folder: &Folder, predictions: &[&Path], model: &ScriptedModel) -> Command {
    let mut command = command(folder, predictions);
    command.args(["--llm", &name_of(model), "--images"]).arg(root().join("images"));
    command
}

fn references(folder: &Folder) -> Vec<Value> {
    judged(&target(folder))
}

fn rejected(folder: &Folder) -> Vec<Value> {
    judged(&folder.path().join("references.rejected.json"))
}

/// The accepted or rejected references; they must follow their schema.
fn judged(path: &Path) -> Vec<Value> {
    let judged = json_of(path).as_array().unwrap().clone();
    follow_kept_schema("reference", &judged);
    judged
}

fn ids(trajectories: &[Value]) -> Vec<&str> {
    trajectories.iter().map(|trajectory| trajectory["id"].as_str().unwrap()).collect()
}

/// Why the first run of a trajectory gives no reference.
fn refusal(trajectory: &Value) -> &Value {
    &trajectory["judge"]["runs"][0]["refusal"]
}

/// The lines of the journal without the first; they must follow their schema.
fn journal(folder: &Folder) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.path().join("references.journal.jsonl")).unwrap_or_default();
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let lines: Vec<Value> =
        text[..whole].lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    follow_kept_schema("judge-journal", &lines);
    lines
}
