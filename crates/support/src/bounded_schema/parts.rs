//! Adds the keyword that counts to the parts of a schema, and finds references to something that cannot have it.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::budget::Size;
use super::{
    LONGEST_PATTERN, LONGEST_REFERENCE, MOST_PATTERNS, MOST_REFERENCES, MOST_VALUES, STEP, TooMuchWork,
    patterns,
};

/// Keywords that name schemas.
const NAMED_SCHEMAS: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// Keywords of a single schema that may apply to the value without a look at it.
const SINGLE_SCHEMAS: [&str; 4] = ["if", "then", "else", "not"];

/// Keywords that name something else, in which nothing can be a schema.
const NAMED_OTHERS: [&str; 2] = ["dependentRequired", "$vocabulary"];

/// Adds the keyword that counts to all parts of a schema.
pub(super) fn with_steps(schema: &Value) -> Result<(Value, Parts), TooMuchWork> {
    let size = Size::measure(schema)?.values;
    if size > MOST_VALUES {
        return Err(TooMuchWork::Large);
    }
    let (mut counted, mut parts) = (schema.clone(), Parts { size, ..Parts::default() });
    parts.add_references(schema);
    if parts.references > MOST_REFERENCES || parts.has_long_reference {
        return Err(TooMuchWork::References);
    }
    parts.add_step(&mut counted);
    if parts.patterns > MOST_PATTERNS || parts.has_long_pattern {
        return Err(TooMuchWork::Patterns);
    }
    if parts.refers_to_value { Err(TooMuchWork::Values) } else { Ok((counted, parts)) }
}

/// The state of a walk through a schema.
#[derive(Default)]
pub(super) struct Parts {
    /// The number of values in the schema.
    pub(super) size: u64,
    /// The number of objects, each of which may be a schema.
    pub(super) count: u64,
    pub(super) references: usize,
    has_long_reference: bool,
    /// The JSON pointers of references.
    pointers: BTreeSet<String>,
    pub(super) patterns: usize,
    has_long_pattern: bool,
    /// The states of the largest regular expression.
    pub(super) pattern_states: u64,
    /// The states of all regular expressions in the largest `patternProperties`.
    pub(super) name_states: u64,
    /// The number of values in the largest schema below a `not`.
    pub(super) denied: u64,
    /// The JSON pointer of the current part.
    place: String,
    /// Whether a reference may lead to something that gets no keyword that counts.
    refers_to_value: bool,
    /// The bytes of places that were compared with references.
    compared: usize,
}

/// The most bytes of places that are compared with references.
const MOST_COMPARED: usize = 50_000_000;

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

    fn add_pattern(&mut self, pattern: &str) {
        self.patterns += 1;
        self.has_long_pattern |= pattern.len() > LONGEST_PATTERN;
        if self.patterns <= MOST_PATTERNS && !self.has_long_pattern {
            self.pattern_states = self.pattern_states.max(patterns::states(pattern));
        }
    }

    /// Adds the keyword that counts to a part, also below unknown keywords, because references may lead there.
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
                if let Some(pattern) = members.get("pattern").and_then(Value::as_str) {
                    self.add_pattern(pattern);
                }
                if let Some(denied) = members.get("not") {
                    self.denied = self.denied.max(Size::measure(denied).map_or(u64::MAX, |size| size.values));
                }
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
                if key == "patternProperties" {
                    named.keys().for_each(|pattern| self.add_pattern(pattern));
                    let all = named.keys().take(MOST_PATTERNS).filter(|it| it.len() <= LONGEST_PATTERN);
                    let sum = all.fold(0, |sum: u64, it| sum.saturating_add(patterns::states(it)));
                    self.name_states = self.name_states.max(sum);
                }
                for (name, schema) in named {
                    self.below(name, |parts| parts.add_step(schema));
                }
            }
            _ if key == "const" || key == "enum" => {
                self.refers_to_value = self.refers_to_value || !is_plain(value) && self.is_referred_to();
            }
            Value::Bool(_) if !SINGLE_SCHEMAS.contains(&key) => {
                self.refers_to_value = self.refers_to_value || self.is_referred_to();
            }
            _ if NAMED_OTHERS.contains(&key) => {}
            _ => self.add_step(value),
        }
    }

    /// Calls `look` with the place of the member with this key.
    fn below(&mut self, key: &str, look: impl FnOnce(&mut Self)) {
        let length = self.place.len();
        self.place.push('/');
        self.place.push_str(&key.replace('~', "~0").replace('/', "~1"));
        look(self);
        self.place.truncate(length);
    }

    /// Whether a reference may lead to the current part or into it. Every end of its place counts, because pointers
    /// into a part with its own name begin at that part. True also if to look would take too much.
    fn is_referred_to(&mut self) -> bool {
        if self.pointers.is_empty() {
            return false;
        }
        let begins = self.place.match_indices('/').map(|(at, _)| &self.place[at..]);
        let mut ends = begins.filter(|end| end.len() <= LONGEST_REFERENCE);
        ends.any(|end| {
            self.compared += end.len();
            if self.compared > MOST_COMPARED {
                return true;
            }
            let within = format!("{end}/");
            let mut after = self.pointers.range(within.clone()..);
            self.pointers.contains(end) || after.next().is_some_and(|it| it.starts_with(&within))
        })
    }
}

/// Whether a value neither is nor holds anything that could be a schema.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(is_plain),
        value => !value.is_object() && !value.is_boolean(),
    }
}
