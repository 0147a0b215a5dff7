//! How much of a file is looked at, and which arrangement it is taken to have.

use super::*;

#[test]
fn the_beginning_of_a_document_is_a_value() {
    let long = r#"{"a": [{"b": "x, ]", "c": 1}, {"b": "\"", "d"#;
    let (value, _) = parse(&closed(long.as_bytes())).unwrap();
    assert_eq!(value.pointer("/a/0/b").and_then(Json::as_str), Some("x, ]"));
    assert_eq!(value.pointer("/a/1/b").and_then(Json::as_str), Some("\""));
}

#[test]
fn brackets_of_any_number_are_closed_in_one_go() {
    let deep = ["[".repeat(1 << 20), ",".repeat(1 << 20)].concat();
    assert_eq!(closed(deep.as_bytes()).len(), (3 << 20) - 1);
    assert_eq!(Head::from_bytes(deep.as_bytes(), false).values, []);
}

#[test]
fn a_list_of_very_many_values_is_not_held_whole() {
    let text = ["[", &"0,".repeat(2 * VALUES), "0]"].concat();
    assert_eq!(end_of_values(text.as_bytes()), Some(1 + 2 * VALUES));
    let source = Source::of_bytes("numbers", text.as_bytes()).unwrap();
    let head = Head::read(&source).unwrap();
    assert!(!head.is_whole);
    assert_eq!(head.values.iter().map(|value| value.items().len()).collect::<Vec<_>>(), [ITEMS]);
}

/// Each of them ended the same text once more.
#[test]
fn brackets_that_close_nothing_are_passed_over() {
    let text = ["[\"", &"x".repeat(1 << 20), "\"]", &"]".repeat(1 << 20)].concat();
    assert_eq!(first_values(text.as_bytes()).len(), 1);
}

#[test]
fn shapes() {
    let shape = |text: &str| Head::from_bytes(text.as_bytes(), true).shape;
    assert_eq!(shape("{\"a\": 1}\n"), Shape::Document);
    assert_eq!(shape("{\"a\":\n 1}\n"), Shape::Document);
    assert_eq!(shape("{\"a\": 1}\n{\"a\": 2}"), Shape::Lines);
    assert_eq!(shape("{\"a\": 1}\n{\"a\": 2, "), Shape::Lines);
    assert_eq!(shape("event: x\ndata: {}"), Shape::Events);
    assert_eq!(shape("PK\x03\x04"), Shape::Zip);
    assert_eq!(shape("hello"), Shape::Text);
}
