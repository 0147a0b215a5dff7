//! Members of two objects that belong together although their keys or values say otherwise: other names of a coordinate,
//! exchanged values, other units, an object around the members.

use std::collections::HashMap;

use super::name::Name;
use super::{number, quantity};
use crate::score::schema::is_same;
use crate::trajectory::json::Json;

/// The keys that people give to degrees of latitude, and of longitude.
const COORDINATES: [&[&str]; 2] = [&["latitude", "lat"], &["longitude", "lng", "lon", "long"]];

/// Under which name `other` has the member `key` of `own`, where each of them has one name of it, and another one.
pub(super) fn other_name<'k>(
    key: &str,
    own: &HashMap<&str, &Json>,
    other: &HashMap<&'k str, &Json>,
) -> Option<&'k str> {
    let names = COORDINATES.iter().find(|names| names.contains(&key))?;
    let mut theirs = names.iter().filter_map(|name| other.get_key_value(name).map(|(key, _)| *key));
    let found = theirs.next().filter(|found| *found != key && theirs.next().is_none())?;
    (names.iter().filter(|name| own.contains_key(**name)).count() == 1).then_some(found)
}

/// The keys of objects around a place, which say nothing themselves. `not` and its like say a lot.
const AROUND: &[&str] =
    &["location", "latLng", "latlng", "lat_lng", "point", "coordinates", "center", "position", "geo"];

/// What is in an object whose only member holds what the other object has itself, as in `{"location": {"latLng": ..}}`
/// and `{"latLng": ..}`.
pub(super) fn unwrapped<'v>(
    object: &'v [(String, Json)],
    other: &[(String, Json)],
) -> Option<&'v [(String, Json)]> {
    let [(key, Json::Object(inner))] = object else { return None };
    if !AROUND.contains(&key.as_str()) || inner.len() != other.len() || inner.len() > MOST_EXCHANGED {
        return None;
    }
    let has = |key: &str| other.iter().any(|(name, _)| name == key);
    (!has(key) && inner.iter().all(|(key, _)| has(key))).then_some(inner)
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
