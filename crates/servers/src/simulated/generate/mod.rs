//! Makes up values that a schema accepts.
//!
//! Equal seeds and equal arguments give equal values. Arguments reappear under their names where the schema has such
//! a property and accepts them. The result is checked against the schema at the end: references, `anyOf`, `if` and
//! the like are followed within limits, and a wrong result is made again with other choices, at last with as little
//! as the schema allows.

mod array;
mod flat;
mod format;
mod number;
mod object;
mod pattern;
mod text;

use flat::Flat;
use m3_mcp::arguments::ArgumentSchema;
use serde_json::{Map, Value};

use crate::seed::Seed;

/// The most attempts at making a value.
const ATTEMPTS: usize = 10;

/// From this attempt on, arguments are not repeated in the result.
const WITHOUT_ECHO: usize = 6;

/// From this attempt on, only required values are generated.
const MINIMAL: usize = 8;

/// The most values within one result.
const MAX_VALUES: usize = 4_096;

/// The most text within one result, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// The deepest nesting of one result; a schema that needs more cannot be satisfied.
const MAX_DEPTH: usize = 24;

/// Below this depth only required values are made, so that recursive schemas end.
const OPTIONAL_DEPTH: usize = 5;

/// The most arguments that are tried as values, because each requires compiling a schema.
const MAX_ECHOES: usize = 64;

/// Makes a value that the schema accepts, or `None` if that was not possible within the limits. `judge` is the same
/// schema, compiled.
pub(super) fn value(
    schema: &Map<String, Value>,
    judge: &ArgumentSchema,
    arguments: &Map<String, Value>,
    seed: &Seed,
) -> Option<Value> {
    let root = Value::Object(schema.clone());
    (0..ATTEMPTS).find_map(|attempt| {
        let mut maker = Maker {
            root: &root,
            arguments,
            attempt,
            values: MAX_VALUES,
            text: MAX_TEXT,
            echoes: if attempt < WITHOUT_ECHO { MAX_ECHOES } else { 0 },
        };
        let place = Place { name: "value", depth: 0 };
        let made = maker.make(&[&root], place, &seed.nth(attempt))?;
        judge.accepts(&made).then_some(made)
    })
}

/// One attempt at a value.
struct Maker<'a> {
    /// The whole schema, into which references point.
    root: &'a Value,
    arguments: &'a Map<String, Value>,
    attempt: usize,
    /// How many values may still be made.
    values: usize,
    /// How much text may still be made, in bytes.
    text: usize,
    /// How many arguments may still be tried.
    echoes: usize,
}

/// The place of a value in the result.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    /// The property that holds the value, directly or through lists.
    pub name: &'a str,
    depth: usize,
}

impl Place<'_> {
    /// The place of an item of a list at this place.
    fn item(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

impl<'a> Maker<'a> {
    /// Makes a value for all of `schemas`; [`value`] checks afterwards whether the result fits.
    fn make(&mut self, schemas: &[&'a Value], place: Place<'_>, seed: &Seed) -> Option<Value> {
        self.values = self.values.checked_sub(1)?;
        if place.depth > MAX_DEPTH {
            return None;
        }
        let flat = Flat::join(schemas, self.root, self.attempt, place.depth, seed)?;
        if let Some(values) = flat.listed() {
            let fitting: Vec<&Value> = values.into_iter().filter(|value| flat.has_type_of(value)).collect();
            return fitting.get(seed.child("enum").stream().index(fitting.len())).map(|&value| value.clone());
        }
        let kinds = flat.kinds(place.depth);
        let kind = kinds.get(seed.child("type").stream().index(kinds.len()))?;
        match *kind {
            "object" => self.object(&flat, place, seed),
            "array" => self.array(&flat, place, seed),
            "string" => self.string(&flat, place, seed),
            "integer" => number::integer(&flat, self.attempt, seed),
            "number" => number::number(&flat, self.attempt, seed),
            "boolean" => Some(Value::Bool(seed.child("boolean").stream().below(2) == 1)),
            "null" => Some(Value::Null),
            _ => None,
        }
    }

    fn is_minimal(&self, depth: usize) -> bool {
        self.attempt >= MINIMAL || depth >= OPTIONAL_DEPTH || self.values < MAX_VALUES / 2
    }

    /// The argument of this name, if the schemas accept it.
    fn echo(&mut self, schemas: &[&'a Value], name: &str) -> Option<Value> {
        let argument = self.arguments.get(name)?;
        self.echoes = self.echoes.checked_sub(1)?;
        let mut schema = Map::new();
        // The targets of references. A reference to anything else makes the schema unusable, and then the argument is
        // not repeated.
        for key in ["$schema", "$defs", "definitions"] {
            if let Some(part) = self.root.get(key) {
                schema.insert(key.to_owned(), part.clone());
            }
        }
        schema.insert("allOf".to_owned(), schemas.iter().map(|&schema| schema.clone()).collect());
        let judge = ArgumentSchema::with_formats(&schema).ok()?;
        let size = argument.to_string().len();
        if !judge.accepts(argument) || size > self.text {
            return None;
        }
        self.text -= size;
        Some(argument.clone())
    }
}

#[cfg(test)]
mod tests;
