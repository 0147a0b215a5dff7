//! Reads an answer that is a JSON object: whether it failed, with which status, and whether it found anything.

use serde_json::{Map, Value};

use super::patterns::FAILURE_PHRASE;

/// The only member of an object in which frameworks and gateways wrap an answer: any `result`, or a message that is nothing
/// but a phrase of failure.
pub(super) fn wrapped(members: &Map<String, Value>) -> Option<&Value> {
    match members.iter().next() {
        Some((key, value)) if members.len() == 1 => match key.as_str() {
            "result" => Some(value),
            "message" | "Message" | "msg" | "detail" => Some(value)
                .filter(|value| value.as_str().is_some_and(|text| FAILURE_PHRASE.is_match(text.trim()))),
            _ => None,
        },
        _ => None,
    }
}

/// The failure that the JSON reports, by a key for errors or a status of failure.
pub(super) fn failure(members: &Map<String, Value>) -> Option<String> {
    let is_said = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !matches!(text.trim().to_lowercase().as_str(), "" | "none" | "null" | "false"),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Bool(true) => true,
    };
    // A number is a measure, such as the error of an estimate, unless it is a status code.
    let has = |key: &str| members.get(key).is_some_and(|value| is_said(value) && !value.is_number());
    let has_message = ["message", "msg", "error", "error_message"].iter().any(|key| has(key));
    let is_false = |key: &str| match members.get(key) {
        Some(Value::Bool(value)) => !value,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("false"),
        _ => false,
    };
    let is_failed = |key: &str| {
        let word = members.get(key).and_then(Value::as_str).unwrap_or_default().to_lowercase();
        // Products can be "unavailable" too.
        FAILED_STATUSES.contains(&word.as_str()) || (word == "unavailable" && has_message)
    };
    let has_results = members.iter().any(|(key, value)| {
        key != "errors" && value.as_array().is_some_and(|items| !items.is_empty())
            || key == "data" && is_said(value)
    });
    let fails = has("error")
        // Answers with results may also list single failures.
        || (has("errors") && !has_results)
        || has("exception")
        || ["isError", "is_error"].iter().any(|key| members.get(*key) == Some(&Value::Bool(true)))
        || ["success", "ok", "Response"].iter().any(|key| is_false(key))
        || ["status", "state"].iter().any(|key| is_failed(key))
        || (has_message && members.get("type").and_then(Value::as_str) == Some("error"))
        || has_error_code(members)
        || is_list_of_problems(members.get("detail"))
        || status(members).is_some();
    let keys = [
        "error",
        "errors",
        "exception",
        "message",
        "msg",
        "errmsg",
        "error_msg",
        "errorMessage",
        "info",
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

/// Whether a code of an error that is not 0 stands beside its message, as Chinese and other gateways answer (`errcode`,
/// `errmsg`; `error_code`, `error_msg`; Amap: `status` 0 with `info` and `infocode`).
fn has_error_code(members: &Map<String, Value>) -> bool {
    const CODES: [(&str, &str); 4] = [
        ("errcode", "errmsg"),
        ("error_code", "error_msg"),
        ("errorCode", "errorMessage"),
        ("errno", "errmsg"),
    ];
    let number = |key: &str| {
        let value = members.get(key)?;
        value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
    };
    let is_text = |key: &str| {
        let text = members.get(key).and_then(Value::as_str).map(|text| text.trim().to_lowercase());
        text.is_some_and(|text| !matches!(&*text, "" | "ok" | "success" | "succeeded" | "successful"))
    };
    CODES.iter().any(|(code, message)| number(code).is_some_and(|code| code != 0) && is_text(message))
        || (number("status") == Some(0) && is_text("info") && members.contains_key("infocode"))
}

/// Whether this lists problems with arguments, each with its place and message, as FastAPI and Pydantic do.
fn is_list_of_problems(detail: Option<&Value>) -> bool {
    let is_problem = |problem: &Value| problem.get("loc").is_some() && problem.get("msg").is_some();
    detail.and_then(Value::as_array).is_some_and(|list| !list.is_empty() && list.iter().all(is_problem))
}

/// Values of `status` that mean a failure: common ones, those of Google's maps, and those of gRPC.
const FAILED_STATUSES: [&str; 15] = [
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
    "resource_exhausted",
];

/// A status code of 400 or more: under a key that names it so, or as the code of an error beside a message.
pub(super) fn status(members: &Map<String, Value>) -> Option<u16> {
    let code = |members: &Map<String, Value>, keys: &[&str]| {
        keys.iter().filter_map(|key| members.get(*key)).find_map(|value| {
            let code = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
            u16::try_from(code).ok().filter(|code| (400..600).contains(code))
        })
    };
    let called = ["status", "statusCode", "status_code", "http_status", "httpStatus", "error"];
    let of_error = ["status", "statusCode", "status_code", "http_status", "httpStatus", "code"];
    let error = members.get("error").or_else(|| members.get("errors")?.get(0)).and_then(Value::as_object);
    let in_error = error.and_then(|error| code(error, &of_error));
    let has_message = ["message", "msg", "error", "errmsg"].iter().any(|key| members.contains_key(*key));
    in_error
        .or_else(|| code(members, &called))
        .or_else(|| if has_message { code(members, &["code", "cod"]) } else { None })
}

/// An empty list of results or a count of 0, without another list that has items.
pub(super) fn empty_results(members: &Map<String, Value>) -> Option<String> {
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
