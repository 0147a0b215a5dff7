//! Members of two objects that belong together although their keys or values say otherwise: other names, exchanged values,
//! other units, an object around the members.

use std::collections::{HashMap, HashSet};

use m3_trajectory::json::{Json, is_same};

use super::name::Name;
use super::{number, quantity};
use crate::schema::Schema;

/// Members of an object whose names are compared in their words; in larger ones names are content.
const MOST_NAMES: usize = 256;

/// Members of two objects under names that differ in their writing only: `maxResults` and `max_results`, `lat` and
/// `latitude`. The name in `a` of each that `b` has under another one; only where neither has two such names, and the tool
/// does not know both. `is_argument` where they are the arguments of a call.
pub(super) fn renamed<'a, 'b>(
    a: &HashMap<&'a str, &Json>,
    b: &HashMap<&'b str, &Json>,
    schema: Option<Schema<'_>>,
    is_argument: bool,
) -> HashMap<&'b str, &'a str> {
    let are_equal = a.len() == b.len() && a.keys().all(|key| b.contains_key(key));
    if are_equal || a.len().max(b.len()) > MOST_NAMES {
        return HashMap::new();
    }
    let (plain_a, plain_b) = (by_plain_name(a, is_argument), by_plain_name(b, is_argument));
    let is_known = |key: &str| schema.is_some_and(|schema| schema.property(key).is_some());
    let pairs =
        plain_b.iter().filter_map(|(plain, keys)| match (&keys[..], plain_a.get(plain).map(Vec::as_slice)) {
            ([theirs], Some([own])) if theirs != own && !(is_known(theirs) && is_known(own)) => {
                Some((*theirs, *own))
            }
            _ => None,
        });
    pairs.collect()
}

fn by_plain_name<'k>(members: &HashMap<&'k str, &Json>, is_argument: bool) -> HashMap<String, Vec<&'k str>> {
    let mut found: HashMap<String, Vec<&'k str>> = HashMap::new();
    for &key in members.keys() {
        if let Some(plain) = Name::plain(key, is_argument) {
            found.entry(plain).or_default().push(key);
        }
    }
    found
}

/// The name by which the tool knows a member, where it knows it by one in another writing.
pub(super) fn known<'k>(key: &'k str, schema: Option<Schema<'k>>, is_argument: bool) -> &'k str {
    let Some(schema) = schema.filter(|schema| schema.property(key).is_none()) else { return key };
    let Some(plain) = Name::plain(key, is_argument) else { return key };
    schema.members().find(|member| Name::plain(member, is_argument).as_ref() == Some(&plain)).unwrap_or(key)
}

/// Of two writings of a name the one that says more, whichever call it is in: that which the tool knows, that with more
/// words.
pub(super) fn telling<'k>(one: &'k str, other: &'k str, schema: Option<Schema<'_>>) -> &'k str {
    let rank = |key: &'k str| {
        let is_known = schema.is_some_and(|schema| schema.property(key).is_some());
        (!is_known, usize::MAX - Name::new(key).length(), key)
    };
    std::cmp::min_by_key(one, other, |key| rank(key))
}

/// The keys of objects around a place, which say nothing themselves. `not` and its like say a lot.
const AROUND_PLACE: &[&str] =
    &["location", "latLng", "latlng", "lat_lng", "point", "coordinates", "center", "position", "geo"];

/// The keys of objects around all arguments of a call.
const AROUND_CALL: &[&str] = &[
    "params",
    "parameters",
    "arguments",
    "args",
    "kwargs",
    "input",
    "inputs",
    "request",
    "payload",
    "body",
    "data",
    "json",
    "options",
];

/// What is in an object whose only member holds what the other object has itself, and the member's key: as in
/// `{"location": {"latLng": ..}}` and `{"latLng": ..}`, or in `{"params": {..}}` where `is_call`. Not where the tool knows
/// the member.
pub(super) fn unwrapped<'v>(
    object: &'v [(String, Json)],
    other: &[(String, Json)],
    schema: Option<Schema<'_>>,
    is_call: bool,
) -> Option<(&'v str, &'v [(String, Json)])> {
    let [(key, Json::Object(inner))] = object else { return None };
    let has = |key: &str| other.iter().any(|(name, _)| name == key);
    let known = if is_call { AROUND_CALL } else { AROUND_PLACE };
    let is_of_tool = is_call && schema.is_some_and(|schema| schema.property(key).is_some());
    if !known.contains(&key.as_str()) || has(key) || is_of_tool || inner.len().max(other.len()) > MOST_NAMES {
        return None;
    }
    let is_other = if is_call {
        let plain: HashSet<String> = other.iter().filter_map(|(key, _)| Name::plain(key, true)).collect();
        inner
            .iter()
            .any(|(key, _)| has(key) || Name::plain(key, true).is_some_and(|key| plain.contains(&key)))
    } else {
        inner.len() == other.len() && inner.iter().all(|(key, _)| has(key))
    };
    is_other.then_some((key, inner))
}

/// The members of two objects whose values have changed places: an origin and a destination, however near they are.
pub(super) fn exchanged<'k>(a: &HashMap<&'k str, &Json>, b: &HashMap<&'k str, &Json>) -> Vec<&'k str> {
    if a.len() > MOST_EXCHANGED {
        return Vec::new();
    }
    let differing: Vec<(&'k str, &Json, &Json)> = a
        .iter()
        .filter_map(|(&key, &value)| Some((key, value, *b.get(key)?)))
        .filter(|(_, x, y)| !is_same(x, y))
        .collect();
    let is_one = |(key, x, y): &&(&'k str, &Json, &Json)| {
        differing.iter().any(|(other, z, w)| other != key && is_same(x, w) && is_same(y, z))
    };
    differing.iter().filter(is_one).map(|(key, ..)| *key).collect()
}

/// Members of an object among which exchanged values are looked for.
const MOST_EXCHANGED: usize = 32;

/// The members of two objects that are the same in the units that their members `unit` say: the units themselves and
/// the numbers beside them. None, unless all numbers that can have the unit are the same in it.
pub(super) fn converted<'k>(a: &HashMap<&'k str, &Json>, b: &HashMap<&'k str, &Json>) -> Vec<&'k str> {
    let unit = |members: &HashMap<&'k str, &Json>, key: &str| {
        members.get(key).and_then(|unit| unit.as_str()).and_then(|unit| quantity::measured(1.0, unit))
    };
    let units = a.iter().filter(|(key, _)| b.contains_key(**key) && Name::new(key).is_unit());
    let Some((&key, text_a)) = units.min_by_key(|(key, _)| **key) else { return Vec::new() };
    let (Some(of_a), Some(of_b)) = (unit(a, key), unit(b, key)) else { return Vec::new() };
    let (Some(text_a), Some(text_b)) = (text_a.as_str(), b.get(key).and_then(|unit| unit.as_str())) else {
        return Vec::new();
    };
    if of_a.0 != of_b.0 || of_a == of_b {
        return Vec::new();
    }
    let mut found = vec![key];
    for (other, value) in a {
        let (Some(x), Some(y)) = (number::of(value), b.get(other).and_then(|value| number::of(value))) else {
            continue;
        };
        if x.total_cmp(&y).is_eq() {
            continue;
        }
        let (Some((_, x)), Some((_, y))) = (quantity::measured(x, text_a), quantity::measured(y, text_b))
        else {
            return Vec::new();
        };
        if (x - y).abs() > SAME_CONVERSION * x.abs().max(y.abs()) {
            return Vec::new();
        }
        found.push(other);
    }
    if found.len() > 1 { found } else { Vec::new() }
}

/// How far a conversion may be off, as a share.
const SAME_CONVERSION: f64 = 1e-3;
