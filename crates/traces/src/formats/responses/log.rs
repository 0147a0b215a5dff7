//! Logs of requests with their replies. A request repeats the items before it, or names the reply or the conversation
//! that it continues.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::{ask, replied, reply};
use crate::formats::prelude::*;
use crate::groups::grouped;
use crate::logs::{Chains, Exchange, beginnings, chains, exchanges, is_exchange};

/// Reads a log some conversations at a time: a first pass groups the exchanges that may be one conversation.
pub(super) fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut groups = Groups::default();
    let work = |values: &[Json]| traces(&exchanges(values).collect::<Vec<_>>());
    let give = |sink: &mut dyn Sink, all: Vec<Trace>| all.into_iter().try_for_each(|it| sink.trace(None, it));
    grouped(input, sink, Key::parse, |key| groups.number(&key), work, give)
}

/// The key that groups exchanges: hashes of ids, and of the items that a request repeats.
struct Key {
    reply: Option<u64>,
    goes_on_from: Option<u64>,
    conversation: Option<u64>,
    beginnings: Vec<u64>,
}

impl Key {
    fn parse(value: &Json) -> Option<Self> {
        if !is_exchange(value) {
            return None;
        }
        let (request, response) = (value.member("request")?, value.member("response")?);
        let hash = |id: &str| {
            let mut hasher = DefaultHasher::new();
            id.hash(&mut hasher);
            hasher.finish()
        };
        let is_linked = is_linked(request);
        Some(Self {
            reply: response.text("id").map(hash),
            goes_on_from: request.text("previous_response_id").map(hash),
            conversation: conversation_id(request).as_deref().map(hash),
            beginnings: if is_linked { Vec::new() } else { beginnings(&messages(request)) },
        })
    }
}

/// The groups of a log: all exchanges of a conversation are in one.
#[derive(Default)]
struct Groups {
    chains: Chains,
    by_reply: HashMap<u64, u32>,
    by_conversation: HashMap<u64, u32>,
}

impl Groups {
    fn number(&mut self, key: &Key) -> u32 {
        let named = |id: Option<u64>, groups: &HashMap<u64, u32>| groups.get(&id?).copied();
        // A request may name a reply that stands later in the log.
        let number = named(key.reply, &self.by_reply)
            .or_else(|| named(key.goes_on_from, &self.by_reply))
            .or_else(|| named(key.conversation, &self.by_conversation))
            .unwrap_or_else(|| self.chains.number(&key.beginnings));
        self.by_reply.extend(key.reply.map(|id| (id, number)));
        self.by_reply.extend(key.goes_on_from.map(|id| (id, number)));
        self.by_conversation.extend(key.conversation.map(|id| (id, number)));
        number
    }
}

/// The conversations of some exchanges.
fn traces(all: &[Exchange<'_>]) -> Vec<Trace> {
    let (linked, others): (Vec<_>, Vec<_>) = all.iter().copied().partition(|it| is_linked(it.request));
    let answered: HashSet<&str> =
        linked.iter().filter_map(|it| it.request.text("previous_response_id")).collect();
    let (roots, others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|it| it.response.text("id").is_some_and(|id| answered.contains(id)));
    let linked = linked_chains(&[roots, linked].concat());
    let repeated = chains(others.into_iter(), messages);
    linked
        .iter()
        .map(|chain| chained(chain))
        .chain(repeated.iter().map(|chain| last(chain)))
        .map(Conversation::finish)
        .collect()
}

/// Whether a request holds only new items.
fn is_linked(request: &Json) -> bool {
    request.has("previous_response_id") || request.has("conversation")
}

/// The id of the conversation of a request.
fn conversation_id(request: &Json) -> Option<String> {
    let conversation = request.member("conversation")?;
    conversation.as_str().map(str::to_owned).or_else(|| conversation.id("id"))
}

/// The items of a request. A question written as text becomes a message, as later requests repeat it.
fn messages(request: &Json) -> Cow<'_, [Json]> {
    match request.member("input") {
        Some(Json::String(text)) => {
            Cow::Owned(vec![object([("role", string("user")), ("content", string(text))])])
        }
        _ => Cow::Borrowed(request.list("input")),
    }
}

/// A conversation whose last request repeats all of it.
fn last(chain: &[Exchange<'_>]) -> Conversation {
    let mut conversation = Conversation::default();
    for exchange in &chain[..chain.len().saturating_sub(1)] {
        replied(&mut conversation, exchange.response);
    }
    if let Some(last) = chain.last() {
        ask(&mut conversation, last.request);
        reply(&mut conversation, last.response);
    }
    conversation
}

/// The conversations of a log whose requests hold only new items: each continues the reply that it names.
fn linked_chains<'j>(exchanges: &[Exchange<'j>]) -> Vec<Vec<Exchange<'j>>> {
    let by_id: HashMap<&str, usize> =
        exchanges.iter().enumerate().filter_map(|(at, it)| Some((it.response.text("id")?, at))).collect();
    let mut last_of: HashMap<String, usize> = HashMap::new();
    let mut before: Vec<Option<usize>> = Vec::new();
    for (at, exchange) in exchanges.iter().enumerate() {
        let named = exchange.request.text("previous_response_id").and_then(|id| by_id.get(id).copied());
        let of_same = conversation_id(exchange.request).and_then(|id| last_of.insert(id, at));
        before.push(named.or(of_same).filter(|other| *other != at));
    }
    // Where several requests continue one reply, the last one counts.
    let mut next: HashMap<usize, usize> = HashMap::new();
    for (at, before) in before.iter().enumerate() {
        next.extend(before.map(|before| (before, at)));
    }
    let mut chains = Vec::new();
    for root in (0..exchanges.len()).filter(|at| before[*at].is_none()) {
        let (mut chain, mut at) = (Vec::new(), Some(root));
        // Ids that lead in a circle have no root, and a chain is no longer than the log.
        while let Some(here) = at.filter(|_| chain.len() < exchanges.len()) {
            chain.push(exchanges[here]);
            at = next.get(&here).copied();
        }
        chains.push(chain);
    }
    chains
}

/// A conversation whose requests hold only new items.
fn chained(chain: &[Exchange<'_>]) -> Conversation {
    let mut conversation = Conversation::default();
    for exchange in chain {
        ask(&mut conversation, exchange.request);
        reply(&mut conversation, exchange.response);
    }
    conversation
}
