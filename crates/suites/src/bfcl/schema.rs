//! The parameters of a function, in BFCL's own description or in JSON Schema.

use std::collections::HashMap;
use std::sync::LazyLock;

use m3_trajectory::json::Json;

/// The language that a function is written in. It decides how values stand in calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Language {
    /// Values are JSON.
    #[default]
    Python,
    /// Values are texts of Java's source.
    Java,
    /// Values are texts of JavaScript's source.
    JavaScript,
}

/// The types that the published program distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    Text,
    Integer,
    Float,
    Boolean,
    List,
    Object,
    /// The set of Python, a type that no JSON value has.
    Set,
}

/// The types of each language by their names in descriptions.
static TYPES: LazyLock<HashMap<(&str, &str), Type>> = LazyLock::new(|| {
    let lines = include_str!("../../tables/bfcl_types.txt").lines();
    lines.filter(|line| !line.starts_with('#')).filter_map(row).collect()
});

fn row(line: &'static str) -> Option<((&'static str, &'static str), Type)> {
    let mut words = line.split(' ');
    let (language, name, kind) = (words.next()?, words.next()?, words.next()?);
    let kind = match kind {
        "text" => Type::Text,
        "integer" => Type::Integer,
        "float" => Type::Float,
        "boolean" => Type::Boolean,
        "list" => Type::List,
        "object" => Type::Object,
        "set" => Type::Set,
        _ => return None,
    };
    Some(((language, name), kind))
}

impl Language {
    /// The language with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Python, Self::Java, Self::JavaScript].into_iter().find(|language| language.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Java => "java",
            Self::JavaScript => "javascript",
        }
    }

    /// The type with this name in the descriptions of the language.
    pub(super) fn types(self, name: &str) -> Option<Type> {
        TYPES.get(&(self.name(), name)).copied()
    }
}

impl Type {
    pub(super) fn from_value(value: &Json) -> Self {
        match value {
            Json::Null => Self::Null,
            Json::Bool(_) => Self::Boolean,
            Json::Integer(_) | Json::LongInteger(_) => Self::Integer,
            Json::Float(_) => Self::Float,
            Json::String(_) => Self::Text,
            Json::Array(_) => Self::List,
            Json::Object(_) => Self::Object,
        }
    }
}

/// The type of an argument or of the items of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedType<'s> {
    /// The type's name in the description.
    pub(super) name: &'s str,
    pub(super) kind: Type,
}

/// A parameter of a function.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter<'s> {
    pub(super) own: NamedType<'s>,
    /// The type of the items; only lists have it, and only where the schema names it.
    pub(super) items: Option<NamedType<'s>>,
}

/// The parameters of a function.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameters<'s> {
    schema: &'s Json,
    language: Language,
}

impl<'s> Parameters<'s> {
    pub(super) fn new(schema: &'s Json, language: Language) -> Self {
        Self { schema, language }
    }

    /// The arguments that every call has to have.
    pub(super) fn required(&self) -> impl Iterator<Item = &'s str> {
        let names = match self.schema.get("required") {
            Some(Json::Array(names)) => names.as_slice(),
            _ => &[],
        };
        names.iter().filter_map(Json::as_str)
    }

    /// The argument with this name, if the function knows it.
    pub(super) fn get(&self, name: &str) -> Option<Parameter<'s>> {
        Some(Parameter::new(self.schema.get("properties")?.get(name)?, self.language))
    }
}

impl<'s> Parameter<'s> {
    /// A parameter from its schema; `any` where the schema names no known type.
    pub(super) fn new(schema: &'s Json, language: Language) -> Self {
        let any = NamedType { name: "any", kind: Type::Text };
        let own = NamedType::new(schema, language).unwrap_or(any);
        // The published program looks only at the items of these types.
        let has_items = matches!(own.name, "array" | "tuple" | "Array" | "ArrayList");
        let items = schema.get("items").filter(|_| has_items);
        Self { own, items: items.map(|items| NamedType::new(items, language).unwrap_or(any)) }
    }
}

impl<'s> NamedType<'s> {
    /// The first type of a schema that is known.
    fn new(schema: &'s Json, language: Language) -> Option<Self> {
        let types = match schema.get("type")? {
            Json::Array(types) => types.as_slice(),
            one => std::slice::from_ref(one),
        };
        let known = |name: &'s str| Some(Self { name, kind: language.types(name)? });
        types.iter().filter_map(Json::as_str).find_map(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_read() {
        let rows = include_str!("../../tables/bfcl_types.txt").lines().filter(|line| !line.starts_with('#'));
        assert_eq!(rows.count(), TYPES.len());
    }
}
