//! Converts Java source text to values, like `java_type_converter.py` of the published program.

use std::collections::HashMap;

use m3_trajectory::json::Json;

use super::pattern::{all, find, first, firsts};
use super::python::{float, inner, int, is_scientific, is_whole, line, number, strip};

/// The value of a source text; `None` if it is not a value of that type, and stays a text.
///
/// The published program breaks off with `Set`, `Hashtable`, `Queue` and `Stack`, which stay texts here.
pub(super) fn convert(text: &str, kind: &str, items: Option<&str>) -> Option<Json> {
    match kind {
        "byte" | "short" | "integer" => Some(line(text)).filter(|text| is_whole(text)).and_then(int),
        "long" => long(line(text)),
        "float" => single(line(text)),
        "double" => Some(line(text)).filter(|text| is_scientific(text)).and_then(float),
        "boolean" => boolean(text),
        "Array" => array(text, items),
        "ArrayList" => list(text, items),
        "HashMap" => map(text),
        _ => None,
    }
}

/// A whole number that ends in L.
fn long(text: &str) -> Option<Json> {
    text.strip_suffix(['l', 'L']).filter(|digits| is_whole(digits)).and_then(int)
}

/// A number that ends in F.
fn single(text: &str) -> Option<Json> {
    text.strip_suffix(['f', 'F']).filter(|number| is_scientific(number)).and_then(float)
}

pub(super) fn boolean(text: &str) -> Option<Json> {
    match text {
        "true" => Some(Json::Bool(true)),
        "false" => Some(Json::Bool(false)),
        _ => None,
    }
}

/// An item of a list whose items may have a type.
fn item(text: &str, kind: Option<&str>) -> Json {
    let text = strip(text);
    match kind {
        Some(kind) => convert(text, kind, None).unwrap_or_else(|| Json::String(text.to_owned())),
        None => value(text),
    }
}

/// An array. Its texts keep their quotes if the type of the items is known, and lose them otherwise.
fn array(text: &str, items: Option<&str>) -> Option<Json> {
    let captures = find("java_array", text)?;
    let written = first(&captures)?.split(',').filter(|text| !strip(text).is_empty());
    Some(Json::Array(written.map(|text| item(text, items)).collect()))
}

/// A list, made from values or by adding them one by one. Its texts lose their quotes.
fn list(text: &str, items: Option<&str>) -> Option<Json> {
    let one = |text: &str| match items {
        Some("char" | "String") => Json::String(inner(strip(text)).to_owned()),
        items => item(text, items),
    };
    if let Some(captures) = find("java_list_of", text) {
        return Some(Json::Array(first(&captures)?.split(',').map(one).collect()));
    }
    if let Some(captures) = find("java_list_add", text) {
        return Some(Json::Array(firsts("java_add", first(&captures)?).into_iter().map(one).collect()));
    }
    find("java_list_empty", text).map(|_| Json::Array(Vec::new()))
}

/// A map with keys in quotes.
fn map(text: &str) -> Option<Json> {
    let Some(captures) = find("java_map_put", text) else {
        return find("java_map_empty", text).map(|_| Json::Object(Vec::new()));
    };
    let puts = all("java_put", first(&captures)?);
    let members = puts.iter().map(|put| {
        let [key, written] = [1, 2].map(|group| put.get(group).map_or("", |group| group.as_str()));
        (key, value(strip(written)))
    });
    Some(object(members))
}

/// An object; the last of several members with one key stays, in the place of the first.
pub(super) fn object<'k>(written: impl Iterator<Item = (&'k str, Json)>) -> Json {
    let (mut members, mut places) = (Vec::new(), HashMap::new());
    for (key, value) in written {
        let place = *places.entry(key).or_insert(members.len());
        match members.get_mut(place) {
            Some((_, old)) => *old = value,
            None => members.push((key.to_owned(), value)),
        }
    }
    Json::Object(members)
}

/// A value of a type that is not known.
fn value(text: &str) -> Json {
    let quoted = || {
        let is_quoted = text.starts_with('"') && text.ends_with('"');
        is_quoted.then(|| Json::String(inner(text).to_owned()))
    };
    let known = boolean(text).or_else(quoted).or_else(|| long(text)).or_else(|| single(text));
    known.or_else(|| number(text)).unwrap_or_else(|| Json::String(text.to_owned()))
}
