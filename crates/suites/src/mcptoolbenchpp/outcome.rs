//! Whether a call succeeded, by its recorded result: the paper's tool call success (section 4.1.2) with m3's outcomes.

use std::sync::LazyLock;

use m3_support::text::head;
use m3_trajectory::Call;
use m3_trajectory::json::{Json, parse};

use super::reply::Answer;

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The call succeeded with content.
    Success,
    /// The call succeeded without content.
    Empty,
    /// The call failed.
    Failed,
    /// No recorded fact shows the outcome, or the recorded outcome is neither a success nor a failure of the call.
    Unjudged,
}

/// A call's outcome with the facts that decided it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallOutcome {
    pub(super) outcome: Outcome,
    /// The beginning of the answer: the text of an error where there is one.
    pub(super) message: String,
    /// The status code of an answer.
    pub(super) status: Option<i64>,
}

/// The most of a message that is kept, in bytes.
const MESSAGE: usize = 2_000;

/// The longest text that is read as JSON, in bytes.
const LONGEST_JSON: usize = 1 << 20;

/// The beginnings of texts that report a failure.
static STARTS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let lines = include_str!("../../tables/mcptoolbenchpp_failure_starts.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
});

impl CallOutcome {
    /// The outcome of a call. The first fact that applies decides: the recorded outcome, a status code outside 200 to
    /// 299, the mark of an error, a reply that reports one, no result at all, no content.
    pub(super) fn from_call(call: &Call) -> Self {
        let Answer { status, reply } = Answer::from_call(call);
        let status = match status {
            Some(Json::Integer(status)) => Some(*status),
            Some(Json::String(status)) => status.trim().parse().ok(),
            _ => None,
        };
        let read = reply.map(Reply::from_json);
        let outcome = match call.recorded_outcome() {
            Some("success") => content(read.as_ref()).unwrap_or(Outcome::Success),
            Some(recorded) if FAILURES.contains(&recorded) => Outcome::Failed,
            Some(_) => Outcome::Unjudged,
            None => Self::by_answer(call, status, read.as_ref()),
        };
        let message = read.map(|read| head(read.error.as_ref().unwrap_or(&read.text), MESSAGE).to_owned());
        Self { outcome, message: message.unwrap_or_default(), status }
    }

    fn by_answer(call: &Call, status: Option<i64>, reply: Option<&Reply>) -> Outcome {
        let is_failed = status.is_some_and(|status| !(200..300).contains(&status))
            || call.is_error()
            || reply.is_some_and(|reply| reply.error.is_some());
        if is_failed { Outcome::Failed } else { content(reply).unwrap_or(Outcome::Unjudged) }
    }
}

/// M3's outcomes that are failures (M³-Bench, section 5.4).
const FAILURES: [&str; 4] = ["illegal_format", "unknown_tool", "invalid_arguments", "resource_not_found"];

/// The outcome of a call that did not fail, by its content; `None` without a result.
fn content(reply: Option<&Reply>) -> Option<Outcome> {
    reply.map(|reply| if reply.is_empty { Outcome::Empty } else { Outcome::Success })
}

/// The parts of a reply that decide the outcome.
#[derive(Debug, Default)]
struct Reply {
    /// The text of the error, if the reply reports a failure.
    error: Option<String>,
    /// The text of the reply.
    text: String,
    /// Whether the reply has no content.
    is_empty: bool,
}

impl Reply {
    /// Reads a reply: {success, data, error}, MCP's content, any other JSON, or a text, which may hold JSON itself.
    fn from_json(reply: &Json) -> Self {
        match reply {
            Json::String(text) => Self::of_text(text),
            Json::Object(_) if reply.get("success").is_some() => Self::of_wrapper(reply),
            Json::Object(_) => match reply.get("content") {
                Some(Json::Array(parts)) if are_parts(parts) => Self::of_parts(parts, is_marked(reply)),
                _ => Self::of_members(reply),
            },
            Json::Array(parts) if !parts.is_empty() && are_parts(parts) => Self::of_parts(parts, false),
            other => Self { error: None, text: other.to_plain_text(), is_empty: is_empty(other) },
        }
    }

    fn of_text(text: &str) -> Self {
        let trimmed = text.trim();
        if trimmed.starts_with('{')
            && trimmed.len() <= LONGEST_JSON
            && let Ok((object, _)) = parse(trimmed.as_bytes())
        {
            return if object.get("success").is_some() {
                Self::of_wrapper(&object)
            } else {
                Self::of_members(&object)
            };
        }
        let start = head(trimmed.trim_start_matches(|c: char| !c.is_alphanumeric()), 200).to_lowercase();
        let is_failure = STARTS.iter().any(|known| start.starts_with(known));
        Self {
            error: is_failure.then(|| trimmed.to_owned()),
            text: trimmed.to_owned(),
            is_empty: is_empty_text(trimmed),
        }
    }

    /// A reply {success, data, error}.
    fn of_wrapper(reply: &Json) -> Self {
        let is_failed = match reply.get("success") {
            Some(Json::Bool(success)) => !success,
            Some(Json::String(success)) => !success.eq_ignore_ascii_case("true"),
            other => other == Some(&Json::Null),
        };
        let error = reply.get("error").map(Json::to_plain_text).filter(|text| text != "null");
        let data =
            reply.get("data").map_or_else(|| Self { is_empty: true, ..Self::default() }, Self::from_json);
        if is_failed { Self { error: Some(error.unwrap_or_default()), ..data } } else { data }
    }

    /// MCP's content. A part that is not text, such as an image, is content.
    fn of_parts(parts: &[Json], is_marked: bool) -> Self {
        let texts = parts.iter().filter_map(|part| part.get("text").and_then(Json::as_str));
        let mut read = Self::of_text(&texts.collect::<Vec<_>>().join("\n"));
        read.is_empty &= parts.iter().all(|part| part.get("type").and_then(Json::as_str) == Some("text"));
        if is_marked {
            read.error.get_or_insert_with(|| read.text.clone());
        }
        read
    }

    /// Any other object: a failure if it is marked, or has an error.
    fn of_members(reply: &Json) -> Self {
        let error = match reply.get("error") {
            None | Some(Json::Null | Json::Bool(_) | Json::Integer(_) | Json::Float(_)) => None,
            Some(error) => Some(error).filter(|error| !is_empty(error)).map(Json::to_plain_text),
        };
        let text = reply.to_plain_text();
        let error = error.or_else(|| is_marked(reply).then(|| text.clone()));
        Self { error, text, is_empty: is_empty(reply) }
    }
}

/// Whether a reply is marked as an error, as in MCP.
fn is_marked(reply: &Json) -> bool {
    ["isError", "is_error"].iter().any(|key| reply.get(key) == Some(&Json::Bool(true)))
}

/// Whether these are parts of MCP's content.
fn are_parts(parts: &[Json]) -> bool {
    parts.iter().all(|part| part.get("type").and_then(Json::as_str).is_some())
}

/// Whether a value has no content: null, a text such as a blank or `[]`, or a list or object of only such values.
fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => is_empty_text(text.trim()),
        Json::Array(items) => items.iter().all(is_empty),
        Json::Object(members) => members.iter().all(|(_, value)| is_empty(value)),
        _ => false,
    }
}

fn is_empty_text(text: &str) -> bool {
    matches!(text, "" | "[]" | "{}" | "null" | "None" | "\"\"" | "\"[]\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(call: &str) -> CallOutcome {
        let Json::Object(mut members) = parse(call.as_bytes()).unwrap().0 else {
            panic!("no object: {call}")
        };
        let result = members.iter().position(|(key, _)| key == "result").map(|at| members.remove(at).1);
        CallOutcome::from_call(&Call { tool: "t".to_owned(), arguments: None, result, extra: members })
    }

    #[test]
    fn outcomes_follow_what_is_recorded() {
        use Outcome::{Empty, Failed, Success, Unjudged};
        for (call, outcome, message) in [
            ("{}", Unjudged, ""),
            (r#"{"outcome": "timed_out", "result": "x"}"#, Unjudged, "x"),
            (r#"{"outcome": "success", "result": "Error: x"}"#, Success, "Error: x"),
            (r#"{"outcome": "success", "result": " "}"#, Empty, ""),
            (r#"{"outcome": "success"}"#, Success, ""),
            (r#"{"outcome": "unknown_tool"}"#, Failed, ""),
            (r#"{"status_code": 500, "result": "x"}"#, Failed, "x"),
            (r#"{"status_code": 201, "result": "x"}"#, Success, "x"),
            (r#"{"result": {"status_code": 404, "result": {}}}"#, Failed, "{}"),
            (r#"{"is_error": true, "result": "no"}"#, Failed, "no"),
            (r#"{"is_error": true}"#, Failed, ""),
            (r#"{"result": {"success": false, "data": null, "error": "no"}}"#, Failed, "no"),
            (r#"{"result": {"success": "false", "data": ["a"]}}"#, Failed, ""),
            (r#"{"result": "{\"success\": false, \"error\": \"no\"}"}"#, Failed, "no"),
            (r#"{"result": {"success": true, "data": ["ok"], "error": null}}"#, Success, r#"["ok"]"#),
            (r#"{"result": {"success": true, "data": [5]}}"#, Success, "[5]"),
            (r#"{"result": {"success": true, "data": null}}"#, Empty, "null"),
            (r#"{"result": {"success": true, "data": [""]}}"#, Empty, r#"[""]"#),
            (r#"{"result": {"success": true}}"#, Empty, ""),
            (r#"{"result": {"success": true, "data": "Error: ENOENT"}}"#, Failed, "Error: ENOENT"),
            (r#"{"result": {"success": true, "data": [{"type": "text", "text": ""}]}}"#, Empty, ""),
            (r#"{"result": {"content": [{"type": "text", "text": "a"}], "isError": true}}"#, Failed, "a"),
            (r#"{"result": {"content": [{"type": "image", "data": ""}]}}"#, Success, ""),
            (r#"{"result": {"content": []}}"#, Empty, ""),
            (r#"{"result": {"error": "no"}}"#, Failed, "no"),
            (r#"{"result": {"error": 0.1}}"#, Success, r#"{"error":0.1}"#),
            (r#"{"result": [{"data": []}]}"#, Empty, r#"[{"data":[]}]"#),
            (r#"{"result": "❌ Failed to open"}"#, Failed, "❌ Failed to open"),
            (r#"{"result": "Errors are common"}"#, Success, "Errors are common"),
            (r#"{"result": 0}"#, Success, "0"),
            (r#"{"result": null}"#, Empty, "null"),
        ] {
            let actual = ended(call);
            assert_eq!((actual.outcome, actual.message.as_str()), (outcome, message), "{call}");
        }
    }
}
