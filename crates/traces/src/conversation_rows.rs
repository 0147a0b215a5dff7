//! Messages as the rows of a table, which may be those of several conversations.

use std::collections::HashMap;

use m3_trajectory::json::Json;

use crate::content::object;
use crate::fields::{Fields, id, names};
use crate::sink::{At, ReadError, Sink};

/// Members of a message with the id of its conversation.
pub(crate) const CONVERSATIONS: &[&str] = names![
    conversation_id conversationId session_id sessionId thread_id threadId dialogue_id trajectory_id
];

/// Calls `each` with the conversation of a list of messages, or with each conversation if all messages name theirs.
pub(crate) fn each_conversation_of_rows(
    sink: &mut dyn Sink,
    value: &Json,
    each: impl Fn(&mut dyn Sink, At, &Json) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let key = |row: &Json| row.first(CONVERSATIONS).and_then(id).filter(|_| row.has("role"));
    let mut conversations: Vec<(String, Vec<Json>)> = Vec::new();
    let mut places = HashMap::new();
    for row in value.items() {
        let Some(name) = key(row) else { return each(sink, At::default(), value) };
        let place = *places.entry(name.clone()).or_insert_with(|| {
            conversations.push((name, Vec::new()));
            conversations.len() - 1
        });
        conversations[place].1.push(row.clone());
    }
    if conversations.len() < 2 {
        return each(sink, At::default(), value);
    }
    conversations.into_iter().try_for_each(|(name, rows)| {
        let conversation = object([("id", Json::String(name)), ("messages", Json::Array(rows))]);
        each(sink, At::default(), &conversation)
    })
}
