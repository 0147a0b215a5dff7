//! Members of two objects that belong together although their names are written differently.

use std::collections::HashMap;

use m3_trajectory::json::Json;

use super::super::name::Name;
use crate::schema::Schema;

/// The most members of an object whose names are compared by their words. The names in larger objects are data, such as
/// ids, and must be equal.
const MOST_NAMES: usize = 256;

/// Finds members of two objects whose names differ only in their writing: `maxResults` and `max_results`, `lat` and
/// `latitude`. Maps the name in `b` to the name in `a`, only where each object has one such name and the schema does
/// not list both. `is_argument` says that the members are the arguments of a call.
pub(super) fn renamed<'a, 'b>(
    a: &HashMap<&'a str, &Json>,
    b: &HashMap<&'b str, &Json>,
    schema: Option<Schema<'_>>,
    is_argument: bool,
) -> HashMap<&'b str, &'a str> {
    let are_equal = a.len() == b.len() && a.keys().all(|key| b.contains_key(key));
    if are_equal || a.len().max(b.len()) > MOST_NAMES {
        return HashMap::new();
    }
    let (plain_a, plain_b) = (by_plain_name(a, is_argument), by_plain_name(b, is_argument));
    let is_known = |key: &str| schema.is_some_and(|schema| schema.property(key).is_some());
    let pairs =
        plain_b.iter().filter_map(|(plain, keys)| match (&keys[..], plain_a.get(plain).map(Vec::as_slice)) {
            ([theirs], Some([own])) if theirs != own && !(is_known(theirs) && is_known(own)) => {
                Some((*theirs, *own))
            }
            _ => None,
        });
    pairs.collect()
}

fn by_plain_name<'k>(members: &HashMap<&'k str, &Json>, is_argument: bool) -> HashMap<String, Vec<&'k str>> {
    let mut keys: HashMap<String, Vec<&'k str>> = HashMap::new();
    for &key in members.keys() {
        if let Some(plain) = Name::plain(key, is_argument) {
            keys.entry(plain).or_default().push(key);
        }
    }
    keys
}

/// Chooses the more informative of two writings of a name, whichever call it is in: one that the schema lists, then one
/// with more words.
pub(super) fn telling<'k>(one: &'k str, other: &'k str, schema: Option<Schema<'_>>) -> &'k str {
    let rank = |key: &'k str| {
        let is_known = schema.is_some_and(|schema| schema.property(key).is_some());
        (!is_known, usize::MAX - Name::new(key).words().len(), key)
    };
    std::cmp::min_by_key(one, other, |key| rank(key))
}
