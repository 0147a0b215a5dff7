//! The published program's verdict on a call's result, by the table of `evaluation_utils.py`, `base_error_analysis`.

use m3_trajectory::Call;
use m3_trajectory::json::Json;

use crate::python::str_of;

/// The parts of a recorded result: the status code, and the reply {success, data, error}.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer<'c> {
    pub(super) status: Option<&'c Json>,
    pub(super) reply: Option<&'c Json>,
}

impl<'c> Answer<'c> {
    /// The result of a call: the program's wrapper {`status_code`, result}, or the reply alone, with the `status_code`
    /// as a member of the call.
    pub(super) fn from_call(call: &'c Call) -> Self {
        let is_wrapper = |it: &&Json| {
            it.get("status_code").is_some() || (it.get("result").is_some() && it.get("success").is_none())
        };
        match call.result.as_ref().filter(is_wrapper) {
            Some(wrapper) => Self { status: wrapper.get("status_code"), reply: wrapper.get("result") },
            None => Self { status: call.get("status_code"), reply: call.result.as_ref() },
        }
    }
}

/// The program's label of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Label {
    /// The call succeeded.
    Success,
    /// The status is not the integer 200.
    RequestFailed,
    /// There is no success and no text of an error.
    NoMessage,
    /// There is no success: the text of the error, as Python writes it.
    Message(String),
    /// The call succeeded and has no data.
    EmptyResult,
    /// The program breaks off with an exception. m3 counts the call as failed.
    BreaksOff,
}

impl Label {
    /// The label of a call.
    pub(super) fn from_call(call: &Call) -> Self {
        let Answer { status, reply } = Answer::from_call(call);
        if status != Some(&Json::Integer(200)) {
            return Self::RequestFailed;
        }
        // A reply that is a text is not parsed, and so has no members.
        let member = |key: &str| reply.and_then(|reply| reply.get(key));
        if !member("success").is_some_and(is_truthy) {
            return match member("error") {
                None => Self::NoMessage,
                Some(Json::String(text)) if text.is_empty() => Self::NoMessage,
                Some(error) => Self::Message(str_of(error)),
            };
        }
        match member("data").map_or(Some(true), is_empty) {
            Some(true) => Self::EmptyResult,
            Some(false) => Self::Success,
            None => Self::BreaksOff,
        }
    }

    /// The name of the label's group: the message that the program collects, in our words if it is a fixed text.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Success => "success",
            Self::RequestFailed => "request failed",
            Self::NoMessage => "no message",
            Self::Message(text) => text,
            Self::EmptyResult => "empty result",
            Self::BreaksOff => "the program breaks off",
        }
    }
}

/// Whether data is empty for the program. Null and numbers are not; `None` if the program asks for the length of a value
/// that has none.
fn is_empty(data: &Json) -> Option<bool> {
    match data {
        Json::Array(items) => match items.first() {
            None => Some(true),
            Some(Json::String(text)) => Some(text.is_empty()),
            Some(Json::Array(items)) => Some(items.is_empty()),
            Some(Json::Object(members)) => Some(members.is_empty()),
            Some(_) => None,
        },
        Json::Object(members) => members.iter().try_fold(true, |is_empty, (_, value)| match value {
            Json::String(text) => Some(is_empty && text.is_empty()),
            _ => None,
        }),
        Json::String(text) => Some(matches!(text.as_str(), "" | "[]" | "\"\"" | "\"[]\"")),
        _ => Some(false),
    }
}

/// Whether a value is true in a condition of Python.
fn is_truthy(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(value) => *value,
        Json::Integer(number) => *number != 0,
        Json::LongInteger(_) => true,
        Json::Float(number) => *number != 0.0,
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(members) => !members.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;

    fn label(result: &str, status: Option<i64>) -> Label {
        let extra = status.map(|status| ("status_code".to_owned(), Json::Integer(status)));
        let result = Some(parse(result.as_bytes()).unwrap().0);
        Label::from_call(&Call {
            tool: "t".to_owned(),
            arguments: None,
            result,
            extra: extra.into_iter().collect(),
        })
    }

    /// The table of `base_error_analysis`, line by line.
    #[test]
    fn labels_follow_the_published_table() {
        let ok = |data: &str| format!(r#"{{"success": true, "data": {data}, "error": null}}"#);
        for (reply, wanted) in [
            (ok(r#"["a", ""]"#), Label::Success),
            (ok(r#"[["a"]]"#), Label::Success),
            (ok("null"), Label::Success),
            (ok("0"), Label::Success),
            (ok(r#"" ""#), Label::Success),
            (ok(r#""{}""#), Label::Success),
            (ok(r#""Error: no""#), Label::Success),
            (ok(r#"{"a": "", "b": "x"}"#), Label::Success),
            (r#"{"success": "false", "data": ["x"]}"#.to_owned(), Label::Success),
            (ok("[]"), Label::EmptyResult),
            (ok("[{}]"), Label::EmptyResult),
            (ok(r#"["", "a"]"#), Label::EmptyResult),
            (ok(r#""[]""#), Label::EmptyResult),
            (ok(r#"{"a": "", "b": ""}"#), Label::EmptyResult),
            (r#"{"success": 1}"#.to_owned(), Label::EmptyResult),
            (ok("[5]"), Label::BreaksOff),
            (ok("[null]"), Label::BreaksOff),
            (ok(r#"{"a": 1}"#), Label::BreaksOff),
            (r#"{"success": false, "error": null}"#.to_owned(), Label::Message("None".to_owned())),
            (r#"{"success": 0, "error": {"a": "b"}}"#.to_owned(), Label::Message("{'a': 'b'}".to_owned())),
            (r#"{"error": ""}"#.to_owned(), Label::NoMessage),
            (r#"{"success": ""}"#.to_owned(), Label::NoMessage),
            (r#""{\"success\": true}""#.to_owned(), Label::NoMessage),
            ("null".to_owned(), Label::NoMessage),
        ] {
            assert_eq!(label(&reply, Some(200)), wanted, "{reply}");
            let wrapper = format!(r#"{{"status_code": 200, "result": {reply}}}"#);
            assert_eq!(label(&wrapper, None), wanted, "{wrapper}");
            for status in [None, Some(201), Some(500)] {
                assert_eq!(label(&reply, status), Label::RequestFailed, "{reply}");
            }
        }
        for status in [r#""200""#, "null", "[200]"] {
            let wrapper = format!(r#"{{"status_code": {status}, "result": {}}}"#, ok("[1]"));
            assert_eq!(label(&wrapper, Some(200)), Label::RequestFailed, "{status}");
        }
        assert_eq!(label(r#"{"result": {"success": true}}"#, Some(200)), Label::RequestFailed);
    }
}
