//! Tests of the texts of calls and results.

use m3_trajectory::json::parse;

use super::*;

fn json(text: &str) -> Json {
    parse(text.as_bytes()).unwrap().0
}

#[test]
fn arguments_read_as_in_the_paper() {
    let written = |text: &str| arguments(Some(&json(text)));
    assert_eq!(
        written(r#"{"title": "American eel", "n": 5, "at": [1, 2.50]}"#),
        r#"title="American eel"; n=5; at=[1,2.5]"#
    );
    assert_eq!(written("{}"), "(none)");
    assert_eq!(arguments(None), "(none recorded)");
    assert_eq!(written(r#""{cut o""#), "{cut o");
    assert_eq!(written("[1]"), "[1]");
}

#[test]
fn results_of_every_shape_are_texts() {
    let text = |text: &str| output::text(&json(text));
    assert_eq!(text(r#""plain""#), "plain");
    assert_eq!(text(r#"[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]"#), "a\nb");
    assert_eq!(
        text(r#"{"content": [{"type": "image", "file": "a.png", "mimeType": "image/png"}]}"#),
        "[image: a.png]"
    );
    assert_eq!(
        text(r#"{"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}"#),
        "[image: image/png, 4 characters of Base64]"
    );
    assert_eq!(
        text(r#"{"content": [{"type": "resource", "resource": {"uri": "file:///a", "text": "in it"}}]}"#),
        "in it"
    );
    assert_eq!(text(r#"{"content": [], "structuredContent": {"a": 1}}"#), r#"{"a":1}"#);
    assert_eq!(text(r#"{"content": "x"}"#), r#"{"content":"x"}"#);
    assert_eq!(text("[1]"), "[1]");
}
