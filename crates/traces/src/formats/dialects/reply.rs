//! The reply that a log keeps beside the messages, in a member of its own.

use super::reading::MessageReading;
use super::{Author, holds_calls, message, message_of};
use crate::fields::names;
use crate::formats::prelude::*;

/// Members beside the messages that hold the reply to them.
const REPLIES: &[&str] = names![
    response output outputs completion choices reply generation generations candidates
];

/// Adds the reply that stands beside the messages, if these do not end with one: logs keep it in a member of its own.
pub(super) fn reply_beside(conversation: &mut Conversation, record: &Json) {
    if !matches!(record, Json::Object(_)) || conversation.ends_with_reply() {
        return;
    }
    let read = messages(record).unwrap_or_default();
    for key in REPLIES {
        let Some(value) = record.member(key) else { continue };
        let is_read =
            matches!(value, Json::Array(items) if items.as_ptr_range().end == read.as_ptr_range().end);
        // Some logs repeat the messages before the reply.
        let value = match value {
            Json::Array(items) if !read.is_empty() && items.len() > read.len() && items.starts_with(read) => {
                Json::Array(items[read.len()..].to_vec())
            }
            other => other.clone(),
        };
        if !is_read && reply(conversation, &value) {
            return;
        }
    }
}

/// A reply in any form: a text, a message, parts, or an object with one of them; whether it was one.
pub(in crate::formats) fn reply(conversation: &mut Conversation, value: &Json) -> bool {
    match value {
        Json::String(text) if !text.trim().is_empty() => {
            conversation.reply(None);
            conversation.say(text);
            true
        }
        // Of several choices, which are alternatives, the first.
        Json::Array(items) if items.first().is_some_and(|item| item.has("message")) => {
            items
                .iter()
                .skip(1)
                .for_each(|_| conversation.note("another choice of the same reply is left out"));
            items
                .first()
                .and_then(|item| item.member("message"))
                .is_some_and(|inner| reply(conversation, inner))
        }
        Json::Array(items)
            if !items.is_empty() && items.iter().all(|item| matches!(item, Json::Object(_))) =>
        {
            if items.iter().any(|item| role(item).is_some()) {
                for item in items {
                    message(conversation, item);
                }
            } else {
                conversation.reply(None);
                let mut reading = MessageReading::default();
                reading.parts(conversation, value, Author::Model);
                reading.give_results(conversation);
            }
            true
        }
        Json::Object(_) if value.member("message").is_some_and(|inner| role(inner).is_some()) => {
            value.member("message").is_some_and(|inner| reply(conversation, inner))
        }
        Json::Object(_) if role(value).is_some() || holds_calls(value) => {
            conversation.reply(None);
            message_of(conversation, value, Author::Model, None, false);
            true
        }
        Json::Object(_) => {
            let inner = REPLIES.iter().chain(&["message", "content", "parts", "text"]);
            let mut inner = inner.filter_map(|key| value.member(key));
            inner.any(|inner| reply(conversation, inner))
        }
        _ => false,
    }
}
