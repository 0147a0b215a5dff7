//! What a fidelity must be, whatever it is made of.

#![expect(clippy::float_cmp, reason = "exactly the same is what is promised")]

use m3_trajectory::WholeFile;
use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::{Json, parse};
use proptest::prelude::*;
use serde_json::json;

use super::constants::THRESHOLD;
use super::*;

fn read(text: &str) -> Json {
    parse(text.as_bytes()).unwrap().0
}

fn compare(fidelity: &Fidelity<'_>, a: &Json, b: &Json) -> CallFidelity {
    fidelity.compare(CallPair { tool: "s/t", a: Some(a), b: Some(b), question: None, schema: None })
}

fn fidelity(a: &Json, b: &Json) -> f64 {
    Fidelity::new(None)
        .compare(CallPair { tool: "server/tool", a: Some(a), b: Some(b), question: None, schema: None })
        .score
}

fn catalog(schema: &serde_json::Value) -> Catalog {
    let file = json!({"s": {"tools": [{"name": "t", "inputSchema": schema}]}});
    let file = WholeFile {
        name: "catalog".to_owned(),
        digest: String::new(),
        value: Json::from(&file),
        oddities: Vec::new(),
    };
    Catalog::from_file(file).unwrap()
}

/// Values such as calls have, of a few shapes so that two of them often have something in common.
fn value() -> impl Strategy<Value = Json> {
    let text = prop_oneof![
        "[a-c]{1,3}( [a-c]{1,3}){0,4}",
        "\\PC{0,12}",
        Just("2024-03-05".to_owned()),
        Just("5 Mar 2024 14:30".to_owned()),
        Just("2 km".to_owned()),
        Just("./a/b.png".to_owned()),
        Just("https://x.org/a?b=1".to_owned()),
        Just("48.1,11.5".to_owned()),
        Just("{\"x\": [1]}".to_owned()),
        Just("flights from Oslo to Rome, Italy".to_owned()),
        Just("東京の天気".to_owned()),
        "[0-9]{1,4}",
        // What the notations are made of, in no order.
        "[0-9a-zé½π²°′'\"€$#%@~<>=≥+*/\\\\^()\\[\\]{}:;,.|_ PTMHSENWv-]{0,10}",
        prop::sample::select(vec![
            "PT1H30M",
            "p1é",
            "52.08 N",
            "4° 18' 36\" W",
            "1 1/2",
            "10k",
            "€1.200,00",
            "#ff0000",
            "rgb(1,2,3)",
            "v1.10",
            "1e999",
            "9e99999999999",
            "=SUM($A$1:B2)",
            "\\\\frac{1}{2}",
            "((((1",
            "select a from t where x='",
            "00:10:00",
            "UTC+2",
            "Asia/Calcutta",
            "https://youtu.be/a",
            "a@x.org",
            "::1",
            "640x480",
            "20 °C",
            "68 °F",
            "-date",
            "US$5",
        ])
        .prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        (-20_i64..5000).prop_map(Json::Integer),
        any::<f64>().prop_map(Json::Float),
        "[1-9][0-9]{20,30}".prop_map(Json::LongInteger),
        text.prop_map(Json::String),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            members(inner).prop_map(Json::Object)
        ]
    })
}

fn members(value: impl Strategy<Value = Json>) -> impl Strategy<Value = Vec<(String, Json)>> {
    let key = prop::sample::select(vec![
        "query",
        "lat",
        "x1",
        "x2",
        "bbox",
        "id",
        "date",
        "path",
        "address",
        "language",
        "color",
        "expression",
        "timezone",
        "version",
        "timeout_seconds",
        "sort",
        "unit",
        "pages",
        "month",
        "country",
        "price",
        "max_results",
        "maxResults",
        "latitude",
        "params",
        "radius",
        "pattern",
    ]);
    prop::collection::btree_map(key, value, 0..5)
        .prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn arguments() -> impl Strategy<Value = Json> {
    members(value()).prop_map(Json::Object)
}

/// Other arguments, or the same with one value changed.
pub(super) fn two() -> impl Strategy<Value = (Json, Json)> {
    let changed =
        (members(value()), value(), any::<prop::sample::Index>()).prop_map(|(members, value, index)| {
            let mut other = members.clone();
            if !other.is_empty() {
                let at = index.index(other.len());
                other[at].1 = value;
            }
            (Json::Object(members), Json::Object(other))
        });
    prop_oneof![(arguments(), arguments()), changed]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn equal_arguments_have_one_and_others_less(a in arguments(), b in arguments()) {
        prop_assert_eq!(fidelity(&a, &a), 1.0);
        let score = fidelity(&a, &b);
        prop_assert!((0.0..=1.0).contains(&score));
        prop_assert_eq!(score == 1.0, m3_trajectory::json::is_same(&a, &b));
    }

    #[test]
    fn it_is_symmetric((a, b) in two()) {
        let (there, back) = (fidelity(&a, &b), fidelity(&b, &a));
        prop_assert!((there - back).abs() < 1e-9, "{} {}", there, back);
    }

    #[test]
    fn the_order_of_keys_says_nothing((a, b) in two()) {
        let reversed = |value: &Json| match value {
            Json::Object(members) => Json::Object(members.iter().rev().cloned().collect()),
            other => other.clone(),
        };
        prop_assert_eq!(fidelity(&a, &b), fidelity(&reversed(&a), &reversed(&b)));
    }

    #[test]
    fn one_more_difference_never_makes_it_better((a, b) in two(), x in value(), y in value()) {
        let with = |arguments: &Json, value: &Json| {
            let Json::Object(members) = arguments else { unreachable!() };
            let more = std::iter::once(("zz_more".to_owned(), value.clone()));
            Json::Object(members.iter().cloned().chain(more).collect())
        };
        let before = fidelity(&with(&a, &x), &with(&b, &x));
        prop_assert!(fidelity(&with(&a, &x), &with(&b, &y)) <= before + 1e-12);
    }
}

#[test]
fn one_wrong_argument_is_not_averaged_away_by_many_right_ones() {
    let call = |last: i64| {
        let members = (0..40).map(|n| (format!("k{n}"), Json::Integer(n)));
        Json::Object(members.chain([("lat".to_owned(), Json::Integer(last))]).collect())
    };
    assert!(fidelity(&call(50), &call(-50)) < 0.2);
}

#[test]
fn many_differences_of_writing_do_not_add_up_to_a_wrong_call() {
    let call = |text: bool| {
        let value = |n: i64| if text { Json::String(n.to_string()) } else { Json::Integer(n) };
        Json::Object((0..50).map(|n| (format!("k{n}"), value(n))).collect())
    };
    assert!(fidelity(&call(true), &call(false)) > 0.9);
}

#[test]
fn verdicts_and_reasons_say_which_argument_is_wrong() {
    let a = read(r#"{"origin": "Oslo", "n": 5, "when": "2024-03-05", "unit": null, "lng": 4.31}"#);
    let b = read(r#"{"origin": "Rome", "n": "5", "when": "March 5, 2024", "extra": 3, "lng": -4.31}"#);
    let fidelity = compare(&Fidelity::new(None), &a, &b);
    let of = |path: &str| {
        let argument = fidelity.arguments.iter().find(|argument| argument.path == path).unwrap();
        (argument.kind.name(), argument.verdict.name(), argument.reason.as_ref())
    };
    assert_eq!(of("/origin"), ("place", "different", "expected `oslo`, got `rome`"));
    assert_eq!(of("/n"), ("number", "equivalent", "the same number"));
    assert_eq!(of("/when"), ("moment", "equivalent", "the same moment"));
    assert_eq!(of("/unit"), ("null", "missing", "null is the same as absent"));
    let (kind, verdict, reason) = of("/extra");
    assert_eq!((kind, verdict), ("number", "extra"));
    assert!(reason.starts_with("extra argument; it "), "{reason}");
    assert_eq!(of("/lng"), ("coordinate", "different", "the sign differs"));
}

#[test]
fn a_schema_tells_defaults_what_is_required_and_what_is_unknown() {
    let catalog = catalog(&json!({
        "properties": {"q": {"type": "string"}, "n": {"type": "integer", "default": 10},
            "mode": {"enum": ["fast", "slow"]}, "ids": {"type": "array", "uniqueItems": true}},
        "required": ["q"]}));
    let fidelity = Fidelity::new(Some(&catalog));
    let score = |a: &str, b: &str| compare(&fidelity, &read(a), &read(b)).score;
    assert!(score(r#"{"q": "eel", "n": 10}"#, r#"{"q": "eel"}"#) > 0.9);
    let other = score(r#"{"q": "eel", "n": 20}"#, r#"{"q": "eel"}"#);
    assert!(other < score(r#"{"q": "eel", "n": 10}"#, r#"{"q": "eel"}"#));
    assert!(score(r#"{"q": "eel"}"#, "{}") < THRESHOLD);
    assert!(score(r#"{"q": "eel", "made_up": 3}"#, r#"{"q": "eel"}"#) > THRESHOLD);
    assert!(score(r#"{"q": "eel", "mode": "fast"}"#, r#"{"q": "eel", "mode": "FAST"}"#) > 0.9);
    assert!(score(r#"{"q": "eel", "ids": [1, 2]}"#, r#"{"q": "eel", "ids": [2, 1]}"#) > 0.9);
}

#[test]
fn small_numbers_are_no_points_in_a_picture() {
    let score = |a: &str, b: &str| fidelity(&read(a), &read(b));
    assert!(score(r#"{"x": 3, "y": 4}"#, r#"{"x": 4, "y": 3}"#) < THRESHOLD);
    assert!(score(r#"{"x": 320, "y": 180}"#, r#"{"x": 321, "y": 180}"#) > THRESHOLD);
    // One more difference makes no point of them.
    assert!(score(r#"{"x": 39.9, "y": 4}"#, r#"{"x": 40.1, "y": 5}"#) < THRESHOLD);
}

#[test]
fn false_says_something_where_the_default_is_true() {
    let catalog = catalog(&json!({"properties": {"q": {}, "images": {"type": "boolean", "default": true}}}));
    let fidelity = Fidelity::new(Some(&catalog));
    let score = |a: &str, b: &str| compare(&fidelity, &read(a), &read(b)).score;
    assert!(score(r#"{"q": "eel", "images": false}"#, r#"{"q": "eel"}"#) < THRESHOLD);
    assert!(score(r#"{"q": "eel", "images": true}"#, r#"{"q": "eel"}"#) > 0.9);
}

#[test]
fn schemas_that_go_round_in_circles_end() {
    let catalog =
        catalog(&json!({"$ref": "#", "anyOf": [{"$ref": "#"}], "properties": {"a": {"$ref": "#"}}}));
    let (a, b) = (read(r#"{"a": {"a": {"a": "x"}}}"#), read(r#"{"a": {"a": {"a": "y z"}}}"#));
    assert!(compare(&Fidelity::new(Some(&catalog)), &a, &b).score < THRESHOLD);
}

#[test]
fn digits_of_other_scripts_end() {
    // Alphanumeric, neither letters nor ASCII digits: a tokenizer that waits for either never ends.
    let (a, b) = (read(r#"{"q": "٣ ௲ ⅷ x"}"#), read(r#"{"q": "٤ ⅷ x"}"#));
    assert!(fidelity(&a, &b) < 1.0);
}

/// What once came out differently when the calls changed places, or was 1 for unequal arguments.
#[test]
fn near_twins_are_neither_equal_nor_one_sided() {
    for (a, b) in [
        (r#"{"lng": 4.31}"#, r#"{"lng": 4.31, "long": true}"#),
        (r#"{"lat": 1, "latitude": 2}"#, r#"{"latitude": 2}"#),
        (r#"{"unit": "km", "d": 1, "area_unit": null}"#, r#"{"unit": "m", "d": 1000}"#),
        (r#"{"language": "Chinese-TW"}"#, r#"{"language": "zh-CN"}"#),
        (r#"{"f": {"not": {"x": 1}}}"#, r#"{"f": {"x": 1}}"#),
        (r#"{"at": {"point": {"x": 1}}}"#, r#"{"at": {"x": 1}}"#),
        (r#"{"id": 9007199254740993}"#, r#"{"id": 9007199254740992}"#),
    ] {
        let (a, b) = (read(a), read(b));
        assert_eq!(fidelity(&a, &b), fidelity(&b, &a));
        assert!(fidelity(&a, &b) < 1.0);
    }
}

#[test]
fn long_texts_and_large_lists_end_soon() {
    let text = |c: &str| Json::Object(vec![("q".to_owned(), Json::String(c.repeat(5_000_000)))]);
    assert!(fidelity(&text("a "), &text("b ")) < THRESHOLD);
    assert!(fidelity(&text("a "), &text("a  ")) < 1.0);
    assert_eq!(fidelity(&text("ab"), &text("ab")), 1.0);
    let word = |letters: usize| Json::Object(vec![("q".to_owned(), Json::String("a".repeat(letters)))]);
    assert!(fidelity(&word(60_000), &word(30_000)) < THRESHOLD);
    let list = |from: i64| {
        let items = (from..from + 20_000).map(|n| Json::String(format!("word {n} x")));
        Json::Object(vec![("items".to_owned(), Json::Array(items.collect()))])
    };
    assert!(fidelity(&list(0), &list(7)) < THRESHOLD);
    let keys = |last: i64, turned: bool| {
        let mut members: Vec<(String, Json)> =
            (0..100_000).map(|n| (format!("k{n}"), Json::Integer(if n == 7 { last } else { n }))).collect();
        if turned {
            members.reverse();
        }
        Json::Object(members)
    };
    assert!(fidelity(&keys(7, false), &keys(9, true)) < THRESHOLD);
    assert_eq!(fidelity(&keys(7, false), &keys(7, true)), 1.0);
    let words = |word: &str| {
        let text = format!("{}{word}{}", "reeds and water ".repeat(300), " mud and tide".repeat(300));
        Json::Object(vec![("q".to_owned(), Json::String(text))])
    };
    assert!(fidelity(&words("do not dig"), &words("do dig")) < THRESHOLD, "behind any number of words");
    assert!(fidelity(&words("dig"), &words("Dig")) > THRESHOLD);
    let deep = |end: &str| read(&format!("{}{end}{}", "{\"a\":".repeat(60), "}".repeat(60)));
    assert!(fidelity(&deep("1"), &deep("2")) < THRESHOLD);
}

/// Of more members than are looked at, which ones are does not depend on their order.
#[test]
fn of_too_many_differences_the_order_says_nothing() {
    let call = |n: i64, turned: bool| {
        let mut members: Vec<(String, Json)> =
            (0..3000).map(|at| (format!("k{at}"), Json::Integer(if at == 1999 { 5 } else { n }))).collect();
        if turned {
            members.reverse();
        }
        Json::Object(members)
    };
    let fidelity = compare(&Fidelity::new(None), &call(1, false), &call(2, false));
    assert!(fidelity.score < THRESHOLD && fidelity.arguments.len() < 2000, "{}", fidelity.arguments.len());
    assert_eq!(fidelity.score, compare(&Fidelity::new(None), &call(1, true), &call(2, false)).score);
}

#[test]
fn a_text_that_is_not_read_to_its_end_is_not_accepted() {
    let call = |end: &str| read(&json!({"q": format!("{}{end}", "9".repeat(70_000))}).to_string());
    assert!(fidelity(&call("1"), &call("2")) < THRESHOLD);
    let blank = |text: String| read(&json!({"q": [text]}).to_string());
    assert!(fidelity(&blank(" ".to_owned()), &blank("a b c d e f g ".repeat(5000))) < THRESHOLD);
    let nested = |value: u8| read(&format!("{}{value}{}", r#"{"a":"#.repeat(120), "}".repeat(120)));
    assert!(fidelity(&nested(1), &nested(2)) < THRESHOLD);
}

#[test]
fn many_differences_within_one_long_text_end_soon() {
    // Every difference within the text stands for the whole text: a few megabytes, a thousand times.
    let items = |n: usize| {
        (0..1500)
            .map(|at| format!(r#"{{"k{at}": "{n} {}"}}"#, "x".repeat(2000)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let call = |n: usize| read(&serde_json::json!({"data": format!("[{}]", items(n))}).to_string());
    let fidelity = compare(&Fidelity::new(None), &call(1), &call(2));
    assert!(fidelity.score < 0.9, "{}", fidelity.score);
}

#[test]
fn what_is_named_otherwise_has_its_place_in_both_calls() {
    let one = read(r#"{"maxResults": 7, "q": "eel", "at": {"lat": 52.1, "lng": 4.3}}"#);
    let other =
        read(r#"{"max_results": 8, "q": "eel", "at": {"latitude": 53.1, "lng": 4.3}, "sort": "age"}"#);
    let places = |a: &Json, b: &Json| -> Vec<(String, String, Verdict)> {
        let fidelity = compare(&Fidelity::new(None), a, b);
        let place = |argument: &ArgumentComparison| {
            let other = argument.other_path.clone().unwrap_or_else(|| argument.path.clone());
            (argument.path.clone(), other, argument.verdict)
        };
        let mut places: Vec<_> =
            fidelity.arguments.iter().filter(|argument| argument.score < 1.0).map(place).collect();
        places.sort();
        places
    };
    let place = |a: &str, b: &str, verdict| (a.to_owned(), b.to_owned(), verdict);
    let expected = [
        place("/at/lat", "/at/latitude", Verdict::Different),
        place("/maxResults", "/max_results", Verdict::Different),
        place("/sort", "/sort", Verdict::Extra),
    ];
    assert_eq!(places(&one, &other), expected);
    let turned = [
        place("/at/latitude", "/at/lat", Verdict::Different),
        place("/max_results", "/maxResults", Verdict::Different),
        place("/sort", "/sort", Verdict::Missing),
    ];
    assert_eq!(places(&other, &one), turned);
}
