//! The parts of a schema that apply to one value, through references, `allOf`, `anyOf` and `oneOf`. Schemas come from
//! strangers, and references may go round in circles, so no more than [`MOST_PARTS`] are followed.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::pointer::segments;

/// The most parts of a schema that are taken to apply to one value.
pub const MOST_PARTS: usize = 64;

/// The most members among which one is searched for.
pub const MOST_DEFINITIONS: usize = 1000;

/// A JSON value in any representation.
pub trait SchemaNode: Sized {
    /// The member of an object with this name. Where finding it takes longer in a large object, `None` for one of more
    /// than [`MOST_DEFINITIONS`] members: each value of each call may ask for it again.
    fn member(&self, name: &str) -> Option<&Self>;
    /// The values of an object's members; empty for any other value.
    fn members(&self) -> impl Iterator<Item = &Self>;
    /// The items of an array; empty for any other value.
    fn items(&self) -> &[Self];
    /// The text of a string.
    fn text(&self) -> Option<&str>;
}

impl SchemaNode for Value {
    fn member(&self, name: &str) -> Option<&Self> {
        self.get(name)
    }

    fn members(&self) -> impl Iterator<Item = &Self> {
        self.as_object().into_iter().flat_map(Map::values)
    }

    fn items(&self) -> &[Self] {
        self.as_array().map_or(&[], Vec::as_slice)
    }

    fn text(&self) -> Option<&str> {
        self.as_str()
    }
}

/// The target of a reference within a schema: `#`, `#/pointer`, or the anchor of a definition. Nothing is fetched. An anchor
/// behind 1,000 definitions is not found.
#[must_use]
pub fn referenced<'a, N: SchemaNode>(root: &'a N, reference: &str) -> Option<&'a N> {
    let fragment = reference.strip_prefix('#')?;
    if fragment.is_empty() || fragment.starts_with('/') {
        let pointer = percent_decode_str(fragment).decode_utf8_lossy();
        return segments(&pointer).try_fold(root, |node, segment| {
            let item = || node.items().get(segment.parse::<usize>().ok()?);
            node.member(&segment).or_else(item)
        });
    }
    let definitions = ["$defs", "definitions"].into_iter().filter_map(|key| root.member(key));
    definitions.flat_map(N::members).take(MOST_DEFINITIONS).find(|schema| {
        ["$anchor", "$dynamicAnchor"].iter().any(|key| schema.member(key).and_then(N::text) == Some(fragment))
    })
}

/// A schema after its references are followed: the schema itself if it has no reference, or one that leads nowhere.
#[must_use]
pub fn resolved<'a, N: SchemaNode>(root: &'a N, schema: &'a N) -> &'a N {
    let target = |schema: &&'a N| referenced(root, schema.member("$ref")?.text()?);
    std::iter::successors(Some(schema), target).take(MOST_PARTS).last().unwrap_or(schema)
}

/// A schema and those that it is combined from, breadth first.
#[must_use]
pub fn parts<'a, N: SchemaNode>(root: &'a N, schema: &'a N) -> Vec<&'a N> {
    let mut parts = vec![schema];
    let mut next = 0;
    while let Some(&part) = parts.get(next) {
        next += 1;
        let target = part.member("$ref").and_then(N::text).and_then(|reference| referenced(root, reference));
        let combined = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| part.member(key));
        let below = target.into_iter().chain(combined.flat_map(N::items));
        parts.extend(below.take(MOST_PARTS - parts.len()));
    }
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_followed_to_pointers_and_anchors() {
        let schema = json!({
            "$defs": {"a b": {"type": "string"}, "named": {"$anchor": "n", "$ref": "#/$defs/a%20b"}},
            "properties": {"x": {"$ref": "#n"}, "y": {"$ref": "#/none"}, "z": {"$ref": "https://example.com/z"}},
            "allOf": [{"type": "array"}, {"$ref": "#/allOf/0"}],
        });
        let property = |name: &str| resolved(&schema, &schema["properties"][name]).clone();
        assert_eq!(property("x"), json!({"type": "string"}));
        assert_eq!(property("y"), json!({"$ref": "#/none"}));
        assert_eq!(property("z"), json!({"$ref": "https://example.com/z"}));
        assert_eq!(referenced(&schema, "#"), Some(&schema));
        assert_eq!(referenced(&schema, "#/allOf/0"), Some(&json!({"type": "array"})));
    }

    #[test]
    fn no_anchor_is_looked_for_among_very_many_definitions() {
        let schema = |count: usize| {
            let definition =
                |number: usize| (format!("d{number:04}"), json!({"$anchor": format!("a{number:04}")}));
            json!({"$defs": (0..count).map(definition).collect::<Map<String, Value>>()})
        };
        let (few, many) = (schema(MOST_DEFINITIONS), schema(MOST_DEFINITIONS + 1));
        for reference in ["#/$defs/d0999", "#a0999"] {
            assert_eq!(referenced(&few, reference), Some(&json!({"$anchor": "a0999"})), "{reference}");
        }
        assert_eq!(referenced(&many, "#a1000"), None);
        assert_eq!(referenced(&many, "#/$defs/d1000"), Some(&json!({"$anchor": "a1000"})));
    }

    #[test]
    fn circles_and_combinations_that_explode_have_an_end() {
        let circle =
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}});
        assert!(resolved(&circle, &circle).get("$ref").is_some());
        assert_eq!(parts(&circle, &circle).len(), MOST_PARTS);
        let twice = |next: usize| json!({"anyOf": [{"$ref": format!("#/$defs/d{next}")}, {"$ref": format!("#/$defs/d{next}")}]});
        let definitions: Map<String, Value> =
            (0..40).map(|number| (format!("d{number}"), twice(number + 1))).collect();
        let bomb = json!({"$ref": "#/$defs/d0", "$defs": definitions});
        assert_eq!(parts(&bomb, &bomb).len(), MOST_PARTS);
        let wide = json!({"oneOf": vec![json!({}); 300_000]});
        assert_eq!(parts(&wide, &wide).len(), MOST_PARTS);
        let plain = json!({"allOf": [{"type": "object"}, true]});
        assert_eq!(parts(&plain, &plain), [&plain, &json!({"type": "object"}), &json!(true)]);
    }
}
