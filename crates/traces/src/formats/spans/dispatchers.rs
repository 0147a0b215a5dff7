//! Spans of a program's own function that runs its tools: `run_tool("search", {..})`. The call within is the one that a reply
//! has made.

use m3_trajectory::json::is_same;

use super::reply_span::ToolSpan;
use super::roles::{AssistantMessage, calls};
use super::scopes::bare;
use crate::formats::prelude::*;
use crate::values::opened;

/// The deepest value that is looked into.
const DEPTH: usize = 3;

/// The most calls and values that are compared.
const MOST: usize = 64;

/// Names the spans of such functions by the calls of the replies whose name and arguments they have.
pub(super) fn name(
    conversation: &mut Conversation,
    ran: &mut [ToolSpan],
    replies: &[Option<AssistantMessage>],
) {
    let mut made: HashMap<&str, Vec<&TracedCall>> = HashMap::new();
    for call in replies.iter().flatten().flat_map(calls) {
        made.entry(bare(&call.tool)).or_default().push(call);
    }
    for span in ran {
        let own = &mut span.ran.call;
        let is_unknown = !made.contains_key(bare(&own.tool));
        let Some(arguments) = own.arguments.as_ref().filter(|_| is_unknown) else { continue };
        let mut values = Vec::new();
        collect(arguments, 0, &mut values);
        let names = values.iter().filter_map(|value| made.get(value.as_str()?));
        let is_within = |call: &&&TracedCall| {
            let is_own = |value: &Json| call.arguments.as_ref().is_some_and(|own| is_same(own, value));
            values.iter().take(MOST).any(is_own)
        };
        if let Some(call) = names.flat_map(|calls| calls.iter().take(MOST)).take(MOST).find(is_within) {
            (own.tool, own.arguments) = (call.tool.clone(), call.arguments.clone());
            conversation.note("a span of a function that runs tools is one of the call within");
        }
    }
}

/// The values within arguments, which may be texts of JSON.
fn collect(value: &Json, depth: usize, values: &mut Vec<Json>) {
    let value = opened(value).into_owned();
    if depth < DEPTH {
        let inner = value.items().iter().chain(members(&value).iter().map(|(_, inner)| inner));
        inner.for_each(|inner| collect(inner, depth + 1, values));
    }
    values.push(value);
}
