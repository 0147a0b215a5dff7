//! Whether a call is a reference's call (section 4.1.1, AST accuracy): its tool, its required parameters, and the types
//! and values of its arguments.

use std::collections::HashMap;

use m3_trajectory::Call;
use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::Json;
use m3_trajectory::tool_names::bare_name;

use super::graph::Marks;
use super::names::Fit;
use super::schema::{Members, Schema, find};
use crate::bfcl::is_accepted;
use crate::members::arguments;

/// Compares calls by the schemas of a catalog.
pub(super) struct Comparer<'c> {
    catalog: Option<&'c Catalog>,
    /// The full names of tools by their names without a server; `None` where several servers have the name.
    by_bare_name: HashMap<&'c str, Option<&'c str>>,
}

impl<'c> Comparer<'c> {
    pub(super) fn new(catalog: Option<&'c Catalog>) -> Self {
        let mut by_bare_name = HashMap::new();
        for name in catalog.into_iter().flat_map(Catalog::names) {
            by_bare_name.entry(bare_name(name)).and_modify(|known| *known = None).or_insert(Some(name));
        }
        Self { catalog, by_bare_name }
    }

    /// Whether there is a catalog, and it does not have the tool.
    pub(super) fn is_unknown(&self, tool: &str) -> bool {
        self.catalog.is_some_and(|catalog| {
            catalog.tool(tool).is_none() && (tool.contains('/') || !self.by_bare_name.contains_key(tool))
        })
    }

    /// Whether the schema of a call's tool is known and refuses the arguments.
    pub(super) fn is_refused(&self, call: &Call) -> bool {
        let schema = self.schema(&call.tool);
        schema.is_some_and(|schema| arguments(call).is_none_or(|arguments| schema.refuses(&arguments)))
    }

    /// The schema of a tool, which may have no server in its name.
    fn schema(&self, tool: &str) -> Option<Schema<'c>> {
        let catalog = self.catalog?;
        let full = || self.by_bare_name.get(tool).copied().flatten();
        let schema = catalog.input_schema(tool).or_else(|| catalog.input_schema(full()?));
        // A schema that is not an object, such as `true` or null, says nothing.
        schema.filter(|schema| matches!(schema, Json::Object(_))).map(Schema)
    }

    /// How a call fits a reference's call; `None` if its tool or its arguments do not. An argument of the reference
    /// that holds a mark of a result agrees with anything.
    pub(super) fn fit(&self, call: &Call, gold: &Call, marks: &Marks) -> Option<Fit> {
        let fit = Fit::new(call, gold)?;
        let (predicted, wanted) = (arguments(call)?, arguments(gold)?);
        let schema = self.schema(&call.tool);
        let agree = match (fit, schema) {
            (Fit::Similar, Some(schema)) => similar(&predicted, &wanted, schema, marks),
            (Fit::Same | Fit::Similar, schema) => same(&predicted, &wanted, schema, marks),
        };
        agree.then_some(fit)
    }
}

/// Whether the arguments are the reference's: none is missing, none is extra.
fn same(predicted: &Members, wanted: &Members, schema: Option<Schema<'_>>, marks: &Marks) -> bool {
    let is_right = |(name, value): &(String, Json)| {
        let parameter = schema.map(|schema| schema.parameter(name));
        let gold = find(wanted, name);
        parameter != Some(None)
            && gold.is_some_and(|gold| marks.are_in(gold) || is_accepted(value, gold, parameter.flatten()))
    };
    // BFCL lets an argument be missing if it accepts the empty text for it.
    let is_free = |gold: &Json| gold.as_str() == Some("");
    schema.is_none_or(|schema| schema.has_required(predicted))
        && predicted.iter().all(is_right)
        && wanted.iter().all(|(name, gold)| is_free(gold) || find(predicted, name).is_some())
}

/// Whether the arguments of a similar tool are as good as the reference's: those that both tools have are compared, and
/// the similar tool's schema decides about the others.
fn similar(predicted: &Members, wanted: &Members, schema: Schema<'_>, marks: &Marks) -> bool {
    let is_right = |(name, gold): &(String, Json)| match (schema.parameter(name), find(predicted, name)) {
        (None, _) => true,
        (Some(parameter), Some(value)) => marks.are_in(gold) || is_accepted(value, gold, Some(parameter)),
        (Some(_), None) => gold.as_str() == Some(""),
    };
    schema.has_all(predicted) && wanted.iter().all(is_right)
}
