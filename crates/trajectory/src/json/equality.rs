//! Decides when two JSON values are equal.

use std::collections::HashMap;

use super::Json;

/// Whether two values are equal as JSON values: numbers by value (`5` is `5.0`, `NaN` is `NaN`), objects in any order.
#[must_use]
#[expect(clippy::float_cmp, reason = "values are equal or others")]
pub fn is_same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Integer(i), Json::Float(f)) | (Json::Float(f), Json::Integer(i)) => *i as f64 == *f,
        (Json::Float(x), Json::Float(y)) => x == y || (x.is_nan() && y.is_nan()),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Json::Object(a), Json::Object(b)) => a.len() == b.len() && have_same_members(a, b),
        _ => a == b,
    }
}

/// Whether two objects with equally many members have the same members. Usually their order is the same; if not, keys
/// are looked up in a map, because there may be hundreds of thousands.
fn have_same_members(a: &[(String, Json)], b: &[(String, Json)]) -> bool {
    if a.iter().zip(b).all(|((a, _), (b, _))| a == b) {
        return a.iter().zip(b).all(|((_, a), (_, b))| is_same(a, b));
    }
    let mut members: HashMap<&str, &Json> = HashMap::with_capacity(b.len());
    for (key, value) in b {
        members.entry(key).or_insert(value);
    }
    a.iter().all(|(key, value)| members.get(key.as_str()).is_some_and(|other| is_same(value, other)))
}
