//! Arguments, ids, oddities and tokens of replies.

use serde_json::json;

use super::*;

#[test]
fn made_up_ids_collide_with_none() {
    let mut calls = Calls::default();
    let mut oddities = Oddities::default();
    for id in [None, Some("call_1"), Some("x"), Some("x"), Some("")] {
        calls.add(id, "tool", Arguments::Object(Map::new()), &mut oddities);
    }
    let ids: Vec<String> = calls.into_list().into_iter().map(|call| call.id).collect();
    assert_eq!(ids, ["call_1_", "call_1", "x", "call_4", "call_5"]);
    assert_eq!(oddities.into_list(), ["two calls had the same id; the later one was given another"]);
}

#[test]
fn arguments_are_an_object_or_the_text_they_were() {
    let object = |value: Value| Arguments::Object(value.as_object().unwrap().clone());
    let malformed = |text: &str| Arguments::Malformed(text.to_owned());
    let deep = "[".repeat(100_000);
    for (written, expected, notes) in [
        (Some(json!("{\"a\": 1}")), object(json!({"a": 1})), 0),
        (Some(json!("{}")), object(json!({})), 0),
        (Some(json!({"a": 1})), object(json!({"a": 1})), 0),
        (Some(json!("\"{\\\"a\\\": 1}\"")), object(json!({"a": 1})), 1),
        (Some(json!("")), Arguments::Absent, 1),
        (Some(json!(" ")), Arguments::Absent, 1),
        (Some(json!("{\"a\": \"\\ud83d\"}")), object(json!({"a": "\u{fffd}"})), 1),
        (Some(Value::Null), Arguments::Absent, 1),
        (None, Arguments::Absent, 1),
        (Some(json!("{\"a\": ")), malformed("{\"a\": "), 1),
        (Some(json!("{'a': 1}")), malformed("{'a': 1}"), 1),
        (Some(json!("{\"a\": 1} {}")), malformed("{\"a\": 1} {}"), 1),
        (Some(json!("[1]")), malformed("[1]"), 1),
        (Some(json!("null")), Arguments::Absent, 1),
        (Some(json!([1])), malformed("[1]"), 1),
        (Some(json!(7)), malformed("7"), 1),
        (Some(json!(deep)), malformed(&deep), 1),
    ] {
        let mut oddities = Oddities::default();
        assert_eq!(arguments_of(written.as_ref(), "tool", &mut oddities), expected);
        assert_eq!(oddities.into_list().len(), notes, "{expected:?}");
    }
}

#[test]
fn oddities_are_said_once_and_not_without_end() {
    let mut oddities = Oddities::default();
    for index in 0..1000 {
        oddities.note(format!("{index}"));
        oddities.note("0");
    }
    let list = oddities.into_list();
    assert_eq!((list.len(), list[20].as_str()), (21, "980 more of the like"));
}

#[test]
fn numbers_of_tokens_are_read_from_whatever_they_are() {
    for (value, expected, notes) in [
        (json!(12), Some(12), 0),
        (json!(12.0), Some(12), 1),
        (json!("12"), Some(12), 1),
        (json!(null), None, 0),
        (json!(-1), None, 1),
        (json!(1e300), None, 1),
        (json!("many"), None, 1),
        (json!([]), None, 1),
    ] {
        let mut oddities = Oddities::default();
        let usage = Map::from_iter([("n".to_owned(), value)]);
        assert_eq!(tokens(&usage, &[&["a", "b"], &["n"]], &mut oddities), expected, "{usage:?}");
        assert_eq!(oddities.into_list().len(), notes, "{usage:?}");
    }
}
