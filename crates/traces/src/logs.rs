//! Logs in which every line is a request with its reply, and each request repeats what was said before.

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
    for exchange in exchanges {
        let here = messages(exchange.request);
        let goes_on = |chain: &Vec<Exchange<'j>>| {
            chain.last().is_some_and(|last| {
                here.starts_with(messages(last.request)) && !messages(last.request).is_empty()
            })
        };
        // The longest beginning decides between several.
        let chain = chains.iter_mut().filter(|chain| goes_on(chain));
        match chain.max_by_key(|chain| chain.last().map_or(0, |last| messages(last.request).len())) {
            Some(chain) => chain.push(exchange),
            None => chains.push(vec![exchange]),
        }
    }
    chains
}
