//! Nothing is lost, and nothing is done twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire};
use serde_json::{Value, json};

use super::{
    command, ids, journal, math_arguments, model, output_of, predictions, questions, two_calls, without_times,
};
use crate::support::{Folder, encoder, json_of, m3, m3_bare, run, stdout, text};

#[test]
fn the_same_command_again_does_nothing_and_says_so() {
    let (folder, model) = (Folder::new(), model());
    let output = output_of(&folder);
    stdout(&mut command(&model, &output));
    let (asked, before) = (model.requests().len(), std::fs::read(output.join("predictions.json")).unwrap());
    let again = run(&mut command(&model, &output));
    assert_eq!(again.status.code(), Some(0));
    assert!(text(&again.stderr).contains("15 of 15 tasks are done already"));
    assert!(text(&again.stdout).contains("answered   15\n"));
    assert_eq!(model.requests().len(), asked);
    assert_eq!(std::fs::read(output.join("predictions.json")).unwrap(), before);
}

#[test]
fn tasks_that_were_added_are_run_and_no_others() {
    let (folder, model) = (Folder::new(), model());
    let output = output_of(&folder);
    stdout(command(&model, &output).args(["--id", "00020000", "--id", "00010001"]));
    assert_eq!(ids(&predictions(&output)), ["00010001", "00020000"]);
    let asked = model.requests().len();
    let said = text(&run(&mut command(&model, &output)).stderr);
    assert!(said.contains("2 of 15 tasks are done already"), "{said}");
    assert_eq!(model.requests().len(), asked + 13 * 2);
    assert_eq!(predictions(&output).len(), 15);
    // Lines of the journal are kept: the second run adds to them.
    let runs = journal(&output).iter().filter(|line| line["event"] == "run_started").count();
    assert_eq!(runs, 2);
}

#[test]
fn a_change_runs_again_what_it_touches() {
    let (folder, model) = (Folder::new(), model());
    let output = output_of(&folder);
    let two = ["--id", "00010000", "--id", "00010001"];
    let runs = |arguments: &[&str]| {
        let before = model.requests().len();
        stdout(command(&model, &output).args(two).args(arguments));
        (model.requests().len() - before) / 2
    };
    assert_eq!(runs(&[]), 2);
    assert_eq!(runs(&["--workers", "1", "--keep-workspaces", "failed"]), 0, "what changes nothing");
    assert_eq!(runs(&["--max-steps", "3"]), 2, "limits");
    assert_eq!(runs(&["--max-steps", "3"]), 0);
    assert_eq!(runs(&["--temperature", "0.5"]), 2, "settings");
    assert_eq!(runs(&["--server", "math", "--server", "image"]), 2, "tools");
    assert_eq!(runs(&["--instruction", "prompt"]), 2, "instruction");
    assert_eq!(runs(&["--max-image-side", "64"]), 2, "images");
    let attempts: Vec<Value> = predictions(&output).iter().map(|p| p["run"]["attempt"].clone()).collect();
    assert_eq!(attempts, [json!(6), json!(6)]);
}

/// In either mode, one request answers a task.
#[test]
fn another_model_mode_or_number_of_tools_runs_all_again_and_how_it_is_run_does_not() {
    let folder = Folder::new();
    let model =
        ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Say("Final Answer: done".to_owned()));
    let (tasks, output) = (questions(&folder, 3), output_of(&folder));
    // How many tasks were run, each once; all have a prediction made under the same conditions.
    let asked = |name: &str, mode: &str, further: &[&str]| {
        let before = model.requests().len();
        let llm = format!("openai@{}:{name}", model.base_url());
        let mut arguments = math_arguments(&tasks, &llm, &output);
        let place = arguments.iter().position(|argument| argument == "native").unwrap();
        mode.clone_into(&mut arguments[place]);
        let mut command = m3().unwrap_or_else(|| m3_bare(folder.path()));
        stdout(command.args(arguments).args(further));
        for prediction in predictions(&output) {
            assert_eq!((&prediction["model"]["requested"], &prediction["mode"]), (&json!(llm), &json!(mode)));
        }
        assert_eq!(predictions(&output).len(), 3);
        let requests = model.requests();
        let seen =
            |task: &str| requests[before..].iter().filter(|body| body.to_string().contains(task)).count();
        let counts = [seen("Task 00."), seen("Task 01."), seen("Task 02.")];
        assert_eq!(counts.iter().sum::<usize>(), requests.len() - before);
        counts
    };
    let (none, all) = ([0, 0, 0], [1, 1, 1]);
    assert_eq!(asked("one", "native", &[]), all);
    assert_eq!(asked("two", "native", &[]), all, "model");
    assert_eq!(asked("two", "react", &[]), all, "mode");
    for further in [["--workers", "1"], ["--llm-tries", "3"], ["--keep-workspaces", "never"]] {
        assert_eq!(asked("two", "react", &further), none, "{further:?}");
    }
    if encoder().is_some() {
        assert_eq!(asked("two", "react", &["--top-tools", "2"]), all, "tools");
        assert_eq!(asked("two", "react", &["--top-tools", "3"]), all, "more tools");
        assert_eq!(asked("two", "react", &["--top-tools", "3"]), none);
    }
    assert_eq!(model.problems(), Vec::<String>::new());
}

/// A changed text of one task, and a changed image of two.
#[test]
fn a_changed_task_or_image_is_run_again() {
    let (folder, model) = (Folder::new(), model());
    let output = output_of(&folder);
    let image = |name: &str, shade: u8| {
        let path = folder.path().join(name);
        image::RgbImage::from_pixel(8, 8, image::Rgb([shade, 0, 0])).save(path).unwrap();
    };
    image("one.png", 1);
    image("two.png", 2);
    let task =
        |id: &str, image: &str, question: &str| json!({"id": id, "image": image, "question": question});
    let mut tasks = [task("a", "one.png", "a?"), task("b", "one.png", "b?"), task("c", "two.png", "c?")];
    let runs = |tasks: &[Value]| {
        let path = folder.json("tasks.json", &json!(tasks));
        let before = model.requests().len();
        let mut command = m3_bare(folder.path());
        let mut arguments = super::arguments(&model, &output);
        arguments[1] = path.to_str().unwrap().to_owned();
        stdout(command.args(arguments));
        (model.requests().len() - before) / 2
    };
    assert_eq!(runs(&tasks), 3);
    tasks[2]["question"] = "d?".into();
    assert_eq!(runs(&tasks), 1);
    tasks[2]["note"] = "a key that nobody knows".into();
    assert_eq!(runs(&tasks), 1);
    image("one.png", 3);
    assert_eq!(runs(&tasks), 2);
    // The order is that of the current file.
    tasks.swap(0, 2);
    assert_eq!(runs(&tasks), 0);
    assert_eq!(ids(&predictions(&output)), ["c", "b", "a"]);
    assert_eq!(predictions(&output)[0]["note"], "a key that nobody knows");
}

#[test]
fn failed_tasks_are_never_done_and_are_run_again_when_asked() {
    let folder = Folder::new();
    let output = output_of(&folder);
    let is_broken = Arc::new(AtomicBool::new(true));
    let broken = Arc::clone(&is_broken);
    let model = ScriptedModel::start(ScriptedWire::OpenAi, move |seen| {
        if broken.load(Ordering::Relaxed) && seen.texts.iter().any(|text| text.contains("two codes")) {
            let body = r#"{"error": {"message": "no images here", "type": "invalid_request_error"}}"#;
            return ScriptedReply::Raw { status: 400, headers: Vec::new(), body: body.to_owned() };
        }
        two_calls(seen)
    });
    let two = ["--id", "00010000", "--id", "00010001"];
    let run_again = |arguments: &[&str]| {
        let before = model.requests().len();
        let done = run(command(&model, &output).args(two).args(arguments));
        (done.status.code().unwrap(), model.requests().len() - before, text(&done.stderr))
    };
    let (code, _, said) = run_again(&[]);
    assert_eq!(code, 3);
    assert!(said.contains("1 of 2 tasks failed") && said.contains("no images here"), "{said}");
    let failed = &predictions(&output)[1];
    assert_eq!(failed["finish"], "error");
    assert!(failed["reason"].as_str().unwrap().contains("no images here"));
    is_broken.store(false, Ordering::Relaxed);
    let (code, asked, said) = run_again(&[]);
    assert_eq!((code, asked), (3, 0));
    assert!(said.contains("1 of 2 tasks is done already") && said.contains("--retry-failed"), "{said}");
    assert_eq!(run_again(&["--retry-failed"]).0, 0);
    assert_eq!(predictions(&output)[1]["run"]["attempt"], 2);
    assert_eq!(run_again(&["--retry-failed"]).1, 0);
}

/// A journal and temporary files as left by a killed run.
#[test]
fn what_a_killed_run_leaves_is_cleared_up() {
    let (folder, model) = (Folder::new(), model());
    let output = output_of(&folder);
    let one = ["--id", "00010000"];
    stdout(command(&model, &output).args(one));
    let whole = without_times(output.join("predictions.json"));
    // Killed after the first prediction, while its journal, the next prediction and a workspace were being written.
    let journal_path = output.join("journal.jsonl");
    let mut text = std::fs::read_to_string(&journal_path).unwrap();
    text.truncate(text.len() - 30);
    std::fs::write(&journal_path, text).unwrap();
    std::fs::remove_file(output.join("predictions.json")).unwrap();
    std::fs::write(output.join("predictions/.m3-abc.tmp"), "{\"id\": ").unwrap();
    std::fs::create_dir_all(output.join("workspaces/00010001")).unwrap();
    std::fs::write(output.join("workspaces/00010001/leftover"), "x").unwrap();
    stdout(command(&model, &output).args(one));
    assert_eq!(without_times(output.join("predictions.json")), whole);
    stdout(command(&model, &output).args(["--id", "00010001"]));
    assert!(!output.join("workspaces/00010001/leftover").exists());
    assert!(!output.join("predictions/.m3-abc.tmp").exists());
    journal(&output);
    // A prediction that cannot be read counts as missing.
    std::fs::write(output.join("predictions/00010000.json"), "{\"id\": \"00010000\"").unwrap();
    stdout(command(&model, &output).args(one));
    assert_eq!(json_of(output.join("predictions/00010000.json"))["finish"], "answered");
}
