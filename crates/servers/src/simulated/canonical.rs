//! Decides when two calls are the same.
//!
//! Arguments are compared as JSON values: the order of keys means nothing, and numbers are equal when they are the
//! same number (`5`, `5.0` and `5e0`; `0` and `-0.0`). An optional argument that equals its schema's default counts as
//! not given. Everything else counts: an explicit
//! `null` that is not the default, the case and the spaces of text, the order of lists.

use std::collections::{BTreeMap, HashSet};

use m3_mcp::arguments::{properties, required};
use m3_support::canonical::{canonical, write_object};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// The identity of a call among the calls of all servers: equal calls have equal keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CallKey([u8; 32]);

/// The defaults of a tool's optional arguments, each in its canonical text.
#[derive(Debug, Default)]
pub(super) struct Defaults(BTreeMap<String, String>);

impl CallKey {
    /// The key of a call.
    pub(super) fn new(server: &str, tool: &str, arguments: &Map<String, Value>, defaults: &Defaults) -> Self {
        let mut hash = Sha256::new();
        for part in [server, tool] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let given = arguments.iter().filter(|(name, value)| !defaults.are(name, value));
        let mut text = String::new();
        write_object(&mut text, given);
        hash.update(text);
        Self(hash.finalize().into())
    }

    /// The digest.
    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl Defaults {
    /// The defaults in an input schema, except those of required arguments, because a call without a required argument
    /// is another call.
    pub(super) fn new(input_schema: &Map<String, Value>) -> Self {
        let all_required: HashSet<&str> = required(input_schema).collect();
        let described = properties(input_schema).into_iter().flatten();
        let optional = described.filter(|(name, _)| !all_required.contains(name.as_str()));
        Self(
            optional
                .filter_map(|(name, schema)| Some((name.clone(), canonical(schema.get("default")?))))
                .collect(),
        )
    }

    fn are(&self, name: &str, value: &Value) -> bool {
        self.0.get(name).is_some_and(|default| *default == canonical(value))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(arguments: Value, schema: Value) -> CallKey {
        let (Value::Object(arguments), Value::Object(schema)) = (arguments, schema) else {
            panic!("objects")
        };
        CallKey::new("server", "tool", &arguments, &Defaults::new(&schema))
    }

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn equal_as_json_values_is_the_same_call() {
        for (left, right) in [
            (r#"{"a": 1, "b": {"c": 2, "d": 3}}"#, r#"{"b": {"d": 3, "c": 2}, "a": 1}"#),
            (r#"{"a": 5}"#, r#"{"a": 5.0}"#),
            (r#"{"a": [5e0, 0]}"#, r#"{"a": [5, -0.0]}"#),
            (r#"{"a": 18446744073709551615}"#, r#"{"a": 18446744073709551615}"#),
            // 2^60 is a double.
            (r#"{"a": 1152921504606846976}"#, r#"{"a": 1152921504606846976.0}"#),
            (r#"{"a": 0.1}"#, r#"{"a": 1e-1}"#),
            (r#"{"a": "\u00e9"}"#, r#"{"a": "é"}"#),
        ] {
            assert_eq!(key(parsed(left), json!({})), key(parsed(right), json!({})), "{left} {right}");
        }
    }

    #[test]
    fn anything_else_is_another_call() {
        for (left, right) in [
            (r#"{"a": 1}"#, r#"{"a": "1"}"#),
            (r#"{"a": 1}"#, r#"{"a": true}"#),
            (r#"{"a": null}"#, "{}"),
            (r#"{"a": [1, 2]}"#, r#"{"a": [2, 1]}"#),
            (r#"{"a": "x"}"#, r#"{"a": "X"}"#),
            (r#"{"a": "x"}"#, r#"{"a": "x "}"#),
            // Different as integers, but equal as doubles.
            (r#"{"a": 9007199254740993}"#, r#"{"a": 9007199254740992}"#),
            (r#"{"a\",\"b": 1}"#, r#"{"a": 1, "b": 1}"#),
        ] {
            assert_ne!(key(parsed(left), json!({})), key(parsed(right), json!({})), "{left} {right}");
        }
        let arguments = Map::new();
        let key = |server, tool| CallKey::new(server, tool, &arguments, &Defaults::default());
        assert_ne!(key("a", "bc"), key("ab", "c"));
    }

    #[test]
    fn an_optional_argument_with_its_default_is_as_good_as_none() {
        let schema = json!({
            "properties": {"n": {"default": 10}, "x": {"default": null}, "r": {"default": 1}},
            "required": ["r"],
        });
        let same = |left, right| key(left, schema.clone()) == key(right, schema.clone());
        assert!(same(json!({"r": 1}), json!({"r": 1, "n": 10.0, "x": null})));
        assert!(!same(json!({"r": 1}), json!({"r": 1, "n": 11})));
        assert!(!same(json!({"r": 1}), json!({})));
    }
}
