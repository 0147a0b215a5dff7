//! Rules by hand, and what is not in BFCL's own data. `tests/oracle/bfcl.rs` compares with the published program.

use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::parse;
use m3_trajectory::{Call, MalformedCall, Step};

use super::*;
use crate::Setting;

fn json(text: &str) -> Json {
    parse(text.as_bytes()).unwrap().0
}

/// A call of `f` with these arguments, and perhaps with other accepted values.
fn call(arguments: &str, accepted: Option<&str>) -> Call {
    let extra = accepted.map(|accepted| ("accepted".to_owned(), json(accepted)));
    Call {
        tool: "f".to_owned(),
        arguments: Some(json(arguments)),
        result: None,
        extra: extra.into_iter().collect(),
    }
}

fn task(calls: Vec<Call>) -> Trajectory {
    Trajectory { id: "a".to_owned(), steps: vec![Step { calls, ..Step::default() }], ..Trajectory::default() }
}

fn with(mut reference: Trajectory, key: &str, value: &str) -> Trajectory {
    reference.extra.push((key.to_owned(), json(value)));
    reference
}

fn score(reference: &Trajectory, prediction: Option<&Trajectory>) -> Values {
    (SUITE.open)(&Setting::default()).trial(&Trial::new(reference, prediction, 1))
}

fn error(reference: &Trajectory, prediction: &Trajectory) -> Option<String> {
    score(reference, Some(prediction)).label("error_type").map(str::to_owned)
}

const FUNCTION: &str = r#"[{"name": "f", "parameters": {"type": "dict", "required": ["city"], "properties": {
    "city": {"type": "string"}, "days": {"type": "float"}, "tags": {"type": "array", "items": {"type": "string"}},
    "place": {"type": "dict"}, "stops": {"type": "array", "items": {"type": "dict"}}, "unit": {"type": "string"}}}}]"#;

/// The table of section 1.1 of the benchmarks' design, point by point.
#[test]
fn one_call() {
    let accepted = r#"{"city": ["San Francisco", "SF"], "days": [2], "tags": [["a", "b"]], "place": [{"x": [1, 2], "y": ["", "n"]}],
        "stops": [[{"n": ["A"]}, {"n": ["B"]}], ""], "unit": ["", "C"]}"#;
    let reference = with(task(vec![call("{}", Some(accepted))]), "functions", FUNCTION);
    let right = r#""city": "SF", "days": 2, "tags": ["a", "b"], "place": {"x": 2}"#;
    for (arguments, wanted) in [
        (format!("{{{right}}}"), None),
        (format!(r#"{{{right}, "city": "san_francisco."}}"#), None),
        (format!(r#"{{{right}, "unit": "c", "days": 2.0}}"#), None),
        (format!(r#"{{{right}, "stops": [{{"n": "a"}}, {{"n": "B."}}]}}"#), None),
        (r#"{"days": 2}"#.to_owned(), Some("simple_function_checker:missing_required")),
        (format!(r#"{{{right}, "other": 1}}"#), Some("simple_function_checker:unexpected_param")),
        (r#"{"city": "SF"}"#.to_owned(), Some("simple_function_checker:missing_optional")),
        (r#"{"city": 5}"#.to_owned(), Some("type_error:simple")),
        (r#"{"city": "SF", "days": "2"}"#.to_owned(), Some("type_error:simple")),
        (r#"{"city": "SF", "tags": ["a", 1]}"#.to_owned(), Some("type_error:nested")),
        (r#"{"city": "LA"}"#.to_owned(), Some("value_error:string")),
        (r#"{"city": "SF", "days": 3}"#.to_owned(), Some("value_error:others")),
        (r#"{"city": "SF", "tags": ["b", "a"]}"#.to_owned(), Some("value_error:list/tuple")),
        (r#"{"city": "SF", "place": {"x": 3}}"#.to_owned(), Some("value_error:dict_value")),
        (r#"{"city": "SF", "place": {"y": "n"}}"#.to_owned(), Some("value_error:dict_key")),
        (r#"{"city": "SF", "place": {"x": 1, "z": 1}}"#.to_owned(), Some("value_error:dict_key")),
        (r#"{"city": "SF", "stops": [{"n": "A"}]}"#.to_owned(), Some("value_error:list_dict_count")),
        (r#""city""#.to_owned(), Some("ast_decoder:decoder_wrong_output_format")),
    ] {
        // Of two arguments with one name the last counts, as in a file.
        let actual = error(&reference, &task(vec![call(&arguments, None)]));
        assert_eq!(actual.as_deref(), wanted, "{arguments}");
    }
    let two = task(vec![call("{}", None), call("{}", None)]);
    assert_eq!(error(&reference, &two).as_deref(), Some("simple_function_checker:wrong_count"));
    assert_eq!(error(&reference, &task(vec![])).as_deref(), Some("simple_function_checker:wrong_count"));
    let mut renamed = task(vec![call(&format!("{{{right}}}"), None)]);
    renamed.steps[0].calls[0].tool = "g".to_owned();
    assert_eq!(error(&reference, &renamed).as_deref(), Some("simple_function_checker:wrong_func_name"));
    renamed.steps[0].calls[0].tool = "server/f".to_owned();
    assert_eq!(error(&reference, &renamed), None);
}

/// Steps play no part, and the first call that fits is taken.
#[test]
fn several_calls() {
    let reference = task(vec![call(r#"{"x": 1}"#, Some(r#"{"x": [1, 2]}"#)), call(r#"{"x": 1}"#, None)]);
    let calls_with = |numbers: &[i64]| {
        let steps = numbers
            .iter()
            .map(|x| Step { calls: vec![call(&format!("{{\"x\": {x}}}"), None)], ..Step::default() });
        Trajectory { steps: steps.collect(), ..task(vec![]) }
    };
    assert_eq!(error(&reference, &calls_with(&[2, 1])), None);
    let greedy = score(&reference, Some(&calls_with(&[1, 2])));
    assert_eq!(greedy.label("error_type"), Some("parallel_function_checker_no_order:cannot_find_match"));
    assert_eq!(
        greedy.label("error"),
        Some(
            "no call fits call 2 of the reference: `x` of `f` has another value than accepted: 2; accepted: 1 (value_error:others)"
        )
    );
    assert_eq!(
        error(&reference, &calls_with(&[1])).as_deref(),
        Some("parallel_function_checker_no_order:wrong_count")
    );
}

#[test]
fn tasks_without_calls() {
    let (none, one) = (task(vec![]), task(vec![call("{}", None)]));
    assert_eq!(error(&none, &none), None);
    assert_eq!(error(&none, &one).as_deref(), Some("irrelevance_error:decoder_success"));
    // As in the published program what cannot be read is no call.
    assert_eq!(error(&none, &task(vec![call("5", None)])), None);
    let relevance = Trajectory { task_type: Some("live_relevance".to_owned()), ..task(vec![]) };
    assert_eq!(error(&relevance, &one), None);
    assert_eq!(error(&relevance, &none).as_deref(), Some("relevance_error:decoder_failed"));
    assert_eq!(score(&none, None).label("error_type"), Some("no_prediction"));
}

/// Arguments are the only accepted values, those in objects as well.
#[test]
fn references_without_accepted_values() {
    let arguments = r#"{"a": {"b": "x y"}, "c": [{"d": 1}], "e": "", "f": [1, "T"]}"#;
    let reference = task(vec![call(arguments, None)]);
    for (found, wanted) in [
        (arguments, None),
        (r#"{"a": {"b": "X-Y"}, "c": [{"d": 1.0}], "f": [1, "t"]}"#, None),
        (r#"{"a": {"b": "x"}, "c": [{"d": 1}], "f": [1, "T"]}"#, Some("value_error:dict_value")),
        (r#"{"a": {"b": "x y"}, "c": [{"d": 2}], "f": [1, "T"]}"#, Some("value_error:dict_value")),
        (r#"{"a": {"b": "x y"}, "c": 1, "f": [1, "T"]}"#, Some("value_error:others")),
        (r#"{"a": {"b": "x y"}, "c": [{"d": 1}]}"#, Some("simple_function_checker:missing_optional")),
    ] {
        assert_eq!(error(&reference, &task(vec![call(found, None)])).as_deref(), wanted, "{found}");
    }
}

#[test]
fn other_languages() {
    let function = |kind: &str| {
        format!(r#"[{{"name": "f", "parameters": {{"properties": {{"x": {{"type": "{kind}"}}}}}}}}]"#)
    };
    let check = |language: &str, kind: &str, accepted: &str, found: &str| {
        let reference = task(vec![call("{}", Some(&format!("{{\"x\": [{accepted}]}}")))]);
        let reference = with(with(reference, "language", language), "functions", &function(kind));
        error(&reference, &task(vec![call(&format!("{{\"x\": {found}}}"), None)]))
    };
    assert_eq!(check("\"java\"", "long", "5", "\"5L\""), None);
    assert_eq!(check("\"java\"", "long", "5", "5").as_deref(), Some("type_error:java"));
    assert_eq!(
        check("\"java\"", "HashMap", r#"{"a": [1]}"#, r#""new HashMap<>() {{ put(\"a\", 1); }}""#),
        None
    );
    assert_eq!(check("\"java\"", "Stack", "[1]", "\"x\"").as_deref(), Some("type_error:simple"));
    assert_eq!(check("\"javascript\"", "dict", r#"{"a": [[1, "b"]]}"#, r#""{'a': [1, 'b']}""#), None);
    assert_eq!(check("\"javascript\"", "Bigint", "5", "\"5\"").as_deref(), Some("type_error:simple"));
    assert_eq!(check("\"javascript\"", "Bigint", "5", "null").as_deref(), Some("type_error:js"));
    // Read as Python.
    assert_eq!(check("\"cobol\"", "integer", "5", "5"), None);
}

/// What the checker does not compare has no value, and what cannot be read is told.
#[test]
fn several_turns_and_members_of_other_forms() {
    let mut scorer = (SUITE.open)(&Setting::default());
    let mut turns = task(vec![call("{}", None)]);
    turns.task_type = Some("multi_turn_base".to_owned());
    let values = scorer.trial(&Trial::new(&turns, Some(&turns), 1));
    assert_eq!((values.get("ast"), values.label("error")), (None, None));
    let mut odd = with(task(vec![call(r#"{"x": 1}"#, None)]), "functions", "{}");
    odd.steps[0].calls[0].extra = vec![("accepted".to_owned(), json("[1]"))];
    assert_eq!(scorer.trial(&Trial::new(&odd, Some(&odd), 1)).get("ast"), Some(1.0));
    let result = scorer.finish();
    assert_eq!(result.aggregate.get("trials"), Some(1.0));
    let notes = result.notes.join("; ");
    for said in [
        "does not compare: 1 trial",
        "`accepted` is no object, and is ignored: 1 trial",
        "`functions` is no list",
    ] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
}

#[test]
fn schemas_and_totals() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let schema = r#"{"s": {"tools": [{"name": "f", "inputSchema": {"type": "object", "required": ["x"],
        "properties": {"x": {"type": "number"}, "y": {"type": ["null", "integer"]}}}}]}}"#;
    std::fs::write(file.path(), schema).unwrap();
    let catalog = Catalog::open(file.path()).unwrap();
    let mut scorer = (SUITE.open)(&Setting { catalog: Some(&catalog), ..Setting::default() });
    let calling = |name: &str, arguments: &str| {
        let mut task = task(vec![call(arguments, None)]);
        task.steps[0].calls[0].tool = name.to_owned();
        task
    };
    let mut error = |reference: &Trajectory, prediction: &Trajectory| {
        let values = scorer.trial(&Trial::new(reference, Some(prediction), 1));
        values.label("error_type").map(str::to_owned)
    };
    let reference = calling("s/f", r#"{"x": 1, "y": 2}"#);
    assert_eq!(error(&reference, &calling("s/f", r#"{"x": 1.0, "y": 2}"#)), None);
    assert_eq!(error(&reference, &calling("s/f", r#"{"x": "1"}"#)).as_deref(), Some("type_error:simple"));
    assert_eq!(
        error(&reference, &calling("s/f", r#"{"y": 2}"#)).as_deref(),
        Some("simple_function_checker:missing_required")
    );
    let unknown = with(calling("s/g", "{}"), "language", "\"cobol\"");
    assert_eq!(error(&unknown, &calling("s/g", "{}")), None);
    // An item without a name is a call of no function.
    let mut nameless = calling("s/f", "{}");
    nameless.steps[0].calls.clear();
    nameless.steps[0].malformed = vec![MalformedCall { index: 0, value: json("{}"), reason: String::new() }];
    assert_eq!(error(&reference, &nameless).as_deref(), Some("simple_function_checker:wrong_func_name"));
    let result = scorer.finish();
    assert_eq!(result.aggregate.get("ast"), Some(0.4));
    let groups = result.groups.iter().map(|group| (group.by, group.name.as_str(), group.tasks));
    assert_eq!(
        groups.collect::<Vec<_>>(),
        [
            ("category", "simple", 1),
            ("error", "simple_function_checker:missing_required", 1),
            ("error", "simple_function_checker:wrong_func_name", 1),
            ("error", "type_error:simple", 1),
        ]
    );
    let id = &reference.id;
    assert_eq!(
        result.notes,
        [
            format!("wrong: {id}: `x` of `s/f` has the wrong type: \"1\"; accepted: 1"),
            format!("wrong: {id}: `x` of `s/f` is required, and missing"),
            format!("wrong: {id}: the function should be `s/f`"),
            "functions of which nothing tells what they take, so that types and required arguments are not checked: in 1 \
             trial; `--tools` or `functions` in references tell it"
                .to_owned(),
            "the language \"cobol\" is none of python, java and javascript, and is read as Python: 1 trial"
                .to_owned(),
        ]
    );
    assert_eq!((SUITE.open)(&Setting::default()).finish().aggregate.get("ast"), None);
}

#[test]
fn categories() {
    let category_of = |kind: &str, names: &[&str], functions: usize| {
        let calls = names.iter().map(|name| Call { tool: (*name).to_owned(), ..call("{}", None) });
        let task = Trajectory { task_type: Some(kind.to_owned()), ..task(calls.collect()) };
        let category = Category::new(&task, &vec![Json::Null; functions]);
        (category.name(), category.group(&task))
    };
    for (kind, names, functions, wanted, group) in [
        ("simple_java", &["f"][..], 1, "simple", "simple_java"),
        ("fishing", &["f"], 0, "simple", "simple"),
        ("fishing", &["f"], 2, "multiple", "multiple"),
        ("live_multiple", &["f"], 1, "multiple", "live_multiple"),
        ("live_parallel", &["f"], 3, "parallel", "live_parallel"),
        ("", &["f", "f"], 1, "parallel", "parallel"),
        ("", &["f", "g"], 0, "parallel_multiple", "parallel_multiple"),
        ("parallel-multiple", &["f", "f"], 1, "parallel_multiple", "parallel-multiple"),
        ("simple", &["f", "f"], 1, "parallel", "simple"),
        ("live_irrelevance", &[], 4, "irrelevance", "live_irrelevance"),
        ("live_relevance", &[], 4, "relevance", "live_relevance"),
        ("multiple", &[], 4, "irrelevance", "multiple"),
    ] {
        assert_eq!(category_of(kind, names, functions), (wanted, group.to_owned()), "{kind} {names:?}");
    }
}
