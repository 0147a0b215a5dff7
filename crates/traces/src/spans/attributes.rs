//! Attributes of spans. A value is found under its flat name (`a.b`), or inside objects, as in dumps of older programs.

use std::collections::BTreeMap;

use m3_trajectory::json::Json;

use crate::fields::{Fields, count, id};

/// Attributes by their names. An attribute that is null counts as missing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attributes(BTreeMap<String, Json>);

/// The most parts of a flat name below the name that is looked up; values with longer names are left out.
const DEEPEST: usize = 16;

impl Attributes {
    /// Adds a value, unless there is one of this name.
    pub(crate) fn insert(&mut self, key: &str, value: Json) {
        if value != Json::Null && !self.0.contains_key(key) {
            self.0.insert(key.to_owned(), value);
        }
    }

    /// The names.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Each name with its value.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The value of this name.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.0.get(key).or_else(|| {
            key.match_indices('.').find_map(|(dot, _)| {
                let (outer, inner) = (key.get(..dot)?, key.get(dot + 1..)?);
                inner.split('.').try_fold(self.0.get(outer)?, |value, key| value.member(key))
            })
        })
    }

    /// The value of the first of these names that has one.
    pub(crate) fn first(&self, keys: &[&str]) -> Option<&Json> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// The value of this name, if it is a text.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// The value of this name as a text, if it is a number or a text that is not empty.
    pub(crate) fn id(&self, key: &str) -> Option<String> {
        self.get(key).and_then(id).filter(|id| !id.is_empty())
    }

    /// The first value under these names that is a whole number.
    pub(crate) fn count(&self, keys: &[&str]) -> Option<u64> {
        keys.iter().find_map(|key| self.get(key).and_then(count))
    }

    /// Whether there is a value of this name or below it.
    pub(crate) fn has_below(&self, key: &str) -> bool {
        self.get(key).is_some() || self.below(key).next().is_some()
    }

    /// The values whose names begin with this one and a point.
    fn below(&self, key: &str) -> impl Iterator<Item = (&str, &Json)> {
        let prefix = format!("{key}.");
        let length = prefix.len();
        let range = self.0.range(prefix.clone()..);
        let range = range.take_while(move |(name, _)| name.starts_with(&prefix));
        range.filter_map(move |(name, value)| Some((name.get(length..)?, value)))
    }

    /// The value of this name, put together from flat names below it (`a.0.b`) if the name itself has no value.
    pub(crate) fn tree(&self, key: &str) -> Option<Json> {
        if let Some(value) = self.get(key) {
            return Some(value.clone());
        }
        let mut leaves: Vec<(Vec<&str>, &Json)> =
            self.below(key).map(|(name, value)| (name.split('.').collect::<Vec<_>>(), value)).collect();
        leaves.retain(|(path, _)| path.len() <= DEEPEST);
        leaves.sort_by(|(a, _), (b, _)| a.cmp(b));
        if leaves.is_empty() { None } else { Some(branch(&leaves, 0)) }
    }
}

/// The value of leaves whose paths are the same up to a depth. Names that are all numbers make a list.
fn branch(leaves: &[(Vec<&str>, &Json)], depth: usize) -> Json {
    let mut members: Vec<(String, Json)> = Vec::new();
    for group in leaves.chunk_by(|(a, _), (b, _)| a.get(depth) == b.get(depth)) {
        let Some((path, value)) = group.first() else { continue };
        let Some(name) = path.get(depth) else { continue };
        // If a name has a value and there are names below it (`a.b` and `a.b.c`), only the values below are kept.
        let inner: Vec<_> = group.iter().filter(|(path, _)| path.len() > depth + 1).cloned().collect();
        let value = if inner.is_empty() { (*value).clone() } else { branch(&inner, depth + 1) };
        members.push(((*name).to_owned(), value));
    }
    let number = |name: &str| name.parse::<u64>().ok();
    if members.iter().all(|(name, _)| number(name).is_some()) {
        members.sort_by_key(|(name, _)| number(name));
        return Json::Array(members.into_iter().map(|(_, value)| value).collect());
    }
    Json::Object(members)
}
