//! Who speaks in a list of messages, and in which order, where its roles and places do not say so.

use super::text_calls::block;
use crate::formats::prelude::*;
use crate::message_events::with_role;

/// What a record says of the speakers of its messages.
pub(super) struct Speakers<'j> {
    /// The name of who asked first, where roles are those that a user's side of a chat sees (`AutoGen` 0.2, AG2).
    user: Option<&'j str>,
    /// Whether the user's side is the assistant.
    is_users_view: bool,
    /// The names of those that make calls.
    callers: HashSet<&'j str>,
    /// Whether the last message stands first.
    is_backwards: bool,
    /// Whether a block of code in a reply is the command that it runs.
    has_commands: bool,
}

impl<'j> Speakers<'j> {
    /// Looks at the messages of a record.
    pub(super) fn new(record: &'j Json, list: &'j [Json]) -> Self {
        let makes_calls =
            |message: &&Json| !message.list("tool_calls").is_empty() || message.has("function_call");
        let callers: HashSet<&str> =
            list.iter().filter(makes_calls).filter_map(|message| message.text("name")).collect();
        let has_calls = list.iter().any(|message| makes_calls(&message));
        let first = list.iter().find(|message| !message.says("role", "system"));
        let user = first.and_then(|message| message.text("name"));
        let times: Option<Vec<f64>> = list.iter().map(|message| message.number("created_at")).collect();
        let has_commands =
            record.text("trajectory_format").is_some_and(|it| it.starts_with("mini-swe-agent"));
        Self {
            // Only such chats have the results of several calls in a member of their own.
            user: user.filter(|name| {
                let is_ag2 = list.iter().any(|message| !message.list("tool_responses").is_empty());
                has_calls && is_ag2 && !callers.contains(name)
            }),
            is_users_view: first.is_some_and(|message| message.says("role", "assistant")),
            callers,
            is_backwards: times.is_some_and(|times| {
                times.is_sorted_by(|one, next| one >= next) && times.first() > times.last()
            }),
            has_commands,
        }
    }

    /// The messages from the first to the last.
    pub(super) fn in_order<'m>(&self, mut list: Vec<&'m Json>) -> Vec<&'m Json> {
        if self.is_backwards {
            list.reverse();
        }
        list
    }

    /// A message with the role of its speaker, and with the command in its text.
    pub(super) fn message<'m>(&self, message: &'m Json) -> Cow<'m, Json> {
        let (role, name) = (message.text("role"), message.text("name"));
        if let (Some(user), Some(name)) = (self.user, name) {
            match role {
                Some("assistant") if name == user && self.is_users_view => {
                    return Cow::Owned(with_role("user", message));
                }
                Some("user") if name != user && (self.is_users_view || self.callers.contains(name)) => {
                    return Cow::Owned(with_role("assistant", message));
                }
                _ => {}
            }
        }
        let command = message
            .text("content")
            .filter(|_| self.has_commands && role == Some("assistant"))
            .and_then(block);
        match command.filter(|_| message.list("tool_calls").is_empty()) {
            Some(command) => {
                let action = [("thought", ""), ("action", command)];
                let action = action.map(|(key, text)| (key.to_owned(), string(text)));
                Cow::Owned(Json::Object(members(message).iter().cloned().chain(action).collect()))
            }
            None => Cow::Borrowed(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    /// The members are those of `AutoGen` 0.2's `ChatResult` and of OpenAI's list of a thread's messages.
    #[test]
    fn the_question_comes_from_who_asked_first() {
        for text in [
            r#"{"chat_history": [{"content": "Q?", "role": "assistant", "name": "user_proxy"},
                {"content": "", "role": "assistant", "name": "bot", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "a", "arguments": "{}"}}]},
                {"content": "r", "role": "tool", "name": "user_proxy", "tool_responses": [{"tool_call_id": "1", "role": "tool", "content": "r"}]},
                {"content": "A.", "role": "user", "name": "bot"}]}"#,
            r#"[{"content": "Q?", "role": "assistant", "name": "user"},
                {"content": null, "role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "a", "arguments": "{}"}}]},
                {"content": "r", "role": "tool", "name": "user", "tool_responses": [{"tool_call_id": "1", "role": "tool", "content": "r"}]},
                {"content": "A.", "role": "user", "name": "bot"}]"#,
            r#"{"object": "list", "data": [{"id": "2", "created_at": 20, "role": "assistant", "content": [{"type": "text", "text": {"value": "A.", "annotations": []}}]},
                {"id": "1", "created_at": 10, "role": "user", "content": [{"type": "text", "text": {"value": "Q?", "annotations": []}}]}]}"#,
        ] {
            let (_, kept) = read_text("chat.json", text).unwrap();
            let trace = &kept.traces[0];
            assert_eq!(
                trace.question.as_ref().map(crate::content::Content::text).as_deref(),
                Some("Q?"),
                "{text}"
            );
            assert_eq!(trace.final_reply.as_deref(), Some("A."), "{text}");
            assert_eq!(shown(trace).len(), usize::from(text.contains("bot")), "{text}");
        }
    }
}
