//! What all wires have in common, and what the tests of single wires share.

use serde_json::{Map, Value, json};

use super::{ImageData, of};
use crate::llm::{Arguments, ModelName, ReplyCall, WireKind};

const ALL: [WireKind; 3] = [WireKind::OpenAi, WireKind::Anthropic, WireKind::Gemini];

/// A call with an object.
pub(super) fn call(id: &str, name: &str, arguments: Value) -> ReplyCall {
    let Value::Object(arguments) = arguments else { panic!("{arguments} is no object") };
    ReplyCall { id: id.to_owned(), name: name.to_owned(), arguments: Arguments::Object(arguments) }
}

/// Exactly these oddities, told by a part of each.
pub(super) fn names_of(oddities: &[String], parts: &[&str]) {
    assert_eq!(oddities.len(), parts.len(), "{oddities:?}");
    for (oddity, part) in oddities.iter().zip(parts) {
        assert!(oddity.contains(part), "{oddity:?} is not about {part:?}");
    }
}

#[test]
fn no_body_makes_a_wire_panic() {
    let deep = "[".repeat(200_000);
    let nested = format!("{{\"choices\": {deep}");
    let values =
        [json!(null), json!(7), json!("x"), json!([]), json!([[]]), json!({}), json!([{}]), json!(true)];
    let keys = ["choices", "content", "candidates", "usage", "usageMetadata", "error", "stop_reason"];
    let inner = ["message", "content", "parts", "tool_calls", "function_call", "usage", "finish_reason"];
    for kind in ALL {
        let wire = of(kind);
        for body in [deep.as_bytes(), nested.as_bytes(), b"", b"\0", b"\xff\xfe", b"nul"] {
            assert!(wire.reply(200, body).is_err());
        }
        for key in keys {
            for value in &values {
                let _ = wire.reply(200, json!({ key: value }).to_string().as_bytes());
                for inner in inner {
                    let nested = json!({ "choices": [{ "message": { inner: value }, inner: value }],
                        "content": [{ "type": "tool_use", inner: value, "input": value }],
                        "candidates": [{ "content": { inner: value, "parts": [{ "functionCall": value }, value] } }],
                        key: value });
                    let _ = wire.reply(200, nested.to_string().as_bytes());
                }
            }
        }
    }
}
