//! Replies as documented in the Amazon Bedrock API reference ("Converse"), and sloppy ones.

use serde_json::{Value, json};

use super::Bedrock;
use crate::wires::tests::{call, names_of};
use crate::wires::{ImageData, ReplyError, Wire as _};
use crate::{ModelName, Reply, Request, StopReason, Usage};

fn reply_to(content: &Value, reason: &str) -> Value {
    json!({
        "output": {"message": {"role": "assistant", "content": content}}, "stopReason": reason,
        "usage": {"inputTokens": 12, "outputTokens": 55, "totalTokens": 2167, "cacheReadInputTokens": 2000, "cacheWriteInputTokens": 100},
        "metrics": {"latencyMs": 900},
    })
}

fn read(body: &Value) -> Reply {
    Bedrock.reply(200, body.to_string().as_bytes()).unwrap()
}

#[test]
fn a_documented_reply_is_read_without_an_oddity() {
    let content = json!([
        {"reasoningContent": {"reasoningText": {"text": "The clock.", "signature": "EqQB"}}},
        {"reasoningContent": {"redactedContent": "eA=="}},
        {"text": "I will look."},
        {"toolUse": {"toolUseId": "tooluse_1", "name": "clock", "input": {"zone": "UTC"}}},
        {"toolUse": {"toolUseId": "tooluse_2", "name": "now", "input": {}}},
    ]);
    let reply = read(&reply_to(&content, "tool_use"));
    assert_eq!((reply.text.as_str(), reply.thoughts.as_str()), ("I will look.", "The clock."));
    let calls = [call("tooluse_1", "clock", json!({"zone": "UTC"})), call("tooluse_2", "now", json!({}))];
    assert_eq!(reply.calls, calls);
    assert_eq!(reply.stop, StopReason::Calls);
    // `TokenUsage`: 12 new tokens, 2000 read from the cache and 100 written to it.
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
    for (content, text, calls, oddities) in [
        (json!([]), "", 0, vec!["neither text nor calls"]),
        (json!([{"video": {}}, {"text": "a"}]), "a", 0, vec!["a block `video`"]),
        (json!(["x", {"text": "a"}]), "a", 0, vec!["a block `nothing`"]),
        (json!([{"toolUse": {"name": "f", "input": {}}}]), "", 1, vec!["no id"]),
        (
            json!([{"toolUse": {"toolUseId": "x", "name": "f", "input": "{\"a\": 1}"}}]),
            "",
            1,
            vec!["a string instead"],
        ),
    ] {
        let reply = read(&reply_to(&content, if calls > 0 { "tool_use" } else { "end_turn" }));
        assert_eq!((reply.text.as_str(), reply.calls.len()), (text, calls), "{content}");
        names_of(&reply.oddities, &oddities);
    }
}

#[test]
fn every_reason_to_stop_is_told_apart() {
    for (reason, stop, oddities) in [
        ("end_turn", StopReason::Ended, vec![]),
        ("stop_sequence", StopReason::Ended, vec![]),
        ("tool_use", StopReason::Ended, vec!["there were no calls"]),
        ("max_tokens", StopReason::Length, vec!["cut off"]),
        ("model_context_window_exceeded", StopReason::Length, vec!["cut off"]),
        ("guardrail_intervened", StopReason::Refused, vec!["blocked"]),
        ("content_filtered", StopReason::Refused, vec!["blocked"]),
        (
            "malformed_tool_use",
            StopReason::Other("malformed_tool_use".to_owned()),
            vec!["malformed_tool_use"],
        ),
        ("later", StopReason::Other("later".to_owned()), vec!["not documented"]),
        ("", StopReason::Ended, vec!["no `stopReason`"]),
    ] {
        let reply = read(&reply_to(&json!([{"text": "a"}]), reason));
        assert_eq!(reply.stop, stop, "{reason}");
        names_of(&reply.oddities, &oddities);
    }
}

/// The forms of "Converse", "Errors": `{"message": ..}` with a status.
#[test]
fn errors_have_their_message() {
    let fail = |status, message: &str| {
        Bedrock.reply(status, json!({ "message": message }).to_string().as_bytes()).unwrap_err()
    };
    let throttled = fail(429, "Too many requests, please wait before trying again.");
    assert!(throttled.is_worth_retrying(429), "{throttled}");
    let invalid = fail(400, "The provided model identifier is invalid.");
    assert!(!invalid.is_worth_retrying(400) && !invalid.is_context_overflow(400), "{invalid}");
    let long = fail(400, "Input is too long for requested model.");
    assert!(long.is_context_overflow(400), "{long}");
    let empty = Bedrock.reply(200, b"{\"metrics\": {}}").unwrap_err();
    assert!(matches!(&empty, ReplyError::Unreadable { reason } if reason.contains("no `output`")), "{empty}");
}

#[test]
fn no_name_of_a_model_leads_to_another_path() {
    let name = "bedrock:arn:aws:bedrock:us-east-1:1234:inference-profile/eu.anthropic.claude/../../x?y#z";
    let name = ModelName::parse(name).unwrap();
    let written = Bedrock.request(name.target(), &Request::default(), ImageData::Hash);
    let path = "model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1234%3Ainference-profile%2Feu.anthropic.claude%2F..%2F..%2Fx%3Fy%23z/converse";
    assert_eq!(written.path, path);
}
