//! Logs in which every line is a request with its reply, and each request repeats what was said before.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use m3_trajectory::json::Json;

use crate::fields::Fields;

/// A request and its reply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange<'j> {
    pub(crate) request: &'j Json,
    pub(crate) response: &'j Json,
}

/// Whether a value is a request with its reply.
pub(crate) fn is_exchange(value: &Json) -> bool {
    value.has("request") && value.has("response")
}

/// The exchanges among values.
pub(crate) fn exchanges(values: &[Json]) -> impl Iterator<Item = Exchange<'_>> {
    values.iter().filter_map(|value| {
        Some(Exchange { request: value.member("request")?, response: value.member("response")? })
    })
}

/// The conversations of a log: a request whose messages begin with those of an earlier one goes on with it.
pub(crate) fn chains<'j>(
    exchanges: impl Iterator<Item = Exchange<'j>>,
    messages: impl Fn(&'j Json) -> &'j [Json],
) -> Vec<Vec<Exchange<'j>>> {
    let mut chains: Vec<Vec<Exchange<'j>>> = Vec::new();
    // The chains by the messages of their last requests, of which a log may have very many.
    let mut ends: HashMap<u64, usize> = HashMap::new();
    for exchange in exchanges {
        let here = messages(exchange.request);
        let beginnings = beginnings(here);
        // The longest beginning decides between several.
        let known = beginnings.iter().rev().find_map(|beginning| {
            let place = *ends.get(beginning)?;
            let before = messages(chains.get(place)?.last()?.request);
            here.starts_with(before).then_some((beginning, place))
        });
        let place = match known {
            Some((beginning, place)) => {
                ends.remove(beginning);
                place
            }
            None => chains.len(),
        };
        match chains.get_mut(place) {
            Some(chain) => chain.push(exchange),
            None => chains.push(vec![exchange]),
        }
        ends.extend(beginnings.last().map(|end| (*end, place)));
    }
    chains
}

/// The hashes of the first message, of the first two, and so on.
fn beginnings(messages: &[Json]) -> Vec<u64> {
    let mut hasher = DefaultHasher::new();
    let mut hashes = Vec::with_capacity(messages.len());
    for message in messages {
        hash(message, &mut hasher);
        hashes.push(hasher.finish());
    }
    hashes
}

/// Adds a value to a hash; numbers of equal value may be written differently, but not in what repeats another.
fn hash(value: &Json, hasher: &mut DefaultHasher) {
    std::mem::discriminant(value).hash(hasher);
    match value {
        Json::Null => {}
        Json::Bool(value) => value.hash(hasher),
        Json::Integer(value) => value.hash(hasher),
        Json::Float(value) => value.to_bits().hash(hasher),
        Json::LongInteger(text) | Json::String(text) => text.hash(hasher),
        Json::Array(items) => {
            items.len().hash(hasher);
            items.iter().for_each(|item| hash(item, hasher));
        }
        Json::Object(members) => {
            members.len().hash(hasher);
            for (key, value) in members {
                key.hash(hasher);
                hash(value, hasher);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;

    #[test]
    fn a_request_goes_on_with_the_longest_beginning() {
        let requests = ["[1]", "[2]", "[1, 3]", "[1, 4]", "[1, 3, 5]", "[2, 3]", "[]", "[]", "[1]", "[1, 6]"];
        let values: Vec<Json> = requests.iter().map(|text| parse(text.as_bytes()).unwrap().0).collect();
        let all = values.iter().map(|request| Exchange { request, response: &Json::Null });
        let chains = chains(all, |request| crate::fields::items(request));
        let shown = |chain: &Vec<Exchange<'_>>| {
            chain.iter().map(|it| it.request.to_plain_text()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            chains.iter().map(shown).collect::<Vec<_>>(),
            ["[1] [1,3] [1,3,5]", "[2] [2,3]", "[1,4]", "[]", "[]", "[1] [1,6]"]
        );
    }
}
