//! What is read of the arguments of a call, before the model weighs it.

use m3_trajectory::json::parse;

use super::*;
use crate::fidelity::Fidelity;

/// The evidence of the first argument that differs.
fn evidence(a: &str, b: &str, question: Option<&str>) -> Evidence {
    let (a, b) = (parse(a.as_bytes()).unwrap().0, parse(b.as_bytes()).unwrap().0);
    let pair = CallPair { tool: "s/t", a: Some(&a), b: Some(&b), question, schema: None };
    Fidelity::new(None).with_evidence().compare(pair).evidence.remove(0)
}

/// Whether this flag of it is set.
fn is(name: &str, a: &str, b: &str) -> bool {
    evidence(a, b, None).is(name)
}

#[test]
fn names_tell_what_only_shapes_the_answer() {
    assert!(is("shapes_answer", r#"{"page_size": 5}"#, r#"{"page_size": 9}"#));
    assert!(!is("shapes_answer", r#"{"max_price": 5}"#, r#"{"max_price": 9}"#));
}

/// Parts of a date or of an address are no words that a question could have left out, and how near they are written says
/// nothing.
#[test]
fn dates_and_addresses_are_not_judged_by_words_or_letters() {
    let has = |number: &str, a: &str, b: &str| {
        let numbers = evidence(a, b, Some("Find what I have asked for."));
        !SIGNS.iter().zip(numbers.numbers()).find(|(sign, _)| sign.0 == number).unwrap().1.is_nan()
    };
    for (a, b) in [
        (r#"{"start": "2025-08-15T09:30"}"#, r#"{"start": "2023-10-01T00:05"}"#),
        (r#"{"url": "https://a.example/x"}"#, r#"{"url": "https://b.example/y"}"#),
        (r#"{"file": "a/left.csv"}"#, r#"{"file": "b/right.csv"}"#),
    ] {
        assert!(!has("unasked", a, b) && !has("spelling", a, b) && !has("lost_least", a, b), "{a}");
    }
    let (a, b) = (r#"{"currency": "EUR"}"#, r#"{"currency": "USD"}"#);
    assert!(!has("unasked", a, b) && has("spelling", a, b));
    for (a, b) in [
        (r#"{"query": "red fox"}"#, r#"{"query": "brown bear"}"#),
        (r#"{"id": "E-20931"}"#, r#"{"id": "X-10442"}"#),
    ] {
        assert!(has("unasked", a, b) && has("spelling", a, b) && has("lost_least", a, b), "{a}");
    }
}

#[test]
fn long_texts_are_read_from_where_they_differ_on() {
    let same = "e".repeat(2 * MAX_EMBEDDED);
    let (a, b) = (format!("{same} eel"), format!("{same} owl"));
    assert_eq!(start_of_difference("an eel", "an owl"), 0);
    assert!((same.len() - MAX_EMBEDDED..same.len()).contains(&start_of_difference(&a, &b)));
}
