//! How much work it is to check a value against a JSON Schema that somebody else wrote, counted before it is done.
//!
//! Forty definitions that refer to the next one twice each make 2^40 steps of a small schema and a number. Counting them takes one
//! step for each pair of a schema and a value, so that what would take too long is known at once, and is not begun.

use std::collections::{HashMap, HashSet};

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// The most steps of a check, and of preparing a schema.
pub const MOST_STEPS: u64 = 50_000;

/// So many more for each value within the arguments: long arguments may take longer.
pub const STEPS_FOR_A_VALUE: u64 = 32;

/// The deepest nesting of a schema, and the most schemas and values that are looked into one within the other in a check.
pub const MOST_DEEP: usize = 512;

/// The most references of a schema to different places: each may lie within the other when it is prepared.
pub const MOST_REFERENCES: usize = 1000;

/// The most regular expressions of a schema, each of which may take megabytes.
pub const MOST_PATTERNS: usize = 200;

/// Why a schema is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooMuchWork {
    /// Its parts refer to one another too often.
    #[error("its parts refer to one another so often that a check takes more than {0} steps")]
    Steps(u64),
    /// It refers to itself without looking into the value.
    #[error("it refers to itself without end")]
    Endless,
    /// It is nested too deep.
    #[error("it is nested more than {MOST_DEEP} deep")]
    Deep,
    /// It has too many references.
    #[error("it has more than {MOST_REFERENCES} references")]
    References,
    /// It has too many regular expressions.
    #[error("it has more than {MOST_PATTERNS} regular expressions")]
    Patterns,
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

/// Keywords whose schemas apply to the value itself: lists of schemas, schemas by name, and single ones.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const NAMED: [&str; 2] = ["dependentSchemas", "dependencies"];
const SINGLE: [&str; 4] = ["if", "then", "else", "not"];

/// Keywords that refer to another schema for the value itself.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords that look at what no other schema of the value has looked at, and so ask all of them again.
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// Keywords that hold values, in which nothing is a schema.
const VALUES: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// A schema with what its references may lead to.
#[derive(Debug)]
pub struct SchemaWork<'s> {
    root: &'s Value,
    /// The root, and parts with a name of their own (`$id`), in which pointers begin anew.
    resources: Vec<&'s Value>,
    /// Parts by their `$anchor` or `$dynamicAnchor`.
    anchors: HashMap<&'s str, Vec<&'s Value>>,
    /// How many objects and lists it consists of.
    parts: u64,
    has_references: bool,
    has_unevaluated: bool,
}

impl<'s> SchemaWork<'s> {
    /// Reads a schema.
    ///
    /// # Errors
    /// [`TooMuchWork`] if it is too deep, or has too many references or regular expressions.
    pub fn new(root: &'s Value) -> Result<Self, TooMuchWork> {
        let mut work = Self {
            root,
            resources: vec![root],
            anchors: HashMap::new(),
            parts: 0,
            has_references: false,
            has_unevaluated: false,
        };
        let (mut references, mut patterns) = (HashSet::new(), 0);
        let mut open = vec![(root, 0)];
        while let Some((part, depth)) = open.pop() {
            if depth > MOST_DEEP {
                return Err(TooMuchWork::Deep);
            }
            match part {
                Value::Array(items) => {
                    work.parts += 1;
                    open.extend(items.iter().map(|item| (item, depth + 1)));
                }
                Value::Object(members) => {
                    work.add(part, members);
                    references.extend(REFERENCES.iter().filter_map(|key| members.get(*key)?.as_str()));
                    let named =
                        members.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len);
                    patterns += named + usize::from(members.get("pattern").is_some_and(Value::is_string));
                    let schemas = members.iter().filter(|(key, _)| !VALUES.contains(&key.as_str()));
                    open.extend(schemas.map(|(_, value)| (value, depth + 1)));
                }
                _ => {}
            }
            if references.len() > MOST_REFERENCES {
                return Err(TooMuchWork::References);
            }
            if patterns > MOST_PATTERNS {
                return Err(TooMuchWork::Patterns);
            }
        }
        work.has_references = !references.is_empty();
        Ok(work)
    }

    fn add(&mut self, part: &'s Value, members: &'s Map<String, Value>) {
        self.parts += 1;
        if ["$id", "id"].iter().any(|key| members.get(*key).is_some_and(Value::is_string))
            && !std::ptr::eq(part, self.root)
        {
            self.resources.push(part);
        }
        for key in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = members.get(key).and_then(Value::as_str) {
                self.anchors.entry(name).or_default().push(part);
            }
        }
        self.has_unevaluated |= UNEVALUATED.iter().any(|key| members.contains_key(*key));
    }

    /// Whether the schema can be used: nowhere in it does too much apply to one value.
    ///
    /// # Errors
    /// [`TooMuchWork`], also if it refers to itself without end.
    pub fn to_prepare(&self) -> Result<(), TooMuchWork> {
        if self.has_references || self.has_unevaluated {
            Count::new(self, MOST_STEPS).every_part()
        } else {
            Ok(())
        }
    }

    /// Whether it has `unevaluatedProperties` or `unevaluatedItems`.
    #[must_use]
    pub fn has_unevaluated(&self) -> bool {
        self.has_unevaluated
    }

    /// Whether a value can be checked.
    ///
    /// # Errors
    /// [`TooMuchWork`] if that is too much, or if the schema refers to itself without end.
    pub fn to_check(&self, value: &Value) -> Result<(), TooMuchWork> {
        let values = count_values(value)?;
        let most = MOST_STEPS.saturating_add(values.saturating_mul(STEPS_FOR_A_VALUE));
        // Without references, no part of it applies to a value twice.
        if !self.has_references && !self.has_unevaluated && self.parts.saturating_mul(values) <= most {
            return Ok(());
        }
        Count::new(self, most).of(self.root, Instance::Value(value), 0).map(drop)
    }

    /// What a reference may lead to. Names of parts are not resolved: all parts with a name of their own come into question.
    fn targets(&self, reference: &str) -> Vec<&'s Value> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if fragment.is_empty() || fragment.starts_with('/') {
            let pointer = percent_decode_str(fragment).decode_utf8_lossy();
            let is_meant = |part: &&&Value| {
                document.is_empty() || self.resources.len() == 1 || {
                    let id = ["$id", "id"].iter().find_map(|key| part.get(*key)?.as_str());
                    id.is_none_or(|id| id.ends_with(document) || document.ends_with(id))
                }
            };
            return self
                .resources
                .iter()
                .filter(is_meant)
                .filter_map(|part| part.pointer(&pointer))
                .collect();
        }
        self.anchors.get(fragment).cloned().unwrap_or_default()
    }
}

/// How many values a value consists of, itself included.
fn count_values(value: &Value) -> Result<u64, TooMuchWork> {
    let (mut open, mut count) = (vec![(value, 0)], 0_u64);
    while let Some((value, depth)) = open.pop() {
        if depth > MOST_DEEP {
            return Err(TooMuchWork::Deep);
        }
        count += 1;
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => open.extend(members.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    Ok(count)
}

/// A value that a schema applies to, or the name of a member.
#[derive(Clone, Copy)]
enum Instance<'v> {
    Value(&'v Value),
    Name(&'v str),
    /// No value: schemas that apply to what is within it are left out.
    Nothing,
}

impl Instance<'_> {
    fn address(self) -> usize {
        match self {
            Self::Value(value) => std::ptr::from_ref(value).addr(),
            Self::Name(name) => name.as_ptr().addr(),
            Self::Nothing => 0,
        }
    }
}

/// Steps that are being counted.
struct Count<'w, 's> {
    work: &'w SchemaWork<'s>,
    most: u64,
    /// Those of a schema with a value, by their addresses; `None` while they are counted.
    known: HashMap<(usize, usize), Option<Work>>,
}

/// The work of a schema with a value.
#[derive(Clone, Copy)]
struct Work {
    steps: u64,
    /// How many schemas are looked into one within the other.
    height: usize,
}

impl<'w, 's> Count<'w, 's> {
    fn new(work: &'w SchemaWork<'s>, most: u64) -> Self {
        Self { work, most, known: HashMap::new() }
    }

    /// Whether all that applies to one value fits, at each place of the schema; what `unevaluatedProperties` unfolds adds up.
    fn every_part(&mut self) -> Result<(), TooMuchWork> {
        let (mut open, mut unfolded) = (vec![self.work.root], 0_u64);
        while let Some(part) = open.pop() {
            match part {
                Value::Array(items) => open.extend(items),
                Value::Object(members) => {
                    let work = self.of(part, Instance::Nothing, 0)?;
                    if UNEVALUATED.iter().any(|key| members.contains_key(*key)) {
                        unfolded = self.within(unfolded.saturating_add(work.steps))?;
                    }
                    let schemas = members.iter().filter(|(key, _)| !VALUES.contains(&key.as_str()));
                    open.extend(schemas.map(|(_, value)| value));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn within(&self, steps: u64) -> Result<u64, TooMuchWork> {
        if steps > self.most { Err(TooMuchWork::Steps(self.most)) } else { Ok(steps) }
    }

    /// The work of checking a value against a schema.
    fn of(&mut self, schema: &'s Value, instance: Instance<'_>, depth: usize) -> Result<Work, TooMuchWork> {
        let Value::Object(keywords) = schema else { return Ok(Work { steps: 1, height: 1 }) };
        let place = (std::ptr::from_ref(schema).addr(), instance.address());
        let known = self.known.get(&place).copied();
        if depth + known.flatten().map_or(1, |work| work.height) > MOST_DEEP {
            return Err(TooMuchWork::Deep);
        }
        match known {
            Some(Some(work)) => return Ok(work),
            Some(None) => return Err(TooMuchWork::Endless),
            None => self.known.insert(place, None),
        };
        let mut work = Work { steps: 1 + keywords.len() as u64, height: 1 };
        for part in self.beside(keywords) {
            self.add(&mut work, part, instance, depth)?;
        }
        if UNEVALUATED.iter().any(|key| keywords.contains_key(*key)) {
            // Each member is looked for in all that applies beside it.
            let members = match instance {
                Instance::Value(Value::Object(members)) => members.len(),
                Instance::Value(Value::Array(items)) => items.len(),
                _ => 0,
            };
            work.steps = self.within(work.steps.saturating_mul(members as u64 + 2))?;
        }
        if let Instance::Value(value) = instance {
            self.inside(keywords, value, &mut work, depth)?;
        }
        self.known.insert(place, Some(work));
        Ok(work)
    }

    /// Adds the work of a schema that is looked into from another one.
    fn add(
        &mut self,
        work: &mut Work,
        schema: &'s Value,
        instance: Instance<'_>,
        depth: usize,
    ) -> Result<(), TooMuchWork> {
        let more = self.of(schema, instance, depth + 1)?;
        work.steps = self.within(work.steps.saturating_add(more.steps))?;
        work.height = work.height.max(more.height + 1);
        Ok(())
    }

    /// The schemas that apply to the same value.
    fn beside(&self, keywords: &'s Map<String, Value>) -> Vec<&'s Value> {
        let lists = LISTS.iter().filter_map(|key| keywords.get(*key)?.as_array()).flatten();
        let named = NAMED.iter().filter_map(|key| keywords.get(*key)?.as_object()).flat_map(Map::values);
        let single = SINGLE.iter().filter_map(|key| keywords.get(*key));
        let references = REFERENCES.iter().filter_map(|key| keywords.get(*key)?.as_str());
        let targets = references.flat_map(|reference| self.work.targets(reference));
        lists.chain(named).chain(single).chain(targets).collect()
    }

    /// Adds the work of what is within the value.
    fn inside(
        &mut self,
        keywords: &'s Map<String, Value>,
        value: &Value,
        work: &mut Work,
        depth: usize,
    ) -> Result<(), TooMuchWork> {
        let object = |key: &str| keywords.get(key).and_then(Value::as_object);
        match value {
            Value::Object(members) => {
                let patterns: Vec<&Value> =
                    object("patternProperties").into_iter().flat_map(Map::values).collect();
                for (name, value) in members {
                    let property = object("properties").and_then(|properties| properties.get(name));
                    let others = ["additionalProperties", "unevaluatedProperties"];
                    let others = others.iter().filter_map(|key| keywords.get(*key));
                    for schema in property.into_iter().chain(patterns.iter().copied()).chain(others) {
                        self.add(work, schema, Instance::Value(value), depth)?;
                    }
                    if let Some(names) = keywords.get("propertyNames") {
                        self.add(work, names, Instance::Name(name), depth)?;
                    }
                }
            }
            Value::Array(items) => {
                let listed = ["prefixItems", "items"].iter().find_map(|key| keywords.get(*key)?.as_array());
                let others = ["items", "additionalItems", "unevaluatedItems", "contains"];
                let others: Vec<&Value> = others.iter().filter_map(|key| keywords.get(*key)).collect();
                for (index, item) in items.iter().enumerate() {
                    let own = listed.and_then(|listed| listed.get(index));
                    for schema in own.into_iter().chain(others.iter().copied()) {
                        self.add(work, schema, Instance::Value(item), depth)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}
