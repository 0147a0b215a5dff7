//! Shared parts of writing requests: conversations in which every call is answered, names, images.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::ImageData;
use crate::{Arguments, Assistant, Message, Part, Picture, ReplyCall, ToolAnswer};

/// Stands for an empty message if the provider requires at least one character.
pub(super) const NOTHING: &str = "(nothing)";

/// The text in place of a result, for a call that the conversation has no result of.
pub(super) const NO_ANSWER: &str = "this call was not answered";

/// A message of a conversation, with the ids that are sent.
#[derive(Debug)]
pub(super) enum Turn<'a> {
    User(&'a [Part]),
    Assistant { message: &'a Assistant, calls: Vec<SentCall<'a>> },
    Results(Vec<SentAnswer<'a>>),
}

/// A call as it is sent back to its model.
#[derive(Debug, Clone)]
pub(super) struct SentCall<'a> {
    /// The id, unique in a conversation: ids that were made up occur again in later replies of a server without ids.
    pub(super) id: String,
    /// A name that the provider accepts, whatever the model wrote.
    pub(super) name: String,
    pub(super) arguments: &'a Arguments,
}

/// The result of a call; without one, the wire sends [`NO_ANSWER`].
#[derive(Debug)]
pub(super) struct SentAnswer<'a> {
    pub(super) call: SentCall<'a>,
    pub(super) answer: Option<&'a ToolAnswer>,
}

impl SentAnswer<'_> {
    pub(super) fn text(&self) -> &str {
        self.answer.map_or(NO_ANSWER, |answer| answer.text.as_str())
    }

    /// The text, marked as an error, for wires that have no member for this.
    pub(super) fn text_with_error(&self) -> Cow<'_, str> {
        let says_so = self.text().get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
        if self.is_error() && !says_so {
            format!("Error: {}", self.text()).into()
        } else {
            self.text().into()
        }
    }

    pub(super) fn images(&self) -> &[Arc<Picture>] {
        self.answer.map_or(&[], |answer| answer.images.as_slice())
    }

    pub(super) fn is_error(&self) -> bool {
        self.answer.is_none_or(|answer| answer.is_error)
    }
}

/// The conversation, with every call answered exactly once and directly after, which all providers insist on. Results
/// without a call are left out.
pub(super) fn turns<'a>(messages: &'a [Arc<Message>], id: impl Fn(&str) -> String) -> Vec<Turn<'a>> {
    let mut turns = Vec::with_capacity(messages.len());
    let mut given = HashSet::new();
    let mut open: Vec<(SentCall<'a>, &'a str)> = Vec::new();
    for message in messages {
        let message = message.as_ref();
        let answers: &[ToolAnswer] = match message {
            Message::ToolResults(answers) => answers,
            Message::User(_) | Message::Assistant(_) => &[],
        };
        if !open.is_empty() {
            turns.push(Turn::Results(answered(std::mem::take(&mut open), answers)));
        }
        match message {
            Message::User(parts) => turns.push(Turn::User(parts)),
            Message::Assistant(message) => {
                let calls: Vec<_> = message.calls.iter().map(|call| sent(call, &id, &mut given)).collect();
                open = calls.iter().cloned().zip(message.calls.iter().map(|call| call.id.as_str())).collect();
                turns.push(Turn::Assistant { message, calls });
            }
            Message::ToolResults(_) => {}
        }
    }
    if !open.is_empty() {
        turns.push(Turn::Results(answered(open, &[])));
    }
    turns
}

fn sent<'a>(call: &'a ReplyCall, id: impl Fn(&str) -> String, given: &mut HashSet<String>) -> SentCall<'a> {
    let wanted = id(&call.id);
    let mut unique = wanted.clone();
    let mut number = 2;
    while !given.insert(unique.clone()) {
        unique = format!("{wanted}_{number}");
        number += 1;
    }
    SentCall { id: unique, name: tool_name(&call.name).into_owned(), arguments: &call.arguments }
}

fn answered<'a>(calls: Vec<(SentCall<'a>, &'a str)>, answers: &'a [ToolAnswer]) -> Vec<SentAnswer<'a>> {
    calls
        .into_iter()
        .map(|(call, id)| SentAnswer { call, answer: answers.iter().find(|answer| answer.call_id == id) })
        .collect()
}

/// A name that all providers take, `^[a-zA-Z0-9_-]{1,64}$`: models also write other names, and a request that repeats
/// one is refused.
pub(super) fn tool_name(name: &str) -> Cow<'_, str> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_fine) {
        return Cow::Borrowed(name);
    }
    let fine: String = name.chars().take(64).map(|c| if is_fine(c) { c } else { '_' }).collect();
    Cow::Owned(if fine.is_empty() { "unnamed".to_owned() } else { fine })
}

/// The picture's bytes in base64, or its hash.
pub(super) fn image_data(picture: &Picture, images: ImageData) -> String {
    match images {
        ImageData::Base64 => STANDARD.encode(&picture.bytes),
        ImageData::Hash => format!("sha256:{}", picture.sha256),
    }
}

/// Arguments for a wire that accepts only objects; arguments in another form are put into one as text.
pub(super) fn arguments_object(arguments: &Arguments) -> Value {
    match arguments {
        Arguments::Object(object) => Value::Object(object.clone()),
        Arguments::Absent => Value::Object(Map::new()),
        Arguments::Malformed(text) => serde_json::json!({ "malformed_arguments": text }),
    }
}

/// The sentence in front of images of a result, if they stand apart from it.
pub(super) fn images_of(call: &SentCall<'_>, count: usize) -> String {
    let images = if count == 1 { "The image".to_owned() } else { format!("The {count} images") };
    format!("{images} that `{}` returned (call {}):", call.name, call.id)
}

/// Puts a setting into a body if it is set.
pub(super) fn set(body: &mut Map<String, Value>, key: &str, setting: Option<impl Into<Value>>) {
    body.extend(setting.map(|setting| (key.to_owned(), setting.into())));
}

/// Puts keys into a body, also into objects within it; existing values are replaced.
pub(super) fn merge(body: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (key, value) in extra {
        match (body.get_mut(key), value) {
            (Some(Value::Object(inner)), Value::Object(value)) => merge(inner, value),
            _ => {
                body.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Adds to the last message if it has this role, because no role may have two messages in a row.
pub(super) fn push_merged(messages: &mut Vec<Value>, role: &str, key: &str, mut parts: Vec<Value>) {
    if let Some(last) = messages.last_mut()
        && last.get("role").and_then(Value::as_str) == Some(role)
        && let Some(Value::Array(before)) = last.get_mut(key)
    {
        before.append(&mut parts);
        return;
    }
    messages.push(serde_json::json!({ "role": role, key: parts }));
}
