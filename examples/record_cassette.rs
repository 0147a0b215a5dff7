//! Records `trajectories/cassette.jsonl.gz`: `cargo build && cargo run --example record_cassette`.
//!
//! There is no language model behind it: a scripted one plays `trajectories/predictions.json`, plan by plan and step
//! by step, while `m3 run` sends it the images and makes its calls for real. It has to be recorded again when prompts,
//! tools or our benchmark change; a test says so.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "an example prints, and stops at a surprise")]

#[expect(dead_code, reason = "it can do more than is needed here")]
#[path = "../tests/integration/model_server/mod.rs"]
mod model_server;

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use model_server::{Scripted, ScriptedModel, SeenRequest, Spoken};
use serde_json::{Value, json};

const CASSETTE: &str = "trajectories/cassette.jsonl.gz";

/// Where the recorded model is said to have been: the port is another one each time.
const ADDRESS: &str = "http://127.0.0.1:8000/v1";

fn main() {
    std::env::set_current_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    let tasks = tasks();
    let model = ScriptedModel::start(Spoken::OpenAi, move |seen| play(&tasks, seen));
    let folder = tempfile::tempdir().unwrap();
    let recorded = folder.path().join("cassette.jsonl");
    // The program lies beside the folder of the examples.
    let m3 = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("m3");
    let mut run = Command::new(m3);
    run.args(["run", "trajectories/tasks.json", "--servers", "servers/local.json", "--workers", "1"]);
    run.args(["--llm", &format!("openai@{}:scripted", model.base_url())]);
    run.arg("-o").arg(folder.path().join("out")).arg("--record").arg(&recorded);
    assert!(run.status().unwrap().success());
    assert_eq!(model.problems(), Vec::<String>::new());
    let cassette = std::fs::read_to_string(&recorded).unwrap().replace(model.base_url(), ADDRESS);
    let file = std::fs::File::create(CASSETTE).unwrap();
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::best());
    packed.write_all(cassette.as_bytes()).unwrap();
    packed.finish().unwrap();
    println!("{CASSETTE} has {} lines, {} bytes before gzip", cassette.lines().count(), cassette.len());
}

/// The predictions, each with the question by which its requests are known.
fn tasks() -> Vec<(String, Value)> {
    let read = |path: &str| -> Vec<Value> {
        serde_json::from_slice(&std::fs::read(Path::new(path)).unwrap()).unwrap()
    };
    let predictions = read("trajectories/predictions.json");
    let prediction = |id: &Value| predictions.iter().find(|prediction| prediction["id"] == *id).unwrap();
    read("trajectories/tasks.json")
        .iter()
        .map(|task| (task["question"].as_str().unwrap().to_owned(), prediction(&task["id"]).clone()))
        .collect()
}

/// What a model that makes exactly these calls says in each turn of the staged mode. Turns are known by the last
/// words of `src/executor/prompts/cues.txt`.
fn play(tasks: &[(String, Value)], seen: &SeenRequest) -> Scripted {
    let is_of = |question: &str| seen.texts.iter().any(|text| text.contains(question));
    let (_, prediction) = tasks.iter().find(|(question, _)| is_of(question)).unwrap();
    let steps = prediction["steps"].as_array().unwrap();
    let cue = "Choose the tools of this step.";
    let step = seen.texts.iter().map(|text| text.matches(cue).count()).sum::<usize>();
    let calls =
        steps.get(step - 1).map(|step| step["calls"].as_array().unwrap().as_slice()).unwrap_or_default();
    let asked = seen.last_user_text.trim_end();
    Scripted::Say(if asked.ends_with(cue) {
        let mut tools: Vec<&str> = calls.iter().filter_map(|call| call["name"].as_str()).collect();
        tools.dedup();
        let plan = if tools.is_empty() {
            "The image alone has the answer."
        } else {
            "Each does its part of the step."
        };
        json!({"tools": tools, "plan": plan}).to_string()
    } else if asked.ends_with("Write the calls of this step.") {
        let call = |call: &Value| json!({"name": call["name"], "arguments": call["arguments"]});
        json!({"tool_calls": calls.iter().map(call).collect::<Vec<_>>()}).to_string()
    } else if asked.ends_with("Reply yes or no.") {
        if step < steps.len() { "no" } else { "yes" }.to_owned()
    } else {
        prediction["final_reply"].as_str().unwrap().to_owned()
    })
}
