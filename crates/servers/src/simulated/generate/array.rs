//! Lists of the right length.

use serde_json::Value;

use super::flat::Flat;
use super::{Maker, Place};
use crate::seed::Seed;

/// The most items of a list; schemas that require more are not satisfied.
const MAX_ITEMS: usize = 1_000;

/// The most items of a list if the schema sets no limit.
const USUAL: usize = 3;

/// The most attempts at one item, which must differ from the others in a list of distinct items.
const MAX_TRIES: usize = 20;

impl<'a> Maker<'a> {
    /// Makes a list for the schema; `None` if that is not possible within the limits.
    pub(super) fn array(&mut self, flat: &Flat<'a>, place: Place<'_>, seed: &Seed) -> Option<Value> {
        let contained: Vec<&'a Value> = flat.all("contains").collect();
        // `minContains` is 1 by default.
        let holds = if contained.is_empty() { 0 } else { flat.least_count("minContains", MAX_ITEMS)?.max(1) };
        let least = flat.least_count("minItems", MAX_ITEMS)?.max(holds);
        let most = flat.most_count("maxItems", MAX_ITEMS);
        let length = if self.is_minimal(place.depth) {
            least
        } else {
            let usual = 1 + seed.child("length").stream().index(USUAL);
            usual.clamp(least, most.max(least))
        };
        let is_unique = flat.all("uniqueItems").any(|unique| *unique == Value::Bool(true));
        let mut items: Vec<Value> = Vec::new();
        for index in 0..length {
            let mut schemas = item_schemas(flat, index);
            if index < holds {
                schemas.extend(&contained);
            }
            let made = (0..MAX_TRIES).find_map(|again| {
                let item = self.make(&schemas, place.item(), &seed.nth(index).nth(again))?;
                (!is_unique || !items.contains(&item)).then_some(item)
            });
            match made {
                Some(item) => items.push(item),
                None if items.len() >= least => break,
                None => return None,
            }
        }
        Some(Value::Array(items))
    }
}

/// All schemas of the item at an index: `prefixItems` and `items`, or in older drafts `items` and
/// `additionalItems`.
fn item_schemas<'a>(flat: &Flat<'a>, index: usize) -> Vec<&'a Value> {
    let of_part = |part: &&'a serde_json::Map<String, Value>| {
        let (prefix, rest) = match (part.get("prefixItems"), part.get("items")) {
            (Some(Value::Array(prefix)), rest) => (prefix.as_slice(), rest),
            (_, Some(Value::Array(prefix))) => (prefix.as_slice(), part.get("additionalItems")),
            (_, rest) => (&[] as &[Value], rest),
        };
        prefix.get(index).or(rest)
    };
    flat.parts.iter().filter_map(of_part).collect()
}
