//! The paper's variant on small tasks. Numbers follow from the definitions by hand.

use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::{Json, parse};
use m3_trajectory::{Call, MalformedCall, Step, Trajectory, WholeFile};

use super::SUITE;
use crate::suite::{Setting, SuiteResult, Trial};
use crate::values::Values;

fn json(text: &str) -> Json {
    parse(text.as_bytes()).unwrap().0
}

/// A call by its tool and an object with its arguments and, behind `|`, further members.
fn call(tool: &str, written: &str) -> Call {
    let (arguments, members) = written.split_once('|').unwrap_or((written, "{}"));
    let Json::Object(mut extra) = json(members) else { panic!("no members: {members}") };
    let result = extra.iter().position(|(key, _)| key == "result").map(|at| extra.remove(at).1);
    Call { tool: tool.to_owned(), arguments: Some(json(arguments)), result, extra }
}

fn trajectory(id: &str, steps: &[&[(&str, &str)]]) -> Trajectory {
    let steps = steps.iter().map(|calls| calls.iter().map(|(tool, written)| call(tool, written)).collect());
    let steps = steps.map(|calls| Step { calls, ..Step::default() }).collect();
    Trajectory { id: id.to_owned(), task_type: Some("search".to_owned()), steps, ..Trajectory::default() }
}

fn catalog() -> Catalog {
    let value = json(
        r#"{"a": {"tools": [
            {"name": "find", "inputSchema": {"required": ["query"], "properties": {
                "query": {"type": "string"}, "count": {"type": "integer"}, "near": {"type": "number"}}}},
            {"name": "plot", "inputSchema": {"properties": {"values": {"type": "array", "items": {"type": "number"}}}}}]},
          "b": {"tools": [{"name": "look", "inputSchema": {"required": ["query"], "properties": {
                "query": {"type": "string"}, "language": {"type": "string"}}}}]}}"#,
    );
    let file = WholeFile { name: "c".to_owned(), digest: String::new(), value, oddities: Vec::new() };
    Catalog::from_file(file).unwrap()
}

fn scored(trials: &[(&Trajectory, Option<&Trajectory>)]) -> (Vec<Values>, SuiteResult) {
    let catalog = catalog();
    let mut scorer = (SUITE.open)(&Setting { catalog: Some(&catalog), ..Setting::default() });
    let values =
        trials.iter().map(|(reference, prediction)| scorer.trial(&Trial::new(reference, *prediction, 1)));
    let values = values.collect();
    (values, scorer.finish())
}

/// `ast`, `ast_dag` and the number of similar tools of a trial.
fn ast(gold: &[&[(&str, &str)]], found: &[&[(&str, &str)]]) -> (Option<f64>, Option<f64>, f64) {
    let (gold, found) = (trajectory("t", gold), trajectory("t", found));
    let (values, _) = scored(&[(&gold, Some(&found))]);
    (values[0].get("ast"), values[0].get("ast_dag"), values[0].get("similar").unwrap())
}

const RIGHT: (Option<f64>, Option<f64>, f64) = (Some(1.0), Some(1.0), 0.0);
const WRONG: (Option<f64>, Option<f64>, f64) = (Some(0.0), Some(0.0), 0.0);

#[test]
fn one_call_is_compared_by_its_schema() {
    let gold: &[&[(&str, &str)]] = &[&[("a/find", r#"{"query": "New York", "near": 5}"#)]];
    for (written, wanted) in [
        (r#"{"query": "new-york", "near": 5.0}"#, RIGHT),
        (r#"{"near": 5, "query": "New York"}"#, RIGHT),
        (r#"{"query": "New York"}"#, WRONG),
        (r#"{"near": 5}"#, WRONG),
        (r#"{"query": "New York", "near": 5, "count": 1}"#, WRONG),
        (r#"{"query": "New York", "near": 5, "other": 1}"#, WRONG),
        (r#"{"query": "New York", "near": "5"}"#, WRONG),
        (r#"{"query": ["New York"], "near": 5}"#, WRONG),
        (r#""{\"query\": \"New York\", \"near\": 5}""#, RIGHT),
        ("[1]", WRONG),
        ("null", WRONG),
    ] {
        assert_eq!(ast(gold, &[&[("a/find", written)]]), wanted, "{written}");
        assert_eq!(ast(gold, &[&[("find", written)]]), wanted, "{written}, without a server");
        assert_eq!(ast(gold, &[&[("b/find", written)]]), WRONG, "{written}, of another server");
    }
    // BFCL takes a value of another type than the schema's for a variable, which is compared as it stands.
    let variable: &[&[(&str, &str)]] = &[&[("a/find", r#"{"query": "x", "near": "5 km"}"#)]];
    for (near, wanted) in [(r#""5 km""#, RIGHT), (r#""5 KM""#, WRONG), ("5", WRONG)] {
        let written = format!(r#"{{"query": "X", "near": {near}}}"#);
        assert_eq!(ast(variable, &[&[("a/find", &written)]]), wanted, "{written}");
    }
    let twice = ("a/find", r#"{"query": "New York", "near": 5}"#);
    assert_eq!(ast(gold, &[&[twice], &[twice]]), (Some(0.0), Some(1.0), 0.0), "a call too many");
    assert_eq!(ast(gold, &[]), WRONG);
    assert_eq!(ast(&[], &[&[twice]]), (None, None, 0.0), "no reference");
}

#[test]
fn a_similar_tool_is_compared_in_what_both_have() {
    let gold: &[&[(&str, &str)]] =
        &[&[("a/find", r#"{"query": "x", "count": 3}|{"similar_tools": ["b/look", "b/unknown"]}"#)]];
    let similar = (Some(1.0), Some(1.0), 1.0);
    for (tool, written, wanted) in [
        ("b/look", r#"{"query": "X"}"#, similar),
        ("b/look", r#"{"query": "x", "language": "fr"}"#, similar),
        ("b/look", r#"{"query": "y"}"#, WRONG),
        ("b/look", r#"{"query": "x", "count": 3}"#, WRONG),
        ("b/look", r#"{"query": "x", "language": 1}"#, WRONG),
        ("b/look", "{}", WRONG),
        // Without a schema its arguments are the reference's.
        ("b/unknown", r#"{"query": "x", "count": 3}"#, similar),
        ("b/unknown", r#"{"query": "x"}"#, WRONG),
    ] {
        assert_eq!(ast(gold, &[&[(tool, written)]]), wanted, "{tool} {written}");
    }
}

#[test]
fn of_several_calls_the_last_ones_are_assigned() {
    let (one, two) = (("a/find", r#"{"query": "1"}"#), ("a/find", r#"{"query": "2"}"#));
    let plot = ("a/plot", r#"{"values": "<1_result>, <2_result>"}"#);
    let drawn = ("a/plot", r#"{"values": [1, 2.5]}"#);
    // AST wants all calls, AST-DAG the last ones.
    assert_eq!(ast(&[&[one, two], &[plot]], &[&[two], &[one], &[drawn]]), RIGHT);
    assert_eq!(ast(&[&[one, two], &[plot]], &[&[one], &[drawn]]), (Some(0.0), Some(1.0), 0.0));
    assert_eq!(ast(&[&[one, two], &[plot]], &[&[one, two]]), WRONG);
    assert_eq!(ast(&[&[plot], &[one, two]], &[&[drawn], &[two, one]]), (Some(1.0), Some(0.0), 0.0));
    let first = ("a/find", r#"{"query": "0"}"#);
    assert_eq!(ast(&[&[first], &[one, two]], &[&[two, one]]), (Some(0.0), Some(1.0), 0.0));
    assert_eq!(ast(&[&[first], &[one, two]], &[&[first], &[two, two]]), WRONG);
}

#[test]
fn what_is_no_call_fits_nothing() {
    let gold = trajectory("t", &[&[("a/plot", "{}")]]);
    let mut prediction = gold.clone();
    let malformed = MalformedCall { index: 1, value: Json::Null, reason: "null".to_owned() };
    prediction.steps[0].malformed.push(malformed);
    let (values, result) = scored(&[(&gold, Some(&prediction))]);
    assert_eq!(values[0].get("ast"), Some(0.0));
    assert_eq!(values[0].get("calls"), Some(2.0));
    assert_eq!(values[0].get("calls_failed"), Some(1.0));
    assert_eq!(result.aggregate.get("calls_unjudged"), Some(1.0));
}

#[test]
fn a_pass_needs_results() {
    let gold = trajectory("t", &[&[("a/find", r#"{"query": "x"}"#)]]);
    let pass = |members: &str| {
        let prediction = trajectory("t", &[&[("a/find", &format!(r#"{{"query": "x"}}|{members}"#))]]);
        let (values, result) = scored(&[(&gold, Some(&prediction))]);
        assert_eq!(values[0].get("pass_at_1"), result.aggregate.get("pass_at_1"));
        assert_eq!(values[0].get("parameter_pass_at_1"), Some(1.0));
        values[0].get("pass_at_1")
    };
    assert_eq!(pass(r#"{"result": "found"}"#), Some(1.0));
    assert_eq!(pass(r#"{"result": "[]"}"#), Some(0.0));
    assert_eq!(pass(r#"{"result": "no", "is_error": true}"#), Some(0.0));
    assert_eq!(pass("{}"), None);
}

#[test]
fn tasks_with_too_few_trials_are_left_out() {
    let [gold, other, none] =
        ["t", "u", "v"].map(|id| trajectory(id, &[&[("a/plot", r#"{}|{"result": 1}"#)]]));
    let wrong = trajectory("t", &[&[("a/find", r#"{}|{"result": 1}"#)]]);
    let no_call = trajectory("w", &[]);
    let (values, result) = scored(&[
        (&gold, Some(&gold)),
        (&gold, Some(&wrong)),
        (&gold, None),
        (&other, Some(&other)),
        (&none, None),
        (&no_call, Some(&other)),
    ]);
    assert_eq!((values[2].get("ast"), values[5].get("ast")), (Some(0.0), None));
    let value = |name: &str| result.aggregate.get(name);
    // One of three, one of one, none of one.
    assert!((value("ast").unwrap() - 4.0 / 9.0).abs() < 1e-12);
    assert!((value("pass_at_1").unwrap() - 4.0 / 9.0).abs() < 1e-12);
    assert_eq!(
        (value("tasks_at_1"), value("pass_at_3"), value("tasks_at_3")),
        (Some(3.0), Some(1.0), Some(1.0))
    );
    assert_eq!((value("pass_at_5"), value("trials"), value("trials_pass")), (None, Some(6.0), Some(2.0)));
    let has = |note: &str| result.notes.iter().any(|known| known == note);
    assert!(has("tasks with fewer than 3 trials, left out of pass@3: 2"), "{:?}", result.notes);
    assert!(has("tasks whose reference has no call, left out: 1"));
    assert!(has("trials without a prediction, which count as failed: 2"));
}

#[test]
fn calls_are_counted_by_tool_and_category_with_their_causes() {
    let gold = trajectory("t", &[&[("a/plot", "{}")]]);
    let prediction = trajectory(
        "t",
        &[
            &[("a/plot", r#"{}|{"result": "ok"}"#), ("a/plot", r#"{}|{"result": "Error: ENOENT"}"#)],
            &[("a/find", r#"{"query": 1}|{"result": "no", "is_error": true}"#)],
            &[("a/gone", r#"{}|{"result": "no", "is_error": true}"#), ("plot", r#"{}|{"result": []}"#)],
        ],
    );
    // Recorded as unknown, although the catalog has it.
    let late = trajectory("u", &[&[("b/look", r#"{"query": ""}|{"outcome": "unknown_tool"}"#)]]);
    let (values, result) = scored(&[(&gold, Some(&prediction))]);
    let (_, with_late) = scored(&[(&gold, Some(&late))]);
    assert!(with_late.groups.iter().all(|group| group.by != "tool"), "{:?}", with_late.groups);
    assert!(with_late.groups.iter().any(|group| group.by == "root_cause" && group.name == "unknown_tool"));
    assert_eq!(values[0].get("success_rate"), Some(0.2));
    let group = |by: &str, name: &str, value: &str| {
        let group = result.groups.iter().find(|group| group.by == by && group.name == name);
        group.and_then(|group| group.values.get(value))
    };
    assert_eq!(group("category", "search", "success_rate"), Some(0.2));
    assert_eq!(group("tool", "a/plot", "success_rate"), Some(0.5));
    assert_eq!(group("tool", "a/gone", "calls"), None, "no server has it");
    assert_eq!(group("tool", "plot", "calls_empty"), Some(1.0));
    for cause in ["unknown_tool", "parameters_missing_or_type", "no_such_file", "empty_result"] {
        assert_eq!(group("root_cause", cause, "share"), Some(0.25), "{cause}");
    }
    assert_eq!(group("root_cause_by_tool", "a/plot: no_such_file", "share"), Some(1.0));
    assert_eq!(group("root_cause_by_category", "search: no_such_file", "calls"), Some(1.0));
    let note = "root cause no_such_file, for example: Error: ENOENT";
    assert!(result.notes.iter().any(|known| known == note), "{:?}", result.notes);
}

#[test]
fn nothing_is_defined_without_tasks() {
    let (_, result) = scored(&[]);
    for name in ["ast", "ast_dag", "pass_at_1", "success_rate"] {
        assert_eq!(result.aggregate.get(name), None, "{name}");
    }
    assert!(result.groups.is_empty() && result.notes.is_empty());
}
