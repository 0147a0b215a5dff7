//! The arguments of a call as a model wrote them: an object, its JSON, or a broken text.

use m3_trajectory::json::{Json, parse};

use crate::fields::{Fields, id};

/// The mark that tracing programs write in place of content that they were configured to leave out.
pub(crate) const REDACTED: &str = "__REDACTED__";

/// The arguments as a value that a file holds: an object stays, a text is read as JSON if that is an object, and any
/// other text stays as it is. `None` if the file does not have them.
pub(crate) fn arguments(value: Option<&Json>) -> Option<Json> {
    match value? {
        Json::Null => None,
        Json::String(text) => read(text),
        other => Some(other.clone()),
    }
}

/// The arguments in a text of JSON.
pub(crate) fn read(text: &str) -> Option<Json> {
    if text == REDACTED {
        return None;
    }
    if text.trim().is_empty() {
        return Some(Json::Object(Vec::new()));
    }
    match parse(text.as_bytes()) {
        Ok((object @ Json::Object(_), _)) => Some(object),
        _ => Some(Json::String(text.to_owned())),
    }
}

/// The member in which providers and programs keep a broken text where only an object can stand.
pub(crate) const INVALID: &str = "INVALID_JSON";

/// Arguments without the object that was put around a text that is not JSON.
pub(crate) fn unwrapped(arguments: Json) -> Json {
    match arguments {
        Json::Object(mut members) if matches!(&members[..], [(key, Json::String(_))] if key == INVALID) => {
            members.pop().map_or(Json::Null, |(_, text)| text)
        }
        other => other,
    }
}

/// True if a text that should be arguments is not a JSON object.
pub(crate) fn is_broken(text: &str) -> bool {
    !text.trim().is_empty() && !matches!(parse(text.as_bytes()), Ok((Json::Object(_), _)))
}

/// The arguments, with an empty object in place of `None`: for formats that leave arguments out of calls without any.
pub(crate) fn or_empty(value: Option<&Json>) -> Option<Json> {
    value.map_or_else(|| Some(Json::Object(Vec::new())), |value| arguments(Some(value)))
}

/// A text as the one argument `input`, for tools that take a text instead of arguments.
pub(crate) fn input(text: &Json) -> Json {
    Json::Object(vec![("input".to_owned(), text.clone())])
}

/// The tool's full name, `SERVER/TOOL` if `server` is given or the name is `mcp__SERVER__TOOL`.
pub(crate) fn tool(server: Option<&str>, name: &str) -> String {
    if let Some(server) = server.filter(|server| !server.is_empty()) {
        let server = server.strip_prefix("mcp__").unwrap_or(server);
        return format!("{server}/{name}");
    }
    match name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => format!("{server}/{tool}"),
        _ => name.to_owned(),
    }
}

/// The tool whose name stands in this member, without a server beside it.
pub(crate) fn named_tool(value: &Json, key: &str) -> String {
    tool(None, value.text(key).unwrap_or_default())
}

/// An id as a text; `None` if it is empty.
pub(crate) fn call_id(value: Option<&Json>) -> Option<String> {
    value.and_then(id).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_parsed_stays_as_it_was_written() {
        let text = |text: &str| Json::String(text.to_owned());
        for broken in ["{\"a\": 1", "[]", "3", "\"a\""] {
            assert_eq!(arguments(Some(&text(broken))), Some(text(broken)), "{broken}");
        }
        for empty in ["", " \n"] {
            assert_eq!(arguments(Some(&text(empty))), Some(Json::Object(Vec::new())));
        }
        assert_eq!(arguments(Some(&text("__REDACTED__"))), None);
        assert_eq!(arguments(None), None);
    }

    #[test]
    fn tools_have_their_servers() {
        assert_eq!(tool(None, "mcp__shop__lookup"), "shop/lookup");
        assert_eq!(tool(None, "mcp__my_shop__look__up"), "my_shop/look__up");
        assert_eq!(tool(Some("mcp__shop"), "lookup"), "shop/lookup");
        assert_eq!(tool(None, "mcp__lookup"), "mcp__lookup");
        assert_eq!(tool(Some(""), "lookup"), "lookup");
    }
}
