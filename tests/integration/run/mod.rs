//! `m3 run`, against a scripted model and our own servers.

mod bad_input;
mod budget;
mod cassette;
mod choices;
mod full_disk;
mod honest;
mod killed;
mod leftovers;
mod links;
mod network;
mod quota;
mod record;
mod refused;
mod repeats;
mod resume;
mod schemas;
mod stop;
mod task_files;
mod terminal;
mod unavailable;
mod wires;
mod workers;

use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use m3_testkit::model_server::{
    INPUT_TOKENS, OUTPUT_TOKENS, ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest,
};
use serde_json::{Value, json};

use crate::support::{Folder, follows_kept_schema, json_of, m3, m3_bare, root, run, stdout, text};

/// Two calls at once, one of which reads the task's image, then an answer.
fn two_calls(seen: &SeenRequest) -> ScriptedReply {
    if seen.turn > 1 {
        return ScriptedReply::Say(format!("{} results", seen.results.len()));
    }
    let image = seen.last_user_text.split('`').find(|part| part.starts_with("images/")).unwrap_or("none");
    ScriptedReply::Call(vec![
        ("image__get_metainfo".to_owned(), json!({ "input_path": image })),
        ("math__add".to_owned(), json!({ "firstNumber": 1, "secondNumber": 2 })),
    ])
}

fn model() -> ScriptedModel {
    ScriptedModel::start(ScriptedWire::OpenAi, two_calls)
}

/// The arguments of a run over our own benchmark.
fn arguments(model: &ScriptedModel, output: &Path) -> Vec<String> {
    let name = format!("openai@{}:scripted", model.base_url());
    let output = output.to_str().unwrap();
    let arguments = [
        "run",
        "trajectories/tasks.json",
        "--llm",
        &name,
        "--servers",
        "servers/local.json",
        "--mode",
        "native",
        "-o",
        output,
    ];
    arguments.map(str::to_owned).to_vec()
}

fn command(model: &ScriptedModel, output: &Path) -> Command {
    let mut command = m3_bare(output);
    command
        .env("M3_CACHE_DIR", "/nonexistent")
        .args(arguments(model, output))
        .timeout(Duration::from_mins(3));
    command
}

/// Tasks without images, `t00`, `t01` and so on; each has its number in its text: `Task 00.`
fn questions(folder: &Folder, count: usize) -> PathBuf {
    let task =
        |number: usize| json!({"id": format!("t{number:02}"), "question": format!("Task {number:02}.")});
    folder.json("tasks.json", &(0..count).map(task).collect())
}

/// The arguments of a run over these tasks, with the tools of one server.
fn math_arguments(tasks: &Path, llm: &str, output: &Path) -> Vec<String> {
    let (tasks, output) = (tasks.to_str().unwrap(), output.to_str().unwrap());
    let arguments = ["run", tasks, "--llm", llm, "--servers", "servers/local.json", "--server", "math"];
    let arguments = arguments.into_iter().chain(["--mode", "native", "-o", output]);
    arguments.map(str::to_owned).collect()
}

/// A call of `math/add`, in the name of the provider's tool calling.
fn add(first: i64, second: i64) -> (String, Value) {
    ("math__add".to_owned(), json!({ "firstNumber": first, "secondNumber": second }))
}

fn predictions(output: &Path) -> Vec<Value> {
    json_of(output.join("predictions.json")).as_array().unwrap().clone()
}

fn ids(predictions: &[Value]) -> Vec<&str> {
    predictions.iter().map(|prediction| prediction["id"].as_str().unwrap()).collect()
}

fn journal(output: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(output.join("journal.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The file of predictions with every measured time set to 0.
fn without_times(path: impl AsRef<Path>) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let mut parts = text.split("\"milliseconds\":");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        out += "\"milliseconds\":0";
        out += part.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out
}

fn output_of(folder: &Folder) -> PathBuf {
    folder.path().join("out")
}

/// Image in, tools really called, predictions out in the order of the tasks, each with the whole dialogue.
#[test]
fn a_run_of_our_own_benchmark_gives_predictions_that_are_scored() {
    let (folder, model) = (Folder::new(), model());
    let output = output_of(&folder);
    let table = stdout(&mut command(&model, &output));
    assert_eq!(model.problems(), Vec::<String>::new());
    for row in ["tasks      15\n", "answered   15\n", "calls      30\n", "outcomes   30 success\n"] {
        assert!(table.contains(row), "{row}{table}");
    }
    let tokens = format!("tokens     {} in, {} out\n", 30 * INPUT_TOKENS, 30 * OUTPUT_TOKENS);
    assert!(table.contains(&tokens), "{table}");
    let (tasks, predictions) = (json_of(root().join("trajectories/tasks.json")), predictions(&output));
    assert_eq!(ids(&predictions), ids(tasks.as_array().unwrap()));
    for (task, prediction) in tasks.as_array().unwrap().iter().zip(&predictions) {
        for (key, value) in task.as_object().unwrap() {
            assert_eq!(&prediction[key], value);
        }
        let calls = prediction["steps"][0]["calls"].as_array().unwrap();
        let image = Path::new(task["image"].as_str().unwrap()).file_name().unwrap().to_str().unwrap();
        assert_eq!(calls[0]["name"], "image/get_metainfo");
        assert!(calls[0]["result"].to_string().contains(image), "{}", calls[0]);
        assert_eq!((&calls[1]["result"], &calls[1]["outcome"]), (&json!("3"), &json!("success")));
        assert_eq!(prediction["final_reply"], "2 results");
        let usage = &prediction["usage"];
        assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(200), &json!(20)));
        assert_eq!(prediction["images"][0]["image"], task["image"]);
        follows_kept_schema("prediction", prediction);
        let id = task["id"].as_str().unwrap();
        assert_eq!(&json_of(output.join(format!("predictions/{id}.json"))), prediction);
        assert!(output.join("workspaces").join(id).join(image).exists());
    }
    for line in journal(&output) {
        follows_kept_schema("journal", &line);
    }
    let Some(mut score) = m3() else { return };
    score.args(["score", "-q"]).arg(output.join("predictions.json")).arg("trajectories/references.json");
    assert!(stdout(&mut score).contains("precision"));
}

/// A line for each call and each task, on standard error, and none with `--quiet`.
#[test]
fn calls_and_ends_of_tasks_are_told_line_by_line_where_there_is_no_terminal() {
    let (folder, model) = (Folder::new(), model());
    let output = output_of(&folder);
    let done = run(command(&model, &output).args(["--id", "00010000"]));
    let said = text(&done.stderr);
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("00010000 ")).collect();
    assert_eq!(lines.len(), 5, "{said}");
    assert!(lines[0].starts_with("00010000 turn 1: answered in "), "{said}");
    assert!(lines[0].ends_with(", tokens: 100 in, 10 out (turn)"), "{said}");
    assert!(said.contains("00010000 step 1: math") && said.contains("add, success, "), "{said}");
    assert!(lines[4].starts_with("00010000 answered after 1 step and 2 calls in "), "{said}");
    assert!(lines[4].contains(" (1 of 1 task, "), "{said}");
    assert!(said.contains("next: m3 score"), "{said}");
    let quiet = run(command(&model, &output).args(["--id", "00010001", "--quiet"]));
    assert_eq!(text(&quiet.stderr), "");
}

#[test]
fn workspaces_are_kept_as_asked() {
    let (folder, model) = (Folder::new(), model());
    let output = output_of(&folder);
    stdout(command(&model, &output).args(["--id", "00010000", "--keep-workspaces", "never"]));
    assert_eq!(std::fs::read_dir(output.join("workspaces")).unwrap().count(), 0);
    stdout(command(&model, &output).args(["--id", "00010001", "--keep-workspaces", "failed"]));
    assert_eq!(std::fs::read_dir(output.join("workspaces")).unwrap().count(), 0);
}

#[test]
fn what_a_run_costs_is_shown_by_the_users_prices() {
    let (folder, model) = (Folder::new(), model());
    let prices = folder.json("prices.json", &json!({"scripted": {"input": 10_000, "output": 100_000}}));
    let table =
        stdout(command(&model, &output_of(&folder)).args(["--id", "00010000", "--prices"]).arg(&prices));
    // 200 input tokens at 0.01, 20 output tokens at 0.1.
    assert!(table.contains("cost       4.0000\n"), "{table}");
}

/// The tools of the cassette and the real ones give the same prediction, except for times.
#[test]
fn a_replayed_run_gives_the_same_predictions() {
    let (folder, model) = (Folder::new(), model());
    let (cassette, recorded) = (folder.path().join("run.cassette"), output_of(&folder));
    stdout(command(&model, &recorded).arg("--record").arg(&cassette));
    let asked = model.requests().len();
    let replay = format!("replay:{}", cassette.display());
    for (name, servers) in [("without", &[] as &[&str]), ("with", &["--servers", "servers/local.json"])] {
        let output = folder.path().join(name);
        let mut command = m3_bare(folder.path());
        command.args(["run", "trajectories/tasks.json", "--llm", &replay, "--mode", "native", "-o"]);
        stdout(command.arg(&output).args(servers).args(["--workers", "2"]));
        assert_eq!(
            without_times(output.join("predictions.json")),
            without_times(recorded.join("predictions.json")),
            "{name}"
        );
    }
    assert_eq!(model.requests().len(), asked, "a replay asks nobody");
}
