//! A tool's answer, and which rule applies to it.
//!
//! Most failing servers do not set `isError` and only say in words that they failed. So an answer *fails* if the
//! server marks it, if it is JSON that reports a failure, or if its text begins like an error. Only then are status
//! codes and phrases looked for, and only in its message. A page about status 404, or one that says "not found" in
//! passing, is a normal result.

use m3_mcp::ToolResult;
use m3_support::text::head;
use m3_trajectory::json::Json;
use serde_json::{Map, Value};

use super::in_json;
use super::outcome::Rule;
use super::patterns::{self, RULES, around};
use super::rules::{
    BEGINS_LIKE_FAILURE, EMPTY_ANSWER, EMPTY_RESULTS, IS_ERROR, MENTIONS_FAILURE, NORMAL_RESULT, SAYS_ERROR,
    Where,
};

/// How much of a message the rules look at, in bytes.
const MESSAGE: usize = 2_000;

/// The longest answer that counts as short, in bytes.
const SHORT: usize = 300;

/// The longest text that is parsed as JSON, in bytes.
const LONGEST_JSON: usize = 4 << 20;

/// The parts of an answer that rules look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The text of the answer.
    text: String,
    /// The answer as JSON, if it is an object.
    members: Option<Map<String, Value>>,
    /// Whether the server marks it as an error.
    is_error: bool,
    /// Whether it contains anything besides text, such as an image.
    has_media: bool,
}

impl From<&ToolResult> for Answer {
    fn from(result: &ToolResult) -> Self {
        let mut text = result.all_text();
        if text.trim().is_empty()
            && let Some(structured) = &result.structured_content
        {
            text = structured.to_string();
        }
        let has_media = result.content.iter().any(|part| part.as_text().is_none());
        Self::new(text, result.is_error, has_media)
    }
}

impl Answer {
    fn new(text: String, is_error: bool, has_media: bool) -> Self {
        let is_object = text.trim_start().starts_with('{') && text.len() <= LONGEST_JSON;
        let members = is_object.then(|| serde_json::from_str(&text).ok()).flatten();
        match members {
            Some(Value::Object(members)) => match in_json::wrapped(&members) {
                Some(Value::String(inner)) => {
                    Self { text: inner.clone(), members: None, is_error, has_media }
                }
                Some(other) => {
                    let members = other.as_object().cloned();
                    Self { text: other.to_string(), members, is_error, has_media }
                }
                None => Self { text, members: Some(members), is_error, has_media },
            },
            _ => Self { text, members: None, is_error, has_media },
        }
    }

    /// An answer that a trajectory has recorded: a text, the result of `tools/call`, its content alone, or any JSON.
    #[must_use]
    pub fn recorded(result: &Json, is_error: bool) -> Self {
        if let Json::String(text) = result {
            return Self::new(text.clone(), is_error, false);
        }
        let Some(value) = result.to_value() else {
            let text = result.to_text(m3_trajectory::json::Keys::AsRead);
            return Self::new(text, is_error, false);
        };
        let wire = match value {
            Value::Object(ref members)
                if members.contains_key("structuredContent")
                    || members
                        .get("content")
                        .and_then(Value::as_array)
                        .is_some_and(|parts| parts.is_empty() || parts.iter().any(is_part)) =>
            {
                value
            }
            Value::Array(parts) if !parts.is_empty() && parts.iter().all(is_part) => {
                serde_json::json!({ "content": parts })
            }
            // A single item in a list is the answer.
            Value::Array(parts) if parts.len() == 1 && parts[0].is_object() => {
                return Self::new(parts[0].to_string(), is_error, false);
            }
            other => return Self::new(other.to_string(), is_error, false),
        };
        let mut result = ToolResult::from_wire(wire);
        result.is_error |= is_error;
        Self::from(&result)
    }

    /// An answer that is an error of the protocol instead of a result.
    #[must_use]
    pub fn protocol_error(code: i64, message: &str) -> Self {
        Self::new(format!("MCP error {code}: {message}"), true, false)
    }

    /// The rule that decides, and the text that it matched.
    #[must_use]
    pub fn decisive_rule(&self) -> (&'static Rule, String) {
        if let Some(Failure { message, looked_at }) = self.failure() {
            let status = self.status(&message);
            return by_rules(&looked_at, status.as_ref())
                .unwrap_or((if self.is_error { &IS_ERROR } else { &SAYS_ERROR }, message));
        }
        if self.is_empty() {
            return (&EMPTY_ANSWER, self.text.trim().to_owned());
        }
        if let Some(evidence) = self.members.as_ref().and_then(in_json::empty_results) {
            return (&EMPTY_RESULTS, evidence);
        }
        let text = self.text.trim();
        if text.len() <= SHORT
            && !self.has_media
            && let Some(rule) = short(text, self.members.is_some())
        {
            return (rule, text.to_owned());
        }
        let head = head(text, SHORT);
        match patterns::mention(head) {
            Some(at) => (&MENTIONS_FAILURE, around(head, at)),
            None => (&NORMAL_RESULT, head.to_owned()),
        }
    }

    /// The answer's report of its own failure, if there is one.
    fn failure(&self) -> Option<Failure> {
        if let Some(message) = self.members.as_ref().and_then(in_json::failure) {
            let message = head(&message, MESSAGE).to_owned();
            return Some(Failure { looked_at: message.clone(), message });
        }
        let text = head(self.text.trim(), MESSAGE);
        if self.is_error {
            return Some(Failure { message: text.to_owned(), looked_at: text.to_owned() });
        }
        let begins = self.members.is_none()
            && patterns::FAILURE_START.is_match(text)
            && !patterns::COUNTS_NO_FAILURE.is_match(text);
        begins.then(|| Failure {
            message: text.to_owned(),
            looked_at: patterns::first_statement(text).to_owned(),
        })
    }

    /// The status code of a failure, with the evidence: only a number that the answer names as a status code.
    fn status(&self, message: &str) -> Option<(u16, String)> {
        let in_json = self.members.as_ref().and_then(in_json::status);
        in_json.map(|code| (code, format!("status {code}: {message}"))).or_else(|| {
            let (code, at) = patterns::status(message)?;
            Some((code, around(message, at)))
        })
    }

    fn is_empty(&self) -> bool {
        let text = self.text.trim();
        !self.has_media && matches!(text, "" | "[]" | "{}" | "null" | "None" | "\"\"")
    }
}

/// Whether a value is a part of a tool's result, of a kind that the protocol defines.
fn is_part(value: &Value) -> bool {
    let kind = value.get("type").and_then(Value::as_str);
    matches!(kind, Some("text" | "image" | "audio" | "resource" | "resource_link"))
}

/// An answer that reports its own failure.
struct Failure {
    /// The message, for status codes and for readers.
    message: String,
    /// The part that is searched for phrases: only the first sentence if nothing but its beginning marks the failure.
    looked_at: String,
}

/// The first rule for a failure with this message and status.
fn by_rules(message: &str, status: Option<&(u16, String)>) -> Option<(&'static Rule, String)> {
    RULES.iter().find_map(|(rule, pattern)| match (&rule.looks_at, pattern, status) {
        (Where::Status(codes), _, Some((code, evidence))) => {
            let is_one = codes.iter().any(|(low, high)| (*low..=*high).contains(code));
            is_one.then(|| (&rule.rule, evidence.clone()))
        }
        (Where::Failure(_), Some(pattern), _) => {
            pattern.find(message).map(|found| (&rule.rule, around(message, found.start())))
        }
        _ => None,
    })
}

/// The rule for a short answer that consists of a phrase of failure; an unsure rule if the answer goes on after it.
fn short(text: &str, is_json: bool) -> Option<&'static Rule> {
    let sentence = if is_json { text } else { patterns::first_sentence(text) };
    if patterns::GOOD_NEWS.is_match(sentence) {
        return Some(&MENTIONS_FAILURE);
    }
    let nothing = RULES.iter().find_map(|(rule, pattern)| {
        let is_short = matches!(rule.looks_at, Where::Short(_));
        (is_short && pattern.as_ref().is_some_and(|pattern| pattern.is_match(sentence))).then_some(&rule.rule)
    });
    if is_json {
        return nothing;
    }
    let is_phrase = patterns::FAILURE_PHRASE.is_match(sentence);
    let by_phrase = || is_phrase.then(|| by_rules(sentence, None)).flatten().map(|(rule, _)| rule);
    let goes_on = !patterns::is_advice(text[sentence.len()..].trim());
    match nothing.or_else(by_phrase) {
        Some(rule) if !goes_on => Some(rule),
        _ if is_phrase || patterns::PHRASE_START.is_match(sentence) => Some(&BEGINS_LIKE_FAILURE),
        _ => None,
    }
}
