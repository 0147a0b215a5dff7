//! Several runs of a task give one reference.

use m3_testkit::model_server::ScriptedReply;
use serde_json::json;

use super::{
    SUCCESS, asking, best, command, ids, is_verdict, judge_by, kept, long_run, made, one, prediction,
    product, references, rejected, target, two,
};
use crate::support::{Folder, call, stdout};

/// Over files, repetitions and models: the fewest calls, then the fewest steps, then the first run.
#[test]
fn the_shortest_of_all_runs_is_taken_and_the_others_are_compared_with_it() {
    let folder = Folder::new();
    let output = folder.path().join("out");
    std::fs::create_dir(&output).unwrap();
    // This run has an additional call, so it is longer.
    let more = call("math/floor", json!({"number": 3.5}));
    let longer = prediction(
        "a",
        "openai:first",
        &[
            vec![made(one(), "1234"), made(two(), "70007"), made(more, "3")],
            vec![made(product(), "86388638")],
        ],
    );
    // This run has as many calls, with other arguments.
    let other = call("math/add", json!({"firstNumber": 70_003, "secondNumber": 4}));
    let shortest = prediction(
        "a",
        "openai:second",
        &[vec![made(one(), "1234"), made(two(), "70007")], vec![made(product(), "86388638")]],
    );
    let differs = prediction(
        "a",
        "openai:third",
        &[vec![made(one(), "1234"), made(other, "70007")], vec![made(product(), "86388638")]],
    );
    let mut second = shortest.clone();
    second["run"]["repeat"] = json!(2);
    let write = |name: &str, predictions: &serde_json::Value| {
        std::fs::write(output.join(name), predictions.to_string()).unwrap();
    };
    write("predictions.json", &json!([longer, long_run("b")]));
    write("predictions-2.json", &json!([second]));
    let beside = folder.json("other.json", &json!([differs, long_run("b")]));
    let table = stdout(command(&folder, &[&output, &beside]).arg("--rules-only"));
    for row in ["tasks         2\n", "runs          5\n", "accepted      2\n", "disagreements 2\n"] {
        assert!(table.contains(row), "{row}{table}");
    }
    let found = references(&folder);
    assert_eq!(ids(&found), ["a", "b"]);
    assert_eq!(found[0]["steps"][0]["calls"], json!([kept(one(), "1234"), kept(two(), "70007")]));
    let judge = &found[0]["judge"];
    assert_eq!((&judge["chosen"], judge["runs"].as_array().unwrap().len()), (&json!(1), 3));
    assert_eq!(
        (&judge["runs"][1]["repeat"], &judge["runs"][1]["model"]),
        (&json!(2), &json!("openai:second"))
    );
    let kinds: Vec<_> =
        judge["disagreements"].as_array().unwrap().iter().map(|one| (&one["run"], &one["kind"])).collect();
    assert_eq!(json!(kinds), json!([[0, "tools"], [2, "arguments"]]));
    // Of equal runs the first is chosen.
    assert_eq!(found[1]["judge"]["chosen"], 0);
    assert_eq!(found[1]["judge"]["disagreements"], json!([]));
}

/// Equal runs are one question, and a failed run does not prevent another from giving the reference.
#[test]
fn a_run_that_fails_is_listed_with_the_reference_of_another() {
    let folder = Folder::new();
    let mut wrong = long_run("a");
    wrong["final_reply"] = json!("I do not know.");
    let predictions = folder.json("predictions.json", &json!([wrong, long_run("a"), long_run("a")]));
    let model = judge_by(|seen| {
        ScriptedReply::Say(if !is_verdict(seen) {
            best()
        } else if seen.last_user_text.contains("I do not know.") {
            r#"{"verdict": "fail", "reason": "There is no answer."}"#.to_owned()
        } else {
            SUCCESS.to_owned()
        })
    });
    let table = stdout(&mut asking(&folder, &[&predictions], &model));
    assert_eq!(model.problems(), Vec::<String>::new());
    assert!(
        table.contains("accepted      1\n") && table.contains("rejected      0 (runs: 1 verdict fail)\n"),
        "{table}"
    );
    assert_eq!(model.requests().len(), 3);
    let judge = &references(&folder)[0]["judge"];
    assert_eq!(judge["chosen"], 1);
    assert_eq!(judge["runs"][0]["refusal"]["kind"], "verdict_fail");
    assert_eq!(rejected(&folder).len(), 0);
    // Only one of them.
    let table = stdout(asking(&folder, &[&predictions], &model).args(["--id", "a"]));
    assert!(table.contains("runs          3\n") && target(&folder).exists());
}
