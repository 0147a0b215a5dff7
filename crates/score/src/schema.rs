//! Reads from the JSON Schema of a tool's arguments what their comparison needs.

use m3_support::schema_parts::{SchemaNode as _, parts};
use m3_support::text::head;
use m3_trajectory::json::{Json, Keys};

/// The most bytes of a description that are read.
const MOST_DESCRIBED: usize = 1000;

/// A JSON Schema, and the document that its `$ref`s point into.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schema<'a> {
    root: &'a Json,
    node: &'a Json,
}

impl<'a> Schema<'a> {
    /// The schema that a whole document is.
    pub(super) fn new(root: &'a Json) -> Self {
        Self { root, node: root }
    }

    /// This schema and the schemas it is combined from: `$ref`, `anyOf`, `oneOf`, `allOf`.
    pub(super) fn variants(self) -> Vec<&'a Json> {
        parts(self.root, self.node)
    }

    /// The schema of the member `key`.
    pub(super) fn property(self, key: &str) -> Option<Schema<'a>> {
        let node = self.variants().into_iter().find_map(|variant| variant.get("properties")?.member(key))?;
        Some(Schema { root: self.root, node })
    }

    /// The schema of the items of an array.
    pub(super) fn items(self) -> Option<Schema<'a>> {
        let node = self.variants().into_iter().find_map(|variant| variant.get("items"))?;
        Some(Schema { root: self.root, node })
    }

    /// Whether the order of an array does not matter.
    pub(super) fn is_set(self) -> bool {
        self.variants().iter().any(|variant| variant.get("uniqueItems") == Some(&Json::Bool(true)))
    }

    /// The members that any part of the schema requires.
    pub(super) fn required(self) -> Vec<&'a str> {
        self.lists("required").flatten().filter_map(Json::as_str).collect()
    }

    /// The values that mean the same as a missing one.
    pub(super) fn defaults(self) -> impl Iterator<Item = &'a Json> {
        self.variants().into_iter().filter_map(|variant| variant.get("default"))
    }

    /// The schema's own description.
    pub(super) fn description(self) -> Option<&'a str> {
        self.node.get("description").and_then(Json::as_str)
    }

    /// Whether the description names this value as the default: `(default: 10)`, `Defaults to "metric"`.
    pub(super) fn describes_default(self, value: &Json) -> bool {
        let value = match value {
            Json::String(text) => text.to_lowercase(),
            value => value.to_text(Keys::Sorted),
        };
        self.said_default().is_some_and(|said| {
            let word = said.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ')' | ']')).next();
            let word = word.unwrap_or_default().trim_end_matches('.').trim_matches(['"', '\'', '`']);
            !word.is_empty() && word == value
        })
    }

    /// The text after the word `default` in the description, in lower case.
    pub(super) fn said_default(self) -> Option<String> {
        let description = self.description()?;
        let start = head(description, MOST_DESCRIBED).to_lowercase();
        let (_, after) = start.split_once("default")?;
        let after = after.strip_prefix('s').unwrap_or(after).trim_start_matches([':', '=', ' ']);
        let after = ["to ", "is ", "value is ", "value: "]
            .iter()
            .find_map(|word| after.strip_prefix(word))
            .unwrap_or(after);
        Some(after.to_owned())
    }

    /// Whether the values are listed, and this text is one of them.
    pub(super) fn has_choice(self, text: &str) -> bool {
        self.lists("enum").flatten().any(|choice| choice.as_str() == Some(text))
    }

    /// Whether the values are listed.
    pub(super) fn has_choices(self) -> bool {
        self.lists("enum").next().is_some()
    }

    /// The lists under a key of any part of the schema.
    fn lists(self, key: &str) -> impl Iterator<Item = &'a Vec<Json>> {
        self.variants().into_iter().filter_map(move |variant| match variant.get(key) {
            Some(Json::Array(items)) => Some(items),
            _ => None,
        })
    }

    /// Whether some part of the schema names this type.
    pub(super) fn is_of_type(self, name: &str) -> bool {
        self.variants().iter().any(|variant| match variant.get("type") {
            Some(Json::String(found)) => found == name,
            Some(Json::Array(found)) => found.iter().any(|found| found.as_str() == Some(name)),
            _ => false,
        })
    }

    /// Whether the schema declares all allowed members, so that the tool does not know others.
    pub(super) fn lists_members(self) -> bool {
        let variants = self.variants();
        variants.iter().any(
            |variant| matches!(variant.get("properties"), Some(Json::Object(known)) if !known.is_empty()),
        )
    }
}
