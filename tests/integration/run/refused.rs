//! A model that answers nobody, and a prompt that does not fit: what is tried, what is recorded, what is tried again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::unavailable::{files, small, small_run};
use super::{command, output_of, predictions, two_calls};
use crate::model_server::{Scripted, ScriptedModel, Spoken};
use crate::support::{Folder, failure, follows_kept_schema, stdout};

/// What nobody takes is tried at three tasks; the same command runs all of them when the model can be asked.
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
        let model = ScriptedModel::start(Spoken::OpenAi, move |seen| {
            if broken.load(Ordering::Relaxed) {
                return Scripted::Raw { status, headers: Vec::new(), body: body.clone() };
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

/// Two tasks that the model does not take, and then one that it answers: all have a prediction.
#[test]
fn tasks_that_a_model_does_not_take_fail_alone_if_it_answers_another() {
    let folder = Folder::new();
    small(&folder, &json!({}));
    let model = ScriptedModel::start(Spoken::OpenAi, |seen| {
        if seen.last_user_text.contains("Task c") {
            return Scripted::Say("seen".to_owned());
        }
        Scripted::Raw { status: 400, headers: Vec::new(), body: "{}".to_owned() }
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
    let model = ScriptedModel::start(Spoken::OpenAi, |_| {
        let error = json!({"message": "too many tokens", "type": "invalid_request_error", "code": "context_length_exceeded"});
        Scripted::Raw { status: 400, headers: Vec::new(), body: json!({ "error": error }).to_string() }
    });
    let table = stdout(&mut small_run(&folder, &model));
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
    // Asked again, it would not fit either.
    stdout(small_run(&folder, &model).arg("--retry-failed"));
    assert_eq!(model.requests().len(), 3);
}
