//! Replies as documented in the Gemini API reference (`GenerateContentResponse`), and sloppy ones.

use serde_json::{Value, json};

use super::Gemini;
use crate::wires::tests::{call, names_of};
use crate::wires::{ReplyError, Wire as _};
use crate::{Arguments, Reply, StopReason, Usage};

fn read(body: &Value) -> Reply {
    Gemini.reply(200, body.to_string().as_bytes()).unwrap()
}

#[test]
fn a_documented_reply_is_read_without_an_oddity() {
    let reply = read(&json!({
        "candidates": [{
            "content": {"role": "model", "parts": [
                {"text": "Let me see.", "thought": true},
                {"text": "I will look."},
                {"functionCall": {"name": "clock", "args": {"zone": "UTC"}}, "thoughtSignature": "CsgB"},
                {"functionCall": {"name": "now", "id": "own"}},
            ]},
            "finishReason": "STOP", "index": 0,
        }],
        "usageMetadata": {
            "promptTokenCount": 300, "cachedContentTokenCount": 250, "candidatesTokenCount": 20,
            "thoughtsTokenCount": 80, "totalTokenCount": 400,
        },
        "modelVersion": "gemini-2.5-pro", "responseId": "r",
    }));
    assert_eq!((reply.text.as_str(), reply.thoughts.as_str()), ("I will look.", "Let me see."));
    assert_eq!(reply.calls, [call("call_1", "clock", json!({"zone": "UTC"})), call("own", "now", json!({}))]);
    assert_eq!(reply.stop, StopReason::Calls);
    let usage = Usage {
        input_tokens: Some(300),
        cached_input_tokens: Some(250),
        output_tokens: Some(100),
        reasoning_tokens: Some(80),
        ..Usage::default()
    };
    assert_eq!(reply.usage, usage);
    let raw = reply.raw.unwrap();
    assert_eq!(raw["parts"][2]["functionCall"]["id"], "call_1");
    assert_eq!(raw["parts"][2]["thoughtSignature"], "CsgB");
    assert_eq!(reply.oddities, Vec::<String>::new());
}

#[test]
fn sloppy_candidates_are_read_and_noted() {
    let mut malformed = call("call_1", "f", json!({}));
    malformed.arguments = Arguments::Malformed("[1]".to_owned());
    for (candidate, text, stop, calls, oddities) in [
        (
            json!({"finishReason": "MAX_TOKENS"}),
            "",
            StopReason::Length,
            vec![],
            vec!["no content", "was cut off", "neither text"],
        ),
        (
            json!({"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}),
            "",
            StopReason::Length,
            vec![],
            vec!["(`MAX_TOKENS`)", "neither text"],
        ),
        (
            json!({"content": {"parts": []}, "finishReason": "SAFETY"}),
            "",
            StopReason::Refused,
            vec![],
            vec!["the provider blocked the reply: `SAFETY`", "neither text"],
        ),
        (
            json!({"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "f("}),
            "",
            StopReason::Other("MALFORMED_FUNCTION_CALL".to_owned()),
            vec![],
            vec!["(f()", "neither text"],
        ),
        (
            json!({"content": {"parts": [{"text": "a"}]}, "finishReason": "NEW"}),
            "a",
            StopReason::Other("NEW".to_owned()),
            vec![],
            vec!["not documented"],
        ),
        (
            json!({"content": {"parts": {"text": "a"}}}),
            "a",
            StopReason::Ended,
            vec![],
            vec!["one part", "no `finishReason`"],
        ),
        (
            json!({"content": {"parts": "a"}, "finishReason": "STOP"}),
            "a",
            StopReason::Ended,
            vec![],
            vec!["a string"],
        ),
        (
            json!({"content": {"parts": [{"functionCall": {"name": "f", "args": [1]}}, {"executableCode": {}}]}, "finishReason": "STOP"}),
            "",
            StopReason::Calls,
            vec![malformed],
            vec!["no JSON object", "a part `executableCode`"],
        ),
        (
            json!({"content": {"parts": [{"functionCall": "g()"}, {"functionCall": {"name": "g", "args": "{\"a\":1}"}}]}, "finishReason": "STOP"}),
            "",
            StopReason::Calls,
            vec![
                {
                    let mut nameless = call("call_1", "", json!({}));
                    nameless.arguments = Arguments::Malformed("g()".to_owned());
                    nameless
                },
                call("call_2", "g", json!({"a": 1})),
            ],
            vec!["not JSON", "no name", "a string instead of an object"],
        ),
    ] {
        let reply = read(&json!({"candidates": [candidate]}));
        assert_eq!((reply.text.as_str(), &reply.stop, &reply.calls), (text, &stop, &calls), "{candidate}");
        names_of(&reply.oddities, &oddities);
    }
}

#[test]
fn a_prompt_that_is_held_back_is_a_refusal() {
    let reply = read(&json!({
        "promptFeedback": {"blockReason": "SAFETY"},
        "usageMetadata": {"promptTokenCount": 5, "totalTokenCount": 5},
    }));
    assert_eq!((reply.stop, reply.usage.input_tokens), (StopReason::Refused, Some(5)));
    assert_eq!(reply.block.as_deref(), Some("SAFETY"));
    names_of(&reply.oddities, &["the provider blocked the reply: `SAFETY`"]);
}

#[test]
fn errors_have_the_status_as_their_code() {
    let error =
        json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}});
    for (status, body) in [(503, error.clone()), (200, error.clone()), (200, json!([error]))] {
        let error = Gemini.reply(status, body.to_string().as_bytes()).unwrap_err();
        let expected = ReplyError::Provider {
            code: Some("UNAVAILABLE".to_owned()),
            message: "The model is overloaded.".to_owned(),
        };
        assert_eq!(error, expected);
        assert!(error.is_worth_retrying(status));
    }
    for body in ["{}", "{\"candidates\": []}", "{\"promptFeedback\": {}}", "<html>", "7"] {
        assert!(matches!(Gemini.reply(200, body.as_bytes()), Err(ReplyError::Unreadable { .. })), "{body}");
    }
}
