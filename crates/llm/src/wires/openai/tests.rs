//! Replies of chat completions as OpenAI documents them ("The chat completion object"), and as other servers
//! write them: vLLM, Ollama, DeepSeek, Mistral, Moonshot, OpenRouter, xAI.

use serde_json::{Value, json};

use super::OpenAi;
use crate::wires::tests::{call, names_of};
use crate::wires::{ReplyError, Wire as _};
use crate::{Arguments, Reply, ReplyCall, StopReason, Usage};

fn read(body: &Value) -> Reply {
    OpenAi.reply(200, body.to_string().as_bytes()).unwrap()
}

fn read_message(message: &Value, finish: &str) -> Reply {
    read(&json!({ "choices": [{ "index": 0, "message": message, "finish_reason": finish }] }))
}

#[test]
fn a_documented_reply_is_read_without_an_oddity() {
    let reply = read(&json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-5-2025-08-07",
        "choices": [{
            "index": 0, "finish_reason": "tool_calls", "logprobs": null,
            "message": { "role": "assistant", "content": null, "refusal": null, "annotations": [], "tool_calls": [
                { "id": "call_a", "type": "function", "function": { "name": "clock", "arguments": "{\"zone\":\"UTC\"}" } },
                { "id": "call_b", "type": "function", "function": { "name": "now", "arguments": "{}" } },
            ] },
        }],
        "usage": {
            "prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99,
            "prompt_tokens_details": { "cached_tokens": 64, "audio_tokens": 0 },
            "completion_tokens_details": { "reasoning_tokens": 7, "audio_tokens": 0 },
        },
        "service_tier": "something new",
    }));
    assert_eq!(reply.text, "");
    assert_eq!(
        reply.calls,
        [call("call_a", "clock", json!({"zone": "UTC"})), call("call_b", "now", json!({}))]
    );
    assert_eq!(reply.stop, StopReason::Calls);
    assert_eq!(reply.model.as_deref(), Some("gpt-5-2025-08-07"));
    let usage = Usage {
        input_tokens: Some(82),
        cached_input_tokens: Some(64),
        output_tokens: Some(17),
        reasoning_tokens: Some(7),
        ..Usage::default()
    };
    assert_eq!(reply.usage, usage);
    assert_eq!(reply.oddities, Vec::<String>::new());
}

#[test]
fn texts_and_thoughts_are_found_wherever_they_are() {
    for (message, text, thoughts, oddities) in [
        (json!({"content": "hello"}), "hello", "", vec![]),
        (json!({"content": null}), "", "", vec!["neither text nor calls"]),
        (json!({}), "", "", vec!["neither text nor calls"]),
        (
            json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
            "ab",
            "",
            vec!["a list of parts"],
        ),
        (
            json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "t"}]}, {"type": "text", "text": "b"}]}),
            "b",
            "t",
            vec!["a list of parts"],
        ),
        (json!({"content": ["a", {"type": "audio"}]}), "a", "", vec!["a list of parts", "type `audio`"]),
        (json!({"content": {"answer": 1}}), "{\"answer\":1}", "", vec!["neither text nor parts"]),
        (json!({"content": "x", "reasoning_content": "why"}), "x", "why", vec![]),
        (json!({"content": "x", "reasoning": "why"}), "x", "why", vec![]),
        (json!({"content": "<think>why</think>\n\nx"}), "x", "why", vec!["in `<think>`"]),
        (json!({"content": "why</think>x"}), "x", "why", vec!["without a `<think>`"]),
        (json!({"content": "<think>why"}), "", "why", vec!["never ended", "neither text nor calls"]),
        (json!({"content": "<|begin_of_box|>{}<|end_of_box|>"}), "{}", "", vec!["begin_of_box"]),
        (json!({"content": "Sure:\n```json\n{}\n```"}), "Sure:\n```json\n{}\n```", "", vec![]),
    ] {
        let reply = read_message(&message, "stop");
        assert_eq!((reply.text.as_str(), reply.thoughts.as_str()), (text, thoughts), "{message}");
        names_of(&reply.oddities, &oddities);
        assert_eq!(reply.stop, StopReason::Ended);
        assert_eq!(reply.raw.as_ref(), Some(&message));
    }
}

#[test]
fn sloppy_calls_are_read_and_what_is_no_object_stays_text() {
    let function = json!({"name": "f", "arguments": "{\"a\":1}"});
    let good = |id: &str| call(id, "f", json!({"a": 1}));
    let bad = |text: &str| {
        let mut bad = call("x", "f", json!({}));
        bad.arguments = Arguments::Malformed(text.to_owned());
        bad
    };
    let absent = || ReplyCall { arguments: Arguments::Absent, ..call("x", "f", json!({})) };
    let with = |arguments: Value| json!([{"id": "x", "type": "function", "function": {"name": "f", "arguments": arguments}}]);
    for (calls, expected, oddities) in [
        (json!([{"id": "x", "function": function}]), vec![good("x")], vec!["no `type`"]),
        (json!([{"type": "function", "function": function}]), vec![good("call_1")], vec!["no id"]),
        (json!([{"id": 7, "type": "function", "function": function}]), vec![good("7")], vec![]),
        (
            json!([
                {"id": "x", "type": "function", "function": function},
                {"id": "x", "type": "function", "function": function},
            ]),
            vec![good("x"), good("call_2")],
            vec!["the same id"],
        ),
        (
            json!([{"id": "x", "type": "f", "name": "f", "arguments": "{\"a\":1}"}]),
            vec![good("x")],
            vec!["type `f`", "no `function`"],
        ),
        (
            json!({"id": "x", "type": "function", "function": function}),
            vec![good("x")],
            vec!["instead of a list"],
        ),
        (with(json!({"a": 1})), vec![good("x")], vec!["an object instead of a string"]),
        (with(json!("\"{\\\"a\\\":1}\"")), vec![good("x")], vec!["encoded twice"]),
        (with(json!("")), vec![absent()], vec!["had no arguments"]),
        (with(json!("{\"a\":")), vec![bad("{\"a\":")], vec!["cut off; they were kept"]),
        (with(json!("a=1")), vec![bad("a=1")], vec!["not JSON"]),
        (with(json!([1])), vec![bad("[1]")], vec!["no JSON object"]),
        (with(Value::Null), vec![absent()], vec!["had no arguments"]),
    ] {
        let reply = read_message(&json!({"content": null, "tool_calls": calls}), "tool_calls");
        assert_eq!(reply.calls, expected, "{calls}");
        names_of(&reply.oddities, &oddities);
        assert_eq!(reply.stop, StopReason::Calls);
    }
    let legacy = json!({"content": null, "function_call": function});
    let reply = read_message(&legacy, "function_call");
    assert_eq!((reply.calls, reply.stop), (vec![good("call_1")], StopReason::Calls));
    names_of(&reply.oddities, &["`function_call`"]);
    let reply = read_message(&json!({"content": "a", "tool_calls": [null, 1, "x"]}), "stop");
    assert_eq!(reply.calls.len(), 3);
    assert!(reply.calls.iter().all(|call| call.name.is_empty() && call.arguments == Arguments::Absent));
}

#[test]
fn every_reason_to_stop_is_told_apart() {
    for (reason, stop, oddity) in [
        (json!("stop"), StopReason::Ended, None),
        (json!("length"), StopReason::Length, Some("the reply was cut off")),
        (json!("content_filter"), StopReason::Refused, Some("blocked the reply: `content_filter`")),
        (json!("tool_calls"), StopReason::Ended, Some("but there were no calls")),
        (json!("eos\u{1b}[2J"), StopReason::Other("eos\\u{1b}[2J".to_owned()), Some("not documented")),
        (Value::Null, StopReason::Ended, Some("no `finish_reason`")),
    ] {
        let reply = read(&json!({"choices": [{"message": {"content": "x"}, "finish_reason": reason}]}));
        assert_eq!(reply.stop, stop);
        names_of(&reply.oddities, oddity.as_slice());
    }
    let reply = read_message(&json!({"content": null, "refusal": "I cannot"}), "stop");
    assert_eq!((reply.text.as_str(), reply.stop), ("I cannot", StopReason::Refused));
    // The model itself refused, so there is no provider's reason.
    assert_eq!(reply.block, None);
    names_of(&reply.oddities, &["the model refused"]);
}

#[test]
fn usage_is_read_from_all_places_and_what_is_not_reported_is_not_zero() {
    let usage = |input, cached, output, reasoning| Usage {
        input_tokens: input,
        cached_input_tokens: cached,
        output_tokens: output,
        reasoning_tokens: reasoning,
        ..Usage::default()
    };
    for (reported, expected) in [
        (json!({"usage": null}), usage(None, None, None, None)),
        (json!({}), usage(None, None, None, None)),
        (json!({"usage": "none"}), usage(None, None, None, None)),
        (
            json!({"usage": {"prompt_tokens": 10.0, "completion_tokens": "5"}}),
            usage(Some(10), None, Some(5), None),
        ),
        (json!({"usage": {"input_tokens": 10, "output_tokens": 5}}), usage(Some(10), None, Some(5), None)),
        (
            json!({"usage": {"prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": 8}}),
            usage(Some(10), Some(8), Some(5), None),
        ),
        (
            json!({"x_groq": {"usage": {"prompt_tokens": 1, "completion_tokens": 2}}}),
            usage(Some(1), None, Some(2), None),
        ),
        // xAI: 10 + 5 + 100 = 115, thoughts not included in the completion.
        (
            json!({"usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115,
                "completion_tokens_details": {"reasoning_tokens": 100}}}),
            usage(Some(10), None, Some(105), Some(100)),
        ),
        (
            json!({"usage": {"prompt_tokens": -3, "completion_tokens_details": 7}}),
            usage(None, None, None, None),
        ),
    ] {
        let mut body = json!({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]});
        body.as_object_mut().unwrap().extend(reported.as_object().unwrap().clone());
        assert_eq!(read(&body).usage, expected, "{reported}");
    }
    let moonshot = json!({"choices": [{"message": {"content": "x"}, "finish_reason": "stop",
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "cached_tokens": 1}}]});
    let reply = read(&moonshot);
    assert_eq!(reply.usage, usage(Some(3), Some(1), Some(4), None));
    names_of(&reply.oddities, &["in another place"]);
}

#[test]
fn errors_are_told_apart_from_replies_with_any_status() {
    let provider = |code: &str, message: &str| ReplyError::Provider {
        code: (!code.is_empty()).then(|| code.to_owned()),
        message: message.to_owned(),
    };
    for (status, body, expected) in [
        (
            429,
            json!({"error": {"message": "m", "type": "insufficient_quota", "param": null, "code": "insufficient_quota"}}),
            provider("insufficient_quota", "m"),
        ),
        (
            429,
            json!({"error": {"message": "m", "type": "insufficient_quota", "code": 429}}),
            provider("insufficient_quota", "m"),
        ),
        (
            400,
            json!({"error": {"message": "m", "type": "invalid_request_error", "code": null}}),
            provider("invalid_request_error", "m"),
        ),
        (
            200,
            json!({"error": {"message": "m\u{7}", "code": 502}, "user_id": "u"}),
            provider("502", "m\\u{7}"),
        ),
        (200, json!({"error": "model not loaded"}), provider("", "model not loaded")),
        (200, json!([{"error": {"message": "m", "code": 500}}]), provider("500", "m")),
        (
            200,
            json!({"object": "error", "message": "m", "type": "BadRequestError", "code": 400}),
            provider("400", "m"),
        ),
        (
            422,
            json!({"detail": [{"loc": ["body"], "msg": "missing"}]}),
            provider("", "[{\"loc\":[\"body\"],\"msg\":\"missing\"}]"),
        ),
        (404, json!({"message": "no route"}), provider("", "no route")),
        (
            200,
            json!({"choices": [{"error": {"code": 502, "message": "upstream"}, "finish_reason": "error", "message": {}}]}),
            provider("502", "upstream"),
        ),
    ] {
        assert_eq!(OpenAi.reply(status, body.to_string().as_bytes()), Err(expected), "{body}");
    }
    for (status, body, reason) in [
        (200, "<html><body>Bad\u{1b}</body></html>", "not JSON: `<html><body>Bad\\u{1b}"),
        (502, "<html>Bad Gateway</html>", "HTTP status 502: `<html>"),
        (503, "", "HTTP status 503"),
        (200, "", "it is empty"),
        (200, "{\"choices\": [", "cut off"),
        (200, "[]", "no JSON object"),
        (200, "null", "no JSON object"),
        (200, "{\"choices\": []}", "are empty"),
        (200, "{\"choices\": null}", "no `choices`"),
        (200, "{\"choices\": [7]}", "no list of objects"),
        (200, "{\"choices\": 7}", "no list of objects"),
        (200, "{}", "no `choices`"),
        (500, "{\"choices\": [{\"message\": {\"content\": \"x\"}}]}", "HTTP status 500"),
    ] {
        match OpenAi.reply(status, body.as_bytes()) {
            Err(ReplyError::Unreadable { reason: given }) => assert!(given.contains(reason), "{given}"),
            other => panic!("{body}: {other:?}"),
        }
    }
    let ok = b"\xef\xbb\xbf{\"error\": null, \"choices\": [{\"text\": \"\xff\"}]}";
    let reply = OpenAi.reply(200, ok).unwrap();
    assert_eq!(reply.text, "\u{fffd}");
    names_of(&reply.oddities, &["not UTF-8", "a text instead of a message", "no `finish_reason`"]);
}
