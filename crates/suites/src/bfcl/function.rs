//! What is known of a function: the types of its parameters, and which it requires.

use m3_trajectory::json::Json;

use super::types::Kind;

/// The parameters of a function, in BFCL's words or as a JSON Schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Function<'f>(&'f Json);

/// The type of a parameter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter {
    /// The type; `None` if it is not one of BFCL's.
    pub(super) kind: Option<Kind>,
    /// That of the items of a list.
    pub(super) nested: Option<Kind>,
}

impl<'f> Function<'f> {
    pub(super) fn of(parameters: &'f Json) -> Self {
        Self(parameters)
    }

    /// A parameter; `None` if there is none of this name.
    pub(super) fn parameter(self, name: &str) -> Option<Parameter> {
        let described = self.0.get("properties")?.get(name)?;
        let word = |schema: &Json| schema.get("type").and_then(Json::as_str).and_then(Kind::of_word);
        let kind = word(described);
        let nested = described.get("items").filter(|_| kind == Some(Kind::List)).and_then(word);
        Some(Parameter { kind, nested })
    }

    /// The names of the parameters that it requires.
    pub(super) fn required(self) -> impl Iterator<Item = &'f str> {
        let names = match self.0.get("required") {
            Some(Json::Array(names)) => names.as_slice(),
            _ => &[],
        };
        names.iter().filter_map(Json::as_str)
    }
}
