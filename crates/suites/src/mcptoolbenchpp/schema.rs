//! Whether the arguments of a call fit a tool's schema.

use m3_trajectory::json::Json;

use crate::bfcl::has_type;

/// The members of an object.
pub(super) type Members = [(String, Json)];

/// A tool's schema of its parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schema<'s>(pub(super) &'s Json);

impl<'s> Schema<'s> {
    /// The schema of a parameter.
    pub(super) fn parameter(self, name: &str) -> Option<&'s Json> {
        self.0.get("properties")?.get(name)
    }

    /// Whether no required argument is missing, and each argument is a known parameter and of its type. This is what
    /// the metric AST accuracy tests.
    pub(super) fn has_all(self, arguments: &Members) -> bool {
        let is_known = |(name, value): &(String, Json)| {
            self.parameter(name).is_some_and(|schema| has_type(value, schema))
        };
        self.has_required(arguments) && arguments.iter().all(is_known)
    }

    /// Whether a server that checks would refuse the arguments. Unlike in `has_all`, unknown arguments are allowed
    /// unless the schema forbids them.
    pub(super) fn refuses(self, arguments: &Members) -> bool {
        let is_closed = self.0.get("additionalProperties") == Some(&Json::Bool(false));
        let is_wrong = |(name, value): &(String, Json)| match self.parameter(name) {
            Some(schema) => !has_type(value, schema),
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
