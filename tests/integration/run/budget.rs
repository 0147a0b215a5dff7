//! Limits for a task from the command line, and the seeds of repetitions.

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest};
use serde_json::{Value, json};

use super::{add, math_arguments, output_of, predictions, questions};
use crate::support::{Folder, m3_bare, stdout};

/// The prediction of one task whose model makes two calls whenever it has tools, and the table.
fn ended(limit: [&str; 2], script: fn(&SeenRequest) -> ScriptedReply) -> (Value, String) {
    let folder = Folder::new();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, script);
    let (tasks, output) = (questions(&folder, 1), output_of(&folder));
    let llm = format!("openai@{}:scripted", model.base_url());
    let table = stdout(m3_bare(folder.path()).args(math_arguments(&tasks, &llm, &output)).args(limit));
    assert_eq!(model.problems(), Vec::<String>::new());
    (predictions(&output).remove(0), table)
}

fn two_sums(_: &SeenRequest) -> ScriptedReply {
    ScriptedReply::Call(vec![add(1, 2), add(3, 4)])
}

#[test]
fn what_was_used_up_ends_a_task_and_is_said() {
    // Each reply reports 110 tokens. A second is the shortest possible time, and the model does not reply again
    // within it.
    let stalls: fn(&SeenRequest) -> ScriptedReply =
        |seen| if seen.turn > 1 { ScriptedReply::Stall } else { two_sums(seen) };
    for (limit, script, reason, calls, failure) in [
        (
            ["--max-calls", "3"],
            two_sums as fn(&SeenRequest) -> ScriptedReply,
            "calls: the limit of 3",
            3,
            "limit",
        ),
        (["--max-tokens", "200"], two_sums, "tokens: 220 are used, the limit is 200", 2, "limit"),
        (["--task-time", "4"], stalls, "time: the limit is 4s", 2, "time"),
    ] {
        let (prediction, table) = ended(limit, script);
        assert_eq!(prediction["finish"], "budget", "{limit:?}: {prediction}");
        assert_eq!(prediction["failure"], failure, "{limit:?}");
        let found = prediction["reason"].as_str().unwrap();
        assert!(found.contains(reason), "{limit:?}: {found}");
        let steps = prediction["steps"].as_array().unwrap();
        let made: usize = steps.iter().map(|step| step["calls"].as_array().unwrap().len()).sum();
        assert_eq!(made, calls, "{limit:?}: {prediction}");
        assert!(table.contains("budget     1\n") && table.contains("error      0\n"), "{table}");
    }
}

/// With the same seed they would be copies of one another.
#[test]
fn repetitions_have_seeds_one_after_the_other() {
    let folder = Folder::new();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Say("done".to_owned()));
    let (tasks, output) = (questions(&folder, 1), output_of(&folder));
    let llm = format!("openai@{}:scripted", model.base_url());
    let mut command = m3_bare(folder.path());
    stdout(command.args(math_arguments(&tasks, &llm, &output)).args(["--seed", "7", "--repeat", "2"]));
    let mut seeds: Vec<Value> = model.requests().iter().map(|request| request["seed"].clone()).collect();
    seeds.sort_by_key(Value::as_u64);
    assert_eq!(seeds, [json!(7), json!(8)]);
    assert_eq!(model.problems(), Vec::<String>::new());
}
