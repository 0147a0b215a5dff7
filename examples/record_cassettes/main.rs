//! Records the cassettes of our own benchmark: `cargo build && cargo run --example record_cassettes`.
//!
//! There is no language model behind them: the commands of `docs/pipeline.md` are executed with scripted models in
//! place of the cassettes. Images are really sent and tools really called. Cassettes have to be recorded again when
//! prompts, tools or our benchmark change; tests say so.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "an example prints, and stops at a surprise")]

mod grade;
mod judge;
mod run;

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest};
use serde_json::Value;

/// The cassettes, each with the name of its model. The graders come after the judge.
const CASSETTES: [(&str, &str); 6] = [
    ("trajectories/cassette.jsonl.gz", "scripted"),
    ("trajectories/judges/judge.jsonl.gz", "judge"),
    ("trajectories/judges/grader-1.jsonl.gz", "grader-1"),
    ("trajectories/judges/grader-2.jsonl.gz", "grader-2"),
    ("trajectories/judges/grader-3.jsonl.gz", "grader-3"),
    ("trajectories/judges/grader-4.jsonl.gz", "grader-4"),
];

/// The address that is recorded for the models: the real port differs each time.
const ADDRESS: &str = "http://127.0.0.1:8000/v1";

/// A task of our benchmark.
struct Task {
    /// The question, by which requests about the task are recognized.
    question: String,
    /// The calls and the answer of the scripted model.
    prediction: Value,
    /// The correct solution, for the scripted judge.
    reference: Value,
}

fn main() {
    std::env::set_current_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    let tasks = tasks();
    let models = ScriptedModel::start(ScriptedWire::OpenAi, move |seen| play(&tasks, seen));
    // The program is beside the folder of the examples.
    let m3 = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("m3");
    let (folder, recorded) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    m3_testkit::sequence::copy_needed(Path::new("."), folder.path());
    let document = std::fs::read_to_string(m3_testkit::sequence::PIPELINE).unwrap();
    for command in m3_testkit::sequence::blocks(&document, "sh")
        .iter()
        .flat_map(|block| m3_testkit::sequence::commands(block))
    {
        let command = recording(&command, models.base_url(), recorded.path());
        println!("{command}");
        let mut shell = m3_testkit::sequence::in_folder(Command::new("sh"), &command, folder.path(), &m3);
        let code = shell.status().unwrap().code();
        // One of the graders once gives no answer, which does not count as a success.
        assert!(code == Some(0) || (code == Some(3) && command.starts_with("m3 grade")), "{code:?}");
    }
    assert_eq!(models.problems(), Vec::<String>::new());
    for (cassette, model) in CASSETTES {
        let ending = format!("{model}.cassette");
        let found = std::fs::read_dir(recorded.path()).unwrap().flatten().map(|entry| entry.path());
        let path = found.into_iter().find(|path| path.to_string_lossy().ends_with(&ending)).unwrap();
        write(cassette, &std::fs::read_to_string(path).unwrap().replace(models.base_url(), ADDRESS));
    }
}

/// The command with the scripted models in place of the cassettes, recording their replies.
fn recording(command: &str, address: &str, folder: &Path) -> String {
    let mut recording = command.to_owned();
    let mut played = Vec::new();
    for (cassette, model) in CASSETTES {
        let replay = format!("replay:{cassette}");
        if command.contains(&replay) {
            recording = recording.replace(&replay, &format!("openai@{address}:{model}"));
            played.push(model);
        }
    }
    let target = match played.as_slice() {
        [] => return recording,
        [model] => folder.join(format!("{model}.cassette")),
        // `m3 grade` itself names the cassettes of a panel.
        _ => folder.to_owned(),
    };
    let workers = if command.contains("--workers") { "" } else { " --workers 1" };
    format!("{recording} --record {}{workers}", target.display())
}

fn tasks() -> Vec<Task> {
    let read = |path: &str| -> Vec<Value> { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
    let (predictions, references) =
        (read("trajectories/predictions.json"), read("trajectories/references.json"));
    let of = |all: &[Value], id: &Value| all.iter().find(|found| found["id"] == *id).unwrap().clone();
    let task = |task: &Value| Task {
        question: task["question"].as_str().unwrap().to_owned(),
        prediction: of(&predictions, &task["id"]),
        reference: of(&references, &task["id"]),
    };
    read("trajectories/tasks.json").iter().map(task).collect()
}

/// Each model's reply to a request.
fn play(tasks: &[Task], seen: &SeenRequest) -> ScriptedReply {
    let is_about = |task: &&Task| seen.texts.iter().any(|text| text.contains(&task.question));
    let task = tasks.iter().find(is_about).unwrap();
    ScriptedReply::Say(match seen.model.as_str() {
        "scripted" => run::play(&task.prediction, seen),
        "judge" => judge::play(&task.reference, seen),
        grader => grade::play(grader, &task.question, seen),
    })
}

/// The names of the tools that a step of a trajectory calls.
fn tools_of(step: &Value) -> Vec<String> {
    let calls = step["calls"].as_array().unwrap().iter();
    calls.map(|call| call["name"].as_str().unwrap().to_owned()).collect()
}

fn write(path: &str, cassette: &str) {
    std::fs::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::best());
    packed.write_all(cassette.as_bytes()).unwrap();
    packed.finish().unwrap();
    println!("{path} has {} lines, {} bytes before gzip", cassette.lines().count(), cassette.len());
}
