//! Replies as documented in Anthropic's API reference ("Create a Message", "Errors"), and sloppy replies of other
//! servers of this wire.

use serde_json::{Value, json};

use super::Anthropic;
use crate::wires::tests::{call, names_of};
use crate::wires::{ReplyError, Wire as _};
use crate::{Arguments, Reply, ReplyCall, StopReason, Usage};

fn read(body: &Value) -> Reply {
    Anthropic.reply(200, body.to_string().as_bytes()).unwrap()
}

#[test]
fn a_documented_reply_is_read_without_an_oddity() {
    let content = json!([
        {"type": "thinking", "thinking": "The clock.", "signature": "EqQB"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "I will look."},
        {"type": "tool_use", "id": "toolu_1", "name": "clock", "input": {"zone": "UTC"}},
        {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}},
    ]);
    let reply = read(&json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
        "content": content, "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 12, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 2000, "output_tokens": 55},
    }));
    assert_eq!((reply.text.as_str(), reply.thoughts.as_str()), ("I will look.", "The clock."));
    assert_eq!(
        reply.calls,
        [call("toolu_1", "clock", json!({"zone": "UTC"})), call("toolu_2", "now", json!({}))]
    );
    assert_eq!(reply.stop, StopReason::Calls);
    // "Prompt caching": the total input is the sum of the three, 12 + 100 + 2000.
    let usage = Usage {
        input_tokens: Some(2112),
        cached_input_tokens: Some(2000),
        output_tokens: Some(55),
        ..Usage::default()
    };
    assert_eq!(reply.usage, usage);
    assert_eq!(reply.raw, Some(json!({"role": "assistant", "content": content})));
    assert_eq!(reply.oddities, Vec::<String>::new());
}

#[test]
fn sloppy_blocks_are_read_and_noted() {
    let used = |input: Value| json!([{"type": "tool_use", "id": "x", "name": "f", "input": input}]);
    let malformed = |text: &str| {
        let mut bad = call("x", "f", json!({}));
        bad.arguments = Arguments::Malformed(text.to_owned());
        bad
    };
    let absent = || ReplyCall { arguments: Arguments::Absent, ..call("x", "f", json!({})) };
    for (content, text, calls, oddities) in [
        (json!("plain"), "plain", vec![], vec!["a string instead of blocks"]),
        (json!({"type": "text", "text": "a"}), "a", vec![], vec!["one block instead"]),
        (json!([{"text": "a"}, "b"]), "ab", vec![], vec!["no `type`"]),
        (json!([]), "", vec![], vec!["neither text nor calls"]),
        (Value::Null, "", vec![], vec!["null or missing", "neither text nor calls"]),
        (json!([{"type": "novelty"}, {"type": "text", "text": "a"}]), "a", vec![], vec!["type `novelty`"]),
        (
            used(json!("{\"a\": 1}")),
            "",
            vec![call("x", "f", json!({"a": 1}))],
            vec!["a string instead of an object"],
        ),
        (used(json!("")), "", vec![absent()], vec!["had no arguments"]),
        (used(json!([1])), "", vec![malformed("[1]")], vec!["no JSON object"]),
        (
            json!([{"type": "tool_use", "name": "f", "input": {}}]),
            "",
            vec![call("call_1", "f", json!({}))],
            vec!["no id"],
        ),
    ] {
        let reply = read(&json!({"content": content, "stop_reason": "end_turn"}));
        assert_eq!((reply.text.as_str(), &reply.calls), (text, &calls), "{content}");
        names_of(&reply.oddities, &oddities);
    }
}

#[test]
fn ids_that_were_made_up_are_in_what_goes_back() {
    let reply = read(&json!({"content": [
        {"type": "tool_use", "id": "x", "name": "f", "input": {}},
        {"type": "tool_use", "id": "x", "name": "g", "input": {}},
    ], "stop_reason": "tool_use"}));
    let ids: Vec<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["x", "call_2"]);
    assert_eq!(reply.raw.unwrap()["content"][1]["id"], "call_2");
}

#[test]
fn every_reason_to_stop_is_told_apart() {
    for (reason, stop, oddities) in [
        ("end_turn", StopReason::Ended, vec![]),
        ("stop_sequence", StopReason::Ended, vec![]),
        ("max_tokens", StopReason::Length, vec!["cut off"]),
        ("model_context_window_exceeded", StopReason::Length, vec!["cut off"]),
        ("refusal", StopReason::Refused, vec!["the provider blocked the reply: `refusal`"]),
        ("pause_turn", StopReason::Other("pause_turn".to_owned()), vec![]),
        ("tool_use", StopReason::Ended, vec!["no calls"]),
        ("stop", StopReason::Other("stop".to_owned()), vec!["not documented"]),
        ("", StopReason::Ended, vec!["no `stop_reason`"]),
    ] {
        let reply = read(&json!({"content": [{"type": "text", "text": "a"}], "stop_reason": reason}));
        assert_eq!(reply.stop, stop);
        names_of(&reply.oddities, &oddities);
    }
}

#[test]
fn errors_have_the_type_as_their_code() {
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "r"});
    for status in [529, 200] {
        let error = Anthropic.reply(status, overloaded.to_string().as_bytes()).unwrap_err();
        let expected = ReplyError::Provider {
            code: Some("overloaded_error".to_owned()),
            message: "Overloaded".to_owned(),
        };
        assert_eq!(error, expected);
        assert!(error.is_worth_retrying(status));
    }
    for body in ["{}", "{\"choices\": []}", "[1]", "<html>"] {
        assert!(
            matches!(Anthropic.reply(200, body.as_bytes()), Err(ReplyError::Unreadable { .. })),
            "{body}"
        );
    }
}
