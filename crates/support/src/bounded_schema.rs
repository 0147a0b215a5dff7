//! JSON Schemas that somebody else wrote, prepared and used within a number of steps.
//!
//! Forty definitions that refer to the next one twice each make 2^40 steps of a small schema and a number. What a schema
//! costs is best known by who follows its references, so what the validator really does is counted: it reads the value
//! through [`Counted`], and each part of the schema gets one more keyword, for parts that do not look at the value. Where
//! that becomes too much the stack is unwound: a validator has no other way out.
//!
//! Every part that is checked counts at least once. It ends early, after a look at the value or after a part that is
//! counted; or it comes to its last keyword, which is ours. `true` and `false`, which do neither, are replaced; where they are no
//! schemas but values, as are the contents of `const` and `enum`, no reference may lead to them.

mod counted;

use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jsonschema::{Keyword, Retrieve, ValidationError, ValidationOptions, Validator};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

pub use self::counted::{Counted, CountedValue};

/// The most steps of a check: looks at the value, and parts of the schema.
pub const MOST_STEPS: u64 = 1_000_000;

/// The most steps of preparing a schema: so many, and so many times its parts. `unevaluatedProperties` unfolds them. A check of a
/// plain value may take four times as many.
const STEPS_TO_PREPARE: u64 = 2000;
const TIMES_TO_PREPARE: u64 = 4;

/// So many members of an object are tried when a schema with references is prepared.
const MOST_MEMBERS_TRIED: usize = 200;

/// A check that became too long halves the steps of the next checks of the same schema, but not below this.
const FEWEST_STEPS: u64 = 20_000;

/// Errors are all listed if that takes no more steps than these: each may be an error, of half a kilobyte.
const MOST_STEPS_TO_LIST: u64 = 100_000;

/// The deepest nesting of a schema, and of a value that is checked.
pub const MOST_DEEP: usize = 512;

/// The most bytes of stack that a check may use: threads have two megabytes.
const MOST_STACK: usize = 768 << 10;

/// The most references of a schema: each may be followed within the one before.
pub const MOST_REFERENCES: usize = 1000;

/// The longest reference, in bytes.
const LONGEST_REFERENCE: usize = 4096;

/// The most regular expressions of a schema, each of which may take tens of kilobytes.
pub const MOST_PATTERNS: usize = 500;

/// The keyword that counts. The validator takes keywords that it does not know last.
const STEP: &str = " m3 step";

/// Options of a schema that is prepared here.
pub type SchemaOptions = ValidationOptions<'static, Arc<dyn Retrieve>, Counted>;

/// The usual options: nothing is fetched.
#[must_use]
pub fn options() -> SchemaOptions {
    jsonschema::options_for::<Counted>()
}

/// Why a schema is not used, or not for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooMuchWork {
    /// It, or a check, takes too many steps.
    #[error("its parts refer to one another so often that it takes more than {0} steps")]
    Steps(u64),
    /// It is nested too deep, or the value is.
    #[error("it is nested more than {MOST_DEEP} deep, or refers to itself without end")]
    Deep,
    /// It has too many references, or one that is too long.
    #[error("it has more than {MOST_REFERENCES} references, or one of more than {LONGEST_REFERENCE} bytes")]
    References,
    /// It has too many regular expressions.
    #[error("it has more than {MOST_PATTERNS} regular expressions")]
    Patterns,
    /// It refers to a value, where a schema should be.
    #[error("it refers to a value instead of a schema")]
    Values,
}

/// Why a schema cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// It would take too much.
    #[error(transparent)]
    TooMuchWork(#[from] TooMuchWork),
    /// It is no schema, or refers to something that is not in it.
    #[error(transparent)]
    Invalid(Box<ValidationError<'static>>),
}

/// A schema that checks values within a number of steps.
#[derive(Debug)]
pub struct BoundedSchema {
    validator: Validator<Counted>,
    /// The steps of the next check.
    most_steps: AtomicU64,
}

impl BoundedSchema {
    /// Prepares a schema, with options for the number of its regular expressions, and tries it with plain values.
    ///
    /// # Errors
    /// [`PrepareError`] if it is no schema, refers to something outside, or would take too much.
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
            let (loose, members) = without_demands(counted);
            let loose = prepared(&loose)?;
            for value in &members {
                within(most * TIMES_TO_PREPARE, || loose.is_valid(CountedValue(value)))?;
            }
        }
        Ok(Self { validator, most_steps: AtomicU64::new(MOST_STEPS) })
    }

    /// Whether a value fits.
    ///
    /// # Errors
    /// [`TooMuchWork`] if it would take too much to say.
    pub fn is_valid(&self, value: &Value) -> Result<bool, TooMuchWork> {
        if is_deeper(value) {
            return Err(TooMuchWork::Deep);
        }
        let most = self.most_steps.load(Ordering::Relaxed);
        let checked = within(most, || self.validator.is_valid(CountedValue(value)));
        if checked.is_err() {
            self.most_steps.store((most / 2).max(FEWEST_STEPS), Ordering::Relaxed);
        }
        checked
    }

    /// Where and why a value does not fit: at most so many errors; none if it fits, or if that would take too much to say.
    /// Only the first one is there if all would be too many.
    pub fn errors<'v>(&'v self, value: &'v Value, most: usize) -> Vec<ValidationError<'v>> {
        within(MOST_STEPS_TO_LIST, || self.validator.iter_errors(CountedValue(value)).take(most).collect())
            .or_else(|_| {
                within(MOST_STEPS, || {
                    self.validator.validate(CountedValue(value)).err().into_iter().collect()
                })
            })
            .unwrap_or_default()
    }
}

/// A schema of an object that may have any of its members alone, and such objects, of a member and of each plain value.
fn without_demands(mut schema: Value) -> (Value, Vec<Value>) {
    let Some(keywords) = schema.as_object_mut() else { return (schema, Vec::new()) };
    for demand in ["required", "minProperties", "dependentRequired", "enum", "const"] {
        keywords.remove(demand);
    }
    let names = keywords.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let plain = [Value::Null, json!(true), json!(0), json!("?"), json!([]), json!({})];
    let object =
        |name: &String, value: &Value| Value::Object(Map::from_iter([(name.clone(), value.clone())]));
    let objects =
        names.take(MOST_MEMBERS_TRIED).flat_map(|name| plain.iter().map(|value| object(name, value)));
    let objects = objects.chain([json!({})]).collect();
    (schema, objects)
}

/// A message about a schema, without the keyword that counts.
#[must_use]
pub fn without_steps(message: &str) -> String {
    let keyword = format!("\"{STEP}\":true");
    message.replace(&format!("{keyword},"), "").replace(&keyword, "")
}

/// The keyword that counts a part of a schema which no other keyword of it ended before.
struct Step;

impl<'i> Keyword<'i, Counted> for Step {
    fn validate(&self, _: CountedValue<'i>) -> Result<(), ValidationError<'i>> {
        count_steps(1);
        Ok(())
    }

    fn is_valid(&self, _: CountedValue<'i>) -> bool {
        count_steps(1);
        true
    }
}

thread_local! {
    /// The steps that are left to what runs now, and about where its stack begins; `None` where nothing is counted.
    static LEFT: Cell<Option<(u64, usize)>> = const { Cell::new(None) };
}

fn count_steps(steps: u64) {
    let Some((left, stack)) = LEFT.get() else { return };
    if stack_pointer().abs_diff(stack) > MOST_STACK {
        resume_unwind(Box::new(Stop::Deep));
    }
    match left.checked_sub(steps) {
        Some(left) => LEFT.set(Some((left, stack))),
        None => resume_unwind(Box::new(Stop::Steps)),
    }
}

/// What unwinds the stack of a check.
enum Stop {
    Steps,
    Deep,
}

/// About where the stack is.
#[inline(never)]
fn stack_pointer() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)).addr()
}

/// Runs something within so many steps.
fn within<T>(most: u64, run: impl FnOnce() -> T) -> Result<T, TooMuchWork> {
    let before = LEFT.replace(Some((most, stack_pointer())));
    // What was being prepared or checked is thrown away.
    let done = catch_unwind(AssertUnwindSafe(run));
    LEFT.set(before);
    done.map_err(|cause: Box<dyn Any + Send>| match cause.downcast::<Stop>().map(|stop| *stop) {
        Ok(Stop::Steps) => TooMuchWork::Steps(most),
        Ok(Stop::Deep) => TooMuchWork::Deep,
        Err(other) => resume_unwind(other),
    })
}

/// Whether a value is nested too deep.
fn is_deeper(value: &Value) -> bool {
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        if depth > MOST_DEEP {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => open.extend(members.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    false
}

/// Keywords that name schemas.
const NAMED_SCHEMAS: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// Keywords of a single schema that may apply to the value without a look at it.
const SINGLE_SCHEMAS: [&str; 4] = ["if", "then", "else", "not"];

/// Keywords that name something else, in which nothing can be a schema.
const NAMED_OTHERS: [&str; 2] = ["dependentRequired", "$vocabulary"];

/// The schema with the keyword that counts in all its parts.
fn with_steps(schema: &Value) -> Result<(Value, Parts), TooMuchWork> {
    if is_deeper(schema) {
        return Err(TooMuchWork::Deep);
    }
    let (mut counted, mut parts) = (schema.clone(), Parts::default());
    parts.add_references(schema);
    if parts.references > MOST_REFERENCES || parts.has_long_reference {
        return Err(TooMuchWork::References);
    }
    parts.add_step(&mut counted);
    if parts.patterns > MOST_PATTERNS {
        return Err(TooMuchWork::Patterns);
    }
    if parts.refers_to_value { Err(TooMuchWork::Values) } else { Ok((counted, parts)) }
}

/// What is seen on the way through a schema.
#[derive(Default)]
struct Parts {
    count: u64,
    references: usize,
    has_long_reference: bool,
    /// The JSON pointers of references.
    pointers: BTreeSet<String>,
    patterns: usize,
    /// The JSON pointer of what is looked at.
    place: String,
    /// Whether a reference may lead to something that gets no keyword that counts.
    refers_to_value: bool,
}

impl Parts {
    fn add_references(&mut self, schema: &Value) {
        let mut open = vec![schema];
        while let Some(part) = open.pop() {
            match part {
                Value::Array(items) => open.extend(items),
                Value::Object(members) => {
                    let references = ["$ref", "$dynamicRef", "$recursiveRef"];
                    for reference in references.iter().filter_map(|key| members.get(*key)?.as_str()) {
                        self.references += 1;
                        self.has_long_reference |= reference.len() > LONGEST_REFERENCE;
                        let (_, pointer) = reference.split_once('#').unwrap_or_default();
                        self.pointers.insert(percent_decode_str(pointer).decode_utf8_lossy().into_owned());
                    }
                    open.extend(members.values());
                }
                _ => {}
            }
        }
    }

    /// What is no known keyword may be a schema too, as references may lead to it.
    fn add_step(&mut self, part: &mut Value) {
        match part {
            Value::Bool(true) => *part = json!({STEP: true}),
            Value::Bool(false) => *part = json!({"not": {STEP: true}}),
            Value::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    self.below(&at.to_string(), |parts| parts.add_step(item));
                }
            }
            Value::Object(members) => {
                self.count += 1;
                self.patterns += usize::from(members.get("pattern").is_some_and(Value::is_string));
                for (key, value) in members.iter_mut() {
                    self.below(key, |parts| parts.add_steps_below(key, value));
                }
                members.insert(STEP.to_owned(), Value::Bool(true));
            }
            _ => {}
        }
    }

    fn add_steps_below(&mut self, key: &str, value: &mut Value) {
        match value {
            Value::Object(named) if NAMED_SCHEMAS.contains(&key) => {
                self.patterns += if key == "patternProperties" { named.len() } else { 0 };
                for (name, schema) in named {
                    self.below(name, |parts| parts.add_step(schema));
                }
            }
            _ if key == "const" || key == "enum" => {
                self.refers_to_value |= !is_plain(value) && self.is_referred_to();
            }
            Value::Bool(_) if !SINGLE_SCHEMAS.contains(&key) => {
                self.refers_to_value |= self.is_referred_to();
            }
            _ if NAMED_OTHERS.contains(&key) => {}
            _ => self.add_step(value),
        }
    }

    /// Looks at what has this key.
    fn below(&mut self, key: &str, look: impl FnOnce(&mut Self)) {
        let length = self.place.len();
        self.place.push('/');
        self.place.push_str(&key.replace('~', "~0").replace('/', "~1"));
        look(self);
        self.place.truncate(length);
    }

    /// Whether a reference may lead here, or to something within: to the end of this place, as parts with a name of their own have
    /// pointers that begin in them.
    fn is_referred_to(&self) -> bool {
        let begins = self.place.match_indices('/').map(|(at, _)| &self.place[at..]);
        let mut ends = begins.filter(|end| end.len() <= LONGEST_REFERENCE);
        ends.any(|end| {
            let within = format!("{end}/");
            let mut after = self.pointers.range(within.clone()..);
            self.pointers.contains(end) || after.next().is_some_and(|it| it.starts_with(&within))
        })
    }
}

/// Whether a value is nothing that could be a schema, or hold one.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(is_plain),
        value => !value.is_object() && !value.is_boolean(),
    }
}
