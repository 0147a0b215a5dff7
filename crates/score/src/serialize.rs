//! The text of a call's arguments, which is what the encoder compares.
//!
//! `open-m3-bench` takes Python's `json.dumps(arguments, ensure_ascii=False, sort_keys=True, separators=(",", ":"))`.
//! `paper` first normalizes arguments with the same meaning, φ of M³-Bench section 4.1 ("required arguments and
//! order-invariant sets"): arrays of strings are sorted; with a catalog, optional arguments that are null or equal
//! their default are left out, and arrays with `uniqueItems` are sorted.

use std::borrow::Cow;

use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::{Json, Keys, is_same};

use super::Profile;
use super::schema::Schema;

/// Turns arguments into text.
#[derive(Debug, Clone, Copy)]
pub struct Serializer<'a> {
    profile: Profile,
    catalog: Option<&'a Catalog>,
}

impl<'a> Serializer<'a> {
    /// A serializer; only [`Profile::Paper`] uses the catalog.
    #[must_use]
    pub fn new(profile: Profile, catalog: Option<&'a Catalog>) -> Self {
        Self { profile, catalog }
    }

    /// The tool's name for buckets: unchanged, or, as in the published scorer, without the white space around it.
    #[must_use]
    pub fn tool<'t>(&self, tool: &'t str) -> &'t str {
        match self.profile {
            Profile::Paper => tool,
            Profile::OpenM3Bench => tool.trim(),
        }
    }

    /// The text of the arguments of a call of `tool`; missing arguments are `null`. It is cut after 1 MiB: no encoder
    /// reads more, and its tokens would take hundreds of times the memory.
    #[must_use]
    pub fn text(&self, tool: &str, arguments: Option<&Json>) -> String {
        let mut text = self.whole_text(tool, arguments);
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        text
    }

    fn whole_text(&self, tool: &str, arguments: Option<&Json>) -> String {
        let Some(arguments) = arguments else { return "null".to_owned() };
        if self.profile == Profile::OpenM3Bench {
            return arguments.to_text(Keys::Sorted);
        }
        let schema = self.catalog.and_then(|catalog| catalog.input_schema(tool)).map(Schema::new);
        let arguments = match (&schema, arguments) {
            (Some(schema), Json::Object(members)) => Cow::Owned(without_defaults(*schema, members)),
            _ => Cow::Borrowed(arguments),
        };
        sort_sets(&arguments, schema.as_ref()).to_text(Keys::Sorted)
    }
}

/// The longest text of a call's arguments, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// Leaves out optional arguments that are null or equal their default.
fn without_defaults(schema: Schema<'_>, members: &[(String, Json)]) -> Json {
    let required = schema.required();
    let says_nothing = |key: &str, value: &Json| {
        let Some(property) = schema.property(key) else { return false };
        let is_required = required.contains(&key);
        let equals_default = || property.defaults().any(|default| is_same(default, value));
        !is_required && (*value == Json::Null || equals_default())
    };
    Json::Object(members.iter().filter(|(key, value)| !says_nothing(key, value)).cloned().collect())
}

/// Sorts arrays that are sets, at every depth. Arrays of numbers keep their order: they are boxes, coordinates or
/// series.
fn sort_sets(value: &Json, schema: Option<&Schema<'_>>) -> Json {
    match value {
        Json::Array(items) => {
            let item_schema = schema.and_then(|schema| schema.items());
            let mut sorted: Vec<Json> =
                items.iter().map(|item| sort_sets(item, item_schema.as_ref())).collect();
            let is_strings = items.iter().all(|item| item.as_str().is_some());
            if is_strings || schema.is_some_and(|schema| schema.is_set()) {
                sorted.sort_by_cached_key(|item| item.to_text(Keys::Sorted));
            }
            Json::Array(sorted)
        }
        Json::Object(members) => Json::Object(
            members
                .iter()
                .map(|(key, value)| {
                    let property = schema.and_then(|schema| schema.property(key));
                    (key.clone(), sort_sets(value, property.as_ref()))
                })
                .collect(),
        ),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;

    fn json(text: &str) -> Json {
        parse(text.as_bytes()).unwrap().0
    }

    fn catalog(schema: &str) -> Catalog {
        let text = format!(r#"{{"s": {{"tools": [{{"name": "t", "inputSchema": {schema}}}]}}}}"#);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tools.json"), text).unwrap();
        Catalog::open(&folder.path().join("tools.json")).unwrap()
    }

    #[test]
    fn paper_sorts_arrays_of_strings_and_leaves_arrays_of_numbers() {
        let arguments =
            json(r#"{"tags": ["b", "a"], "box": [3, 1, 2], "mixed": ["b", 1], "deep": [{"x": ["d", "c"]}]}"#);
        let paper = Serializer::new(Profile::Paper, None).text("s/t", Some(&arguments));
        assert_eq!(paper, r#"{"box":[3,1,2],"deep":[{"x":["c","d"]}],"mixed":["b",1],"tags":["a","b"]}"#);
        let published = Serializer::new(Profile::OpenM3Bench, None).text("s/t", Some(&arguments));
        assert_eq!(published, r#"{"box":[3,1,2],"deep":[{"x":["d","c"]}],"mixed":["b",1],"tags":["b","a"]}"#);
    }

    #[test]
    fn missing_arguments_are_the_text_null() {
        for profile in [Profile::Paper, Profile::OpenM3Bench] {
            assert_eq!(Serializer::new(profile, None).text("s/t", None), "null");
            assert_eq!(Serializer::new(profile, None).text("s/t", Some(&Json::Null)), "null");
        }
    }

    #[test]
    fn a_catalog_takes_out_what_says_nothing() {
        let catalog = catalog(
            r##"{"properties": {
                "q": {"type": "string", "default": "x"},
                "n": {"default": 5},
                "o": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "ids": {"$ref": "#/$defs/ids"}},
              "$defs": {"ids": {"type": "array", "uniqueItems": true}},
              "required": ["q"]}"##,
        );
        let serializer = Serializer::new(Profile::Paper, Some(&catalog));
        let arguments = json(r#"{"q": "x", "n": 5.0, "o": null, "ids": [2, 1], "unknown": null}"#);
        assert_eq!(serializer.text("s/t", Some(&arguments)), r#"{"ids":[1,2],"q":"x","unknown":null}"#);
        assert_eq!(serializer.text("s/other", Some(&arguments)), arguments.to_text(Keys::Sorted));
    }

    #[test]
    fn what_any_part_of_a_schema_requires_is_required() {
        let catalog = catalog(
            r##"{"allOf": [{"properties": {"q": {"default": "eel"}}, "required": ["q"]}, {"$ref": "#/$defs/n"}],
              "$defs": {"n": {"properties": {"n": {"default": 5}}}}}"##,
        );
        let serializer = Serializer::new(Profile::Paper, Some(&catalog));
        assert_eq!(serializer.text("s/t", Some(&json(r#"{"q": "eel", "n": 5}"#))), r#"{"q":"eel"}"#);
    }

    #[test]
    fn a_very_long_text_ends_early() {
        let arguments = Json::String("é".repeat(MAX_TEXT));
        let text = Serializer::new(Profile::Paper, None).text("s/t", Some(&arguments));
        assert_eq!((text.len(), text.chars().next_back()), (MAX_TEXT - 1, Some('é')));
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let catalog =
            catalog(r##"{"$ref": "#", "anyOf": [{"$ref": "#"}], "properties": {"a": {"$ref": "#"}}}"##);
        let arguments = json(r#"{"a": {"a": ["y", "x"]}}"#);
        let text = Serializer::new(Profile::Paper, Some(&catalog)).text("s/t", Some(&arguments));
        assert_eq!(text, r#"{"a":{"a":["x","y"]}}"#);
    }
}
