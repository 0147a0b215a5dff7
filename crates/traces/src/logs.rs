//! Logs in which every line is a request with its reply, and each request repeats the messages before it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use m3_trajectory::json::Json;

use crate::call_shapes::pick;
use crate::content::object;
use crate::conversation::Conversation;
use crate::fields::{Fields, role};
use crate::groups::grouped;
use crate::head::messages;
use crate::input::{Input, ReadError, Sink};
use crate::values::{opened, value};

/// Members that hold a request and its reply, and members of these that hold the bodies, by their plain names.
const PAIRS: [[&str; 2]; 6] = [
    ["modelinput", "modeloutput"],
    ["request", "response"],
    ["requestbody", "responsebody"],
    ["messages", "response"],
    ["input", "output"],
    ["inputs", "outputs"],
];
const BODIES: [&str; 3] = ["body", "inputbodyjson", "outputbodyjson"];

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

/// A record of a gateway's log as a request with its reply.
pub(crate) fn as_exchange(record: &Json) -> Option<Json> {
    PAIRS.iter().find_map(|[request, response]| {
        let (mut request, mut response) = (body(pick(record, &[request])?), body(pick(record, &[response])?));
        if matches!(request, Json::Array(_)) {
            request = object([("messages", request)]);
        }
        let history = messages(&request).unwrap_or_default();
        if !matches!(history, [Json::Object(_), ..]) && request.text("input").is_none() {
            return None;
        }
        // A reply of several messages is no stream of events; the state of a graph repeats those of the request.
        let reply = response.member("messages").unwrap_or(&response).items();
        if reply.first().and_then(role).is_some() {
            let added = reply.strip_prefix(history).filter(|added| !added.is_empty()).unwrap_or(reply);
            response = object([("output", Json::Array(added.to_vec()))]);
        }
        Some(object([("request", request), ("response", response)]))
    })
}

/// The body of a request or a reply, which may be a text of JSON, or of events as they were streamed.
fn body(holder: &Json) -> Json {
    let holder = opened(holder);
    // In a recording of a browser, a body is a text with its type.
    let typed = pick(&holder, &["postdata", "content"]).filter(|body| body.has("mimeType"));
    let inner = typed.and_then(|body| body.member("text")).or_else(|| pick(&holder, &BODIES));
    // In a cassette of VCR, a body is an object with its text.
    let inner = inner.map(|body| body.member("string").unwrap_or(body));
    let body = inner.map_or(holder.clone(), opened);
    let data = body.as_str().unwrap_or_default().lines().filter_map(|line| line.strip_prefix("data:"));
    let events: Vec<Json> = data.filter_map(|data| value(data.trim().as_bytes()).ok()).collect();
    if events.is_empty() { body.into_owned() } else { Json::Array(events) }
}

/// The exchanges among values.
pub(crate) fn exchanges(values: &[Json]) -> impl Iterator<Item = Exchange<'_>> {
    values.iter().filter_map(|value| {
        Some(Exchange { request: value.member("request")?, response: value.member("response")? })
    })
}

/// The conversations of a log: a request whose messages begin with those of an earlier request continues it.
pub(crate) fn chains<'j>(
    exchanges: impl Iterator<Item = Exchange<'j>>,
    messages: impl Fn(&'j Json) -> Cow<'j, [Json]>,
) -> Vec<Vec<Exchange<'j>>> {
    let (mut numbers, mut chains) = (Chains::default(), Vec::<Vec<Exchange<'j>>>::new());
    for exchange in exchanges {
        let number = numbers.number(&beginnings(&messages(exchange.request))) as usize;
        match chains.get_mut(number) {
            Some(chain) => chain.push(exchange),
            None => chains.push(vec![exchange]),
        }
    }
    chains
}

/// Reads a log a conversation at a time: a first pass finds the exchanges of each.
pub(crate) fn each_chain(
    input: &Input<'_>,
    sink: &mut dyn Sink,
    messages: impl Fn(&Json) -> &[Json] + Sync,
    conversation: impl Fn(&[Exchange<'_>]) -> Conversation + Sync,
) -> Result<(), ReadError> {
    let mut numbers = Chains::default();
    let number = |beginnings: Vec<u64>| numbers.number(&beginnings);
    let work = |values: &[Json]| conversation(&exchanges(values).collect::<Vec<_>>()).finish();
    let key =
        |value: &Json| is_exchange(value).then(|| value.member("request").map(&messages).map(beginnings))?;
    grouped(input, sink, key, number, work, |sink, trace| sink.trace(None, trace))
}

/// The numbers of the conversations of a log, by the hash of all messages of a request.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    by_end: HashMap<u64, Vec<u32>>,
    count: u32,
}

impl Chains {
    /// The number of a request's conversation, by the hashes of its beginnings: the longest known beginning decides.
    pub(crate) fn number(&mut self, beginnings: &[u64]) -> u32 {
        // Without the whole request: a request that is sent again does not continue the earlier one.
        let known = beginnings.iter().rev().skip(1).find_map(|hash| self.by_end.get_mut(hash)?.pop());
        let number = known.unwrap_or(self.count);
        self.count = self.count.max(number.saturating_add(1));
        if let Some(end) = beginnings.last() {
            self.by_end.entry(*end).or_default().push(number);
        }
        number
    }
}

/// The hashes of the first message, the first two, and so on.
pub(crate) fn beginnings(messages: &[Json]) -> Vec<u64> {
    let mut hasher = DefaultHasher::new();
    let hash = |message| {
        hash_of(message, &mut hasher);
        hasher.finish()
    };
    messages.iter().map(hash).collect()
}

/// Adds a value to a hash.
fn hash_of(value: &Json, hasher: &mut DefaultHasher) {
    std::mem::discriminant(value).hash(hasher);
    match value {
        Json::Null => {}
        Json::Bool(it) => it.hash(hasher),
        Json::Integer(it) => it.hash(hasher),
        Json::Float(it) => it.to_bits().hash(hasher),
        Json::LongInteger(it) | Json::String(it) => it.hash(hasher),
        Json::Array(items) => {
            items.len().hash(hasher);
            for item in items {
                hash_of(item, hasher);
            }
        }
        Json::Object(members) => {
            members.len().hash(hasher);
            for (key, value) in members {
                key.hash(hasher);
                hash_of(value, hasher);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;

    #[test]
    fn a_request_goes_on_with_the_longest_that_it_begins_with() {
        let log = "[[1], [1, 2], [1, 3], [2], [1, 2, 4], [1, 3, 5], [], [], [1, 3], [2]]";
        let lists = parse(log.as_bytes()).unwrap().0;
        let mut chains = Chains::default();
        let numbers: Vec<u32> =
            lists.items().iter().map(|list| chains.number(&beginnings(list.items()))).collect();
        assert_eq!(numbers, [0, 0, 1, 2, 0, 1, 3, 4, 5, 6]);
    }
}
