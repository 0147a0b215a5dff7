//! `m3 outcomes --llm`: a model decides only where no rule is sure.

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest};
use serde_json::{Value, json};

use crate::support::{Folder, m3_bare, report, run, text};

/// Three answers that no rule is sure of, and one that is a plain success.
fn predictions(folder: &Folder) -> std::path::PathBuf {
    let call = |value: &str, result: &str| json!({"name": "food/get", "arguments": {"query": value}, "result": result});
    let calls = [
        call("melon", "Error executing tool get: 'measure'"),
        call("pear", "[]"),
        call("plum", "Forbidden: you have no part in this"),
        call("fig", "A fig has 37 kcal."),
    ];
    folder.json("predictions.json", &json!([{"id": "a", "steps": [{"step": 1, "calls": calls}]}]))
}

fn tools(folder: &Folder) -> std::path::PathBuf {
    let tool = json!({"name": "get", "description": "", "inputSchema": {"type": "object"}});
    folder.json("tools.json", &json!({"food": {"tools": [tool]}}))
}

fn decide(seen: &SeenRequest) -> ScriptedReply {
    let asked = &seen.last_user_text;
    ScriptedReply::Say(if asked.contains("melon") {
        "resource_not_found: the backend lacks the key `measure`".to_owned()
    } else if asked.contains("pear") {
        "success: an empty list is a true finding".to_owned()
    } else {
        "I cannot say.".to_owned()
    })
}

#[test]
fn a_model_decides_what_no_rule_is_sure_of_and_nothing_else() {
    let folder = Folder::new();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, decide);
    let (predictions, tools) = (predictions(&folder), tools(&folder));
    let cassette = folder.path().join("asked.cassette");
    let outcomes = |llm: &str, record: bool| {
        let mut command = m3_bare(folder.path());
        command.arg("outcomes").arg(&predictions).arg("--tools").arg(&tools).args(["--llm", llm]);
        if record {
            command.arg("--record").arg(&cassette);
        }
        command
    };
    let name = format!("openai@{}:scripted", model.base_url());
    let found = report(&mut outcomes(&name, true));
    assert_eq!(model.problems(), Vec::<String>::new());
    assert_eq!(model.requests().len(), 3);
    let calls: Vec<[&Value; 3]> = found["trajectories"][0]["details"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| [&call["outcome"], &call["rule"], &call["confidence"]])
        .collect();
    assert_eq!(
        json!(calls),
        json!([
            ["resource_not_found", "model_says_not_found", "asked"],
            ["success", "model_says_success", "asked"],
            ["resource_not_found", "begins_like_failure", "unsure"],
            ["success", "normal_result", "sure"],
        ])
    );
    let evidence = &found["trajectories"][0]["details"][0]["evidence"];
    assert_eq!(evidence, "the backend lacks the key `measure` (not sure by rule: says_error)");
    // A replay without a network gives the same; unclear replies are reported.
    drop(model);
    let replay = format!("replay:{}", cassette.display());
    assert_eq!(report(&mut outcomes(&replay, false)), found);
    let said = text(&run(&mut outcomes(&replay, false)).stderr);
    assert!(said.contains("1 replies of") && said.contains("2 answers were decided by"), "{said}");
    assert!(!said.contains("before it is whole"), "{said}");
    // A recording as left by a kill.
    let mut recorded = std::fs::read_to_string(&cassette).unwrap();
    let lines = recorded.lines().count();
    recorded.push_str("{\"kind\": \"mod");
    std::fs::write(&cassette, recorded).unwrap();
    let said = text(&run(&mut outcomes(&replay, false)).stderr);
    let expected = format!("has 1 line that ends before it is whole, the first is line {}", lines + 1);
    assert!(said.contains(&expected), "{said}");
}

#[test]
fn a_model_that_cannot_be_asked_fails_the_command() {
    let folder = Folder::new();
    let mut command = m3_bare(folder.path());
    command.arg("outcomes").arg(predictions(&folder)).arg("--tools").arg(tools(&folder));
    command.env_remove("OPENAI_API_KEY").env_remove("M3_LLM_KEY").current_dir(folder.path());
    let ended = run(command.args(["--llm", "openai:gpt-5"]));
    assert_eq!(ended.status.code(), Some(4));
    assert!(text(&ended.stderr).contains("OPENAI_API_KEY"), "{}", text(&ended.stderr));
}
