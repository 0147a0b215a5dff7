//! Tests of what all wires have in common, and helpers for the tests of single wires.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{ImageData, implementation};
use crate::{
    Arguments, Assistant, Message, ModelName, Part, ReplyCall, Request, ToolDefinition, ToolDefinitions,
    WireKind,
};

const ALL: [WireKind; 4] = [WireKind::OpenAi, WireKind::Anthropic, WireKind::Gemini, WireKind::Bedrock];

/// A call with an object.
pub(super) fn call(id: &str, name: &str, arguments: Value) -> ReplyCall {
    let Value::Object(arguments) = arguments else { panic!("{arguments} is no object") };
    ReplyCall { id: id.to_owned(), name: name.to_owned(), arguments: Arguments::Object(arguments) }
}

/// Asserts exactly these oddities, given by a part of each.
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
    let keys = [
        "choices",
        "content",
        "candidates",
        "output",
        "stopReason",
        "usage",
        "usageMetadata",
        "error",
        "stop_reason",
    ];
    let inner = ["message", "content", "parts", "tool_calls", "function_call", "usage", "finish_reason"];
    for kind in ALL {
        let wire = implementation(kind);
        for body in [deep.as_bytes(), nested.as_bytes(), b"", b"\0", b"\xff\xfe", b"nul"] {
            assert!(wire.reply(200, body).is_err());
        }
        for key in keys {
            for value in &values {
                let _ = wire.reply(200, json!({ key: value }).to_string().as_bytes());
                for inner in inner {
                    let nested = json!({ "choices": [{ "message": { inner: value }, inner: value }],
                        "content": [{ "type": "tool_use", inner: value, "input": value }],
                        "output": { "message": { "content": [{ "toolUse": value, inner: value }, { "toolUse": { inner: value, "input": value } }] } },
                        "candidates": [{ "content": { inner: value, "parts": [{ "functionCall": value }, value] } }],
                        key: value });
                    let _ = wire.reply(200, nested.to_string().as_bytes());
                }
            }
        }
    }
}

/// Answers of servers that stream even if not asked to (OpenAI and Gemini; Anthropic).
#[test]
fn a_streamed_answer_is_told_and_not_asked_for_again() {
    for kind in ALL {
        for stream in ["data: {\"choices\": []}\n\ndata: [DONE]\n\n", "event: message_start\ndata: {}\n\n"] {
            let error = implementation(kind).reply(200, stream.as_bytes()).unwrap_err();
            assert!(!error.is_worth_retrying(200));
            let message = error.to_string();
            assert!(
                message.contains("it is streamed") && message.contains("hint: have the server"),
                "{message}"
            );
        }
        // A temporary failure of a server in between is still worth another try.
        assert!(implementation(kind).reply(502, b"data: x").unwrap_err().is_worth_retrying(502));
    }
}

#[test]
fn equal_requests_have_equal_bodies_and_further_keys_come_last() {
    let mut request = Request { system: "s".to_owned(), ..Request::default() };
    request.messages.push(Message::User(vec![Part::Text("hello".to_owned())]).into());
    request.settings.temperature = Some(0.5);
    request.settings.extra =
        json!({"temperature": 1, "generationConfig": {"topK": 3}}).as_object().unwrap().clone();
    for kind in ALL {
        let name = ModelName::parse(&format!("{}:Some/Model:1 x", kind.as_str())).unwrap();
        let write = || implementation(kind).request(name.target(), &request, ImageData::Base64);
        assert_eq!(write().to_bytes(), write().to_bytes());
        assert_eq!(write().into_body()["temperature"], 1);
        match kind {
            WireKind::Gemini => {
                assert_eq!(write().path, "models/Some/Model%3A1%20x:generateContent");
                assert_eq!(write().into_body()["generationConfig"], json!({"temperature": 0.5, "topK": 3}));
            }
            WireKind::Bedrock => {
                assert_eq!(write().path, "model/Some%2FModel%3A1%20x/converse");
                assert_eq!(write().into_body()["inferenceConfig"], json!({"temperature": 0.5}));
            }
            WireKind::OpenAi | WireKind::Anthropic => {
                assert_eq!(write().into_body()["model"], "Some/Model:1 x");
            }
        }
    }
}

#[test]
fn openai_itself_gets_other_names_and_any_string_for_arguments() {
    let mut request = Request::default();
    request.settings.max_output_tokens = Some(9);
    let mut malformed = call("x", "f", json!({}));
    malformed.arguments = Arguments::Malformed("{\"a\":".to_owned());
    request.messages = vec![
        Message::User(vec![Part::Text("hello".to_owned())]).into(),
        Message::Assistant(Assistant { calls: vec![malformed], ..Assistant::default() }).into(),
    ];
    let write = |name: &str| {
        implementation(WireKind::OpenAi).request(
            ModelName::parse(name).unwrap().target(),
            &request,
            ImageData::Hash,
        )
    };
    let arguments = |body: &Value| body["messages"][1]["tool_calls"][0]["function"]["arguments"].clone();
    let own = write("openai:gpt-5").into_body();
    assert_eq!((&own["max_completion_tokens"], &own["max_tokens"]), (&json!(9), &Value::Null));
    assert_eq!(arguments(&own), "{\"a\":");
    let other = write("openai@http://127.0.0.1:8000/v1:m").into_body();
    assert_eq!((&other["max_completion_tokens"], &other["max_tokens"]), (&Value::Null, &json!(9)));
    assert_eq!(arguments(&other), "{\"malformed_arguments\":\"{\\\"a\\\":\"}");
}

#[test]
fn a_reply_goes_back_as_it_came_with_signatures_and_without_thoughts_in_text() {
    let openai = json!({"choices": [{"finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "<think>why</think>So.", "reasoning_content": "more",
        "tool_calls": [{"index": 0, "id": "a", "type": "function", "extra_content": {"google": {"thought_signature": "s"}},
            "function": {"name": "f", "arguments": "{ \"b\" : 1 }"}}],
    }}]});
    let anthropic = json!({"stop_reason": "tool_use", "content": [
        {"type": "thinking", "thinking": "why", "signature": "s"}, {"type": "text", "text": ""},
        {"type": "tool_use", "id": "a", "name": "f", "input": {"b": 1}},
    ]});
    let gemini = json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
        {"text": "why", "thought": true}, {"functionCall": {"name": "f", "args": {"b": 1}}, "thoughtSignature": "s"},
    ]}}]});
    let bedrock = json!({"stopReason": "tool_use", "output": {"message": {"content": [
        {"reasoningContent": {"reasoningText": {"text": "why", "signature": "s"}}}, {"text": ""},
        {"toolUse": {"toolUseId": "a", "name": "f", "input": {"b": 1}}},
    ]}}});
    let expected = [
        json!({"role": "assistant", "content": "So.", "reasoning_content": "more", "tool_calls": [{"id": "a", "type": "function",
            "extra_content": {"google": {"thought_signature": "s"}},
            "function": {"name": "f", "arguments": "{ \"b\" : 1 }"}}]}),
        json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "why", "signature": "s"},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"b": 1}},
        ]}),
        json!({"role": "model", "parts": [
            {"text": "why", "thought": true},
            {"functionCall": {"id": "call_1", "name": "f", "args": {"b": 1}}, "thoughtSignature": "s"},
        ]}),
        json!({"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "why", "signature": "s"}}},
            {"toolUse": {"toolUseId": "a", "name": "f", "input": {"b": 1}}},
        ]}),
    ];
    for ((kind, body), expected) in ALL.into_iter().zip([openai, anthropic, gemini, bedrock]).zip(expected) {
        let reply = implementation(kind).reply(200, body.to_string().as_bytes()).unwrap();
        let hello = Message::User(vec![Part::Text("hello".to_owned())]);
        let messages = vec![hello.into(), Message::Assistant(reply.to_assistant()).into()];
        let request = Request { messages, ..Request::default() };
        let name = ModelName::parse(&format!("{}:m", kind.as_str())).unwrap();
        let body = implementation(kind).request(name.target(), &request, ImageData::Hash).into_body();
        let messages = if kind == WireKind::Gemini { &body["contents"] } else { &body["messages"] };
        assert_eq!(messages[1], expected);
    }
}

#[test]
fn thoughts_without_calls_do_not_go_back_on_chat_completions() {
    let body = json!({"choices": [{"finish_reason": "stop", "message": {
        "role": "assistant", "content": "So.", "reasoning_content": "why", "reasoning_details": [{"type": "reasoning.text"}],
    }}]});
    let reply = implementation(WireKind::OpenAi).reply(200, body.to_string().as_bytes()).unwrap();
    let request =
        Request { messages: vec![Arc::new(Message::Assistant(reply.to_assistant()))], ..Request::default() };
    let name = ModelName::parse("openai:m").unwrap();
    let body = implementation(WireKind::OpenAi).request(name.target(), &request, ImageData::Hash).into_body();
    let details = json!([{"type": "reasoning.text"}]);
    let expected = json!({"role": "assistant", "content": "So.", "reasoning_details": details});
    assert_eq!(body["messages"][0], expected);
}

#[test]
fn what_is_sent_is_what_is_recorded() {
    let tool = ToolDefinition {
        name: "clock".to_owned(),
        description: "Tells \"the time\".".to_owned(),
        schema: json!({"type": "object", "properties": {}}).as_object().unwrap().clone(),
    };
    let own = json!({"tools": [{"own": true}], "top_p": 0.5});
    for kind in ALL {
        let name = ModelName::parse(&format!("{}:m", kind.as_str())).unwrap();
        for (tools, extra) in
            [(1, json!({})), (0, json!({})), (1, json!({"top_p": 0.5})), (1, own.clone()), (0, own.clone())]
        {
            let mut request = Request { tools: vec![tool.clone(); tools].into(), ..Request::default() };
            request.messages.push(Message::User(vec![Part::Text("hello".to_owned())]).into());
            request.settings.extra = extra.as_object().unwrap().clone();
            let written = implementation(kind).request(name.target(), &request, ImageData::Base64);
            let sent: Value = serde_json::from_slice(&written.to_bytes()).unwrap();
            let recorded = written.into_body();
            assert_eq!(sent, recorded, "{kind:?} {tools} {extra}");
            let key = if kind == WireKind::Bedrock { "toolConfig" } else { "tools" };
            match (extra.get(key), tools) {
                (Some(own), _) => assert_eq!(&sent[key], own),
                (None, 0) => assert_eq!(sent.get(key), None),
                (None, _) => assert!(sent[key].to_string().contains("Tells \\\"the time\\\"")),
            }
        }
    }
}

#[test]
fn tools_are_written_for_each_wire_that_asks_for_them() {
    let schema = Map::new();
    let tool = ToolDefinition { name: "f".to_owned(), description: String::new(), schema };
    let tools = ToolDefinitions::from(vec![tool]);
    let request = Request { tools, ..Request::default() };
    let written = |kind: WireKind| {
        let name = ModelName::parse(&format!("{}:m", kind.as_str())).unwrap();
        let key = if kind == WireKind::Bedrock { "toolConfig" } else { "tools" };
        implementation(kind).request(name.target(), &request, ImageData::Hash).into_body()[key].clone()
    };
    let all = ALL.map(written);
    assert_eq!(all[0][0]["type"], "function");
    assert_eq!(all[1][0]["input_schema"]["type"], "object");
    assert_eq!(all[2][0]["functionDeclarations"][0]["name"], "f");
    assert_eq!(all[3]["tools"][0]["toolSpec"]["name"], "f");
}
