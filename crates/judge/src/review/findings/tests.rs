//! Tests of findings: each source is heard, with the call that it names.

use m3_mcp::{ServerTools, ToolCatalog};
use m3_trajectory::json;
use m3_trajectory::{Place, Severity};
use serde_json::json;

use super::super::arrangement::tests::{at, reference, with};
use super::super::decision::Action;
use super::*;

fn reviews(reference: Trajectory) -> (tempfile::TempDir, Reviews) {
    let folder = tempfile::tempdir().unwrap();
    let reviews = Reviews::open(vec![reference], &folder.path().join("r.jsonl")).unwrap();
    (folder, reviews)
}

fn told(reviews: &Reviews, rules: &Rules) -> Vec<(Option<usize>, String)> {
    let (subject, revision) = (reviews.subject(0), reviews.current(0));
    let linked = CallLinks::of(subject, &revision.steps);
    let found = findings(subject, (&revision, &linked), rules, &[]);
    found.shown.into_iter().map(|found| (found.call, format!("{}{}", found.pointer, found.message))).collect()
}

/// A reference that nothing is wrong with.
fn sound() -> Trajectory {
    Trajectory { final_reply: Some("7".to_owned()), ..reference() }
}

#[test]
fn a_sound_reference_has_no_findings_and_an_edit_may_bring_some() {
    let (_folder, mut reviews) = reviews(sound());
    assert_eq!(told(&reviews, &Rules::default()), []);
    // The second call uses what the first returns, and now they stand in one step.
    let steps = vec![vec![at(0), at(2)]];
    let revision = Revision { steps, reply: Some(String::new()) };
    reviews
        .decide(0, 0, "Ada", Action::Edit { revision, change: String::new(), note: String::new() })
        .unwrap();
    let found = told(&reviews, &Rules::default());
    assert_eq!(found[0], (None, "there is no answer".to_owned()));
    assert!(found[1].0 == Some(2) && found[1].1.contains("uses `id-7731`"), "{found:?}");
}

#[test]
fn the_catalog_is_asked_about_every_call() {
    let schema = json!({"type": "object", "properties": {"q": {"type": "integer"}}});
    let tool = json!({"name": "find", "inputSchema": schema});
    let rules = Rules::new(Some(&ToolCatalog { servers: vec![ServerTools::from_wire("a", vec![tool])] }));
    let (_folder, mut reviews) = reviews(sound());
    let found = told(&reviews, &rules);
    assert!(found[0].0 == Some(0) && found[0].1.starts_with("/q"), "{found:?}");
    assert!(found[1].0 == Some(1) && found[1].1.contains("no such tool"), "{found:?}");
    assert_eq!(found.len(), 3);
    // As it stands, not as it was.
    let steps = vec![vec![with(0, "{\"q\":3}")]];
    let revision = Revision { steps, reply: None };
    reviews
        .decide(0, 0, "Ada", Action::Edit { revision, change: String::new(), note: String::new() })
        .unwrap();
    assert_eq!(told(&reviews, &rules), []);
}

#[test]
fn warnings_of_the_file_belong_to_their_reference() {
    let (_folder, reviews) = reviews(sound());
    let mut problems = Problems::default();
    for (id, severity, message) in [
        ("x", Severity::Warning, "no `arguments`"),
        ("x", Severity::Note, "unknown key"),
        ("y", Severity::Warning, "of another"),
    ] {
        let place = Place { id: Some(id.to_owned()), ..Place::default() };
        problems.push(severity, &place, "/steps/0", message);
    }
    let file_problems = of_file(&reviews, &problems);
    assert_eq!(file_problems[0].len(), 1);
    let (subject, revision) = (reviews.subject(0), reviews.current(0));
    let linked = CallLinks::of(subject, &revision.steps);
    let found = |file_problems: &[EditProblem]| {
        findings(subject, (&revision, &linked), &Rules::default(), file_problems)
    };
    let Findings { shown, more } = found(&file_problems[0]);
    assert_eq!(
        (shown[0].pointer.as_str(), shown[0].message.as_str(), more),
        ("/steps/0", "no `arguments`", 0)
    );
    // However many there are, none hides what is wrong with the reference as it stands.
    let many = vec![file_problems[0][0].clone(); MOST + 20];
    assert_eq!((found(&many).shown.len(), found(&many).more), (MOST, 20));
    let (_folder, reviews) = self::reviews(reference());
    let (subject, revision) = (reviews.subject(0), reviews.current(0));
    let Findings { shown, more } = findings(subject, (&revision, &linked), &Rules::default(), &many);
    assert_eq!((shown[0].message.as_str(), shown.len(), more), ("there is no answer", MOST, 21));
}

fn with_judge(judge: &str) -> Trajectory {
    let mut made = sound();
    made.extra.push(("judge".to_owned(), json::parse(judge.as_bytes()).unwrap().0));
    made
}

/// A place beyond its step is none, although the next step has calls.
#[test]
fn a_call_that_failed_when_made_again_is_told_while_it_stands() {
    let failure = |step: usize, call: usize| {
        let place = json!({"step": step, "call": call});
        json!({"place": place, "tool": "t", "outcome": "failed", "evidence": "gone"})
    };
    let failures = [failure(0, 0), failure(0, 1), failure(0, 2), failure(1, 0)];
    let verification = json!({"result": "failed", "servers": "s", "calls": 3, "failures": failures});
    let judge = json!({"chosen": 0, "runs": [{"verification": verification}]}).to_string();
    let (_folder, mut reviews) = reviews(with_judge(&judge));
    let calls = |reviews: &Reviews| -> Vec<Option<usize>> {
        told(reviews, &Rules::default()).into_iter().map(|(call, _)| call).collect()
    };
    assert_eq!(calls(&reviews), [Some(0), Some(1), None, Some(2)]);
    // The first was removed, and the last has other arguments.
    let revision = Revision { steps: vec![vec![at(1)], vec![with(2, "{}")]], reply: None };
    reviews
        .decide(0, 0, "Ada", Action::Edit { revision, change: String::new(), note: String::new() })
        .unwrap();
    assert_eq!(calls(&reviews), [Some(1), None]);
}

#[test]
fn what_the_judge_recorded_is_told_and_anything_else_there_is_ignored() {
    let judged = |judge: &str| {
        let (_folder, reviews) = reviews(with_judge(judge));
        told(&reviews, &Rules::default())
    };
    let verification = r#"{"result": "failed", "servers": "s", "calls": 3, "unavailable": ["web: no key"], "failures":
        [{"place": {"step": 1, "call": 0}, "tool": "b/get", "outcome": "tool_error", "evidence": "gone"},
        {"place": {"step": 9, "call": 9}, "tool": "b/get", "outcome": "tool_error", "evidence": "gone"}]}"#;
    let run = format!(
        r#"{{"verdict": {{"verdict": "fail", "reason": "wrong lamp"}}, "refusal": {{"kind": "verdict_fail", "reason": "so said"}},
        "verification": {verification}}}"#
    );
    let found = judged(&format!(
        r#"{{"chosen": 1, "runs": [7, {run}], "disagreements": [{{"run": 0, "kind": "tools", "detail": "calls a/x"}}]}}"#
    ));
    let expected = [
        (None, "the run gave no reference: so said"),
        (None, "the judge says that the run failed: wrong lamp"),
        (Some(2), "made again, it did not succeed: tool_error, gone"),
        (None, "made again, it did not succeed: tool_error, gone"),
        (None, "not made again: web: no key"),
        (None, "another accepted run differs: calls a/x"),
    ];
    assert_eq!(found, expected.map(|(call, text)| (call, text.to_owned())));
    for judge in [
        "7",
        "{}",
        r#"{"chosen": 4, "runs": []}"#,
        r#"{"chosen": 0, "runs": [{"refusal": 7, "verification": []}]}"#,
    ] {
        assert_eq!(judged(judge), [], "{judge}");
    }
}
