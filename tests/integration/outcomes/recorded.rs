//! Outcomes from recorded results, and calls that were not executed.

use serde_json::{Value, json};

use super::{outcomes, rules_of};
use crate::support::{Folder, call, failure, follows_kept_schema, m3, report, run, stdout, text, trajectory};

/// A prediction of `m3 run` with unanswered calls: no result, no error, and an outcome that gives the reason.
fn unanswered() -> Vec<Value> {
    let lost = |outcome: &str| json!({"name": "wiki/random", "arguments": {}, "is_error": false, "outcome": outcome, "milliseconds": 0});
    ["server_lost", "timed_out", "unreadable", "server_not_available"].map(lost).to_vec()
}

#[test]
fn calls_that_were_recorded_as_unanswered_are_neither_success_nor_failure() {
    let folder = Folder::new();
    let predictions = folder.json("p.json", &json!([trajectory("a", &[&unanswered()])]));
    let floor = |floor: &str| {
        let output = run(outcomes(&folder, &predictions).args(["--format", "json", "--fail-under", floor]));
        (output.status.code(), serde_json::from_slice::<Value>(&output.stdout).unwrap())
    };
    // The share of successes is unknown, so no floor is met.
    assert_eq!(floor("success=0").0, Some(1));
    let (code, report) = floor("schema_compliance=1");
    assert_eq!(code, Some(3));
    let expected = ["server_lost", "timed_out", "unreadable", "server_not_available"];
    assert_eq!(rules_of(&report), expected);
    assert_eq!(report["trajectories"][0]["details"][1]["evidence"], "recorded as `timed_out`");
    let all = &report["aggregate"];
    assert_eq!(
        (&all["judged"], &all["not_executed"], &all["outcomes"]["success"]),
        (&json!(0), &json!(0), &json!(0))
    );
    assert_eq!((&report["answers"], &report["notes"]), (&json!("recorded"), &json!([])));
    follows_kept_schema("outcomes", &report);
    // If there is also a success, it is the only judged call.
    let mut calls = unanswered();
    calls.push(json!({"name": "wiki/random", "arguments": {}, "result": "A fish.", "outcome": "success"}));
    folder.json("p.json", &json!([trajectory("a", &[&calls])]));
    let (code, report) = floor("success=1.0");
    assert_eq!((code, &report["aggregate"]["judged"]), (Some(3), &json!(1)));
}

/// A file's own claim is no evidence: an answer takes precedence, and without an answer nothing is a success.
#[test]
fn a_recorded_outcome_is_believed_only_where_there_is_no_answer_and_it_claims_no_success() {
    let folder = Folder::new();
    let call = |outcome: Value, rest: Value| {
        let mut call = json!({"name": "wiki/random", "arguments": {}, "outcome": outcome});
        call.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        call
    };
    let calls = [
        call(json!("success"), json!({})),
        call(json!("fish\u{1b}[2J"), json!({})),
        call(json!("x".repeat(100_000)), json!({})),
        call(json!(["server_lost"]), json!({})),
        call(json!("server_lost"), json!({"result": "Error: 404 Not Found"})),
        call(json!("success"), json!({"result": "Error: 404 Not Found"})),
        call(json!("unknown_tool"), json!({"is_error": true})),
    ];
    let predictions = folder.json("p.json", &json!([trajectory("a", &[&calls])]));
    let report = report(&mut outcomes(&folder, &predictions));
    let expected = [
        "fits_schema",
        "fits_schema",
        "fits_schema",
        "fits_schema",
        "status_not_found",
        "status_not_found",
        "unknown_tool_answer",
    ];
    assert_eq!(rules_of(&report), expected);
    assert_eq!(report["aggregate"]["outcomes"]["success"], 0);
}

/// A call that was not executed never counts as a success.
#[test]
fn calls_that_were_not_executed_are_no_success() {
    let folder = Folder::new();
    let predictions = folder.json("p.json", &json!([trajectory("a", &[&[call("wiki/random", json!({}))]])]));
    let found = report(&mut outcomes(&folder, &predictions));
    let all = &found["aggregate"];
    assert_eq!((&all["outcomes"]["success"], &all["not_executed"]), (&json!(0), &json!(1)));
    assert_eq!(found["trajectories"][0]["details"][0]["outcome"], Value::Null);
    assert_eq!((&found["rules"][0]["outcome"], &found["answers"]), (&Value::Null, &json!("none")));
    for name in ["success", "execution_success"] {
        let floor = run(outcomes(&folder, &predictions).args(["--fail-under", &format!("{name}=0")]));
        let said = text(&floor.stderr);
        assert_eq!(floor.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("{name} is not known (1 of 1 call not executed)")), "{said}");
    }
    let table = stdout(&mut outcomes(&folder, &predictions));
    assert!(table.contains("success                              0    0.0 %\n"), "{table}");
    assert!(!table.contains("Calls without success") && !table.contains("Tools that fail"), "{table}");
}

/// Both take the last of trajectories with the same id, or refuse a file in which they differ.
#[test]
fn outcomes_and_scores_count_the_same_trajectories() {
    let folder = Folder::new();
    let one = |title: &str| trajectory("a", &[&[call("wiki/summary", json!({"title": title}))]]);
    let two = trajectory("a", &[&[call("wiki/random", json!({})), call("wiki/none", json!({}))]]);
    let equal = folder.json("equal.json", &json!([one("eel"), one("eel")]));
    let found = report(&mut outcomes(&folder, &equal));
    assert_eq!((&found["aggregate"]["trajectories"], &found["aggregate"]["calls"]), (&json!(1), &json!(1)));
    let other = folder.json("other.json", &json!([one("eel"), two]));
    let (code, message) = failure(&mut outcomes(&folder, &other));
    assert!(code == 2 && message.contains("duplicate id; its content differs"), "{message}");
    let Some(mut score) = m3() else { return };
    let (code, same) = failure(score.args(["score", "-q"]).args([&other, &other]));
    assert!(code == 2 && same.contains("duplicate id; its content differs"), "{same}");
    let kept = folder.path().join("outcomes.json");
    let last = ["--duplicates", "last"];
    stdout(outcomes(&folder, &other).args(last).arg("--out").arg(&kept));
    let Some(mut score) = m3() else { return };
    score.args(["score"]).args([&other, &other]).args(last).arg("--outcomes").arg(&kept);
    let score = report(&mut score);
    assert_eq!(score["aggregate"]["predicted_calls"], 2, "{score}");
    assert_eq!(score["trajectories"][0]["outcomes"]["unknown_tool"], 1);
    assert_eq!(score["trajectories"][0]["outcomes"]["not_executed"], 1);
}

#[test]
fn a_message_of_several_lines_is_shown_on_one() {
    let folder = Folder::new();
    let result = "no file `a.png` in the workspace\n\nhint: paths start at the workspace's folder\n";
    let failed = json!({"name": "wiki/random", "arguments": {}, "result": result, "is_error": true});
    let predictions = folder.json("p.json", &json!([trajectory("a", &[&[failed]])]));
    let table = stdout(&mut outcomes(&folder, &predictions));
    let said = table.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "no file `a.png` in the workspace (hint: paths start at the workspace's folder)";
    assert!(said.contains(expected) && !table.contains("\\n"), "{table}");
}
