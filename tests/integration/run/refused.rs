//! A model that answers no task, and a prompt that does not fit: what is tried, recorded, and tried again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire};
use serde_json::{Value, json};

use super::unavailable::{files, small, small_run};
use super::{command, math_arguments, output_of, predictions, questions, two_calls};
use crate::support::{Folder, failure, follows_kept_schema, m3_bare, root, stdout, text, wait_for};

/// Refused requests are tried at three tasks; when the model can be asked, the same command runs all tasks.
#[test]
fn a_model_that_answers_no_task_stops_the_run_at_the_third() {
    let body =
        |message: &str| json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string();
    let detail = json!({"detail": [{"type": "extra_forbidden", "loc": ["body", "tools"]}]}).to_string();
    for (status, body) in [(400, body("no images here")), (422, detail), (500, body("out of memory"))] {
        let folder = Folder::new();
        let output = output_of(&folder);
        let is_broken = Arc::new(AtomicBool::new(true));
        let broken = Arc::clone(&is_broken);
        let model = ScriptedModel::start(ScriptedWire::OpenAi, move |seen| {
            if broken.load(Ordering::Relaxed) {
                return ScriptedReply::Raw { status, headers: Vec::new(), body: body.clone() };
            }
            two_calls(seen)
        });
        let run_it = || {
            let mut command = command(&model, &output);
            command.args(["--llm-tries", "1", "--workers", "1"]);
            command
        };
        let (code, said) = failure(&mut run_it());
        assert_eq!((code, model.requests().len()), (4, 3), "{status}: {said}");
        assert!(said.contains("hint: nothing is recorded"), "{said}");
        assert_eq!(files(&output.join("predictions")), 0, "{status}");
        is_broken.store(false, Ordering::Relaxed);
        stdout(&mut run_it());
        assert_eq!(predictions(&output).len(), 15);
    }
}

/// Two tasks are refused, and then one is answered: all have a prediction.
#[test]
fn tasks_that_a_model_does_not_take_fail_alone_if_it_answers_another() {
    let folder = Folder::new();
    small(&folder, &json!({}));
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |seen| {
        if seen.last_user_text.contains("Task c") {
            return ScriptedReply::Say("seen".to_owned());
        }
        ScriptedReply::Raw { status: 400, headers: Vec::new(), body: "{}".to_owned() }
    });
    let (code, said) = failure(&mut small_run(&folder, &model));
    assert_eq!(code, 3, "{said}");
    let found = predictions(&output_of(&folder));
    let ends: Vec<_> = found.iter().map(|found| (&found["finish"], found.get("failure"))).collect();
    let failed = (&json!("error"), Some(&json!("provider")));
    assert_eq!(ends, [failed, failed, (&json!("answered"), None)]);
}

#[test]
fn a_prompt_that_does_not_fit_the_context_is_an_end_of_its_own() {
    let folder = Folder::new();
    small(&folder, &json!({}));
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| {
        let error = json!({"message": "too many tokens", "type": "invalid_request_error", "code": "context_length_exceeded"});
        ScriptedReply::Raw { status: 400, headers: Vec::new(), body: json!({ "error": error }).to_string() }
    });
    let done = small_run(&folder, &model).output().unwrap();
    let (table, said) = (text(&done.stdout), text(&done.stderr));
    assert!(done.status.code() == Some(3) && said.contains("3 of 3 tasks failed"), "{said}");
    assert!(
        table.lines().any(|line| line.starts_with("context_overflow") && line.ends_with(" 3")),
        "{table}"
    );
    for prediction in predictions(&output_of(&folder)) {
        assert_eq!(
            (&prediction["finish"], &prediction["failure"]),
            (&json!("context_overflow"), &json!("context"))
        );
        assert!(prediction["reason"].as_str().unwrap().contains("too many tokens"), "{prediction}");
        follows_kept_schema("prediction", &prediction);
    }
    // It would not fit a second time either.
    assert_eq!(failure(small_run(&folder, &model).arg("--retry-failed")).0, 3);
    assert_eq!(model.requests().len(), 3);
}

/// Three tasks are refused while a fourth waits for its reply: the run goes on when the reply has come.
#[test]
fn tasks_under_way_may_show_that_a_model_can_be_asked() {
    let folder = Folder::new();
    let refusals = Arc::new(AtomicUsize::new(0));
    let model = answers_late(&refusals);
    let (tasks, output) = (questions(&folder, 6), output_of(&folder));
    let llm = format!("openai@{}:scripted", model.base_url());
    let cassette = folder.path().join("run.cassette");
    let run_it = |llm: &str, output: &Path, workers: &str| {
        let mut command = m3_bare(folder.path());
        command.args(math_arguments(&tasks, llm, output)).args(["--workers", workers]).current_dir(root());
        command
    };
    let (code, said) = failure(run_it(&llm, &output, "4").arg("--record").arg(&cassette));
    assert_eq!(code, 3, "{said}");
    let ends = |output: &Path| -> Vec<Value> {
        predictions(output).iter().map(|found| found["finish"].clone()).collect()
    };
    let expected = ["error", "error", "error", "answered", "answered", "answered"];
    assert_eq!(ends(&output), expected);
    assert_eq!(model.requests().len(), 6);
    // Repeated refusals do not count against a model that answered in an earlier run.
    let (code, said) = failure(run_it(&llm, &output, "1").arg("--retry-failed"));
    assert_eq!((code, model.requests().len()), (3, 9), "{said}");
    assert_eq!(ends(&output), expected);
    // A recording is replayed to its end, in any order.
    let (played, replay) = (folder.path().join("played"), format!("replay:{}", cassette.display()));
    let (code, said) = failure(&mut run_it(&replay, &played, "1"));
    assert_eq!((code, ends(&played)), (3, expected.map(Value::from).to_vec()), "{said}");
}

/// A model that refuses tasks 0 to 2, and answers the others after that.
fn answers_late(refusals: &Arc<AtomicUsize>) -> ScriptedModel {
    let refusals = Arc::clone(refusals);
    ScriptedModel::start(ScriptedWire::OpenAi, move |seen| {
        if ["Task 00.", "Task 01.", "Task 02."].iter().any(|task| seen.last_user_text.contains(task)) {
            refusals.fetch_add(1, Ordering::SeqCst);
            return ScriptedReply::Raw { status: 400, headers: Vec::new(), body: "{}".to_owned() };
        }
        // The same few threads send the refusals.
        tokio::task::block_in_place(|| wait_for("three refusals", || refusals.load(Ordering::SeqCst) >= 3));
        ScriptedReply::Say("seen".to_owned())
    })
}

/// One task, repeated, on a server that fails: the third failure is the last.
#[test]
fn a_server_that_fails_every_repetition_stops_the_run() {
    let folder = Folder::new();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Raw {
        status: 500,
        headers: Vec::new(),
        body: "{}".to_owned(),
    });
    let tasks = questions(&folder, 1);
    let mut run = m3_bare(folder.path());
    run.args(math_arguments(&tasks, &format!("openai@{}:scripted", model.base_url()), &output_of(&folder)));
    run.args(["--repeat", "20", "--llm-tries", "1", "--workers", "1"]).current_dir(root());
    let (code, said) = failure(&mut run);
    assert_eq!((code, model.requests().len()), (4, 3), "{said}");
}
