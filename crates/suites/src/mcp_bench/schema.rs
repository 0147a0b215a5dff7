//! Whether arguments fit a tool's schema, as Python's `jsonschema` says it: the newest draft, formats not checked.

use jsonschema::{Draft, Retrieve, Uri, Validator};
use m3_trajectory::json::Json;
use serde_json::Value;

/// The schema of a tool.
#[derive(Debug)]
pub(super) enum ToolSchema {
    /// It accepts everything: there is none, or it says nothing.
    Open,
    /// It is no schema, so that nothing fits it.
    Broken,
    /// It can be checked.
    Usable(Box<Validator>),
}

/// Answers every reference to another document with a schema that nothing fits: it cannot be followed, but only what needs
/// it fails.
struct Nowhere;

impl Retrieve for Nowhere {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Value::Bool(false))
    }
}

impl ToolSchema {
    pub(super) fn new(schema: &Json) -> Self {
        let Some(mut value) = schema.to_value() else { return Self::Broken };
        let is_open = match &value {
            Value::Null | Value::Bool(true) => true,
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        if is_open {
            return Self::Open;
        }
        let root = value.clone();
        close_broken_references(&mut value, &root);
        let options = jsonschema::options().with_draft(Draft::Draft202012).with_retriever(Nowhere);
        options
            .should_validate_formats(false)
            .build(&value)
            .map_or(Self::Broken, |it| Self::Usable(Box::new(it)))
    }

    /// Whether arguments fit; absent ones are an empty object.
    pub(super) fn accepts(&self, arguments: Option<&Json>) -> bool {
        let value = arguments.map_or_else(|| Some(Value::Object(serde_json::Map::new())), Json::to_value);
        match self {
            Self::Open => true,
            Self::Broken => false,
            Self::Usable(validator) => value.is_some_and(|value| validator.is_valid(&value)),
        }
    }
}

/// Puts a schema that nothing fits in the place of each reference within the document that leads nowhere.
fn close_broken_references(value: &mut Value, root: &Value) {
    let target = value.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
    if target.is_some_and(|pointer| root.pointer(pointer).is_none()) {
        *value = Value::Bool(false);
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| close_broken_references(item, root)),
        Value::Object(members) => {
            members.values_mut().for_each(|member| close_broken_references(member, root));
        }
        _ => {}
    }
}
