//! Python's types, and whether a value has the one that is asked for.

use m3_trajectory::json::Json;

use super::failure::Failure;

/// The type of a value in Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    None,
    Bool,
    Integer,
    Float,
    String,
    List,
    Object,
}

impl Kind {
    pub(super) fn of(value: &Json) -> Self {
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

    /// The type that a word of BFCL or of JSON Schema stands for. `any` is a text.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        match word {
            "string" | "any" => Some(Self::String),
            "integer" => Some(Self::Integer),
            "float" | "number" => Some(Self::Float),
            "boolean" => Some(Self::Bool),
            "array" | "tuple" => Some(Self::List),
            "dict" | "object" => Some(Self::Object),
            _ => None,
        }
    }
}

/// Whether a value has its type, or that of what is accepted: then it stands for a variable, which `Ok(true)` says.
pub(super) fn check_type(
    value: &Json,
    accepted: &[Json],
    expected: Kind,
    nested: Option<Kind>,
) -> Result<bool, Failure> {
    let accepted_kind = accepted.iter().find(|answer| answer.as_str() != Some("")).map(Kind::of);
    let is_variable = accepted_kind.is_some_and(|kind| kind != expected);
    let kind = Kind::of(value);
    if kind == expected {
        let Some(nested) = nested else { return Ok(is_variable) };
        let fits = |answer: &Json| match (value, answer) {
            (Json::Array(values), Json::Array(answer)) => {
                values.iter().all(|item| check_type(item, answer, nested, None).is_ok())
            }
            _ => true,
        };
        if accepted.iter().any(fits) {
            return Ok(is_variable);
        }
        // The program keeps this reason where the value has the type of what is accepted.
        return Err(if accepted_kind == Some(kind) { "type_error:nested" } else { "type_error:simple" });
    }
    if accepted_kind == Some(kind) { Ok(true) } else { Err("type_error:simple") }
}
