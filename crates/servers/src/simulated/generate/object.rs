//! Objects with the required properties, and some others.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::flat::Flat;
use super::{Maker, Place};
use crate::seed::Seed;

/// The most properties of an object; schemas that require more are not satisfied.
const MAX_PROPERTIES: usize = 1_000;

/// One of this many optional properties is left out.
const CHANCE: u64 = 4;

/// The number of entries of an object that is a map, unless the schema allows fewer.
const USUAL: usize = 2;

impl<'a> Maker<'a> {
    /// Makes an object for the schema; `None` if that is not possible within the limits.
    pub(super) fn object(&mut self, flat: &Flat<'a>, place: Place<'_>, seed: &Seed) -> Option<Value> {
        let declared = declared(flat);
        let required = required(flat);
        let least = flat.least_count("minProperties", MAX_PROPERTIES)?;
        let most = flat.most_count("maxProperties", MAX_PROPERTIES);
        if required.len() > MAX_PROPERTIES {
            return None;
        }
        let mut members = Map::new();
        for &name in &required {
            let value = self.property(flat, name, place, seed)?;
            members.insert(name.to_owned(), value);
        }
        let is_minimal = self.is_minimal(place.depth);
        for &name in declared.iter().filter(|name| !required.contains(*name)).take(MAX_PROPERTIES) {
            let is_there = !is_minimal && seed.child("optional").child(name).stream().below(CHANCE) > 0;
            if members.len() < most.min(if is_there { most } else { least })
                && let Some(value) = self.property(flat, name, place, seed)
            {
                members.insert(name.to_owned(), value);
            }
        }
        if declared.is_empty() {
            self.fill_open(flat, &mut members, most, place, seed);
        }
        self.fill_up(flat, &mut members, least, place, seed);
        for &name in &dependent(flat, &members) {
            if !members.contains_key(name)
                && let Some(value) = self.property(flat, name, place, seed)
            {
                members.insert(name.to_owned(), value);
            }
        }
        Some(Value::Object(members))
    }

    /// The value of a property: the argument of the same name, or a value that is made up.
    fn property(&mut self, flat: &Flat<'a>, name: &str, place: Place<'_>, seed: &Seed) -> Option<Value> {
        let schemas = property_schemas(flat, name);
        if let Some(argument) = self.echo(&schemas, name) {
            return Some(argument);
        }
        self.make(&schemas, Place { name, depth: place.depth + 1 }, &seed.child("property").child(name))
    }

    /// Fills an object without declared properties: a map gets a few entries, any other open object the arguments.
    fn fill_open(
        &mut self,
        flat: &Flat<'a>,
        members: &mut Map<String, Value>,
        most: usize,
        place: Place<'_>,
        seed: &Seed,
    ) {
        if self.is_minimal(place.depth) {
            return;
        }
        let says_more = |schema: &Value| schema.as_object().is_some_and(|keywords| !keywords.is_empty());
        let is_map = flat.all("additionalProperties").chain(flat.all("patternProperties")).any(says_more);
        let is_closed = flat.all("additionalProperties").any(|schema| *schema == Value::Bool(false));
        if is_map {
            self.fill_up(flat, members, USUAL.min(most), place, seed);
        } else if !is_closed && flat.all("propertyNames").next().is_none() {
            let size = Value::Object(self.arguments.clone()).to_string().len();
            let has_room =
                members.len() + self.arguments.len() < most && self.echoes > 0 && size <= self.text;
            if has_room {
                self.text -= size;
                for (name, argument) in self.arguments {
                    members.entry(name.clone()).or_insert_with(|| argument.clone());
                }
            }
            if members.len() < most {
                members.entry("simulated").or_insert(Value::Bool(true));
            }
        }
    }

    /// Adds undeclared properties until there are enough, if possible.
    fn fill_up(
        &mut self,
        flat: &Flat<'a>,
        members: &mut Map<String, Value>,
        least: usize,
        place: Place<'_>,
        seed: &Seed,
    ) {
        let names: Vec<&'a Value> = flat.all("propertyNames").collect();
        let pattern = key_pattern(flat);
        for number in 1..=least.saturating_mul(4) {
            if members.len() >= least {
                return;
            }
            let name = if let Some((pattern, _)) = pattern {
                super::pattern::text(pattern, self.attempt, self.text, &seed.child("key").nth(number))
            } else if names.is_empty() {
                Some(format!("item_{number}"))
            } else {
                let name = self.make(&names, Place { name: "item", ..place }, &seed.child("key").nth(number));
                name.and_then(|name| name.as_str().map(str::to_owned))
            };
            let Some(name) = name.filter(|name| !members.contains_key(name)) else { continue };
            let mut schemas = property_schemas(flat, &name);
            schemas.extend(pattern.map(|(_, schema)| schema));
            let below = Place { name: &name, depth: place.depth + 1 };
            let Some(value) = self.make(&schemas, below, &seed.child("entry").nth(number)) else { return };
            members.insert(name, value);
        }
    }
}

/// The names of declared properties, sorted, because the order of a map depends on which features of `serde_json` are
/// compiled in.
fn declared<'a>(flat: &Flat<'a>) -> BTreeSet<&'a str> {
    flat.all("properties").filter_map(Value::as_object).flat_map(Map::keys).map(String::as_str).collect()
}

fn required<'a>(flat: &Flat<'a>) -> BTreeSet<&'a str> {
    flat.all("required").filter_map(Value::as_array).flatten().filter_map(Value::as_str).collect()
}

/// Properties that are required because others are present.
fn dependent<'a>(flat: &Flat<'a>, members: &Map<String, Value>) -> BTreeSet<&'a str> {
    let of_key = |key| flat.all(key).filter_map(Value::as_object).flatten();
    of_key("dependentRequired")
        .chain(of_key("dependencies"))
        .filter(|(name, _)| members.contains_key(*name))
        .filter_map(|(_, names)| names.as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// All schemas for a property: its own, or that for all other properties.
fn property_schemas<'a>(flat: &Flat<'a>, name: &str) -> Vec<&'a Value> {
    let of_part = |part: &&'a Map<String, Value>| {
        let own = part.get("properties").and_then(|properties| properties.get(name));
        let is_map = part.contains_key("patternProperties");
        own.or_else(|| part.get("additionalProperties").filter(|_| !is_map))
    };
    flat.parts.iter().filter_map(of_part).collect()
}

/// The first pattern of `patternProperties` in sorted order, with its schema.
fn key_pattern<'a>(flat: &Flat<'a>) -> Option<(&'a String, &'a Value)> {
    let patterns = flat.all("patternProperties").filter_map(Value::as_object).flatten();
    patterns.collect::<BTreeMap<_, _>>().pop_first()
}
