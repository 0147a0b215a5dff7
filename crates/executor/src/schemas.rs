//! Tools as the provider's own tool calling takes them: schemas in the shape that all wires accept, and no more tools
//! than a provider takes.

use m3_llm::ModelName;
use m3_mcp::Tool;
use m3_mcp::arguments::{properties, required};
use m3_mcp::results::readable;
use m3_support::schema_parts::resolved;
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

/// One alternative of a schema, or a part of it.
#[derive(Default)]
struct Branch {
    properties: Map<String, Value>,
    required: Vec<String>,
}

/// A schema without combinations at its root, and a note on them for the description.
fn folded(mut schema: Map<String, Value>) -> (Map<String, Value>, Option<String>) {
    let whole = Value::Object(schema.clone());
    let mut all = Branch::new(&schema);
    let (mut is_changed, mut told) = (false, Vec::new());
    if schema.remove("$ref").is_some() {
        is_changed = true;
        all.join(branch(&whole, &whole));
    }
    if let Some(parts) = schema.remove("allOf") {
        is_changed = true;
        for part in parts.as_array().into_iter().flatten() {
            all.join(branch(&whole, part));
        }
    }
    for key in ["anyOf", "oneOf"] {
        let Some(alternatives) = schema.remove(key) else { continue };
        is_changed = true;
        let branches: Vec<Branch> =
            alternatives.as_array().into_iter().flatten().map(|part| branch(&whole, part)).collect();
        told.extend(combinations(&branches));
        all.join(either(branches));
    }
    let is_limited = schema.remove("not").is_some() | schema.remove("enum").is_some();
    if !is_changed {
        let note = is_limited.then(|| LIMITED.to_owned());
        return (schema, note);
    }
    if !all.required.is_empty() {
        schema.insert("required".to_owned(), json!(all.required));
    }
    schema.insert("properties".to_owned(), Value::Object(all.properties));
    let note = if told.is_empty() { LIMITED.to_owned() } else { told.join("\n") };
    (schema, Some(note))
}

const LIMITED: &str = "Not all combinations of arguments are accepted.";

impl Branch {
    fn new(schema: &Map<String, Value>) -> Self {
        Self {
            properties: properties(schema).cloned().unwrap_or_default(),
            required: required(schema).map(str::to_owned).collect(),
        }
    }

    /// Adds what another branch requires and allows; arguments must then satisfy both.
    fn join(&mut self, other: Self) {
        for (name, property) in other.properties {
            match self.properties.get_mut(&name) {
                Some(before) if *before != property => {
                    *before = json!({ "allOf": [before.take(), property] });
                }
                Some(_) => {}
                None => {
                    self.properties.insert(name, property);
                }
            }
        }
        for name in other.required {
            if !self.required.contains(&name) {
                self.required.push(name);
            }
        }
    }
}

/// Merges alternatives: the result requires what all of them require, and allows every argument that any of them
/// allows.
fn either(branches: Vec<Branch>) -> Branch {
    let mut seen: Map<String, Value> = Map::new();
    let mut required: Option<Vec<String>> = None;
    for branch in branches {
        for (name, property) in branch.properties {
            let forms = seen.entry(name).or_insert_with(|| json!([]));
            let open = forms.as_array_mut().filter(|forms| forms.len() < MOST_FORMS);
            if let Some(forms) = open.filter(|forms| !forms.contains(&property)) {
                forms.push(property);
            }
        }
        required = Some(match required {
            None => branch.required,
            Some(before) => before.into_iter().filter(|name| branch.required.contains(name)).collect(),
        });
    }
    let alone = |forms: Value| match forms.as_array().map(Vec::as_slice) {
        Some([form]) => form.clone(),
        // The forms have reached the limit, so there may be more of them.
        Some(forms) if forms.len() >= MOST_FORMS => json!({}),
        _ => json!({ "anyOf": forms }),
    };
    let properties = seen.into_iter().map(|(name, forms)| (name, alone(forms))).collect();
    Branch { properties, required: required.unwrap_or_default() }
}

/// The arguments that each alternative requires, in words, if that is short and distinguishes the alternatives.
fn combinations(branches: &[Branch]) -> Option<String> {
    let is_told = branches.len() <= MOST_TOLD && branches.iter().all(|branch| !branch.required.is_empty());
    let is_different = branches.iter().any(|branch| branch.required != branches[0].required);
    let names = |branch: &Branch| {
        let quoted: Vec<String> = branch.required.iter().map(|name| format!("`{name}`")).collect();
        quoted.join(" and ")
    };
    let all: Vec<String> = branches.iter().map(names).collect();
    (is_told && is_different).then(|| {
        let sentence = format!("It takes one of these combinations of arguments: {}.", all.join("; "));
        readable(&sentence).into_owned()
    })
}

/// The arguments that an alternative or a part allows and requires. References within the schema are followed;
/// combinations within it are not.
fn branch(whole: &Value, part: &Value) -> Branch {
    resolved(whole, part).as_object().map(Branch::new).unwrap_or_default()
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
