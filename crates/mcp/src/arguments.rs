//! Whether arguments fit a tool's input schema, and where they do not.
//!
//! Schemas come from servers: an invalid schema, or one that refers to something outside, is not used
//! ([`ArgumentSchema::new`] says why). Nothing is ever fetched.

use jsonschema::{PatternOptions, Validator};
pub use m3_support::schema_work::referenced;
use m3_support::schema_work::{SchemaWork, TooMuchWork};
use m3_support::text::shortened;
use serde_json::{Map, Value};

/// A tool's input schema, ready to check arguments.
#[derive(Debug)]
pub struct ArgumentSchema {
    schema: Value,
    validator: Validator,
}

/// The schema itself cannot be used, or not for these arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this schema cannot be checked: {reason}")]
pub struct SchemaError {
    /// What is wrong with it.
    pub reason: String,
}

/// A problem with the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentProblem {
    /// JSON pointer into the arguments; empty for the whole object.
    pub pointer: String,
    /// The violated keyword of JSON Schema, such as `required`.
    pub keyword: String,
    /// What is wrong, in words; values in it are shortened.
    pub message: String,
}

/// The longest message about one problem, in columns.
const MAX_MESSAGE: usize = 200;

/// The most bytes of one regular expression that is prepared.
const LARGEST_PATTERN: usize = 4 << 20;

/// More problems than these are not listed for one call.
const MAX_PROBLEMS: usize = 20;

impl ArgumentSchema {
    /// Prepares a schema: draft 2020-12 unless its `$schema` says otherwise, as MCP requires; formats are not
    /// checked; patterns that take exponential time are refused.
    ///
    /// # Errors
    /// [`SchemaError`] if the schema is not a JSON Schema, refers to a document outside of itself, or would take too long to be
    /// checked.
    pub fn new(schema: &Map<String, Value>) -> Result<Self, SchemaError> {
        Self::build(schema, false)
    }

    /// Prepares a schema whose formats are checked.
    ///
    /// # Errors
    /// As for [`ArgumentSchema::new`].
    pub fn with_formats(schema: &Map<String, Value>) -> Result<Self, SchemaError> {
        Self::build(schema, true)
    }

    fn build(schema: &Map<String, Value>, has_formats: bool) -> Result<Self, SchemaError> {
        let schema = Value::Object(schema.clone());
        SchemaWork::new(&schema)?.to_prepare()?;
        let validator = jsonschema::options()
            .with_pattern_options(PatternOptions::regex().size_limit(LARGEST_PATTERN))
            .should_validate_formats(has_formats)
            .build(&schema)
            .map_err(|error| SchemaError { reason: shortened(&error.to_string(), MAX_MESSAGE) })?;
        Ok(Self { schema, validator })
    }

    /// The problems with the arguments; empty if they fit.
    ///
    /// # Errors
    /// [`SchemaError`] if it would take too long to say.
    pub fn problems(&self, arguments: &Value) -> Result<Vec<ArgumentProblem>, SchemaError> {
        SchemaWork::new(&self.schema)?.to_check(arguments)?;
        let problems = self
            .validator
            .iter_errors(arguments)
            .take(MAX_PROBLEMS)
            .map(|error| ArgumentProblem {
                pointer: error.instance_path().to_string(),
                keyword: error.kind().keyword().to_owned(),
                message: shortened(&error.to_string(), MAX_MESSAGE),
            })
            .collect();
        Ok(problems)
    }

    /// Whether the arguments fit, as far as that can be said.
    #[must_use]
    pub fn accepts(&self, arguments: &Value) -> bool {
        self.problems(arguments).is_ok_and(|problems| problems.is_empty())
    }
}

impl From<TooMuchWork> for SchemaError {
    fn from(cause: TooMuchWork) -> Self {
        Self { reason: cause.to_string() }
    }
}

/// The arguments that a schema describes, by their names.
#[must_use]
pub fn properties(schema: &Map<String, Value>) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

/// The names of the arguments that a schema demands.
pub fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn prepared(schema: &Value) -> Result<ArgumentSchema, SchemaError> {
        ArgumentSchema::new(schema.as_object().unwrap())
    }

    /// Whether a schema can be checked for these arguments, and whether they fit.
    fn fits(schema: &Value, arguments: &Value) -> Option<bool> {
        prepared(schema)
            .and_then(|schema| schema.problems(arguments))
            .ok()
            .map(|problems| problems.is_empty())
    }

    /// Definitions `d0` to `d40` of which each is made from a reference to the next one; the last one is an integer.
    fn nested(depth: usize, definition: &dyn Fn(Value) -> Value) -> Value {
        let mut definitions: Map<String, Value> = (0..depth)
            .map(|at| (format!("d{at}"), definition(json!({ "$ref": format!("#/$defs/d{}", at + 1) }))))
            .collect();
        definitions.insert(format!("d{depth}"), json!({"type": "integer"}));
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
    }

    #[test]
    fn definitions_that_refer_to_one_another_twice_are_not_checked() {
        let bombs: [&dyn Fn(Value) -> Value; 9] = [
            &|next| json!({"anyOf": [next, next]}),
            &|next| json!({"allOf": [next, next]}),
            &|next| json!({"oneOf": [next, {"not": next}]}),
            &|next| json!({"if": next, "then": next, "else": next}),
            &|next| json!({"dependentSchemas": {"x": next, "y": next}}),
            &|next| json!({"dependencies": {"x": next, "y": next}}),
            &|next| json!({"anyOf": [next, next], "unevaluatedProperties": false}),
            &|next| json!({"allOf": [next, next], "unevaluatedItems": next}),
            &|next| json!({"$ref": next["$ref"], "allOf": [next]}),
        ];
        for bomb in bombs {
            let schema = nested(40, bomb);
            let reason = prepared(&schema).unwrap_err().reason;
            assert!(reason.contains("more than 50000 steps"), "{reason}");
            assert!(prepared(&nested(3, bomb)).is_ok());
        }
        let dynamic = |at: usize| json!({"$dynamicRef": format!("#a{}", at + 1)});
        let anchors = (0..40).map(|at| {
            let anchor = json!({"$dynamicAnchor": format!("a{at}"), "anyOf": [dynamic(at), dynamic(at)]});
            (format!("d{at}"), anchor)
        });
        let mut anchors: Map<String, Value> = anchors.collect();
        anchors.insert("d40".to_owned(), json!({"$dynamicAnchor": "a40"}));
        assert!(prepared(&json!({"$ref": "#/$defs/d0", "$defs": anchors})).is_err());
    }

    /// What looks into the value takes as many steps as the value has parts.
    #[test]
    fn definitions_that_look_into_the_value_are_checked_as_far_as_it_goes() {
        let bombs: [&dyn Fn(Value) -> Value; 4] = [
            &|next| json!({"properties": {"a": next, "b": next}}),
            &|next| json!({"items": {"anyOf": [next, next]}}),
            &|next| json!({"patternProperties": {"a": next, "a+": next}}),
            &|next| json!({"additionalProperties": {"allOf": [next, next]}}),
        ];
        let deep = |depth: usize, inner: Value, outer: &dyn Fn(Value) -> Value| {
            (0..depth).fold(inner, |value, _| outer(value))
        };
        for (at, bomb) in bombs.iter().enumerate() {
            let wrap = |value: Value| if at == 1 { json!([value]) } else { json!({"a": value}) };
            let schema = nested(40, bomb);
            assert_eq!(fits(&schema, &json!({"x": wrap(json!(1))})), Some(true));
            assert_eq!(fits(&schema, &json!({"y": 1})), Some(true));
            let all_the_way = json!({"x": deep(40, json!("no"), &wrap)});
            let wanted = if at == 0 { Some(false) } else { None };
            assert_eq!(fits(&schema, &all_the_way), wanted, "{at}");
            assert_eq!(
                fits(&nested(4, bomb), &json!({"x": deep(4, json!("no"), &wrap)})),
                Some(false),
                "{at}"
            );
        }
    }

    #[test]
    fn circles_and_depths_are_not_checked() {
        for endless in [
            json!({"$ref": "#"}),
            json!({"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"$ref": "#/$defs/a"}}}),
            json!({"$id": "https://example.com/a", "allOf": [{"$ref": "https://example.com/a"}]}),
        ] {
            let reason = prepared(&endless).unwrap_err().reason;
            assert!(reason.contains("refers to itself without end"), "{reason}");
        }
        let tree =
            json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "n": {"type": "integer"}}});
        assert_eq!(fits(&tree, &json!({"left": {"right": {"n": 1}}})), Some(true));
        assert_eq!(fits(&tree, &json!({"left": {"right": {"n": "1"}}})), Some(false));

        let wrapped = |key: &str, inner: Value| Value::Object(Map::from_iter([(key.to_owned(), inner)]));
        let inline = (0..600).fold(json!({}), |schema, _| wrapped("items", schema));
        assert!(prepared(&inline).unwrap_err().reason.contains("512 deep"));
        let chain = nested(5000, &|next| next);
        assert!(prepared(&chain).unwrap_err().reason.contains("references"));
        assert!(prepared(&nested(600, &|next| next)).unwrap_err().reason.contains("512 deep"));
        let long = nested(240, &|next| json!({"allOf": [next]}));
        assert_eq!(
            (fits(&long, &json!({"x": 1})), fits(&long, &json!({"x": "1"}))),
            (Some(true), Some(false))
        );
        let value = (0..600).fold(json!(1), |value, _| wrapped("left", value));
        assert_eq!(fits(&tree, &value), None);
    }

    #[test]
    fn patterns_take_linear_time_and_little_memory() {
        let pattern = |pattern: &str| json!({"properties": {"x": {"type": "string", "pattern": pattern}}});
        let text = json!({"x": "a".repeat(50_000) + "!"});
        assert_eq!(fits(&pattern("^(a+)+$"), &text), Some(false));
        assert_eq!(fits(&pattern("^(a|a)*$"), &text), Some(false));
        assert!(prepared(&pattern("(((a{100}){100}){100}){100}")).is_err());
        let many: Map<String, Value> = (0..1000)
            .map(|at| (format!("x{at}"), json!({ "pattern": format!("^\\w{{60}}{at}$") })))
            .collect();
        assert!(prepared(&json!({ "properties": many })).unwrap_err().reason.contains("regular expressions"));
    }

    #[test]
    fn what_is_only_large_is_checked() {
        let choices: Vec<String> = (0..10_000).map(|at| format!("choice {at}")).collect();
        let schema = json!({"properties": {"x": {"enum": choices}, "list": {"items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}}});
        let list: Vec<usize> = (0..100_000).collect();
        assert_eq!(fits(&schema, &json!({"x": "choice 9999", "list": list})), Some(true));
        assert_eq!(fits(&schema, &json!({"x": "choice", "list": list})), Some(false));
        let branches: Vec<Value> = (0..2000).map(|at| json!({"const": at})).collect();
        assert_eq!(fits(&json!({"properties": {"x": {"anyOf": branches}}}), &json!({"x": 1999})), Some(true));
    }
}
