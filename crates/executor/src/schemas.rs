//! Tools as the provider's own tool calling takes them: schemas in the shape that all wires accept, and no more tools
//! than a provider takes.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use m3_llm::ModelName;
use m3_mcp::Tool;
use m3_mcp::arguments::{properties, required};
use m3_mcp::results::readable;
use m3_support::schema_parts::{MOST_PARTS, resolved};
use serde_json::{Map, Value, json};

use super::Mode;
use super::prompts::{description, schema};

/// The most alternatives that are described in words.
const MOST_TOLD: usize = 8;

/// The most forms of one argument that are distinguished; an argument with more forms may be anything.
const MOST_FORMS: usize = 64;

/// There are more tools than the model's provider takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{model}` takes at most {most} tools, and {offered} are offered\nhint: `--top-tools {most}` offers each task the \
     nearest ones; `--mode staged` and `--mode react` have no such limit"
)]
pub struct TooManyTools {
    /// The model.
    pub model: String,
    /// How many tools a task is offered.
    pub offered: usize,
    /// How many tools the model's provider takes.
    pub most: usize,
}

/// Checks, before the first request, that the provider takes this many tools. Only native tool calling sends them
/// apart from the text; other addresses than the provider's own have their own limits, which are not known.
///
/// # Errors
/// [`TooManyTools`].
pub fn check_tool_count(mode: Mode, model: &ModelName, offered: usize) -> Result<(), TooManyTools> {
    match model.most_tools() {
        Some(most) if mode == Mode::Native && offered > most => {
            Err(TooManyTools { model: model.to_string(), offered, most })
        }
        _ => Ok(()),
    }
}

/// The description and the schema of a tool in the shape that every provider takes: an object with `properties` (OpenAI
/// refuses "object schema missing properties") and, at its root, without `anyOf`, `oneOf`, `allOf`, `enum` and `not`
/// (OpenAI: "schema must have type 'object' and not have .. at the top level"; Anthropic: "`input_schema` does not
/// support oneOf, allOf, or anyOf at the top level"). Such combinations are folded into one object that accepts
/// everything that they accept and perhaps more; the description says so. Calls are still checked against the server's
/// own schema.
pub(super) fn native(tool: &Tool) -> (String, Map<String, Value>) {
    let (mut folded, note) = folded(schema(tool));
    folded.insert("type".to_owned(), "object".into());
    if !folded.get("properties").is_some_and(Value::is_object) {
        folded.insert("properties".to_owned(), json!({}));
    }
    let mut description = description(tool);
    if let Some(note) = note {
        let space = if description.is_empty() { "" } else { "\n" };
        description = format!("{description}{space}{note}");
    }
    (description, folded)
}

/// Arguments by name, each with its different forms.
#[derive(Default)]
struct Properties<'s> {
    all: Vec<(&'s str, Vec<Cow<'s, Value>>)>,
    places: HashMap<&'s str, usize>,
}

impl<'s> Properties<'s> {
    /// Adds a form of an argument that it does not have yet.
    fn add(&mut self, name: &'s str, form: Cow<'s, Value>) {
        let place = *self.places.entry(name).or_insert_with(|| {
            self.all.push((name, Vec::new()));
            self.all.len() - 1
        });
        let forms = &mut self.all[place].1;
        if forms.len() < MOST_FORMS && !forms.contains(&form) {
            forms.push(form);
        }
    }

    /// Each argument with its only form, or with all of them under this keyword.
    fn joined(self, keyword: &str) -> impl Iterator<Item = (&'s str, Cow<'s, Value>)> {
        self.all.into_iter().map(move |(name, mut forms)| {
            let form = match forms.len() {
                1 => forms.swap_remove(0),
                // There may be more of them.
                MOST_FORMS => Cow::Owned(json!({})),
                _ => Cow::Owned(json!({ keyword: forms })),
            };
            (name, form)
        })
    }
}

/// What all parts of a schema demand together.
#[derive(Default)]
struct Demands<'s> {
    properties: Properties<'s>,
    required: Vec<&'s str>,
    is_required: HashSet<&'s str>,
}

impl<'s> Demands<'s> {
    fn add(&mut self, part: &'s Value) {
        let Some(part) = part.as_object() else { return };
        let forms = properties(part).into_iter().flatten();
        forms.for_each(|(name, form)| self.properties.add(name, Cow::Borrowed(form)));
        required(part).for_each(|name| self.require(name));
    }

    /// Adds alternatives: what all of them require, and every argument that any of them allows.
    fn add_alternatives(&mut self, alternatives: &[&'s Value]) {
        let all = || alternatives.iter().filter_map(|part| part.as_object());
        let mut forms = Properties::default();
        for (name, form) in all().filter_map(properties).flatten() {
            forms.add(name, Cow::Borrowed(form));
        }
        forms.joined("anyOf").for_each(|(name, form)| self.properties.add(name, form));
        let mut common: Option<Vec<&str>> = None;
        for alternative in alternatives {
            let own: HashSet<&str> = alternative.as_object().into_iter().flat_map(required).collect();
            let first = || alternative.as_object().into_iter().flat_map(required).collect();
            let before = common.unwrap_or_else(first);
            common = Some(before.into_iter().filter(|name| own.contains(name)).collect());
        }
        common.into_iter().flatten().for_each(|name| self.require(name));
    }

    fn require(&mut self, name: &'s str) {
        if self.is_required.insert(name) {
            self.required.push(name);
        }
    }
}

/// A schema without combinations at its root, and a note on them for the description. Of more than [`MOST_PARTS`] parts or
/// alternatives only the first ones are told, and any other argument is accepted.
fn folded(mut schema: Map<String, Value>) -> (Map<String, Value>, Option<String>) {
    let whole = Value::Object(schema.clone());
    let parts = |key: &str| whole.get(key).map(|parts| parts.as_array().map_or(&[][..], Vec::as_slice));
    if COMBINATIONS.iter().filter_map(|key| parts(key)).any(|parts| parts.len() > MOST_PARTS) {
        schema.remove("additionalProperties");
    }
    let is_changed = schema.contains_key("$ref") || COMBINATIONS.iter().any(|key| schema.contains_key(*key));
    let is_limited = schema.remove("not").is_some() | schema.remove("enum").is_some();
    if !is_changed {
        return (schema, is_limited.then(|| LIMITED.to_owned()));
    }
    // References within the schema are followed; combinations within a part are not.
    let mut all = Demands::default();
    all.add(&whole);
    all.add(resolved(&whole, &whole));
    for part in parts("allOf").into_iter().flatten().take(MOST_PARTS) {
        all.add(resolved(&whole, part));
    }
    let mut told = Vec::new();
    for parts in ["anyOf", "oneOf"].iter().filter_map(|key| parts(key)) {
        let first = parts.iter().take(MOST_PARTS);
        let mut alternatives: Vec<&Value> = first.map(|part| resolved(&whole, part)).collect();
        told.extend(combinations(&alternatives));
        // What the others require is not known, so nothing is common to all.
        alternatives.extend((parts.len() > MOST_PARTS).then_some(&Value::Null));
        all.add_alternatives(&alternatives);
    }
    ["$ref"].iter().chain(&COMBINATIONS).for_each(|key| drop(schema.remove(*key)));
    if !all.required.is_empty() {
        schema.insert("required".to_owned(), json!(all.required));
    }
    let properties = all.properties.joined("allOf").map(|(name, form)| (name.to_owned(), form.into_owned()));
    schema.insert("properties".to_owned(), Value::Object(properties.collect()));
    let note = if told.is_empty() { LIMITED.to_owned() } else { told.join("\n") };
    (schema, Some(note))
}

/// The keywords that combine schemas.
const COMBINATIONS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

const LIMITED: &str = "Not all combinations of arguments are accepted.";

/// The arguments that each alternative requires, in words, if that is short and distinguishes the alternatives.
fn combinations(alternatives: &[&Value]) -> Option<String> {
    let of = |part: &&Value| part.as_object().into_iter().flat_map(required).map(str::to_owned).collect();
    let all: Vec<Vec<String>> = alternatives.iter().take(MOST_TOLD + 1).map(of).collect();
    let is_told = all.len() <= MOST_TOLD && all.iter().all(|names| !names.is_empty());
    let is_different = all.iter().any(|names| *names != all[0]);
    let names = |names: &Vec<String>| {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        quoted.join(" and ")
    };
    (is_told && is_different).then(|| {
        let all: Vec<String> = all.iter().map(names).collect();
        let sentence = format!("It takes one of these combinations of arguments: {}.", all.join("; "));
        readable(&sentence).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaped(schema: &Value) -> (String, Value) {
        let tool = json!({"name": "t", "description": "Finds it.", "inputSchema": schema});
        let (description, schema) = native(&serde_json::from_value(tool).unwrap());
        (description, Value::Object(schema))
    }

    #[test]
    fn an_object_has_its_properties() {
        let bare = json!({"type": "object", "properties": {}});
        for schema in
            [json!({}), json!({"type": "object"}), json!({"type": ["object", "null"], "properties": 7})]
        {
            assert_eq!(shaped(&schema), ("Finds it.".to_owned(), bare.clone()), "{schema}");
        }
        let whole = json!({
            "type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            "required": ["a"], "additionalProperties": false, "$defs": {"b": {}},
        });
        assert_eq!(shaped(&whole), ("Finds it.".to_owned(), whole));
    }

    #[test]
    fn alternatives_become_one_object_that_says_what_belongs_together() {
        let id = json!({"type": "string"});
        let schema = json!({
            "type": "object", "properties": {"limit": {"type": "integer"}}, "required": ["limit"],
            "anyOf": [
                {"properties": {"id": id, "kind": {"const": "a"}}, "required": ["id", "kind"]},
                {"$ref": "#/$defs/named"},
            ],
            "$defs": {"named": {
                "properties": {"name": id, "id": id, "kind": {"const": "b"}}, "required": ["kind", "name"],
            }},
        });
        for key in ["anyOf", "oneOf"] {
            let mut schema = schema.clone();
            let alternatives = schema.as_object_mut().unwrap().remove("anyOf").unwrap();
            schema[key] = alternatives;
            let (description, folded) = shaped(&schema);
            assert_eq!(
                description,
                "Finds it.\nIt takes one of these combinations of arguments: `id` and `kind`; `kind` and `name`."
            );
            assert_eq!(folded["required"], json!(["limit", "kind"]));
            let kind = json!({"anyOf": [{"const": "a"}, {"const": "b"}]});
            let properties = json!({"limit": {"type": "integer"}, "id": id, "name": id, "kind": kind});
            assert_eq!(folded["properties"], properties);
            assert_eq!(folded.get(key), None);
        }
    }

    #[test]
    fn parts_that_all_hold_are_put_together() {
        let (description, folded) = shaped(&json!({
            "allOf": [
                {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"properties": {"a": {"minLength": 1}, "b": {}}, "required": ["a", "b"]},
                true,
            ],
            "not": {"required": ["c"]}, "enum": [{}],
        }));
        assert_eq!(description, format!("Finds it.\n{LIMITED}"));
        let a = json!({"allOf": [{"type": "string"}, {"minLength": 1}]});
        let expected = json!({"type": "object", "properties": {"a": a, "b": {}}, "required": ["a", "b"]});
        assert_eq!(folded, expected);
        let (_, folded) = shaped(&json!({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"x": {}}}}}));
        assert_eq!(folded["properties"], json!({"x": {}}));
        // References with no target, or in a circle.
        for pointer in ["#/$defs/none", "#", "https://example.com/schema"] {
            let (_, folded) = shaped(&json!({"$ref": pointer}));
            assert_eq!(folded, json!({"type": "object", "properties": {}}), "{pointer}");
        }
    }

    /// Each part was one level deeper, and alternatives were copied before they were folded.
    #[test]
    fn of_very_many_parts_the_first_are_folded() {
        let part = |at: usize| json!({"properties": {"a": {"m": at % 7}}, "required": ["a"]});
        let parts: Vec<Value> = (0..1500).map(part).collect();
        for key in COMBINATIONS {
            let schema = json!({"properties": {"b": {}}, "additionalProperties": false, key: parts});
            let (description, folded) = shaped(&schema);
            assert_eq!(description, format!("Finds it.\n{LIMITED}"), "{key}");
            let names: Vec<&String> = folded["properties"].as_object().unwrap().keys().collect();
            assert_eq!((names.len(), folded.get("additionalProperties")), (2, None), "{key}");
            assert_eq!(folded.get("required").is_some(), key == "allOf", "{key}");
        }
        let different: Vec<Value> = (0..60).map(|at| json!({"properties": {"a": {"m": at}}})).collect();
        let (_, folded) = shaped(&json!({"allOf": different}));
        assert_eq!(folded["properties"]["a"]["allOf"].as_array().map(Vec::len), Some(60));
        let names: Vec<String> = (0..60_000).map(|at| format!("n{at}")).collect();
        let (_, folded) = shaped(&json!({"allOf": [{"required": names}, {"required": names}]}));
        assert_eq!(folded["required"], json!(names));
    }

    #[test]
    fn openai_alone_takes_no_more_than_128_tools() {
        let check =
            |mode, model: &str, offered| check_tool_count(mode, &ModelName::parse(model).unwrap(), offered);
        assert_eq!(check(Mode::Native, "openai:gpt-5", 128), Ok(()));
        let message = check(Mode::Native, "openai:gpt-5", 129).unwrap_err().to_string();
        assert!(message.starts_with(
            "`openai:gpt-5` takes at most 128 tools, and 129 are offered\nhint: `--top-tools 128`"
        ));
        assert!(check(Mode::Native, "openai@https://api.openai.com/v1:gpt-5", 129).is_err());
        for (mode, model) in [
            (Mode::Staged, "openai:gpt-5"),
            (Mode::React, "openai:gpt-5"),
            (Mode::Native, "anthropic:claude-sonnet-4-5"),
            (Mode::Native, "openai@http://127.0.0.1:8000/v1:m"),
        ] {
            assert_eq!(check(mode, model, 1000), Ok(()), "{model}");
        }
    }
}
