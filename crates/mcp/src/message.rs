//! Interprets a line that a server writes: a message, a broken message, or noise, which is everything else.
//!
//! rmcp would try every kind of result in turn, and refuse a list or a call because of one unknown part. Here results
//! stay JSON, unchanged ([`ServerResult::CustomResult`]), except for the answer to the first request, which rmcp needs.

use m3_trajectory::json as odd_json;
use rmcp::model::{
    CustomResult, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde_json::{Map, Value, json};

/// The meaning of a line.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A message, or several in a batch (MCP 2025-03-26).
    Messages(Vec<ServerJsonRpcMessage>),
    /// An answer that cannot be read, with the id of its request if known.
    Unreadable { id: Option<RequestId>, reason: String },
    /// A line that is not a message.
    Noise,
}

/// Reads a line. `is_handshake` is true while the answer to `initialize` or `server/discover` is awaited.
pub(super) fn read_line(line: &[u8], is_handshake: bool) -> Incoming {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if !matches!(line.first(), Some(b'{' | b'[')) {
        return Incoming::Noise;
    }
    match serde_json::from_slice(line).or_else(|error| read_odd(line).ok_or(error)) {
        Ok(Value::Object(message)) if answers_nothing(&message) => Incoming::Unreadable {
            id: message.get("id").and_then(|id| serde_json::from_value(id.clone()).ok()),
            reason: "it has neither a result nor an error".to_owned(),
        },
        Ok(Value::Object(message)) => read_message(message, is_handshake)
            .map_or(Incoming::Noise, |message| Incoming::Messages(vec![message])),
        Ok(Value::Array(batch)) => {
            let messages: Vec<_> = batch
                .into_iter()
                .filter_map(|message| match message {
                    Value::Object(message) => read_message(message, is_handshake),
                    _ => None,
                })
                .collect();
            if messages.is_empty() { Incoming::Noise } else { Incoming::Messages(messages) }
        }
        Ok(_) => Incoming::Noise,
        Err(error) => {
            let id = response_id(line, line);
            if id.is_none() && position(line, b"\"jsonrpc\"").is_none() {
                return Incoming::Noise;
            }
            Incoming::Unreadable { id, reason: error.to_string() }
        }
    }
}

/// Reads what servers write that is almost JSON: `NaN`, half of a surrogate pair, another encoding than UTF-8. What JSON
/// cannot hold becomes text.
fn read_odd(line: &[u8]) -> Option<Value> {
    let (value, _) = odd_json::parse(String::from_utf8_lossy(line).as_bytes()).ok()?;
    Some(value.to_value_with_numbers_as_text())
}

/// Whether this is an answer without a result or an error.
fn answers_nothing(message: &Map<String, Value>) -> bool {
    let has = |key: &str| message.get(key).is_some_and(|value| !value.is_null());
    has("id") && has("jsonrpc") && !has("method") && !has("error") && !message.contains_key("result")
}

/// Reads a JSON object as a message; `None` if it is not one.
fn read_message(mut message: Map<String, Value>, is_handshake: bool) -> Option<ServerJsonRpcMessage> {
    if message.contains_key("method") {
        message.entry("jsonrpc").or_insert_with(|| json!("2.0"));
        return serde_json::from_value(Value::Object(message)).ok();
    }
    let id = message.remove("id");
    let id = id.and_then(|id| serde_json::from_value::<RequestId>(id).ok());
    if let Some(error) = message.remove("error").filter(|error| !error.is_null()) {
        // A log line in JSON may also have an `error`.
        if id.is_none() && !message.contains_key("jsonrpc") {
            return None;
        }
        return Some(JsonRpcMessage::error(read_error(&error), id));
    }
    let result = message.remove("result")?;
    let result =
        if is_handshake { read_handshake(result) } else { ServerResult::CustomResult(CustomResult(result)) };
    Some(JsonRpcMessage::response(result, id?))
}

/// Reads the answer to `initialize` or `server/discover`, in which some servers leave out required parts.
fn read_handshake(mut result: Value) -> ServerResult {
    let mut is_discovery = false;
    if let Value::Object(members) = &mut result {
        is_discovery = members.contains_key("supportedVersions");
        members.entry("capabilities").or_insert_with(|| json!({}));
        if is_discovery {
            members.entry("resultType").or_insert_with(|| json!("complete"));
            members.entry("ttlMs").or_insert_with(|| json!(0));
            members.entry("cacheScope").or_insert_with(|| json!("private"));
        } else {
            members.entry("serverInfo").or_insert_with(|| json!({"name": "", "version": ""}));
        }
    }
    let read = if is_discovery {
        serde_json::from_value(result.clone()).map(ServerResult::DiscoverResult)
    } else {
        serde_json::from_value(result.clone()).map(ServerResult::InitializeResult)
    };
    read.unwrap_or(ServerResult::CustomResult(CustomResult(result)))
}

/// Reads an error in any of the forms that servers use.
fn read_error(error: &Value) -> ErrorData {
    let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let message = match error.get("message").and_then(Value::as_str).or(error.as_str()) {
        Some(message) => message.to_owned(),
        None => error.to_string(),
    };
    ErrorData::new(code.map_or(ErrorCode::INTERNAL_ERROR, ErrorCode), message, error.get("data").cloned())
}

/// The id of a response that is not read as a whole, found in its beginning (where Python's servers write it) or in
/// its end (where JavaScript's do).
pub(super) fn response_id(head: &[u8], tail: &[u8]) -> Option<RequestId> {
    id_before(head, &[b"\"result\"", b"\"error\""]).or_else(|| id_at_end(tail))
}

/// The id of a request that is not read as a whole, found before its parameters or at its end.
pub(super) fn id_of_request(head: &[u8], tail: &[u8]) -> Option<RequestId> {
    id_before(head, &[b"\"params\""]).or_else(|| id_at_end(tail))
}

/// The first id before any of these keys.
fn id_before(head: &[u8], keys: &[&[u8]]) -> Option<RequestId> {
    let end = keys.iter().filter_map(|key| position(head, key)).min()?;
    let key = position(&head[..end], b"\"id\"")?;
    let (id, _) = id_after(&head[key + 4..])?;
    Some(id)
}

fn id_at_end(tail: &[u8]) -> Option<RequestId> {
    let start = tail.len().saturating_sub(256);
    let tail = &tail[start..];
    let key = tail.windows(4).rposition(|window| window == b"\"id\"")?;
    let (id, rest) = id_after(&tail[key + 4..])?;
    // If anything else follows, the id belongs to something inside the result.
    let rest: Vec<u8> = rest.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    matches!(rest.as_slice(), b"}" | b",\"jsonrpc\":\"2.0\"}").then_some(id)
}

/// The value of a key, a number or a short string, and the text after it.
fn id_after(text: &[u8]) -> Option<(RequestId, &[u8])> {
    let text = text.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let end = if text.first() == Some(&b'"') {
        text.iter().skip(1).position(|&byte| byte == b'"')? + 2
    } else {
        text.iter().position(|byte| !byte.is_ascii_digit())?
    };
    let id = serde_json::from_slice(&text[..end]).ok()?;
    Some((id, &text[end..]))
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(id: i64) -> RequestId {
        RequestId::Number(id)
    }

    #[test]
    fn an_id_is_found_on_either_side_of_the_result_and_not_inside_of_it() {
        assert_eq!(response_id(br#"{"jsonrpc":"2.0","id":7,"result":{"a":["#, b"]}}"), Some(number(7)));
        assert_eq!(
            response_id(br#"{"result":{"id":3,"#, br#"x"},"jsonrpc":"2.0","id":12}"#),
            Some(number(12))
        );
        assert_eq!(response_id(br#"{"result":{"#, br#"}, "id": 12, "jsonrpc": "2.0"}"#), Some(number(12)));
        assert_eq!(response_id(br#"{"result":{"#, br#""x":{"id":12}}"#), None);
        assert_eq!(response_id(b"{", b""), None);
    }

    #[test]
    fn lines_are_told_apart() {
        let is_noise = |line: &[u8]| matches!(read_line(line, false), Incoming::Noise);
        assert!(is_noise(b"Starting server on stdio..."));
        assert!(is_noise(b"[INFO] ready"));
        assert!(is_noise(b"{'level': 'info'}"));
        assert!(is_noise(br#"{"level": "info"}"#));
        assert!(is_noise(br#"{"level": "error", "error": "x"}"#));
        assert!(is_noise(b"[]"));
        assert!(is_noise(b"42"));
        assert!(is_noise(b""));
        let Incoming::Messages(messages) = read_line(b"\xef\xbb\xbf{\"id\":1,\"result\":{\"x\":1}}\r", false)
        else {
            panic!("a response is a message")
        };
        assert!(matches!(&messages[0], JsonRpcMessage::Response(response)
            if matches!(&response.result, ServerResult::CustomResult(result) if result.0 == json!({"x": 1}))));
    }

    #[test]
    fn broken_answers_end_their_call() {
        let cut = br#"{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"\u00"}]}}"#;
        assert!(matches!(read_line(cut, false), Incoming::Unreadable { id: Some(RequestId::Number(5)), .. }));
        let odd = br#"{"jsonrpc":"2.0","id":5,"result":{"text":"\ud800","n":[NaN,-Infinity,1.5]}}"#;
        let Incoming::Messages(messages) = read_line(odd, false) else { panic!("it can be read") };
        let read = serde_json::to_value(&messages[0]).unwrap();
        assert_eq!(read["result"], json!({"text": "\u{fffd}", "n": ["NaN", "-Infinity", 1.5]}));
        let latin = b"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"text\":\"\xe9\"}}";
        assert!(matches!(read_line(latin, false), Incoming::Messages(_)));
        let empty = read_line(br#"{"jsonrpc":"2.0","id":1}"#, false);
        assert!(matches!(empty, Incoming::Unreadable { id: Some(_), .. }));
        for error in [r#"{"id":1,"error":"text"}"#, r#"{"id":1,"error":{"code":1e99}}"#] {
            let Incoming::Messages(messages) = read_line(error.as_bytes(), false) else { panic!("{error}") };
            assert!(matches!(&messages[0], JsonRpcMessage::Error(_)), "{error}");
        }
    }
}
