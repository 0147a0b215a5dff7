//! A flattened schema: references are followed, `allOf` is joined, and one branch of each `anyOf` and `oneOf` is
//! chosen.

use std::collections::HashSet;

use m3_support::schema_parts::{MOST_PARTS, referenced};
use serde_json::{Map, Value};

use super::super::refusal::json_type;
use super::MAX_DEPTH;
use crate::seed::Seed;

/// The schema objects that all apply to one value. Only their own keywords count, not `$ref`, `allOf` and others that
/// [`Flat::join`] has followed.
pub(super) struct Flat<'a> {
    pub(super) parts: Vec<&'a Map<String, Value>>,
}

/// From this depth on, the branch that looks simplest is chosen.
const SIMPLE_DEPTH: usize = 3;

const KINDS: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];

impl<'a> Flat<'a> {
    /// Joins schemas. `None` for `false`, a dangling reference, no branches, or more than [`MOST_PARTS`] schemas.
    pub(super) fn join(
        schemas: &[&'a Value],
        root: &'a Value,
        attempt: usize,
        depth: usize,
        seed: &Seed,
    ) -> Option<Self> {
        let mut parts: Vec<&Map<String, Value>> = Vec::new();
        let mut pending: Vec<&Value> = schemas.to_vec();
        let mut joined = 0;
        while let Some(schema) = pending.pop() {
            joined += 1;
            if joined > MOST_PARTS {
                return None;
            }
            let Value::Object(keywords) = schema else {
                // `true` accepts everything; an invalid schema is left to the final check.
                if *schema == Value::Bool(false) {
                    return None;
                }
                continue;
            };
            if parts.iter().any(|part| std::ptr::eq(*part, keywords)) {
                continue;
            }
            for key in ["$ref", "$dynamicRef"] {
                if let Some(reference) = keywords.get(key).and_then(Value::as_str) {
                    pending.push(referenced(root, reference)?);
                }
            }
            if let Some(Value::Array(all)) = keywords.get("allOf") {
                pending.extend(all.iter().take(MOST_PARTS));
            }
            for key in ["anyOf", "oneOf"] {
                if let Some(Value::Array(branches)) = keywords.get(key) {
                    pending.push(choose(branches, attempt, depth, &seed.child(key).nth(joined))?);
                }
            }
            if let Some(condition) = keywords.get("if") {
                let is_met = keywords.contains_key("then") == attempt.is_multiple_of(2);
                let (branch, with) = if is_met { ("then", Some(condition)) } else { ("else", None) };
                pending.extend(with.into_iter().chain(keywords.get(branch)));
            }
            parts.push(keywords);
        }
        Some(Self { parts })
    }

    /// The values of a keyword, from every part that has it.
    pub(super) fn all(&self, keyword: &str) -> impl Iterator<Item = &'a Value> {
        self.parts.iter().filter_map(move |part| part.get(keyword))
    }

    /// The largest value of a keyword that is a lower bound.
    pub(super) fn least(&self, keyword: &str) -> Option<f64> {
        self.all(keyword).filter_map(Value::as_f64).reduce(f64::max)
    }

    /// The smallest value of a keyword that is an upper bound.
    pub(super) fn most(&self, keyword: &str) -> Option<f64> {
        self.all(keyword).filter_map(Value::as_f64).reduce(f64::min)
    }

    /// The lower bound of a count: 0 without the keyword, `None` if above `limit`.
    pub(super) fn least_count(&self, keyword: &str, limit: usize) -> Option<usize> {
        let least = self.least(keyword).unwrap_or(0.0).max(0.0).ceil();
        (least <= limit as f64).then(|| count(least))
    }

    /// The upper bound of a count: `limit` without the keyword, and at most `limit`.
    pub(super) fn most_count(&self, keyword: &str, limit: usize) -> usize {
        self.most(keyword).map_or(limit, |most| count(most.clamp(0.0, limit as f64).floor()))
    }

    /// The allowed values, if `const` or `enum` lists them.
    pub(super) fn listed(&self) -> Option<Vec<&'a Value>> {
        let constants = self.all("const").map(|value| vec![value]);
        let enums =
            self.all("enum").filter_map(|value| value.as_array().map(|values| values.iter().collect()));
        constants.chain(enums).reduce(|mut left: Vec<&Value>, right: Vec<&Value>| {
            let right: HashSet<&Value> = right.into_iter().collect();
            left.retain(|value| right.contains(value));
            left
        })
    }

    /// The kinds of value that fit; if others remain, without lists and objects deep inside, and without `null`.
    pub(super) fn kinds(&self, depth: usize) -> Vec<&'static str> {
        let mut kinds: Vec<&str> = KINDS.to_vec();
        let mut is_said = false;
        for types in self.all("type") {
            is_said = true;
            kinds.retain(|kind| allows(types, kind));
        }
        // An integer is a number too; for a number, prefer one that may have a fraction.
        if kinds.contains(&"number") {
            kinds.retain(|kind| *kind != "integer");
        }
        if !is_said {
            return vec![self.likely_kind()];
        }
        let is_deep = depth >= SIMPLE_DEPTH;
        let simple: Vec<&str> =
            kinds.iter().copied().filter(|kind| !is_deep || !matches!(*kind, "object" | "array")).collect();
        let kinds = if simple.is_empty() { kinds } else { simple };
        let filled: Vec<&str> = kinds.iter().copied().filter(|kind| *kind != "null").collect();
        if filled.is_empty() { kinds } else { filled }
    }

    /// The kind that a schema without `type` most likely means.
    fn likely_kind(&self) -> &'static str {
        let has = |keywords: &[&str]| {
            self.parts.iter().any(|part| keywords.iter().any(|key| part.contains_key(*key)))
        };
        if has(&[
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "minProperties",
            "propertyNames",
        ]) {
            "object"
        } else if has(&["items", "prefixItems", "minItems", "contains", "uniqueItems"]) {
            "array"
        } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
            "number"
        } else {
            "string"
        }
    }

    /// Whether a value has a type that fits.
    pub(super) fn has_type_of(&self, value: &Value) -> bool {
        let kind = match value {
            Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0) => "integer",
            value => json_type(value),
        };
        self.all("type").all(|types| allows(types, kind))
    }
}

fn allows(types: &Value, kind: &str) -> bool {
    let is = |name: &Value| {
        name.as_str().is_some_and(|name| name == kind || (name == "number" && kind == "integer"))
    };
    match types {
        Value::Array(types) => types.iter().any(is),
        single => is(single),
    }
}

/// Converts a count that was clamped before.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole, not negative, and bounded"
)]
fn count(value: f64) -> usize {
    value as usize
}

/// A branch of `anyOf` or `oneOf`: another one for each attempt; deep inside a result the simplest.
fn choose<'a>(branches: &'a [Value], attempt: usize, depth: usize, seed: &Seed) -> Option<&'a Value> {
    let weight = |branch: &Value| {
        let is_null = branch.get("type").and_then(Value::as_str) == Some("null");
        let leads_on = ["$ref", "$dynamicRef", "properties", "items", "anyOf", "oneOf", "allOf"];
        let is_deep = leads_on.iter().any(|key| branch.get(*key).is_some());
        match (is_null, depth >= SIMPLE_DEPTH) {
            (true, true) => 0,
            (true, false) => 2,
            (false, true) => 1 + usize::from(is_deep),
            (false, false) => usize::from(*branch == Value::Bool(false)),
        }
    };
    let mut order: Vec<&Value> = branches.iter().take(MOST_PARTS).collect();
    // Rotated first, then sorted, so that branches of equal weight keep the drawn order.
    let length = order.len();
    order.rotate_left(seed.stream().index(length));
    order.sort_by_key(|branch| weight(branch));
    let lightest = order.iter().take_while(|branch| weight(branch) == weight(order[0])).count();
    let turn = if depth > MAX_DEPTH / 2 { 0 } else { attempt };
    // Later attempts also try branches that are not preferred.
    let choices = if attempt < length { lightest } else { length };
    order.get(turn.checked_rem(choices)?).copied()
}
