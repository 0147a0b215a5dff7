//! Schemas and arguments, with what Python says of them.

use super::*;
use m3_trajectory::json::parse;

fn accepts(schema: &str, arguments: &str) -> bool {
    let json = |text: &str| parse(text.as_bytes()).unwrap().0;
    ArgumentCheck::new(Some(&json(schema))).accepts(Some(&json(arguments))).unwrap()
}

/// What `jsonschema.validate` of Python's jsonschema 4.26.0 says, without an exception or with one.
#[test]
fn pythons_verdicts() {
    let long = format!(r#"{{"a": "{}"}}"#, "a".repeat(131));
    for (schema, arguments, wanted) in [
        (r#"{"properties": {"a": {"type": "integer"}}}"#, r#"{"a": 3.0}"#, true),
        (r#"{"properties": {"a": {"type": "integer"}}}"#, r#"{"a": true}"#, false),
        (r#"{"properties": {"a": {"type": "number"}}}"#, r#"{"a": true}"#, false),
        (r#"{"properties": {"a": {"enum": [1]}}}"#, r#"{"a": true}"#, false),
        (r#"{"properties": {"a": {"enum": [1]}}}"#, r#"{"a": 1.0}"#, true),
        (r#"{"properties": {"a": {"default": 1}}, "required": ["a"]}"#, "{}", false),
        (r#"{"properties": {"a": {}}}"#, r#"{"b": 1}"#, true),
        (r#"{"type": "object"}"#, "null", false),
        (r#"{"type": "objct"}"#, "{}", false),
        (r#"{"properties": {"a": {"format": "date", "contentEncoding": "base64"}}}"#, r#"{"a": "?"}"#, true),
        (
            r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"contentEncoding": "base64"}}}"#,
            r#"{"a": "?"}"#,
            true,
        ),
        (r#"{"$schema": "nobody's", "properties": {"a": {"const": 1}}}"#, r#"{"a": 2}"#, false),
        (r#"{"properties": {"a": {"pattern": "^(?!x)"}}}"#, r#"{"a": "x"}"#, false),
        (r#"{"properties": {"a": {"pattern": "^(?!x)"}}}"#, r#"{"a": "y"}"#, true),
        (r#"{"properties": {"a": {"pattern": "^[a-z]{1,2048}$"}}}"#, &long, true),
        (r#"{"properties": {"a": {"pattern": "^[a-z]{20,5}$"}}}"#, "{}", false),
        (r#"{"$defs": {"a": {"pattern": "("}}}"#, "{}", false),
        (r#"{"properties": {"a": {"default": {"pattern": "*.txt"}}}}"#, "{}", true),
        (r##"{"$ref": "#", "type": "objct"}"##, "{}", false),
        (r#"{"dependencies": {"a": ["b"]}}"#, r#"{"a": 1}"#, true),
        (
            r#"{"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"]}}"#,
            r#"{"a": 1}"#,
            false,
        ),
    ] {
        assert_eq!(accepts(schema, arguments), wanted, "{schema} {arguments}");
    }
}

/// As above.
#[test]
fn references_to_nowhere_matter_where_they_are_needed() {
    let nowhere = r##"{"anyOf": [{"required": ["a"]}, {"$ref": "#/$defs/none", "maxProperties": 0}]}"##;
    for (schema, arguments, wanted) in [
        (r##"{"properties": {"a": {"$ref": "#/$defs/none"}}}"##, "{}", true),
        (r##"{"properties": {"a": {"$ref": "#/$defs/none"}}}"##, r#"{"a": 1}"#, false),
        (r#"{"properties": {"a": {"$ref": "http://example.com/none.json#/a"}}}"#, r#"{"b": 1}"#, true),
        (nowhere, r#"{"a": 1}"#, true),
        (nowhere, "{}", false),
        (r##"{"not": {"$ref": "#none"}}"##, "{}", false),
        (r##"{"properties": {"a": {"$ref": "#none", "type": "objct"}}}"##, "{}", false),
        (r##"{"$ref": "#"}"##, "{}", false),
        (r##"{"anyOf": [{"required": ["a"]}, {"not": {"$ref": "#"}}]}"##, "{}", false),
        (r##"{"anyOf": [{"required": ["a"]}, {"not": {"$ref": "#"}}]}"##, r#"{"a": 1}"#, true),
        (
            r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##,
            "{}",
            false,
        ),
        (r##"{"properties": {"a": {"$ref": "#"}}, "maxProperties": 1}"##, r#"{"a": {"a": {}}}"#, true),
        (
            r##"{"properties": {"a": {"$ref": "#"}}, "maxProperties": 1}"##,
            r#"{"a": {"a": 1, "b": 2}}"#,
            false,
        ),
        (
            r##"{"properties": {"a": {"$ref": "#n"}, "b": {"$ref": "#x"}}, "$defs": {"n": {"$anchor": "n", "const": 1}}}"##,
            r#"{"a": 2}"#,
            false,
        ),
    ] {
        assert_eq!(accepts(schema, arguments), wanted, "{schema} {arguments}");
    }
}

/// As above.
#[test]
fn multiples_are_those_of_floats() {
    for (of, number, wanted) in [
        ("0.1", "0.3", false),
        ("0.1", "0.5", true),
        ("0.01", "4.35", false),
        ("2", "4.0", true),
        ("2", "5", false),
        ("1.5", "3", true),
        ("1", "2.5", false),
        ("1e-8", "12391239123", true),
        ("3", r#""text""#, true),
    ] {
        assert_eq!(accepts(&format!(r#"{{"multipleOf": {of}}}"#), number), wanted, "{number} of {of}");
    }
}

#[test]
fn what_says_nothing_accepts_anything() {
    for silent in ["{}", "true", "null"] {
        assert!(accepts(silent, "null") && accepts(silent, "[1]"), "{silent}");
    }
    assert_eq!(ArgumentCheck::new(None).accepts(None), Some(true));
    let object = parse(br#"{"type": "object"}"#).unwrap().0;
    assert_eq!(
        ArgumentCheck::new(Some(&object)).accepts(None),
        Some(true),
        "no arguments are an empty object"
    );
    for broken in ["false", "3", r#""object""#, r#"["object"]"#, r#"{"multipleOf": NaN}"#] {
        assert!(!accepts(broken, "{}"), "{broken}");
    }
    assert!(!accepts(r#"{"type": "object"}"#, r#"{"a": NaN}"#), "no number of JSON");
}

#[test]
fn long_chains_end() {
    let link = |n: usize| format!(r##""a{n}": {{"allOf": [{{"$ref": "#/$defs/a{}"}}]}}"##, n + 1);
    let chain = |length: usize| {
        let links: Vec<String> = (0..length).map(link).collect();
        format!(r##"{{"$ref": "#/$defs/a0", "$defs": {{{}, "a{length}": {{}}}}}}"##, links.join(","))
    };
    assert!(accepts(&chain(100), "{}"));
    let long = parse(chain(30_000).as_bytes()).unwrap().0;
    assert_eq!(ArgumentCheck::new(Some(&long)).accepts(None), None, "it would take too much");
}

/// Large expressions are neither right nor wrong: to prepare them takes gigabytes.
#[test]
fn large_patterns_are_not_prepared() {
    let of = |pattern: &str| {
        let patterns: Map<_, _> =
            (0..490).map(|number| (pattern.replace('N', &number.to_string()), json!({}))).collect();
        let schema = json!({"patternProperties": patterns}).to_string();
        ArgumentCheck::new(Some(&parse(schema.as_bytes()).unwrap().0)).accepts(None)
    };
    for pattern in ["^[a-z]{20000}N$", "^(?!q)[a-z]{20000}N$", "^(a|b){5000}N$"] {
        assert_eq!(of(pattern), None, "{pattern}");
    }
    assert_eq!(of("^[a-z]{1,20}N$"), Some(true));
}
