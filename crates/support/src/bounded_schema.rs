//! JSON Schemas from strangers, prepared and used within a number of steps.
//!
//! A small schema may take 2^40 steps for a single number: forty definitions that each refer to the next one twice.
//! Such a cost is hard to predict, so the steps that the validator really takes are counted: it reads the value through
//! [`CountedJson`], and each part of the schema gets one more keyword, for parts that do not look at the value. When
//! the steps are used up, the stack is unwound: a validator has no other way out.
//!
//! The steps of a check depend on the schema and the value alone, so the same call is always judged alike.
//!
//! Every part that is checked counts at least once: it ends early, after a look at the value or after a part that is
//! counted, or it comes to its last keyword, which is ours. `true` and `false` have no keywords and are replaced; where
//! they are values and no schemas, as in `const` and `enum`, no reference may lead to them.

mod budget;
mod counted;
mod parts;
mod patterns;

use std::sync::Arc;

use jsonschema::{Keyword, Retrieve, ValidationError, ValidationOptions, Validator};
use serde_json::{Map, Value, json};

use self::budget::{Limits, Size, count_steps, within};
pub use self::counted::{CountedJson, CountedValue};
use self::parts::with_steps;

/// The steps that every check may take, looks at the value and parts of the schema: about a millisecond.
const STEPS: u64 = 20_000;

/// The steps added for each pair of a value in the schema and a value that is checked.
const STEPS_OF_PAIR: u64 = 2;

/// The most steps of a check; those for reading, by the checked values and bytes, are added.
const MOST_STEPS: u64 = 1_000_000;
const STEPS_OF_VALUE: u64 = 16;
const BYTES_OF_STEP: u64 = 8;

/// The work of regular expressions that every check may do, and the work for each byte of the checked value. One byte
/// of text, compared with one state of an expression, is 1, which takes up to 20 nanoseconds.
const PATTERN_WORK: u64 = 4_000_000;
const PATTERN_WORK_OF_BYTE: u64 = 256;

/// The most steps of preparing a schema: a fixed number, and some for each part. The validator prepares a part once more
/// for every `unevaluatedProperties` that looks through it, so the number of steps could otherwise double with each level.
const STEPS_TO_PREPARE: u64 = 2000;
const TIMES_TO_PREPARE: u64 = 4;

/// The most members of an object that are tried when a schema with references is prepared, and the steps for them.
const MOST_MEMBERS_TRIED: usize = 200;
const STEPS_TO_TRY: u64 = 200_000;

/// The most steps for listing all errors: each step may be an error of half a kilobyte. An error of `not` has a copy of
/// the denied schema; this many values in the copy cost as much as the error itself.
const MOST_STEPS_TO_LIST: u64 = 100_000;
const VALUES_OF_COPY: u64 = 8;

/// The most values in a schema, its keywords among them: each may take some kilobytes once it is prepared.
const MOST_VALUES: u64 = 20_000;

/// The deepest nesting of a schema, and of a value that is checked.
const MOST_DEEP: usize = 512;

/// The most references of a schema: each may be followed within the one before.
const MOST_REFERENCES: usize = 1000;

/// The longest reference, in bytes.
const LONGEST_REFERENCE: usize = 4096;

/// The most regular expressions of a schema, each of which may take tens of kilobytes, and the longest, in bytes.
const MOST_PATTERNS: usize = 500;
const LONGEST_PATTERN: usize = 4096;

/// The keyword that counts. The validator takes keywords that it does not know last.
const STEP: &str = " m3 step";

/// Options of a schema that is prepared here.
pub type SchemaOptions = ValidationOptions<'static, Arc<dyn Retrieve>, CountedJson>;

/// The usual options: nothing is fetched.
#[must_use]
pub fn options() -> SchemaOptions {
    jsonschema::options_for::<CountedJson>()
}

/// The reason why a schema cannot be used, or cannot be used for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooMuchWork {
    /// Preparing the schema, or a check, takes too many steps.
    #[error("it would take more than {0} steps")]
    Steps(u64),
    /// The regular expressions of the schema are too large for the texts.
    #[error("its regular expressions are too large for texts of this length")]
    PatternWork,
    /// The schema has too many values.
    #[error("it has more than {MOST_VALUES} values")]
    Large,
    /// The schema or the value is nested too deep.
    #[error("it, or a value, is nested more than {MOST_DEEP} deep")]
    Deep,
    /// The schema has too many references, or one that is too long.
    #[error("it has more than {MOST_REFERENCES} references, or one of more than {LONGEST_REFERENCE} bytes")]
    References,
    /// The schema has too many regular expressions, or one that is too long.
    #[error(
        "it has more than {MOST_PATTERNS} regular expressions, or one of more than {LONGEST_PATTERN} bytes"
    )]
    Patterns,
    /// The schema refers to a value where a schema should be.
    #[error("it refers to a value instead of a schema")]
    Values,
}

/// Why a schema cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// Preparing the schema would exceed a limit.
    #[error(transparent)]
    TooMuchWork(#[from] TooMuchWork),
    /// The value is not a JSON Schema, or refers to something that is not in it.
    #[error(transparent)]
    Invalid(Box<ValidationError<'static>>),
}

/// A schema that checks values within a number of steps.
#[derive(Debug)]
pub struct BoundedSchema {
    validator: Validator<CountedJson>,
    /// The number of values in the schema.
    size: u64,
    /// The states of its largest regular expression, and of all those that a name of a member is matched with.
    pattern_states: u64,
    name_states: u64,
    /// The number of values in the largest schema below a `not`.
    denied: u64,
}

impl BoundedSchema {
    /// Prepares a schema, with options for the number of its regular expressions, and tries it with plain values.
    ///
    /// # Errors
    /// [`PrepareError`] if the value is not a schema, refers to something outside, or would take too much.
    pub fn new(schema: &Value, options: impl FnOnce(usize) -> SchemaOptions) -> Result<Self, PrepareError> {
        let (counted, parts) = with_steps(schema)?;
        let options = options(parts.patterns).with_keyword(STEP, |_, _, _| {
            count_steps(1);
            Ok(Box::new(Step))
        });
        let most = STEPS_TO_PREPARE + TIMES_TO_PREPARE * parts.count;
        let prepared = |schema: &Value| {
            let built = within(most, || options.build(schema))?;
            built.map_err(|error| PrepareError::Invalid(Box::new(error)))
        };
        let validator = prepared(&counted)?;
        // Without references no part applies to a value twice.
        if parts.references > 0 {
            let (loose, values) = without_demands(counted);
            let loose = prepared(&loose)?;
            within(STEPS_TO_TRY, || {
                for value in &values {
                    loose.iter_errors(CountedValue(value)).for_each(drop);
                }
            })?;
        }
        let (pattern_states, name_states) =
            (parts.pattern_states, parts.name_states.max(parts.pattern_states));
        Ok(Self { validator, size: parts.size, pattern_states, name_states, denied: parts.denied })
    }

    /// The limits for a check of this value.
    fn allowed(&self, value: &Value) -> Result<Limits, TooMuchWork> {
        let size = Size::measure(value)?;
        let pairs = self.size.saturating_mul(size.values);
        let steps = STEPS.saturating_add(STEPS_OF_PAIR.saturating_mul(pairs)).min(MOST_STEPS);
        let reading = STEPS_OF_VALUE.saturating_mul(size.values).saturating_add(size.bytes / BYTES_OF_STEP);
        Ok(Limits {
            steps: steps.saturating_add(reading),
            pattern_work: PATTERN_WORK.saturating_add(PATTERN_WORK_OF_BYTE.saturating_mul(size.bytes)),
            pattern_states: self.pattern_states,
            name_states: self.name_states,
        })
    }

    /// Whether a value fits.
    ///
    /// # Errors
    /// [`TooMuchWork`] if the check would take too much.
    pub fn is_valid(&self, value: &Value) -> Result<bool, TooMuchWork> {
        let allowed = self.allowed(value)?;
        allowed.within(|| self.validator.is_valid(CountedValue(value)))
    }

    /// The errors of a value, at most `most`; empty if the value fits, or if a check would take too much. Only the
    /// first error is returned if listing all would take too much.
    #[must_use]
    pub fn errors<'v>(&'v self, value: &'v Value, most: usize) -> Vec<ValidationError<'v>> {
        let Ok(allowed) = self.allowed(value) else { return Vec::new() };
        let allowed = Limits { steps: allowed.steps / (1 + self.denied / VALUES_OF_COPY), ..allowed };
        let all = Limits { steps: allowed.steps.min(MOST_STEPS_TO_LIST), ..allowed };
        all.within(|| self.validator.iter_errors(CountedValue(value)).take(most).collect())
            .or_else(|_| {
                allowed.within(|| self.validator.validate(CountedValue(value)).err().into_iter().collect())
            })
            .unwrap_or_default()
    }
}

/// The schema without demands on whole objects, and objects to try it with: one for each plain value, and {}.
fn without_demands(mut schema: Value) -> (Value, Vec<Value>) {
    let Some(keywords) = schema.as_object_mut() else { return (schema, Vec::new()) };
    for demand in ["required", "minProperties", "dependentRequired", "enum", "const"] {
        keywords.remove(demand);
    }
    let names = keywords.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let plain = [Value::Null, json!(true), json!(0), json!("?"), json!([]), json!({})];
    let names: Vec<&String> = names.take(MOST_MEMBERS_TRIED).collect();
    let object = |value: &Value| names.iter().map(|&name| (name.clone(), value.clone())).collect();
    let objects = plain.iter().map(|value| Value::Object(object(value))).chain([json!({})]).collect();
    (schema, objects)
}

/// A message about a schema, without the keyword that counts.
#[must_use]
pub fn without_steps(message: &str) -> String {
    let keyword = format!("\"{STEP}\":true");
    message.replace(&format!("{keyword},"), "").replace(&keyword, "")
}

/// Whether the schema below a `not` accepts everything, so that the `not` stands for the schema `false`: it has no
/// keyword but the one that counts.
#[must_use]
pub fn accepts_everything(schema: &Value) -> bool {
    schema.as_object().is_some_and(|keywords| keywords.keys().all(|keyword| keyword == STEP))
}

/// The keyword that counts a part of a schema. It is the last keyword of the part, so it counts nothing if an earlier
/// keyword has already ended the check of the part.
struct Step;

impl<'i> Keyword<'i, CountedJson> for Step {
    fn validate(&self, _: CountedValue<'i>) -> Result<(), ValidationError<'i>> {
        count_steps(1);
        Ok(())
    }

    fn is_valid(&self, _: CountedValue<'i>) -> bool {
        count_steps(1);
        true
    }
}
