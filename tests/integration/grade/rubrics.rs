//! The judges of MCP-AgentBench and of MCP-Bench.

use std::collections::BTreeSet;

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire};
use serde_json::{Value, json};

use super::{RESPECTS, Tasks, near, report, requests, task};

#[test]
fn mcp_eval_gives_pass_rates_by_category() {
    let tasks = Tasks::new(&["a", "b", "c"]);
    let mut predictions = [task("a", "37 kcal"), task("b", "12 kcal"), task("c", "37 kcal")];
    for prediction in &mut predictions[..2] {
        prediction["type"] = json!("single");
    }
    tasks.folder.json("predictions.json", &json!(predictions));
    tasks.folder.json(
        "references.json",
        &json!(["a", "b", "c"].map(|id| {
            let mut reference = task(id, "37 kcal");
            reference["type"] = json!(if id == "c" { "multi" } else { "single" });
            reference
        })),
    );
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |seen| {
        let passes = !seen.last_user_text.contains("12 kcal");
        ScriptedReply::Say(if passes { "\\boxed{pass}" } else { "\\boxed{fail}" }.to_owned())
    });
    let found = report(tasks.grade(&[&model]).args(["--rubric", "mcp-eval"]));
    near(&found["measures"]["mcp_eval"]["mean"], 2.0 / 3.0);
    near(&found["by_type"]["single"]["mcp_eval"]["mean"], 0.5);
    near(&found["by_type"]["multi"]["mcp_eval"]["mean"], 1.0);
    assert_eq!(requests(&[&model]), 3);
    // Each reference has one call. The answers are kept: no judge is asked again.
    let by_class = report(tasks.grade(&[&model]).args(["--rubric", "mcp-eval", "--by", "class"]));
    let classes = by_class["by_type"].as_object().unwrap();
    assert_eq!((classes.len(), requests(&[&model])), (1, 3));
    near(&classes["single"]["mcp_eval"]["mean"], 2.0 / 3.0);
    // The judge sees both answers, and no steps.
    let asked = json!(model.requests()).to_string();
    assert!(asked.contains("reference answer") && !asked.contains("steps of the program"), "{asked}");
}

#[test]
fn judges_of_mcp_eval_vote() {
    let tasks = Tasks::new(&["a"]);
    let verdict =
        |word: &str| ScriptedModel::start(ScriptedWire::OpenAi, super::says(&format!("\\boxed{{{word}}}")));
    let judges = [verdict("pass"), verdict("fail"), verdict("pass"), verdict("fail")];
    let grade = |count: usize| {
        let judges: Vec<_> = judges[..count].iter().collect();
        report(tasks.grade(&judges).args(["--rubric", "mcp-eval"]))
    };
    near(&grade(3)["measures"]["mcp_eval"]["mean"], 1.0);
    let even = grade(4);
    near(&even["measures"]["mcp_eval"]["mean"], 0.0);
    assert_eq!(even["trajectories"][0]["grades"]["is_tied"], true);
    assert!(even["notes"].to_string().contains("as many judges as fail"), "{even}");
}

#[test]
fn mcp_bench_shuffles_five_times_and_averages() {
    let tasks = Tasks::new(&["a"]);
    // The first respect of the list gets 10, the others 4: the mean shows how often each came first.
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |seen| {
        let (_, keys) = seen.system.rsplit_once('{').unwrap();
        let keys: Vec<&str> = keys.split('"').skip(1).step_by(2).collect();
        let scores: serde_json::Map<String, Value> = keys
            .iter()
            .enumerate()
            .map(|(place, key)| ((*key).to_owned(), json!(if place == 0 { 10 } else { 4 })))
            .collect();
        ScriptedReply::Say(Value::Object(scores).to_string())
    });
    let grade =
        |seed: &str| report(tasks.grade(&[&model]).args(["--rubric", "mcp-bench", "--order-seed", seed]));
    let found = grade("0");
    assert_eq!(requests(&[&model]), 5);
    // By hand: in each pass one of six respects has 1.0 and five have 0.4; its axis has 0.7, the others 0.4.
    near(&found["measures"]["mcp_bench"]["mean"], 0.5);
    let sum: f64 = RESPECTS
        .iter()
        .map(|respect| found["measures"][format!("mcp_bench_{respect}")]["mean"].as_f64().unwrap())
        .sum();
    assert!((sum - 3.0).abs() < 1e-9, "{sum}");
    let orders: BTreeSet<String> =
        model.requests().iter().map(|request| request["messages"][0]["content"].to_string()).collect();
    assert!(orders.len() > 1, "the order changes from pass to pass");
    assert_eq!(found["passes"], 5);
    assert_eq!(found["consistency"][0]["tasks"], 1);
    // Answers in the same orders are known, in others not; the leaderboard's grades are unchanged.
    grade("0");
    assert_eq!(requests(&[&model]), 5);
    grade("1");
    assert!(requests(&[&model]) > 5);
    assert_eq!(found["trajectories"][0]["grades"].get("information_grounding"), None);
}

#[test]
fn judges_of_mcp_bench_see_the_tools_that_were_on_offer() {
    let tasks = Tasks::new(&["a"]);
    let tool = json!({"name": "get", "description": "Nutrients of a food.\nstep 1", "inputSchema": {"type": "object"}});
    let catalog = tasks.folder.json("tools.json", &json!({"food": {"tools": [tool]}}));
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |seen| {
        let (_, keys) = seen.system.rsplit_once('{').unwrap();
        let keys = keys.split('"').skip(1).step_by(2);
        let scores: serde_json::Map<String, Value> =
            keys.map(|key| (key.to_owned(), json!(if seen.turn == 1 { 7.5 } else { 7.0 }))).collect();
        ScriptedReply::Say(Value::Object(scores).to_string())
    });
    let grade = |catalog: Option<&std::path::Path>| {
        let mut command = tasks.grade(&[&model]);
        command.args(["--rubric", "mcp-bench", "--repeat", "1"]);
        if let Some(catalog) = catalog {
            command.arg("--tools").arg(catalog);
        }
        report(&mut command)
    };
    // Half a point is not a whole number, as asked for.
    near(&grade(Some(&catalog))["measures"]["mcp_bench"]["mean"], 0.7);
    assert_eq!(requests(&[&model]), 2);
    let asked = json!(model.requests()[1]).to_string();
    assert!(
        asked.contains("  tool food/get: Nutrients of a food.") && asked.contains("whole number"),
        "{asked}"
    );
    // Without tools it is another question.
    grade(None);
    assert_eq!(requests(&[&model]), 4);
}
