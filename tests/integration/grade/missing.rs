//! Judges that fail or give unreadable replies: their grades are missing and listed, never 0.

use std::sync::atomic::Ordering;
use std::time::Duration;

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire};
use serde_json::json;

use super::{RESPECTS, Tasks, counter, is_about_completion, judge, name, near, requests, says, task};
use crate::support::{failure, follows_kept_schema, m3_bare, run, text, wait_for};

fn found(command: &mut assert_cmd::Command, code: i32) -> serde_json::Value {
    let ended = run(command.args(["--format", "json"]));
    assert_eq!(ended.status.code(), Some(code), "{}", text(&ended.stderr));
    let report = serde_json::from_slice(&ended.stdout).unwrap();
    follows_kept_schema("grades", &report);
    report
}

#[test]
fn nothing_is_written_over_what_is_read_kept_or_written_beside_it() {
    let tasks = Tasks::new(&["a"]);
    let model = judge("5", "0.5");
    let place = |name: &str| tasks.folder.path().join(name).display().to_string();
    for (output, report) in
        [("g.json", "g.json"), ("g.json", "g.json.answers.jsonl"), ("references.json", "r.json")]
    {
        let mut command = tasks.grade(&[&model]);
        let (code, said) = failure(command.args(["--graded", &place(output), "--out", &place(report)]));
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("is one of the files that are read or kept"), "{said}");
    }
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn a_judge_that_fails_is_missing_and_the_rest_goes_on() {
    let tasks = Tasks::new(&["a", "b", "c", "d"]);
    let refuses = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Raw {
        status: 403,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: json!({"error": {"message": "not for you", "type": "forbidden"}}).to_string(),
    });
    let judges = [judge("9", "1"), judge("2", "0.5"), judge("7", "0.25")];
    let mut command = tasks.grade(&[&judges[0], &judges[1], &judges[2], &refuses]);
    let found = found(command.args(["--workers", "1"]), 3);
    // The middle one of the three remaining grades.
    near(&found["measures"]["task_completion"]["mean"], 0.7);
    let missing = found["missing"].as_array().unwrap();
    assert_eq!(missing.len(), 8);
    assert!(missing.iter().all(|missing| missing["judge"] == name(3, &refuses)));
    assert!(missing[0]["reason"].as_str().unwrap().contains("not for you"), "{missing:?}");
    // After the third task it is not asked any more.
    assert!(missing[4]["reason"].as_str().unwrap().contains("not for you"), "{missing:?}");
    assert!(missing[5]["reason"].as_str().unwrap().contains("not asked any more"), "{missing:?}");
    assert_eq!(refuses.requests().len(), 5);
    assert_eq!(found["judges"][3]["missing"], 8);
    assert_eq!(found["judges"][3]["measures"], json!({}));
    // Agreement of the remaining judges: each passes two of three.
    let agreement = &found["agreement"][0];
    assert_eq!(
        (&agreement["graded_by_all"], &agreement["left_out"]),
        (&json!(4), &json!([name(3, &refuses)]))
    );
    // Observed 1/3; expected (2/3)^2 + (1/3)^2 = 5/9: (1/3 - 5/9) / (4/9).
    near(&agreement["fleiss_kappa"], -0.5);
}

#[test]
fn a_judge_that_has_answered_nobody_is_left_alone_at_the_third_task() {
    let tasks = Tasks::new(&["a", "b", "c", "d", "e"]);
    let refuses = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Raw {
        status: 400,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: json!({"error": {"message": "no such parameter", "type": "invalid_request_error"}}).to_string(),
    });
    let ended = run(tasks.grade(&[&refuses]).args(["--workers", "1"]));
    assert_eq!(ended.status.code(), Some(4), "{}", text(&ended.stderr));
    // Two questions for each task; the last one is the first of the third task.
    assert_eq!(refuses.requests().len(), 5);
}

/// The judge has answered an earlier command, so its refusals now concern the tasks.
#[test]
fn a_judge_that_answered_an_earlier_command_is_asked_about_every_task() {
    let ids = ["a", "b", "c", "d", "e"];
    let tasks = Tasks::new(&ids);
    let predicted = |ids: &[&str]| {
        let all: Vec<_> = ids.iter().map(|id| task(id, &format!("answer {id}"))).collect();
        tasks.folder.json("predictions.json", &json!(all));
    };
    let picky = ScriptedModel::start(ScriptedWire::OpenAi, |seen| {
        if !seen.last_user_text.contains("answer e") {
            return ScriptedReply::Raw { status: 400, headers: Vec::new(), body: "{}".to_owned() };
        }
        let scores: serde_json::Map<String, serde_json::Value> =
            RESPECTS.iter().map(|respect| ((*respect).to_owned(), json!(8))).collect();
        ScriptedReply::Say(serde_json::Value::Object(scores).to_string())
    });
    let grade = |code| {
        found(tasks.grade(&[&picky]).args(["--rubric", "mcp-bench", "--workers", "1"]), code);
    };
    predicted(&["e"]);
    grade(0);
    let before = picky.requests().len();
    predicted(&ids);
    grade(3);
    // Five passes for each of the other four.
    assert_eq!(picky.requests().len() - before, 20);
}

#[test]
fn a_task_that_no_judge_takes_silences_nobody() {
    let tasks = Tasks::new(&["a", "b", "c"]);
    tasks
        .folder
        .json("predictions.json", &json!(["a", "b", "c"].map(|id| task(id, &format!("answer {id}")))));
    let strict = ScriptedModel::start(ScriptedWire::OpenAi, |seen| {
        if seen.last_user_text.contains("answer a") {
            return ScriptedReply::Raw {
                status: 400,
                headers: vec![("content-type".to_owned(), "application/json".to_owned())],
                body: json!({"error": {"message": "against the content policy", "code": "content_filter"}})
                    .to_string(),
            };
        }
        let scores: serde_json::Map<String, serde_json::Value> =
            RESPECTS.iter().map(|respect| ((*respect).to_owned(), json!(8))).collect();
        ScriptedReply::Say(serde_json::Value::Object(scores).to_string())
    });
    let grade = || {
        let mut command = tasks.grade(&[&strict]);
        command.args(["--rubric", "mcp-bench", "--workers", "1"]);
        found(&mut command, 3)
    };
    for requests in [15, 20] {
        let found = grade();
        near(&found["measures"]["mcp_bench"]["mean"], 0.8);
        assert_eq!([&found["measures"]["mcp_bench"]["tasks"], &found["ledger"]["graded"]], [2, 2]);
        let missing = found["missing"].as_array().unwrap();
        assert_eq!(missing.len(), 5);
        assert!(missing.iter().all(|missing| missing["id"] == "a"), "{missing:?}");
        assert!(missing[4]["reason"].as_str().unwrap().contains("content policy"), "{missing:?}");
        // The second time, only the first task is asked about again.
        assert_eq!(strict.requests().len(), requests);
    }
}

#[test]
fn tasks_without_a_prediction_are_in_the_ledger_and_count_as_0_beside_the_mean() {
    let tasks = Tasks::new(&["a", "b", "c", "d", "e"]);
    tasks.folder.json("predictions.json", &json!([task("b", "37 kcal"), task("z", "37 kcal")]));
    let model = judge("5", "0.5");
    let found = found(&mut tasks.grade(&[&model]), 0);
    follows_kept_schema("grades", &found);
    let ledger = json!({"references": 5, "predictions": 2, "graded": 2, "missing": ["a", "c", "d", "e"], "extra": ["z"]});
    assert_eq!(found["ledger"], ledger);
    // By hand: two of 0.5 and four of 0; for grounding, one of 0.5 and four of 0.
    let measures = &found["measures"];
    near(&measures["task_completion"]["mean"], 0.5);
    near(&measures["task_completion"]["mean_with_absent_as_zero"], 1.0 / 6.0);
    near(&measures["information_grounding"]["mean_with_absent_as_zero"], 0.1);
    assert_eq!(measures["task_completion"]["absent"], 4);
    near(&found["by_type"]["type of c"]["task_completion"]["mean_with_absent_as_zero"], 0.0);
    assert!(
        found["notes"][0].as_str().unwrap().contains("4 of 5 references without a prediction"),
        "{found}"
    );
    let table = text(&run(&mut tasks.grade(&[&model])).stdout);
    assert!(table.contains("absent as 0") && table.contains("0.167"), "{table}");
}

#[test]
fn a_score_out_of_range_is_asked_for_again() {
    let tasks = Tasks::new(&["a"]);
    let corrects = ScriptedModel::start(ScriptedWire::OpenAi, |seen| {
        ScriptedReply::Say(match (is_about_completion(seen), seen.turn) {
            (true, 1) => "\\boxed{11}".to_owned(),
            (true, 2) => "\\boxed{3} or rather \\boxed{4}".to_owned(),
            (true, _) => "\\boxed{4}".to_owned(),
            (false, 1) => "\\boxed{0.5}".to_owned(),
            (false, _) => "{\"matrix\": [[0.75]]} \\boxed{0.5}".to_owned(),
        })
    });
    let found = found(&mut tasks.grade(&[&corrects]), 0);
    near(&found["measures"]["task_completion"]["mean"], 0.4);
    near(&found["trajectories"][0]["grades"]["matrix"][0][0], 0.75);
    assert_eq!(requests(&[&corrects]), 5);
    let asked = json!(corrects.requests()).to_string();
    assert!(
        asked.contains("11 is not between 0 and 10") && asked.contains("say different things"),
        "{asked}"
    );
}

#[test]
fn a_judge_that_never_says_a_score_is_missing_and_asked_again_next_time() {
    let tasks = Tasks::new(&["a"]);
    let silent = ScriptedModel::start(ScriptedWire::OpenAi, says("I would give it a 10."));
    let other = judge("2", "0.5");
    let found = found(&mut tasks.grade(&[&silent, &other]), 3);
    near(&found["measures"]["task_completion"]["mean"], 0.2);
    assert_eq!(found["missing"].as_array().unwrap().len(), 2);
    assert!(found["missing"][0]["reason"].as_str().unwrap().contains("no \\boxed"), "{found}");
    assert_eq!(requests(&[&silent]), 6);
    self::found(&mut tasks.grade(&[&silent, &other]), 3);
    assert_eq!((requests(&[&silent]), requests(&[&other])), (12, 2));
}

#[test]
fn a_grounding_without_its_matrix_keeps_its_score() {
    let tasks = Tasks::new(&["a"]);
    let model = judge("5", "0.5, 0.5");
    let found = found(&mut tasks.grade(&[&model]), 3);
    assert!(found["missing"][0]["reason"].as_str().unwrap().contains("is not a number"), "{found}");
    let lazy = ScriptedModel::start(ScriptedWire::OpenAi, says("\\boxed{0.5}"));
    let found = self::found(&mut tasks.grade(&[&lazy]), 0);
    near(&found["measures"]["information_grounding"]["mean"], 0.5);
    assert_eq!(found["trajectories"][0]["grades"].get("matrix"), None);
}

#[test]
fn without_any_judge_there_are_no_grades() {
    let tasks = Tasks::new(&["a"]);
    let mut command = tasks.grade_by("openai:gpt-5");
    let ended = run(command.env_remove("OPENAI_API_KEY").env_remove("M3_LLM_KEY"));
    assert_eq!(ended.status.code(), Some(4));
    assert!(text(&ended.stderr).contains("no judge can be asked"), "{}", text(&ended.stderr));
    // One judge that can be asked is enough.
    let other = judge("2", "0.5");
    let mut command = tasks.grade_by(&format!("openai:gpt-5,{}", name(0, &other)));
    let found = found(command.env_remove("OPENAI_API_KEY").env_remove("M3_LLM_KEY"), 3);
    assert_eq!(found["missing"].as_array().unwrap().len(), 2);
    assert!(found["missing"][0]["reason"].as_str().unwrap().contains("OPENAI_API_KEY"), "{found}");
    let both = format!("{},{}", name(0, &other), name(0, &other));
    assert_eq!(run(&mut tasks.grade_by(&both)).status.code(), Some(2), "named twice");
}

#[test]
fn task_completion_needs_no_reference() {
    let tasks = Tasks::new(&["a"]);
    let model = judge("5", "0.5");
    let mut command = m3_bare(tasks.folder.path());
    command.arg("grade").arg(&tasks.predictions).args(["--llm", &name(0, &model)]);
    let found = found(&mut command, 0);
    near(&found["measures"]["task_completion"]["mean"], 0.5);
    assert_eq!(found["measures"]["information_grounding"]["tasks"], 0);
    assert_eq!(requests(&[&model]), 1);
}

#[test]
fn what_was_answered_before_an_interruption_is_kept() {
    let tasks = Tasks::new(&["a", "b", "c"]);
    let count = counter();
    let asked = count.clone();
    let slow = ScriptedModel::start(ScriptedWire::OpenAi, move |seen| {
        let number = asked.fetch_add(1, Ordering::SeqCst);
        let score = if is_about_completion(seen) { "\\boxed{5}" } else { "{\"matrix\": [[1]]} \\boxed{0.5}" };
        let score = ScriptedReply::Say(score.to_owned());
        if number == 3 { ScriptedReply::After(Duration::from_millis(200), Box::new(score)) } else { score }
    });
    let command = tasks.grade(&[&slow]);
    let mut process = std::process::Command::new(command.get_program());
    process.args(command.get_args()).args(["--workers", "1"]).current_dir(tasks.folder.path());
    process.env("M3_CACHE_DIR", tasks.folder.path()).stdout(std::process::Stdio::piped());
    let process = process.stderr(std::process::Stdio::piped()).spawn().unwrap();
    wait_for("it asks", || count.load(Ordering::SeqCst) >= 4);
    let id = rustix::process::Pid::from_raw(i32::try_from(process.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let ended = process.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
    assert!(ended.stdout.is_empty(), "no report of a part");
    found(&mut tasks.grade(&[&slow]), 0);
    // The reply under way is paid for and kept: only the two others are asked for.
    assert_eq!(count.load(Ordering::SeqCst), 4 + 2);
}
