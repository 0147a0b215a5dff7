//! Tables of values that are dependencies, and of those that are not.

use m3_trajectory::json::Json;
use serde_json::{Value, json};

use crate::{CallPlace, CallStatus, Chain, ChainCall};
use crate::{Dependency, dependencies};

#[expect(clippy::needless_pass_by_value, reason = "as `json!` gives it")]
/// A successful call; without a result, nothing is recorded about it.
pub(crate) fn call(place: (usize, usize), tool: &str, arguments: Value, result: Option<Value>) -> ChainCall {
    ChainCall {
        place: CallPlace { step: place.0, call: place.1 },
        tool: tool.to_owned(),
        arguments: Some(Json::from(&arguments)),
        standing: if result.is_some() { CallStatus::Succeeded } else { CallStatus::NotRecorded },
        result: result.map(|result| Json::from(&result)),
        read_only: None,
    }
}

/// A chain of successful calls.
pub(crate) fn chain(given: &str, calls: Vec<ChainCall>) -> Chain {
    Chain { calls, given: vec![given.to_owned()] }
}

/// What a second call with these arguments uses of a first one with this result.
pub(crate) fn between(result: Value, arguments: Value) -> Vec<(String, String)> {
    let calls = vec![
        call((0, 0), "a/find", json!({}), Some(result)),
        call((1, 0), "b/show", arguments, Some(json!("done"))),
    ];
    let links = dependencies(&chain("What is this?", calls));
    let values = links.into_iter().flat_map(|links| links.values);
    values.map(|value| (value.in_result, value.in_arguments)).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn values_of_results_are_found_in_arguments() {
    let table = [
        (
            "an id",
            json!({"id": "ChIJURk_1UnXDIgR"}),
            json!({"place_id": "ChIJURk_1UnXDIgR"}),
            "/id",
            "/place_id",
        ),
        ("in a text", json!("Found: Striped bass (Morone)."), json!({"title": "striped bass"}), "", "/title"),
        (
            "in a query",
            json!({"name": "Barnegat Inlet"}),
            json!({"q": "fishing at Barnegat Inlet"}),
            "/name",
            "/q",
        ),
        (
            "a line in a query",
            json!("1. Tautog\n2. Barnegat Inlet"),
            json!({"q": "to Barnegat Inlet"}),
            "",
            "/q",
        ),
        (
            "JSON in a text",
            json!("{\"a\": [{\"b\": \"HB-2044-7719\"}]}"),
            json!({"c": "HB-2044-7719"}),
            "/a/0/b",
            "/c",
        ),
        (
            "JSON in an item of content",
            json!({"content": [{"type": "text", "text": "{\"url\": \"https://a.org/x1\"}"}]}),
            json!({"url": "https://a.org/x1"}),
            "/content/0/text/url",
            "/url",
        ),
        ("a number as another kind", json!({"total": 1234}), json!({"x": 1234.0}), "/total", "/x"),
        ("a number as text", json!({"total": "1,234.5"}), json!({"x": 1234.5}), "/total", "/x"),
        ("a text as number", json!({"total": 1234.5}), json!({"x": "1234.5"}), "/total", "/x"),
        ("a price", json!("costs $15.49 a piece"), json!({"amount": 15.49}), "", "/amount"),
        (
            "coordinates in a text",
            json!({"lat": 37.742_054, "lng": -119.602_253}),
            json!({"at": "37.742054,-119.602253"}),
            "/lat",
            "/at",
        ),
        (
            "a rounded number",
            json!({"ratio": 2.065_217_391_304}),
            json!({"factor": 2.07}),
            "/ratio",
            "/factor",
        ),
        ("the only number", json!("19"), json!({"subtrahend": 19.0}), "", "/subtrahend"),
        (
            "a small id by its name",
            json!({"departments": [{"departmentId": 10}]}),
            json!({"departmentId": 10}),
            "/departments/0/departmentId",
            "/departmentId",
        ),
        (
            "a small id by its parent",
            json!({"departments": [{"id": 9}, {"id": 10}]}),
            json!({"departmentId": 10}),
            "/departments/1/id",
            "/departmentId",
        ),
        (
            "a small id in a text",
            json!("department id: 10, items: 55, all: 99"),
            json!({"departmentId": 10}),
            "",
            "/departmentId",
        ),
        ("an item of a list", json!(["rabbit", "chicken"]), json!({"q": "chicken"}), "/1", "/q"),
        ("items together", json!({"ids": ["a7x1", "b8y2"]}), json!({"ids": "b8y2;zzz"}), "/ids/1", "/ids"),
        (
            "deep in arguments",
            json!({"id": "ChIJ-9"}),
            json!({"a": {"b": [{"id": "ChIJ-9"}]}}),
            "/id",
            "/a/b/0/id",
        ),
        (
            "a date of a time",
            json!({"begin": "2025-01-03T10:30Z"}),
            json!({"start_date": "2025-01-03"}),
            "/begin",
            "/start_date",
        ),
        (
            "another alphabet",
            json!({"name": "東京タワー"}),
            json!({"query": "東京タワー 写真"}),
            "/name",
            "/query",
        ),
        (
            "a setting by its name",
            json!({"language": "pt"}),
            json!({"language": "pt"}),
            "/language",
            "/language",
        ),
        ("a word of code", json!("import fastapi\nimport zsh"), json!({"query": "fastapi"}), "", "/query"),
    ];
    for (what, result, arguments, in_result, in_arguments) in table {
        let pairs = between(result, arguments);
        assert_eq!(
            pairs.first(),
            Some(&(in_result.to_owned(), in_arguments.to_owned())),
            "{what}: {pairs:?}"
        );
    }
}

#[test]
fn what_is_equal_by_chance_is_none() {
    let table = [
        ("small numbers", json!({"a": 3, "b": [1, 2]}), json!({"slide": 3, "n": 2})),
        ("0 and 1", json!("1"), json!({"x": 1, "y": 0})),
        ("how many", json!("5"), json!({"limit": 5})),
        ("round numbers", json!({"width": 400, "height": 200}), json!({"x1": 400, "y2": 200})),
        ("booleans", json!({"open": true}), json!({"verbose": true})),
        ("short words", json!({"country": "us", "city": "Reno"}), json!({"q": "us"})),
        ("common words", json!({"a": "title", "b": "image"}), json!({"q": "image title"})),
        (
            "settings",
            json!("the label of the stable metric"),
            json!({"search_type": "label", "channel": "stable"}),
        ),
        ("parts of words", json!("Portobello"), json!({"q": "Porto"})),
        ("numbers among many", json!((100..400).collect::<Vec<_>>()), json!({"x": 217})),
        ("nothing", json!({}), json!({"q": ""})),
        ("null", json!(null), json!({"q": null})),
    ];
    for (what, result, arguments) in table {
        assert_eq!(between(result, arguments), [], "{what}");
    }
}

fn pairs(found: &[Dependency]) -> Vec<((usize, usize), (usize, usize))> {
    found.iter().map(|found| ((found.from.step, found.from.call), (found.to.step, found.to.call))).collect()
}

#[test]
fn what_the_task_gives_or_a_model_says_first_is_none() {
    let calls = |first: Value| {
        vec![
            call((0, 0), "w/search", first, Some(json!({"hits": ["Sandy Hook", "Barnegat Inlet"]}))),
            call((1, 0), "w/summary", json!({"title": "Sandy Hook"}), Some(json!("x"))),
        ]
    };
    let count = |given: &str, first: Value| dependencies(&chain(given, calls(first))).len();
    assert_eq!(count("Where can one fish?", json!({"query": "fishing"})), 1);
    assert_eq!(count("Where is Sandy Hook?", json!({"query": "fishing"})), 0);
    assert_eq!(count("Where can one fish?", json!({"query": "Sandy Hook fishing"})), 0);
}

#[test]
fn the_first_that_returned_a_value_is_its_source() {
    let hit = || Some(json!({"id": "ChIJ-77x"}));
    let failed = ChainCall {
        standing: CallStatus::Failed("time".to_owned()),
        ..call((0, 0), "w/a", json!({}), hit())
    };
    let calls = vec![
        failed,
        call((0, 1), "w/b", json!({}), Some(json!("nothing"))),
        call((1, 0), "w/c", json!({}), hit()),
        call((1, 1), "w/d", json!({"id": "ChIJ-77x!"}), None),
        call((2, 0), "w/e", json!({"id": "ChIJ-77x"}), hit()),
        call((3, 0), "w/f", json!({"id": "ChIJ-77x"}), None),
    ];
    // A call in the same step has the value before any result returned it.
    assert_eq!(dependencies(&chain("", calls.clone())), []);
    let without: Vec<ChainCall> = calls.into_iter().filter(|call| call.tool != "w/d").collect();
    assert_eq!(pairs(&dependencies(&chain("", without))), [((1, 0), (2, 0)), ((1, 0), (3, 0))]);
}

#[test]
fn what_picks_from_what_it_was_given_says_something_new() {
    let numbers = json!({"numbers": [120, 260, 417, 360]});
    let calls = vec![
        call((0, 0), "math/max", numbers.clone(), Some(json!("417"))),
        call((1, 0), "math/min", numbers, Some(json!("120"))),
        call((2, 0), "math/division", json!({"numerator": 417, "denominator": 3}), Some(json!("139"))),
    ];
    // The second call uses the list that existed before it, and nothing of the first call.
    assert_eq!(pairs(&dependencies(&chain("", calls))), [((0, 0), (2, 0))]);
}

#[test]
fn a_file_is_used_after_the_last_call_that_wrote_it() {
    let crop = |place, from: &str, to: &str| {
        call(place, "image/crop", json!({"input_path": from, "output_path": to}), Some(json!("ok")))
    };
    let calls = vec![
        crop((0, 0), "images/a.png", "b.png"),
        crop((1, 0), "b.png", "b.png"),
        call((2, 0), "barcode/scan", json!({"image_paths": ["./b.png", "images/a.png"]}), Some(json!("x"))),
    ];
    let links = dependencies(&chain("images/a.png", calls));
    assert_eq!(pairs(&links), [((0, 0), (1, 0)), ((1, 0), (2, 0))]);
    let value = &links[1].values[0];
    assert_eq!(
        (value.in_result.as_str(), value.in_arguments.as_str()),
        ("arguments/output_path", "/image_paths/0")
    );
    assert_eq!(value.value, "./b.png");
}

#[test]
fn long_results_are_read_in_one_go() {
    let rows: Vec<Value> = (0..20_000)
        .map(|row| json!({"id": format!("row-{row}-x"), "note": "some words that mean nothing", "n": row}))
        .collect();
    let arguments = json!({"ids": ["row-19999-x", "row-7-x"], "text": "words ".repeat(5000)});
    let calls = vec![
        call((0, 0), "db/query", json!({}), Some(json!({"rows": rows}))),
        call((1, 0), "db/read", arguments, Some(json!("x"))),
    ];
    let links = dependencies(&chain("", calls));
    let places: Vec<&str> = links[0].values.iter().map(|value| value.in_result.as_str()).collect();
    assert!(places.contains(&"/rows/19999/id") && places.contains(&"/rows/7/id"), "{places:?}");
}

#[test]
fn nothing_hostile_stops_it() {
    let mut deep = json!("deep");
    for _ in 0..150 {
        deep = json!([deep]);
    }
    let values = [
        json!("[".repeat(10_000)),
        json!("\u{0}\u{1b}[31m\u{202e}"),
        json!("2025é1T99999999999999999999e999999999"),
        json!("12Té, 12T, 1,,234,5678 -.5 1.e5 5–10 1é,234 7€ ½ 1–"),
        json!("a ".repeat(2000)),
        json!({"": {"": ["", "~/", "a/b"]}}),
        json!(f64::MAX),
        json!(i64::MIN),
        deep,
    ];
    for result in &values {
        for arguments in &values {
            let _ = between(result.clone(), arguments.clone());
        }
    }
    let empty = Chain { calls: Vec::new(), given: Vec::new() };
    assert_eq!(dependencies(&empty), []);
}
