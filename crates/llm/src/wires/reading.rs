//! Shared parts of reading replies: bodies and errors, numbers, arguments and ids of calls.

use std::collections::HashSet;

use m3_support::surrogates::{LONE_SURROGATE, without_lone_surrogates};
use m3_support::text::shortened;
use serde_json::{Map, Value};

use super::ReplyError;
use super::error::{WRONG_KEY_REASON, is_of_empty_account, is_success};
use super::overflow::is_of_context;
use crate::{Arguments, Reply, ReplyCall, StopReason};

/// The most columns of a provider's message that are kept.
const SHOWN: usize = 300;

/// The most different oddities that are kept of one reply.
const MOST_ODDITIES: usize = 20;

/// The message about a call without a name.
pub const NO_NAME: &str = "a call has no name";

/// Oddities of a reply: each sentence once, and a limited number.
#[derive(Debug, Default)]
pub(super) struct Oddities {
    list: Vec<String>,
    more: usize,
}

impl Oddities {
    pub(super) fn note(&mut self, oddity: impl Into<String>) {
        let oddity = oddity.into();
        if self.list.contains(&oddity) {
            return;
        }
        if self.list.len() < MOST_ODDITIES {
            self.list.push(oddity);
        } else {
            self.more += 1;
        }
    }

    pub(super) fn into_list(mut self) -> Vec<String> {
        if self.more > 0 {
            self.list.push(format!("{} more of the like", self.more));
        }
        self.list
    }
}

/// The JSON object in the body of a successful answer.
///
/// # Errors
/// Any status that is not a success; an error inside the body; a body that is not a JSON object.
pub(super) fn body(
    status: u16,
    bytes: &[u8],
    oddities: &mut Oddities,
) -> Result<Map<String, Value>, ReplyError> {
    let text = String::from_utf8_lossy(bytes);
    if matches!(text, std::borrow::Cow::Owned(_)) {
        oddities.note("the reply was not UTF-8; what was damaged was replaced");
    }
    let text = text.trim_start_matches('\u{feff}').trim();
    let parsed = parse(text, oddities);
    if let Some(error) = parsed.as_ref().ok().and_then(|body| provider_error(status, body)) {
        return Err(error);
    }
    let unreadable =
        |what: &str| ReplyError::Unreadable { reason: format!("{what}: `{}`", shortened(text, SHOWN)) };
    match parsed {
        _ if !is_success(status) => Err(unreadable(&format!("HTTP status {status}"))),
        _ if text.is_empty() => Err(ReplyError::Unreadable { reason: "it is empty".to_owned() }),
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err(unreadable("it is no JSON object")),
        Err(_) if is_streamed(text) => Err(ReplyError::Streamed { beginning: shortened(text, SHOWN) }),
        Err(error) if error.is_eof() => Err(unreadable("it is JSON that is cut off")),
        Err(_) => Err(unreadable("it is not JSON")),
    }
}

/// A JSON value. Half of a surrogate pair, which a server writes that cuts texts inside an emoji, is replaced.
fn parse(text: &str, oddities: &mut Oddities) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| {
        let value = serde_json::from_slice(&without_lone_surrogates(text.as_bytes())).map_err(|_| error)?;
        oddities.note(LONE_SURROGATE);
        Ok(value)
    })
}

/// Whether a text is the beginning of a stream of events.
fn is_streamed(text: &str) -> bool {
    ["data:", "event:"].iter().any(|field| text.starts_with(field))
}

/// Notes if a reply did not end normally; `word` is the provider's reason.
pub(super) fn note_end(reply: &mut Reply, word: Option<&Value>, oddities: &mut Oddities) {
    let word = shortened(word.and_then(Value::as_str).unwrap_or_default(), 60);
    match reply.stop {
        StopReason::Length => oddities
            .note(format!("the reply was cut off: it had reached the longest that was allowed (`{word}`)")),
        StopReason::Refused => {
            oddities.note(format!("the provider blocked the reply: `{word}`"));
            reply.block = Some(word);
        }
        StopReason::Ended | StopReason::Calls | StopReason::Other(_) => {}
    }
}

/// The stop reason for a word that the provider does not document; `key` is the key of the word.
pub(super) fn undocumented(key: &str, word: &str, oddities: &mut Oddities) -> StopReason {
    let word = shortened(word, 60);
    oddities.note(format!("the `{key}` was `{word}`, which is not documented"));
    StopReason::Other(word)
}

/// The error for a JSON object that has no reply in it.
pub(super) fn without_reply(why: &str, body: &Map<String, Value>) -> ReplyError {
    let shown = shortened(&serde_json::to_string(body).unwrap_or_default(), SHOWN);
    ReplyError::Unreadable { reason: format!("{why}: `{shown}`") }
}

/// The error in a body: `{"error": {..}}` (OpenAI, Anthropic and Gemini), `{"error": "text"}` (Ollama), `[{"error":
/// {..}}]` (Gemini), `{"object": "error", "message": ..}` (vLLM); with an HTTP error also `{"message": ..}` and
/// `{"detail": ..}` (servers built on FastAPI).
fn provider_error(status: u16, body: &Value) -> Option<ReplyError> {
    let body = match body {
        Value::Array(list) => list.first()?.as_object()?,
        other => other.as_object()?,
    };
    let error = match body.get("error") {
        Some(error) if has_content(error) => error,
        _ if body.get("object").and_then(Value::as_str) == Some("error") => {
            return Some(reply_error(body, body.get("message")));
        }
        _ if !is_success(status) => {
            let message = ["message", "detail", "msg"].into_iter().find_map(|key| body.get(key))?;
            return Some(reply_error(body, Some(message)));
        }
        _ => return None,
    };
    Some(error_of(error))
}

/// The reply error for the value of an `error` key.
pub(super) fn error_of(error: &Value) -> ReplyError {
    let error = match error {
        Value::Array(list) => list.first().unwrap_or(error),
        other => other,
    };
    match error {
        Value::Object(error) => {
            reply_error(error, error.get("message").filter(|message| has_content(message)))
        }
        other => ReplyError::Provider { code: None, message: shown(other) },
    }
}

fn has_content(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

/// The code and message of an error. Gemini puts the HTTP status into `code`, a name into `status`, and reasons into
/// `details`; OpenAI puts names into `code` and `type`, one of which may be null; Anthropic has `type`.
fn reply_error(error: &Map<String, Value>, message: Option<&Value>) -> ReplyError {
    let codes: Vec<String> = ["status", "code", "type"]
        .into_iter()
        .filter_map(|key| match error.get(key)? {
            Value::String(code) if !code.is_empty() => Some(shortened(code, 80)),
            Value::Number(code) => Some(code.to_string()),
            _ => None,
        })
        .collect();
    // The most specific code counts, whichever key it is in.
    let telling = codes.iter().find(|code| is_of_empty_account(code) || is_of_context(code));
    let wrong_key = error.get("details").and_then(Value::as_array).is_some_and(|details| {
        details.iter().any(|detail| detail.get("reason").and_then(Value::as_str) == Some(WRONG_KEY_REASON))
    });
    let code = if wrong_key {
        Some(WRONG_KEY_REASON.to_owned())
    } else {
        telling.or_else(|| codes.first()).cloned()
    };
    let message = message.map_or_else(|| shown(&Value::Object(error.clone())), shown);
    ReplyError::Provider { code, message }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => shortened(text.trim(), SHOWN),
        other => shortened(&other.to_string(), SHOWN),
    }
}

/// The text under the first of several keys that has a text; `None` if that text is empty.
pub(super) fn text_at<'a>(object: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| object.get(*key)?.as_str()).filter(|text| !text.is_empty())
}

/// A number of tokens, in the first of several places that has one: servers also write floats and strings.
pub(super) fn tokens(usage: &Map<String, Value>, places: &[&[&str]], oddities: &mut Oddities) -> Option<u64> {
    let value = places.iter().find_map(|place| {
        let (last, path) = place.split_last()?;
        let object = path.iter().try_fold(usage, |object, key| object.get(*key)?.as_object())?;
        object.get(*last).filter(|value| !value.is_null())
    })?;
    if let Some(count) = value.as_u64() {
        return Some(count);
    }
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => String::new(),
    };
    // Above this bound, floats are no longer exact.
    let count = text.parse::<f64>().ok().filter(|count| (0.0..9e15).contains(count));
    oddities.note(if count.is_some() {
        "a number of tokens in `usage` was no whole number; it was read all the same"
    } else {
        "a number of tokens in `usage` was none; it counts as not reported"
    });
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is within the bounds above"
    )]
    count.map(|count| count.round() as u64)
}

/// `usage`, if it is an object.
pub(super) fn usage_object<'a>(
    usage: Option<&'a Value>,
    oddities: &mut Oddities,
) -> Option<&'a Map<String, Value>> {
    let usage = usage?;
    if !usage.is_object() {
        oddities.note("the usage was no object; it counts as not reported");
    }
    usage.as_object()
}

/// The calls of a reply, collected one by one.
#[derive(Debug, Default)]
pub(super) struct Calls {
    list: Vec<ReplyCall>,
    ids: HashSet<String>,
    without_id: Vec<usize>,
}

impl Calls {
    /// Adds a call. A call without its own id gets one in [`Self::into_list`].
    pub(super) fn add(
        &mut self,
        id: Option<&str>,
        name: &str,
        arguments: Arguments,
        oddities: &mut Oddities,
    ) {
        let given = id.filter(|id| !id.is_empty());
        let own = given.filter(|id| self.ids.insert((*id).to_owned()));
        if own.is_none() {
            self.without_id.push(self.list.len());
        }
        if given.is_some() && own.is_none() {
            oddities.note("two calls had the same id; the later one was given another");
        }
        if name.is_empty() {
            oddities.note(NO_NAME);
        }
        let id = own.unwrap_or_default().to_owned();
        self.list.push(ReplyCall { id, name: name.to_owned(), arguments });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All calls; those without an id get `call_1` if they are the first call, `call_2` if the second, and so on.
    pub(super) fn into_list(mut self) -> Vec<ReplyCall> {
        for index in self.without_id {
            let mut id = format!("call_{}", index + 1);
            while !self.ids.insert(id.clone()) {
                id.push('_');
            }
            self.list[index].id = id;
        }
        self.list
    }
}

/// Arguments, which should be an object written as a string. Anything else is kept as it is.
pub(super) fn arguments_of(written: Option<&Value>, name: &str, oddities: &mut Oddities) -> Arguments {
    let name = shortened(name, 60);
    let (text, reason) = match written {
        Some(Value::Object(object)) => return Arguments::Object(object.clone()),
        None | Some(Value::Null) => return absent(&name, oddities),
        Some(Value::String(text)) if matches!(text.trim(), "" | "null") => return absent(&name, oddities),
        Some(Value::String(text)) => match object_in(text, oddities) {
            Ok((object, is_encoded_twice)) => {
                if is_encoded_twice {
                    oddities.note(format!("the arguments of `{name}` were encoded twice; they were read"));
                }
                return Arguments::Object(object);
            }
            Err(reason) => (text.clone(), reason),
        },
        Some(other) => (other.to_string(), "no JSON object".to_owned()),
    };
    oddities.note(format!("the arguments of `{name}` were {reason}; they were kept as the text they are"));
    Arguments::Malformed(text)
}

/// No arguments, which is what some models and servers write for a tool without parameters.
fn absent(name: &str, oddities: &mut Oddities) -> Arguments {
    oddities.note(format!("a call of `{name}` had no arguments"));
    Arguments::Absent
}

/// The object in a text, and whether it was inside a JSON string.
fn object_in(text: &str, oddities: &mut Oddities) -> Result<(Map<String, Value>, bool), String> {
    let mut parse = |text: &str| parse(text, oddities);
    match parse(text) {
        Ok(Value::Object(object)) => Ok((object, false)),
        Ok(Value::String(inner)) => match parse(&inner) {
            Ok(Value::Object(object)) => Ok((object, true)),
            _ => Err("no JSON object".to_owned()),
        },
        Ok(_) => Err("no JSON object".to_owned()),
        Err(error) if error.is_eof() => Err("cut off".to_owned()),
        Err(error) => Err(format!("not JSON ({})", shortened(&error.to_string(), 120))),
    }
}

#[cfg(test)]
mod tests;
