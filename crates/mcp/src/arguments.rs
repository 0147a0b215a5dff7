//! Whether arguments fit a tool's input schema, and where they do not.
//!
//! Schemas come from servers: an invalid schema, or one that refers to something outside, is not used
//! ([`ArgumentSchema::new`] says why). Nothing is ever fetched.

use jsonschema::{PatternOptions, Validator};
use m3_support::text::shortened;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// A tool's input schema, ready to check arguments.
#[derive(Debug)]
pub struct ArgumentSchema {
    validator: Validator,
}

/// The schema itself cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the input schema cannot be used: {reason}")]
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

/// More problems than these are not listed for one call.
const MAX_PROBLEMS: usize = 20;

impl ArgumentSchema {
    /// Prepares a schema: draft 2020-12 unless its `$schema` says otherwise, as MCP requires; formats are not
    /// checked; patterns that take exponential time are refused.
    ///
    /// # Errors
    /// [`SchemaError`] if the schema is not a JSON Schema or refers to a document outside of itself.
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
        jsonschema::options()
            .with_pattern_options(PatternOptions::regex())
            .should_validate_formats(has_formats)
            .build(&Value::Object(schema.clone()))
            .map(|validator| Self { validator })
            .map_err(|error| SchemaError { reason: shortened(&error.to_string(), MAX_MESSAGE) })
    }

    /// The problems with the arguments; empty if they fit.
    #[must_use]
    pub fn problems(&self, arguments: &Value) -> Vec<ArgumentProblem> {
        self.validator
            .iter_errors(arguments)
            .take(MAX_PROBLEMS)
            .map(|error| ArgumentProblem {
                pointer: error.instance_path().to_string(),
                keyword: error.kind().keyword().to_owned(),
                message: shortened(&error.to_string(), MAX_MESSAGE),
            })
            .collect()
    }
}

/// The target of a `$ref` within a JSON Schema: `#`, `#/pointer`, or the anchor of a definition.
#[must_use]
pub fn referenced<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = reference.strip_prefix('#')?;
    if fragment.is_empty() || fragment.starts_with('/') {
        return root.pointer(&percent_decode_str(fragment).decode_utf8_lossy());
    }
    let definitions = ["$defs", "definitions"].iter().filter_map(|key| root.get(*key)?.as_object());
    definitions.flat_map(Map::values).find(|schema| {
        ["$anchor", "$dynamicAnchor"]
            .iter()
            .any(|key| schema.get(*key).and_then(Value::as_str) == Some(fragment))
    })
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
