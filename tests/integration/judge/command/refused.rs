//! Problems are reported before the judge is asked; a judge that cannot be asked ends the command.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use m3_testkit::model_server::ScriptedReply;
use serde_json::json;

use super::{asking, command, is_verdict, judge_by, kind, long_run, rejected, target, task};
use crate::support::{Folder, call, failure, m3_bare, run, stdout, text, trajectory};

#[test]
fn bad_input_is_refused_before_anybody_is_asked() {
    let folder = Folder::new();
    let model = judge_by(kind);
    let predictions = folder.json("predictions.json", &json!([long_run("abc")]));
    let refused = |command: &mut assert_cmd::Command, expected: &str| {
        let (code, said) = failure(command);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(expected), "{said}");
        assert!(!target(&folder).exists() && !folder.path().join("references.journal.jsonl").exists());
    };
    refused(&mut command(&folder, &[&predictions]), "--llm <MODEL>|--rules-only");
    refused(asking(&folder, &[&predictions], &model).arg("--rules-only"), "cannot be used with");
    refused(asking(&folder, &[&predictions], &model).args(["--id", "abd"]), "did you mean `abc`?");
    refused(asking(&folder, &[folder.path()], &model).args(["--id", "x"]), "there is no run of the task `x`");
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    refused(&mut asking(&folder, &[&empty], &model), "no file in this folder (0 files) has a format");
    // The judge needs the image, so it has to be found.
    let mut without = command(&folder, &[&predictions]);
    without.args(["--llm", &super::name_of(&model)]);
    refused(&mut without, "the image `images/shelf.png` is no file in");
    let mut onto_itself = m3_bare(folder.path());
    onto_itself.arg("judge").arg(&predictions).args(["--rules-only", "-o"]).arg(&predictions);
    refused(&mut onto_itself, "is one of the files that are read");
    for name in
        ["references.json", "references.rejected.json", "references.journal.jsonl", "predictions.json"]
    {
        let mut twice = asking(&folder, &[&predictions], &model);
        refused(
            twice.arg("--record").arg(folder.path().join(name)),
            "is one of the files that are read or kept",
        );
    }
    let mut nowhere = m3_bare(folder.path());
    nowhere.arg("judge").arg(&predictions).args(["--rules-only", "-o", "/nonexistent/r.json"]);
    refused(&mut nowhere, "/nonexistent/r.json");
    let catalog = folder.json("catalog.json", &json!({"math": {"tools": []}}));
    refused(asking(&folder, &[&predictions], &model).arg("--verify").arg(&catalog), "a replay needs servers");
    assert_eq!(model.requests().len(), 0);
    // A file of another kind is not touched either.
    let foreign = folder.write("references.journal.jsonl", "mine\n");
    let (code, said) = failure(&mut asking(&folder, &[&predictions], &model));
    assert_eq!((code, said.contains("is no journal of `m3 judge`")), (2, true), "{said}");
    assert_eq!(std::fs::read_to_string(foreign).unwrap(), "mine\n");
}

#[test]
fn runs_without_results_are_rejected_with_a_way_out() {
    let folder = Folder::new();
    let bare = trajectory("a", &[&[call("math/add", json!({"firstNumber": 1, "secondNumber": 2}))]]);
    let predictions = folder.json("predictions.json", &json!([bare]));
    let model = judge_by(kind);
    let done = run(&mut asking(&folder, &[&predictions], &model));
    assert_eq!(done.status.code(), Some(0));
    assert!(text(&done.stderr).contains("m3 record PRED --servers"), "{}", text(&done.stderr));
    assert_eq!(super::refusal(&rejected(&folder)[0])["kind"], "no_successful_call");
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn a_judge_that_cannot_be_asked_ends_the_command() {
    let folder = Folder::new();
    let predictions = folder.json("predictions.json", &json!([long_run("a"), long_run("b")]));
    let unauthorized = r#"{"error": {"message": "wrong key", "type": "invalid_request_error"}}"#;
    let model = judge_by(move |_| ScriptedReply::Raw {
        status: 401,
        headers: Vec::new(),
        body: unauthorized.to_owned(),
    });
    let (code, said) = failure(&mut asking(&folder, &[&predictions], &model));
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("wrong key") && said.contains("the same command continues"), "{said}");
    assert!(!target(&folder).exists());
    let mut without_key = command(&folder, &[&predictions]);
    without_key.args(["--llm", "openai:gpt-5"]).env_remove("OPENAI_API_KEY").env_remove("M3_LLM_KEY");
    without_key.current_dir(folder.path());
    let (code, said) = failure(&mut without_key);
    assert_eq!((code, said.contains("there is no key")), (4, true), "{said}");
}

/// It has answered no task, so the third is the last that it is asked about.
#[test]
fn a_judge_that_answers_no_task_ends_the_command_at_the_third() {
    let folder = Folder::new();
    let runs: Vec<_> = (0..12).map(|number| long_run(&format!("t{number}"))).collect();
    let predictions = folder.json("predictions.json", &json!(runs));
    let body = r#"{"error": {"message": "no such parameter", "type": "invalid_request_error"}}"#;
    let model =
        judge_by(move |_| ScriptedReply::Raw { status: 400, headers: Vec::new(), body: body.to_owned() });
    let (code, said) = failure(asking(&folder, &[&predictions], &model).args(["--workers", "1"]));
    assert_eq!((code, model.requests().len()), (4, 3), "{said}");
    assert!(said.contains("no such parameter") && said.contains("the same command continues"), "{said}");
    assert!(!target(&folder).exists());
}

/// One question is refused and the others answered: the run is undecided, and asked about again.
#[test]
fn a_run_that_gets_no_reply_is_undecided() {
    let folder = Folder::new();
    let predictions = folder.json("predictions.json", &json!([long_run("a"), long_run("b")]));
    let model = judge_by(|seen| {
        if task(seen) == "b" {
            let body = r#"{"error": {"message": "not this one", "type": "invalid_request_error"}}"#;
            return ScriptedReply::Raw { status: 400, headers: Vec::new(), body: body.to_owned() };
        }
        kind(seen)
    });
    let done = run(&mut asking(&folder, &[&predictions], &model));
    assert_eq!(done.status.code(), Some(3), "{}", text(&done.stderr));
    let refusal = super::refusal(&rejected(&folder)[0]).clone();
    assert_eq!(refusal["kind"], "no_reply");
    assert!(refusal["reason"].as_str().unwrap().contains("not this one"), "{refusal}");
    let asked = model.requests().len();
    run(&mut asking(&folder, &[&predictions], &model));
    assert_eq!(model.requests().len(), asked + 1);
}

/// Answers in the journal do not show that the judge can be asked now.
#[test]
fn a_key_that_was_revoked_ends_the_command_that_goes_on() {
    let folder = Folder::new();
    let predictions = folder.json("predictions.json", &json!([long_run("a")]));
    let is_revoked = Arc::new(AtomicBool::new(false));
    let revoked = Arc::clone(&is_revoked);
    let model = judge_by(move |seen| {
        let status = if revoked.load(Ordering::Relaxed) { 401 } else { 400 };
        if is_verdict(seen) && status == 400 {
            return kind(seen);
        }
        let body = r#"{"error": {"message": "no", "type": "invalid_request_error"}}"#;
        ScriptedReply::Raw { status, headers: Vec::new(), body: body.to_owned() }
    });
    assert_eq!(run(&mut asking(&folder, &[&predictions], &model)).status.code(), Some(3));
    is_revoked.store(true, Ordering::Relaxed);
    assert_eq!(failure(&mut asking(&folder, &[&predictions], &model)).0, 4);
    assert_eq!(model.requests().len(), 3);
}

#[test]
fn two_at_once_are_refused() {
    let folder = Folder::new();
    let predictions = folder.json("predictions.json", &json!([long_run("a")]));
    let path = folder.path().join("references.journal.jsonl");
    let model = judge_by(kind);
    stdout(&mut asking(&folder, &[&predictions], &model));
    let held = std::fs::OpenOptions::new().read(true).open(&path).unwrap();
    held.lock().unwrap();
    let (code, said) = failure(&mut asking(&folder, &[&predictions], &model));
    assert_eq!((code, said.contains("another m3 works with")), (4, true), "{said}");
    drop(held);
    stdout(&mut asking(&folder, &[&predictions], &model));
}

#[test]
fn a_damaged_journal_is_refused_with_its_place_before_anybody_is_asked() {
    let folder = Folder::new();
    let predictions = folder.json("predictions.json", &json!([long_run("a")]));
    let path = folder.path().join("references.journal.jsonl");
    let model = judge_by(kind);
    stdout(&mut asking(&folder, &[&predictions], &model));
    let damaged = std::fs::read_to_string(&path).unwrap().replacen("{\"key\":", "\"key\":", 1);
    std::fs::write(&path, &damaged).unwrap();
    let (code, said) = failure(&mut asking(&folder, &[&predictions], &model));
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("references.journal.jsonl:2` is no line of") && said.contains("hint:"), "{said}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), damaged);
    assert_eq!(model.requests().len(), 2);
}

/// The second command takes one task's answers from the journal, so the judge is not given up.
#[test]
fn tasks_that_are_refused_again_stop_no_second_command() {
    let folder = Folder::new();
    let runs: Vec<_> = ["t0", "t1", "t2", "t3"].map(long_run).into();
    let predictions = folder.json("predictions.json", &json!(runs));
    let model = judge_by(|seen| {
        if task(seen) == "t0" {
            return kind(seen);
        }
        ScriptedReply::Raw { status: 400, headers: Vec::new(), body: "{}".to_owned() }
    });
    for requests in [5, 8] {
        let (code, said) = failure(asking(&folder, &[&predictions], &model).args(["--workers", "1"]));
        assert_eq!((code, model.requests().len()), (3, requests), "{said}");
        assert!(target(&folder).exists());
    }
}
