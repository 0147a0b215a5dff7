//! Whether arguments fit a tool's input schema, and where they do not.
//!
//! Schemas come from servers: an invalid schema, or one that refers to something outside, is not used
//! ([`ArgumentSchema::new`] says why). Nothing is ever fetched.

use jsonschema::PatternOptions;
use jsonschema::error::ValidationErrorKind;
use m3_support::bounded_schema::{
    self, BoundedSchema, PrepareError, TooMuchWork, accepts_everything, without_steps,
};
use m3_support::text::shortened;
use serde_json::{Map, Value};

/// A tool's input schema, ready to check arguments.
#[derive(Debug)]
pub struct ArgumentSchema(BoundedSchema);

/// The schema itself cannot be used, or not for these arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this schema cannot be checked: {reason}")]
pub struct SchemaError {
    /// The reason.
    pub reason: String,
}

/// A problem with the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentProblem {
    /// JSON pointer into the arguments; empty for the whole object.
    pub pointer: String,
    /// The violated keyword of JSON Schema, such as `required`; empty if finding it would take too long.
    pub keyword: String,
    /// The problem in words; values in it are shortened.
    pub message: String,
}

/// The longest message about one problem, in columns.
const MAX_MESSAGE: usize = 200;

/// The longest regular expression in a message, in columns.
const MAX_PATTERN: usize = 80;

/// The most bytes of one prepared regular expression, and of its cache while it is used.
const LARGEST_PATTERN: usize = 1 << 20;

/// The most bytes of all regular expressions of a schema. Each gets an equal share, but at least `SMALL_PATTERN`.
const LARGEST_PATTERNS: usize = 4 << 20;
const SMALL_PATTERN: usize = 32 << 10;

/// The most problems that are listed for one call.
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
        let options = |patterns: usize| {
            let most = (LARGEST_PATTERNS / patterns.max(1)).clamp(SMALL_PATTERN, LARGEST_PATTERN);
            let patterns = PatternOptions::regex().size_limit(most).dfa_size_limit(most);
            bounded_schema::options().with_pattern_options(patterns).should_validate_formats(has_formats)
        };
        Ok(Self(BoundedSchema::new(&Value::Object(schema.clone()), options)?))
    }

    /// The problems with the arguments; empty if they fit.
    ///
    /// # Errors
    /// [`SchemaError`] if the check would take too long.
    pub fn problems(&self, arguments: &Value) -> Result<Vec<ArgumentProblem>, SchemaError> {
        if self.0.is_valid(arguments)? {
            return Ok(Vec::new());
        }
        let errors = self.0.errors(arguments, MAX_PROBLEMS);
        let mut problems: Vec<ArgumentProblem> = errors.iter().map(ArgumentProblem::new).collect();
        if problems.is_empty() {
            problems.push(ArgumentProblem {
                pointer: String::new(),
                keyword: String::new(),
                message: "they do not fit; to say where would take too long".to_owned(),
            });
        }
        Ok(problems)
    }

    /// Whether the arguments fit; false if the check would take too long.
    #[must_use]
    pub fn accepts(&self, arguments: &Value) -> bool {
        self.0.is_valid(arguments).unwrap_or_default()
    }
}

impl ArgumentProblem {
    fn new(error: &jsonschema::ValidationError<'_>) -> Self {
        let (mut keyword, mut message) = (error.kind().keyword(), error.to_string());
        if let ValidationErrorKind::Not { schema } = error.kind() {
            // This is the only message that quotes the schema.
            message = without_steps(&message);
            if accepts_everything(schema) {
                (keyword, message) = ("false", "nothing is allowed here".to_owned());
            }
        }
        Self {
            pointer: error.instance_path().to_string(),
            keyword: keyword.to_owned(),
            message: shortened(&message, MAX_MESSAGE),
        }
    }
}

impl From<TooMuchWork> for SchemaError {
    fn from(cause: TooMuchWork) -> Self {
        Self { reason: cause.to_string() }
    }
}

impl From<PrepareError> for SchemaError {
    fn from(cause: PrepareError) -> Self {
        let is_pattern = matches!(&cause, PrepareError::Invalid(error)
            if matches!(error.kind(), ValidationErrorKind::Format { format } if format == "regex"));
        let cause = without_steps(&cause.to_string());
        let reason = if is_pattern {
            let pattern = cause.strip_suffix(" is not a \"regex\"").unwrap_or(&cause);
            let pattern = shortened(pattern, MAX_PATTERN);
            format!("the pattern {pattern} looks around or back, is too large, or is no regular expression")
        } else {
            cause
        };
        Self { reason: shortened(&reason, MAX_MESSAGE) }
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
mod tests;
