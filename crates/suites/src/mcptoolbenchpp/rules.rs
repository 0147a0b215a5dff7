//! When the arguments of a call are those of a reference's call, by BFCL's rules (`ast_checker.py`,
//! `simple_function_checker`) with the reference's value as the only one that is accepted.

use m3_trajectory::json::{Json, is_same};

/// The members of an object.
pub(super) type Members = [(String, Json)];

/// The type of a value in Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    None,
    Bool,
    Integer,
    Float,
    String,
    List,
    Object,
}

impl Kind {
    fn of(value: &Json) -> Self {
        match value {
            Json::Null => Self::None,
            Json::Bool(_) => Self::Bool,
            Json::Integer(_) | Json::LongInteger(_) => Self::Integer,
            Json::Float(_) => Self::Float,
            Json::String(_) => Self::String,
            Json::Array(_) => Self::List,
            Json::Object(_) => Self::Object,
        }
    }

    /// The type that a schema asks for; `None` if it names no single one.
    fn of_schema(schema: &Json) -> Option<Self> {
        match schema.get("type")?.as_str()? {
            "boolean" => Some(Self::Bool),
            "integer" => Some(Self::Integer),
            "number" => Some(Self::Float),
            "string" => Some(Self::String),
            "array" => Some(Self::List),
            "object" => Some(Self::Object),
            "null" => Some(Self::None),
            _ => None,
        }
    }
}

/// What a tool's schema says of its parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schema<'s>(pub(super) &'s Json);

impl<'s> Schema<'s> {
    /// The schema of a parameter.
    pub(super) fn parameter(self, name: &str) -> Option<&'s Json> {
        self.0.get("properties")?.get(name)
    }

    /// Whether no required argument is missing, and each is one of its parameters and of their type: what AST accuracy asks.
    pub(super) fn has_all(self, arguments: &Members) -> bool {
        let is_known =
            |(name, value): &(String, Json)| self.parameter(name).is_some_and(|schema| is_of(schema, value));
        self.has_required(arguments) && arguments.iter().all(is_known)
    }

    /// Whether a server that checks would refuse the arguments: the same, but JSON Schema allows unknown ones unless it
    /// says otherwise.
    pub(super) fn refuses(self, arguments: &Members) -> bool {
        let is_closed = self.0.get("additionalProperties") == Some(&Json::Bool(false));
        let is_wrong = |(name, value): &(String, Json)| match self.parameter(name) {
            Some(schema) => !is_of(schema, value),
            None => is_closed,
        };
        !self.has_required(arguments) || arguments.iter().any(is_wrong)
    }

    /// Whether no required parameter is missing.
    pub(super) fn has_required(self, arguments: &Members) -> bool {
        let Some(Json::Array(required)) = self.0.get("required") else { return true };
        required.iter().filter_map(Json::as_str).all(|name| find(arguments, name).is_some())
    }
}

/// The value of an argument.
pub(super) fn find<'m>(arguments: &'m Members, name: &str) -> Option<&'m Json> {
    arguments.iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

/// Whether a value has the type of a schema, and the items of a list that of theirs. An integer is a number.
fn is_of(schema: &Json, value: &Json) -> bool {
    let Some(wanted) = Kind::of_schema(schema) else { return true };
    let is_kind = |wanted: Kind, value: &Json| {
        let kind = Kind::of(value);
        kind == wanted || (wanted == Kind::Float && kind == Kind::Integer)
    };
    let items = schema.get("items").and_then(Kind::of_schema);
    match (value, items) {
        (Json::Array(list), Some(items)) => {
            wanted == Kind::List && list.iter().all(|item| is_kind(items, item))
        }
        (value, _) => is_kind(wanted, value),
    }
}

/// Whether an argument is the reference's. Where the reference has a value of another type than the schema's, it may have
/// either type, and must be the same: for BFCL it stands for a variable.
pub(super) fn agrees(schema: Option<&Json>, value: &Json, gold: &Json) -> bool {
    let is_typed = |value: &Json| schema.is_none_or(|schema| is_of(schema, value));
    if is_typed(gold) { is_typed(value) && is_equal(value, gold) } else { is_same(value, gold) }
}

/// Whether two values are equal: texts as [`normal`] has them, lists in order. Texts in lists, in objects and in objects
/// of lists are compared like this too; what lies deeper must be the same.
fn is_equal(value: &Json, gold: &Json) -> bool {
    match (value, gold) {
        (Json::Array(value), Json::Array(gold)) => {
            value.len() == gold.len()
                && value.iter().zip(gold).all(|(value, gold)| match (value, gold) {
                    (Json::Object(value), Json::Object(gold)) => have_equal_members(value, gold),
                    (value, gold) => is_equal_text(value, gold),
                })
        }
        (Json::Object(value), Json::Object(gold)) => have_equal_members(value, gold),
        (value, gold) => is_equal_text(value, gold),
    }
}

fn have_equal_members(value: &Members, gold: &Members) -> bool {
    let is_right =
        |(key, value): &(String, Json)| find(gold, key).is_some_and(|gold| is_equal_text(value, gold));
    // As with arguments, a member may be missing for which the empty text is accepted.
    let is_there = |(key, gold): &(String, Json)| gold.as_str() == Some("") || find(value, key).is_some();
    value.iter().all(is_right) && gold.iter().all(is_there)
}

fn is_equal_text(value: &Json, gold: &Json) -> bool {
    match (value, gold) {
        (Json::String(value), Json::String(gold)) => normal(value) == normal(gold),
        (value, gold) => is_same(value, gold),
    }
}

/// A text as it is compared: without blanks and `,./-_*^`, in lower case, with double quotes.
fn normal(text: &str) -> String {
    let kept = text.chars().filter(|c| !matches!(c, ' ' | ',' | '.' | '/' | '-' | '_' | '*' | '^'));
    kept.collect::<String>().to_lowercase().replace('\'', "\"")
}
