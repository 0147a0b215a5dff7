//! Compares predicted calls with a reference's calls.

use std::borrow::Cow;

use m3_trajectory::Call;
use m3_trajectory::json::Json;

use super::failure::Failure;
use super::function::{Function, Parameter};
use super::types::{Kind, check_type};
use super::values::{Members, check_list, check_object, check_objects, check_text, find, is_equal};
use crate::tools::is_same_tool;

/// A call of a model.
#[derive(Debug, Clone)]
pub(super) struct Predicted<'p> {
    pub(super) name: &'p str,
    pub(super) arguments: Cow<'p, Members>,
}

/// A reference's call with the values that it accepts.
#[derive(Debug, Clone)]
pub(super) struct Gold<'g> {
    name: &'g str,
    accepted: Vec<(&'g str, Cow<'g, [Json]>)>,
}

impl<'g> Gold<'g> {
    /// The accepted values stand in the call's member `accepted`, lists by argument; without it each argument of the call is
    /// the only value.
    pub(super) fn of(call: &'g Call) -> Self {
        let told = call.extra.iter().find(|(key, _)| key == "accepted").map(|(_, value)| value);
        let accepted = match (told, &call.arguments) {
            (Some(Json::Object(members)), _) => members
                .iter()
                .map(|(name, values)| match values {
                    Json::Array(values) => (name.as_str(), Cow::Borrowed(values.as_slice())),
                    other => (name.as_str(), Cow::Borrowed(std::slice::from_ref(other))),
                })
                .collect(),
            (_, Some(Json::Object(members))) => {
                members.iter().map(|(name, value)| (name.as_str(), Cow::Owned(vec![only(value)]))).collect()
            }
            _ => Vec::new(),
        };
        Self { name: &call.tool, accepted }
    }

    fn accepted(&self, name: &str) -> Option<&[Json]> {
        self.accepted.iter().find(|(known, _)| *known == name).map(|(_, values)| &**values)
    }
}

/// A value as the only one that is accepted: the members of an object each have a list of their own.
fn only(value: &Json) -> Json {
    match value {
        Json::Object(members) => Json::Object(
            members.iter().map(|(key, value)| (key.clone(), Json::Array(vec![value.clone()]))).collect(),
        ),
        Json::Array(items) if items.iter().any(|item| matches!(item, Json::Object(_))) => {
            Json::Array(items.iter().map(only).collect())
        }
        other => other.clone(),
    }
}

/// What finds a function by its name.
pub(super) type Find<'f> = dyn Fn(&str) -> Option<Function<'f>> + 'f;

/// Compares one call with the only one of the reference.
pub(super) fn one(
    calls: &[Predicted<'_>],
    gold: &[Gold<'_>],
    function: &Find<'_>,
    wrong_count: Failure,
) -> Result<(), Failure> {
    match (calls, gold) {
        ([call], [gold]) => compare(call, gold, function(gold.name)),
        _ => Err(wrong_count),
    }
}

/// Gives each call of the reference, in order, the first predicted one that fits and is free.
pub(super) fn in_any_order(
    calls: &[Predicted<'_>],
    gold: &[Gold<'_>],
    function: &Find<'_>,
) -> Result<(), Failure> {
    if calls.len() != gold.len() {
        return Err("parallel_function_checker_no_order:wrong_count");
    }
    let mut free: Vec<&Predicted<'_>> = calls.iter().collect();
    for gold in gold {
        let known = function(gold.name);
        let found = free.iter().position(|call| compare(call, gold, known).is_ok());
        let found = found.ok_or("parallel_function_checker_no_order:cannot_find_match")?;
        free.remove(found);
    }
    Ok(())
}

/// Compares two calls. Without a function neither types nor required parameters are known: a value then has the type of
/// what is accepted.
fn compare(call: &Predicted<'_>, gold: &Gold<'_>, function: Option<Function<'_>>) -> Result<(), Failure> {
    if !is_same_tool(call.name, gold.name) {
        return Err("simple_function_checker:wrong_func_name");
    }
    let is_missing = |name: &str| find(&call.arguments, name).is_none();
    if function.is_some_and(|function| function.required().any(is_missing)) {
        return Err("simple_function_checker:missing_required");
    }
    for (name, value) in call.arguments.iter() {
        let parameter = function.map(|function| function.parameter(name));
        let (Some(accepted), false) = (gold.accepted(name), matches!(parameter, Some(None))) else {
            return Err("simple_function_checker:unexpected_param");
        };
        check_value(value, accepted, parameter.flatten())?;
    }
    let is_needed = |(name, accepted): &(&str, Cow<'_, [Json]>)| {
        is_missing(name) && !accepted.iter().any(|value| value.as_str() == Some(""))
    };
    if gold.accepted.iter().any(is_needed) {
        return Err("simple_function_checker:missing_optional");
    }
    Ok(())
}

fn check_value(value: &Json, accepted: &[Json], parameter: Option<Parameter>) -> Result<(), Failure> {
    let first = accepted.iter().find(|answer| answer.as_str() != Some(""));
    let told = parameter.and_then(|parameter| parameter.kind);
    let expected = told.or_else(|| first.map(Kind::of)).unwrap_or_else(|| Kind::of(value));
    let nested = match (parameter.and_then(|parameter| parameter.nested), first) {
        (None, Some(Json::Array(items))) if told.is_none() => {
            items.first().map(Kind::of).filter(|kind| *kind == Kind::Object)
        }
        (nested, _) => nested,
    };
    let value = match value {
        // An integer is accepted for a float.
        #[expect(clippy::cast_precision_loss, reason = "as Python does")]
        Json::Integer(number) if expected == Kind::Float => Cow::Owned(Json::Float(*number as f64)),
        other => Cow::Borrowed(other),
    };
    let is_variable = check_type(&value, accepted, expected, nested)?;
    match (&*value, expected) {
        (Json::Object(members), Kind::Object) if !is_variable => check_object(members, accepted),
        (Json::Array(list), Kind::List) if !is_variable && nested == Some(Kind::Object) => {
            check_objects(list, accepted)
        }
        (Json::String(text), Kind::String) if !is_variable => check_text(text, accepted),
        (Json::Array(list), Kind::List) if !is_variable => check_list(list, accepted),
        (value, _) if accepted.iter().any(|answer| is_equal(value, answer)) => Ok(()),
        _ => Err("value_error:others"),
    }
}
