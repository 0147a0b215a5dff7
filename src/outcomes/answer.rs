//! What a tool answered, and what the rules say of it.
//!
//! Most failing servers do not set `isError` and say that they failed in words. So an answer *fails* if the server
//! marks it, if it is JSON that says so, or if its text begins like an error; only then are status codes and phrases
//! looked for, and only in its message. A page about status 404, or one that says "not found" in passing, is a
//! normal result.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::outcome::Rule;
use super::rules::{
    ANSWER_RULES, AnswerRule, EMPTY_ANSWER, EMPTY_RESULTS, IS_ERROR, MENTIONS_FAILURE, NORMAL_RESULT,
    SAYS_ERROR, Where,
};
use crate::mcp::ToolResult;
use crate::trajectory::json::Json;

/// Rules look at so much of a message, in bytes.
const MESSAGE: usize = 2_000;

/// The longest answer that is short, in bytes.
const SHORT: usize = 300;

/// Longer text is not parsed as JSON, in bytes.
const LONGEST_JSON: usize = 4 << 20;

/// An answer, as far as rules look at it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// All text.
    text: String,
    /// The answer as JSON, where it is an object.
    members: Option<Map<String, Value>>,
    /// Whether the server marks it as an error.
    is_error: bool,
    /// Whether there is anything in it beside the text, such as an image.
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
            // Some frameworks wrap a plain text so.
            Some(Value::Object(members)) if members.len() == 1 && members.contains_key("result") => {
                let inner = match &members["result"] {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let members = members["result"].as_object().cloned();
                Self { text: inner, members, is_error, has_media }
            }
            Some(Value::Object(members)) => Self { text, members: Some(members), is_error, has_media },
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
            let text = result.to_text(crate::trajectory::json::Keys::AsRead);
            return Self::new(text, is_error, false);
        };
        let is_content = |value: &Value| match value {
            Value::Array(parts) => {
                !parts.is_empty() && parts.iter().all(|part| part.get("type").is_some_and(Value::is_string))
            }
            _ => false,
        };
        let wire = match value {
            Value::Object(ref members)
                if members.get("content").is_some_and(Value::is_array)
                    || members.contains_key("structuredContent") =>
            {
                value
            }
            content if is_content(&content) => serde_json::json!({ "content": content }),
            other => return Self::new(other.to_string(), is_error, false),
        };
        let mut result = ToolResult::from_wire(wire);
        result.is_error |= is_error;
        Self::from(&result)
    }

    /// An error of the protocol instead of a result.
    #[must_use]
    pub fn protocol_error(code: i64, message: &str) -> Self {
        Self::new(format!("MCP error {code}: {message}"), true, false)
    }

    /// The rule that decides, and what it saw.
    #[must_use]
    pub fn judge(&self) -> (&'static Rule, String) {
        if let Some(message) = self.failure() {
            let status = self.status(&message);
            for (rule, pattern) in RULES.iter() {
                match (&rule.looks_at, pattern, &status) {
                    (Where::Status(codes), _, Some((code, seen)))
                        if codes.iter().any(|(low, high)| (*low..=*high).contains(code)) =>
                    {
                        return (&rule.rule, seen.clone());
                    }
                    (Where::Failure(_), Some(pattern), _) => {
                        if let Some(found) = pattern.find(&message) {
                            return (&rule.rule, around(&message, found.start()));
                        }
                    }
                    _ => {}
                }
            }
            return (if self.is_error { &IS_ERROR } else { &SAYS_ERROR }, message);
        }
        if self.is_empty() {
            return (&EMPTY_ANSWER, self.text.trim().to_owned());
        }
        if let Some(seen) = self.members.as_ref().and_then(empty_results) {
            return (&EMPTY_RESULTS, seen);
        }
        let text = self.text.trim();
        if text.len() <= SHORT && !self.has_media {
            let short = RULES.iter().find(|(rule, pattern)| {
                matches!(rule.looks_at, Where::Short(_))
                    && pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
            });
            if let Some((rule, _)) = short {
                return (&rule.rule, text.to_owned());
            }
        }
        let head = head(text, SHORT);
        // `"error": null` says that there was none.
        let mention = FAILURE_WORDS.captures_iter(head).find_map(|found| found.name("word"));
        match mention {
            Some(word) => (&MENTIONS_FAILURE, around(head, word.start())),
            None => (&NORMAL_RESULT, head.to_owned()),
        }
    }

    /// The message of an answer that says that it failed.
    fn failure(&self) -> Option<String> {
        let message = self.members.as_ref().and_then(json_failure);
        let text = head(self.text.trim(), MESSAGE);
        match message {
            Some(message) => Some(head(&message, MESSAGE).to_owned()),
            None if self.is_error || (self.members.is_none() && FAILURE_START.is_match(text)) => {
                Some(text.to_owned())
            }
            None => None,
        }
    }

    /// The status code of a failure: a number that is called one, never any number.
    fn status(&self, message: &str) -> Option<(u16, String)> {
        let in_json = self.members.as_ref().and_then(json_status);
        in_json.map(|code| (code, format!("status {code}: {message}"))).or_else(|| {
            let found = STATUS.captures(message)?;
            let code = found.iter().skip(1).flatten().next()?;
            Some((code.as_str().parse().ok()?, around(message, code.start())))
        })
    }

    fn is_empty(&self) -> bool {
        let text = self.text.trim();
        !self.has_media && matches!(text, "" | "[]" | "{}" | "null" | "None" | "\"\"")
    }
}

/// What JSON says of its failure: its keys for errors, or a status that is one.
fn json_failure(members: &Map<String, Value>) -> Option<String> {
    let is_said = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !matches!(text.trim().to_lowercase().as_str(), "" | "none" | "null" | "false"),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Bool(true) => true,
    };
    let has = |key: &str| members.get(key).is_some_and(is_said);
    let is_false = |key: &str| match members.get(key) {
        Some(Value::Bool(value)) => !value,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("false"),
        _ => false,
    };
    let status = |key: &str| members.get(key).and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let has_results = members.iter().any(|(key, value)| {
        key != "errors" && value.as_array().is_some_and(|items| !items.is_empty())
            || key == "data" && is_said(value)
    });
    let fails = has("error")
        // Beside results, single failures are listed so.
        || (has("errors") && !has_results)
        || has("exception")
        || ["isError", "is_error"].iter().any(|key| members.get(*key) == Some(&Value::Bool(true)))
        || ["success", "ok", "Response"].iter().any(|key| is_false(key))
        || ["status", "state"].iter().any(|key| FAILED_STATUSES.contains(&status(key).as_str()))
        || json_status(members).is_some();
    let keys = [
        "error",
        "errors",
        "exception",
        "message",
        "Error",
        "error_message",
        "error_description",
        "detail",
        "reason",
        "status",
        "content",
    ];
    fails.then(|| {
        let texts = keys.iter().filter_map(|key| members.get(*key)).map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        texts.collect::<Vec<_>>().join("; ")
    })
}

/// Words that stand for a failure as the value of `status`: common ones, those of Google's maps, and of gRPC.
const FAILED_STATUSES: [&str; 16] = [
    "error",
    "errored",
    "fail",
    "failed",
    "failure",
    "zero_results",
    "not_found",
    "invalid_request",
    "request_denied",
    "over_query_limit",
    "over_daily_limit",
    "unknown_error",
    "invalid_argument",
    "permission_denied",
    "unavailable",
    "resource_exhausted",
];

/// A status code of 400 or more: called so, or the code of an error, beside a message.
fn json_status(members: &Map<String, Value>) -> Option<u16> {
    let code = |members: &Map<String, Value>, keys: &[&str]| {
        keys.iter().filter_map(|key| members.get(*key)).find_map(|value| {
            let code = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
            u16::try_from(code).ok().filter(|code| (400..600).contains(code))
        })
    };
    let called = ["status", "statusCode", "status_code", "http_status", "httpStatus"];
    let of_error = ["status", "statusCode", "status_code", "http_status", "httpStatus", "code"];
    let error = members.get("error").or_else(|| members.get("errors")?.get(0)).and_then(Value::as_object);
    let in_error = error.and_then(|error| code(error, &of_error));
    let has_message = members.contains_key("message") || members.contains_key("error");
    in_error
        .or_else(|| code(members, &called))
        .or_else(|| if has_message { code(members, &["code", "cod"]) } else { None })
}

/// A list of results without any, or a count of 0, and no other list with something in it.
fn empty_results(members: &Map<String, Value>) -> Option<String> {
    const LISTS: [&str; 12] = [
        "results",
        "result",
        "items",
        "data",
        "articles",
        "entries",
        "records",
        "places",
        "candidates",
        "hits",
        "matches",
        "features",
    ];
    const COUNTS: [&str; 10] = [
        "count",
        "total",
        "total_results",
        "totalResults",
        "total_count",
        "totalCount",
        "num_results",
        "result_count",
        "results_count",
        "hits",
    ];
    if members.values().any(|value| value.as_array().is_some_and(|items| !items.is_empty())) {
        return None;
    }
    let list = LISTS.iter().find(|key| members.get(**key).and_then(Value::as_array).is_some());
    let count = COUNTS.iter().find(|key| members.get(**key).and_then(Value::as_u64) == Some(0));
    list.or(count).map(|key| format!("{key}: {}", members[*key]))
}

/// The beginning of a text, at most `length` bytes of it.
fn head(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length)]
}

/// What stands around a byte of a text: some words before it and what follows.
fn around(text: &str, at: usize) -> String {
    const BEFORE: usize = 60;
    if at <= BEFORE {
        return text.to_owned();
    }
    format!("…{}", &text[text.floor_char_boundary(at - BEFORE)..])
}

/// How the text of a failure begins.
static FAILURE_START: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"^\W{0,3}(\[[\w ]{0,30}(error|failed|failure)\]|[\w.]*(error|exception|failure)s?\s*([:!(\[–—]|-\s|in\b|on\b|while\b|when\b|\w+ing\b|occurred\b|code\b|during\b|from\b|\d|$)|(failed|unable|cannot|can't|could ?n[o']t|could not)\b|traceback \(|fatal\b|(an?|the|some|\d+)? ?([\w-]+ ){0,3}(error|exception)s? (has )?(occurred\b|executing\b|while\b|for [\w./-]+\b)|([\w-]+ ){1,3}error:|MCP error -?\d|HTTP(/\d\S*)?( status| error)?( code)?[ :]{0,3}[45]\d\d\b|[45]\d\d[ :,-]{1,3}(client error|server error|not found|bad request|unauthorized|forbidden|unprocessable|internal server|too many|service unavailable|bad gateway|gateway time)|(the )?([\w-]+ ){0,4}(API|server|request|endpoint|service|backend|call|query)( \w+)? (returned|responded|failed|timed out|error)\b.{0,40}([45]\d\d\b|error\b|failed\b|failure\b|$)|([\w-]+ ){0,4}(request|call|search|download|upload|query|operation|lookup|fetch) (failed|timed out)\b|unknown tool\b|tool .{1,100} not found\b|invalid (arguments?|parameters?|input|request)\b|missing required\b|permission denied\b|access denied\b|no such file\b|file not found\b)",
    )
});

/// A status code in words.
static STATUS: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r#"\bHTTP(?:S|/\d(?:\.\d)?)?(?: status| error| response)?(?: code)?["']?[\s:=(#]{0,3}([45]\d\d)\b|\bstatus[ _-]?(?:code)?["']?(?: of| is| was)?[\s:=(#]{0,3}([45]\d\d)\b|\b(?:returned|responded with|failed with|got|received)(?: an?)?(?: http)?(?: status| error| response)?(?: code)?[\s:=(#]{0,3}([45]\d\d)\b|\berror(?: code)?[\s:=(#]{0,3}([45]\d\d)\b|\b([45]\d\d)[ :,-]{1,3}(?:client error|server error|not found|bad request|unauthorized|forbidden|unprocessable|internal server|too many|service unavailable|bad gateway|gateway time|method not allowed|gone\b)"#,
    )
});

/// Words that a normal answer rarely has near its beginning.
static FAILURE_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r#""(errors?|exception|failed|failures?)"\s*:\s*(null|false|0|""|\[\]|\{\})|\b(?<word>errors?|exception|failed|failure|not found|invalid|denied|unavailable|does not exist)\b"#,
    )
});

/// The rules with their patterns.
static RULES: LazyLock<Vec<(&'static AnswerRule, Option<Regex>)>> = LazyLock::new(|| {
    let compile = |rule: &'static AnswerRule| match rule.looks_at {
        Where::Status(_) => (rule, None),
        Where::Failure(pattern) | Where::Short(pattern) => (rule, Some(compiled(pattern))),
    };
    ANSWER_RULES.iter().map(compile).collect()
});

/// A pattern of this program; a test compiles all of them.
#[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles each")]
fn compiled(pattern: &str) -> Regex {
    RegexBuilder::new(pattern)
        .case_insensitive(true)
        .build()
        .expect("a pattern of ours is wrong; this is a bug")
}
