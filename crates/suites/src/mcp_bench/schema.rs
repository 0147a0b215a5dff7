//! Decides whether arguments fit a tool's input schema as Python's `jsonschema.validate` does, which MCP-Bench uses.
//!
//! Two of its habits are not those of the crate: a reference is followed only when a value gets there, so a schema with
//! a dangling reference is usable as long as no value does; and multiples of a fraction are found by dividing floats.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jsonschema::error::ValidationErrorKind;
use jsonschema::json::{Json as Representation, JsonNumber, Node};
use jsonschema::{Draft, FancyRegex, Keyword, PatternOptions, ValidationError};
use m3_support::bounded_schema::{self, BoundedSchema, PrepareError, SchemaOptions};
use m3_trajectory::json::Json;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

/// The arguments that a tool accepts.
pub(super) enum ArgumentCheck {
    /// All arguments: the tool has no schema, or an empty one.
    Anything,
    /// Nothing: its schema is broken.
    Nothing,
    /// Nobody knows which: to prepare the schema would take too much.
    Unknown,
    /// Arguments that fit the schema.
    Schema {
        schema: Box<BoundedSchema>,
        /// True if the checked value needed a reference to nowhere.
        is_lost: Arc<AtomicBool>,
    },
}

/// The keyword that stands in for a reference to nowhere.
const LOST: &str = "m3-reference-to-nowhere";

impl ArgumentCheck {
    /// Prepares a tool's schema.
    pub(super) fn new(schema: Option<&Json>) -> Self {
        let is_silent = match schema {
            None | Some(Json::Null | Json::Bool(true)) => true,
            Some(Json::Object(members)) => members.is_empty(),
            Some(_) => false,
        };
        if is_silent {
            return Self::Anything;
        }
        schema.and_then(Json::to_value).and_then(Self::of_schema).unwrap_or(Self::Nothing)
    }

    fn of_schema(mut schema: Value) -> Option<Self> {
        let is_lost = Arc::new(AtomicBool::new(false));
        // A schema with any other error than a dangling reference stays broken.
        let is_prepared = prepared(&schema, &is_lost);
        if matches!(is_prepared, Err(PrepareError::TooMuchWork(_))) {
            return Some(Self::Unknown);
        }
        let parts = Parts::new(&schema);
        if parts.has_bad_pattern() {
            return None;
        }
        let needs_repair = match is_prepared {
            Ok(_) => !parts.loops().is_empty(),
            Err(PrepareError::Invalid(error)) => match error.kind() {
                ValidationErrorKind::Referencing(_) => true,
                // A good pattern is refused for its size alone.
                ValidationErrorKind::Format { format } if format == "regex" => return Some(Self::Unknown),
                _ => return None,
            },
            Err(PrepareError::TooMuchWork(_)) => return Some(Self::Unknown),
        };
        if needs_repair {
            let root = schema.clone();
            let parts = Parts::new(&root);
            let loops = parts.loops();
            replace(&mut schema, &|reference| !parts.has(reference) || loops.contains(reference));
        }
        Some(Self::Schema { schema: Box::new(prepared(&schema, &is_lost).ok()?), is_lost })
    }

    /// Whether the arguments fit; missing ones are an empty object. Numbers that are not finite never fit. `None` if the
    /// check would take too much.
    pub(super) fn accepts(&self, arguments: Option<&Json>) -> Option<bool> {
        match self {
            Self::Anything => Some(true),
            Self::Nothing => Some(false),
            Self::Unknown => None,
            Self::Schema { schema, is_lost } => {
                let empty = Json::Object(Vec::new());
                let Some(arguments) = arguments.unwrap_or(&empty).to_value() else { return Some(false) };
                is_lost.store(false, Ordering::Relaxed);
                let is_valid = schema.is_valid(&arguments).ok()?;
                Some(is_valid && !is_lost.load(Ordering::Relaxed))
            }
        }
    }
}

fn prepared(schema: &Value, is_lost: &Arc<AtomicBool>) -> Result<BoundedSchema, PrepareError> {
    BoundedSchema::new(schema, |count| options(schema, is_lost).with_pattern_options(patterns(count)))
}

/// Formats and encoded contents are not checked, nothing is fetched, an unknown `$schema` means the newest draft, and
/// `dependencies` are ignored in drafts that no longer have them.
fn options(schema: &Value, is_lost: &Arc<AtomicBool>) -> SchemaOptions {
    let is_lost = Arc::clone(is_lost);
    let options = bounded_schema::options()
        .offline()
        .should_validate_formats(false)
        .without_content_media_type_support("application/json")
        .without_content_encoding_support("base64")
        .with_keyword("multipleOf", |_, value, _| Ok(Box::new(MultipleOf::new(value))))
        .with_keyword(LOST, move |_, _, _| Ok(Box::new(DanglingReference(Arc::clone(&is_lost)))));
    let draft = match Draft::default().detect(schema) {
        Draft::Unknown => Draft::default(),
        known => known,
    };
    let options = options.with_draft(draft);
    match draft {
        Draft::Draft4 | Draft::Draft6 | Draft::Draft7 => options,
        _ => options.with_keyword("dependencies", |_, _, _| Ok(Box::new(Silent))),
    }
}

/// The most bytes of all prepared regular expressions of a schema; each gets an equal share within these limits.
const LARGEST_PATTERNS: usize = 16 << 20;
const PATTERN_SIZES: [usize; 2] = [64 << 10, 4 << 20];

/// The most steps back of an expression that looks around, for one text.
const BACKTRACKS: usize = 100_000;

/// The limits of the regular expressions of a schema with this many.
fn patterns(count: usize) -> PatternOptions<FancyRegex> {
    let [least, most] = PATTERN_SIZES;
    let share = (LARGEST_PATTERNS / count.max(1)).clamp(least, most);
    PatternOptions::fancy_regex().size_limit(share).dfa_size_limit(share).backtrack_limit(BACKTRACKS)
}

/// A regular expression of the same form whose counts are small: whether it is one can be told from this as well.
fn with_small_counts(pattern: &str) -> String {
    let (mut small, mut digits, mut is_count) = (String::new(), 0, false);
    for sign in pattern.chars() {
        is_count = sign == '{' || is_count && (sign.is_ascii_digit() || sign == ',');
        digits = if is_count && sign.is_ascii_digit() { digits + 1 } else { 0 };
        if digits > 1 {
            small.pop();
        }
        small.push(if digits > 1 { '9' } else { sign });
    }
    small
}

/// A keyword that means nothing.
struct Silent;

impl<'i, F: Representation> Keyword<'i, F> for Silent {
    fn validate(&self, _: F::Node<'i>) -> Result<(), ValidationError<'i>> {
        Ok(())
    }

    fn is_valid(&self, _: F::Node<'i>) -> bool {
        true
    }
}

/// A reference to a schema that does not exist: no value fits, and the whole check fails, whatever the rest of the
/// schema says.
struct DanglingReference(Arc<AtomicBool>);

impl<'i, F: Representation> Keyword<'i, F> for DanglingReference {
    fn validate(&self, instance: F::Node<'i>) -> Result<(), ValidationError<'i>> {
        Keyword::<F>::is_valid(self, instance);
        Err(ValidationError::custom("a reference to nowhere"))
    }

    fn is_valid(&self, _: F::Node<'i>) -> bool {
        self.0.store(true, Ordering::Relaxed);
        false
    }
}

/// `multipleOf` as Python computes it.
struct MultipleOf {
    /// The keyword's value, if it is an integer: a multiple then leaves no remainder.
    integer: Option<i64>,
    float: f64,
}

impl MultipleOf {
    fn new(value: &Value) -> Self {
        Self { integer: value.as_i64(), float: value.as_f64().unwrap_or(f64::NAN) }
    }
}

impl<'i, F: Representation> Keyword<'i, F> for MultipleOf {
    fn validate(&self, instance: F::Node<'i>) -> Result<(), ValidationError<'i>> {
        let error = || ValidationError::custom("not a multiple");
        if Keyword::<F>::is_valid(self, instance) { Ok(()) } else { Err(error()) }
    }

    fn is_valid(&self, instance: F::Node<'i>) -> bool {
        let Some(number) = instance.as_number() else { return true };
        match (number.as_i64(), self.integer) {
            (Some(number), Some(integer)) => number.checked_rem(integer) == Some(0),
            (None, Some(_)) => number.as_f64().is_some_and(|number| number % self.float == 0.0),
            // Python divides where the keyword's value is a float.
            (_, None) => number.as_f64().is_some_and(|number| (number / self.float).fract() == 0.0),
        }
    }
}

/// The objects of a schema, at any depth.
struct Parts<'s> {
    root: &'s Value,
    objects: Vec<&'s Map<String, Value>>,
}

/// A chain of more references than these is a loop.
const LONGEST_CHAIN: usize = 100;

impl<'s> Parts<'s> {
    fn new(root: &'s Value) -> Self {
        let mut objects = Vec::new();
        collect_objects(root, &mut objects);
        Self { root, objects }
    }

    fn texts(&self, key: &'static str) -> impl Iterator<Item = &'s str> {
        self.objects.iter().filter_map(move |object| object.get(key)?.as_str())
    }

    fn references(&self) -> impl Iterator<Item = &'s str> {
        self.texts("$ref")
    }

    /// Whether a pattern is not a regular expression. Such a pattern breaks the whole schema, wherever it is.
    fn has_bad_pattern(&self) -> bool {
        let keys = self.objects.iter().filter_map(|object| object.get("patternProperties")?.as_object());
        let mut patterns = self.texts("pattern").chain(keys.flat_map(Map::keys).map(String::as_str));
        let is_bad = |pattern: &str| {
            let options = jsonschema::options().with_pattern_options(self::patterns(1));
            options.build(&json!({ "pattern": with_small_counts(pattern) })).is_err()
        };
        patterns.any(is_bad)
    }

    /// Whether a reference has a target; in another document it has one if a part of the schema has that name.
    fn has(&self, reference: &str) -> bool {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !document.is_empty() {
            return ["$id", "id"].iter().any(|key| self.texts(key).any(|name| name == document));
        }
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.target(reference).is_some();
        }
        let is_old_name = || ["$id", "id"].iter().any(|key| self.texts(key).any(|name| name == reference));
        ["$anchor", "$dynamicAnchor"].iter().any(|key| self.texts(key).any(|name| name == fragment))
            || is_old_name()
    }

    /// The target of `#` or `#/pointer`.
    fn target(&self, reference: &str) -> Option<&'s Value> {
        let pointer = percent_decode_str(reference.strip_prefix('#')?).decode_utf8_lossy();
        self.root.pointer(&pointer)
    }

    /// The references that lead back to themselves, or through more than [`LONGEST_CHAIN`] others, without a step into
    /// the value: Python then gives up.
    fn loops(&self) -> HashSet<&'s str> {
        let references: HashSet<&str> = self.references().collect();
        let beside = |reference: &&'s str| {
            (*reference, self.target(reference).map(references_beside).unwrap_or_default())
        };
        let beside: HashMap<&str, Vec<&str>> = references.iter().map(beside).collect();
        references.into_iter().filter(|reference| Self::is_loop(reference, &beside)).collect()
    }

    fn is_loop(reference: &str, beside: &HashMap<&'s str, Vec<&'s str>>) -> bool {
        let mut seen = HashSet::from([reference]);
        let mut open = vec![(reference, 0)];
        while let Some((next, length)) = open.pop() {
            if length > LONGEST_CHAIN {
                return true;
            }
            for &further in beside.get(next).into_iter().flatten() {
                if further == reference {
                    return true;
                }
                if seen.insert(further) {
                    open.push((further, length + 1));
                }
            }
        }
        false
    }
}

/// The references of a schema that apply to the same value.
fn references_beside(schema: &Value) -> Vec<&str> {
    let (mut references, mut open) = (Vec::new(), vec![schema]);
    while let Some(schema) = open.pop() {
        references.extend(schema.get("$ref").and_then(Value::as_str));
        let lists = ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
        open.extend(lists.flatten());
        open.extend(["if", "then", "else", "not"].iter().filter_map(|key| schema.get(*key)));
    }
    references
}

/// Keywords that hold values, in which nothing is a schema.
const VALUES: [&str; 5] = ["const", "default", "enum", "example", "examples"];

fn collect_objects<'s>(value: &'s Value, objects: &mut Vec<&'s Map<String, Value>>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_objects(item, objects)),
        Value::Object(members) => {
            objects.push(members);
            let schemas = members.iter().filter(|(key, _)| !VALUES.contains(&key.as_str()));
            schemas.for_each(|(_, value)| collect_objects(value, objects));
        }
        _ => {}
    }
}

/// Replaces each schema whose reference is lost by the keyword [`LOST`]. The rest of the schema does not matter: Python
/// looks at all of a schema before it says that a value does not fit.
fn replace(schema: &mut Value, is_lost: &dyn Fn(&str) -> bool) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, is_lost)),
        Value::Object(members) => {
            if members.get("$ref").and_then(Value::as_str).is_some_and(is_lost) {
                *members = Map::from_iter([(LOST.to_owned(), Value::Bool(true))]);
            }
            members.values_mut().for_each(|value| replace(value, is_lost));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
