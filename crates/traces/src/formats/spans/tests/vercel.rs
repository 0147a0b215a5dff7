use serde_json::{Value, json};

use super::{all, span};
use crate::testing::shown;

fn ai(id: &str, trace: &str, times: (u64, u64), operation: &str, more: Value) -> Value {
    let mut attributes = json!({"ai.operationId": operation, "ai.telemetry.functionId": "f"});
    for (key, value) in more.as_object().unwrap() {
        attributes[format!("ai.{key}")] = value.clone();
    }
    let mut span = span(id, "", times, attributes);
    span["traceId"] = json!(trace);
    span
}

#[test]
fn spans_of_the_ai_sdk_without_a_context_are_put_together() {
    let calls = json!([{"toolCallId": "1", "toolName": "a", "input": "{\"n\""}, {"toolCallId": "2", "toolName": "b", "input": "{}"}]);
    let messages = json!([{"role": "user", "content": "Go"}, {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "1",
        "toolName": "a", "output": {"type": "error-text", "value": "broken"}}]}]);
    let (format, traces) = all(&[
        ai(
            "x",
            "1",
            (1, 10),
            "ai.generateText",
            json!({"prompt": {"prompt": "Go"}, "response.text": "Done", "usage.inputTokens": 9}),
        ),
        ai(
            "r",
            "2",
            (2, 3),
            "ai.generateText.doGenerate",
            json!({"response.toolCalls": calls, "usage.inputTokens": 4}),
        ),
        ai(
            "b",
            "3",
            (4, 5),
            "ai.toolCall",
            json!({"toolCall.id": "2", "toolCall.name": "b", "toolCall.args": "{}", "toolCall.result": "\"fine\""}),
        ),
        ai(
            "s",
            "4",
            (6, 7),
            "ai.generateText.doGenerate",
            json!({"prompt.messages": messages, "response.text": "Done", "usage.inputTokens": 5}),
        ),
    ]);
    assert_eq!((format, traces.len()), ("vercel-ai-telemetry", 1));
    assert_eq!(shown(&traces[0]), [r#"a({"n")=broken! b({})=fine"#]);
    assert_eq!((traces[0].final_reply.as_deref(), traces[0].usage.input), (Some("Done"), Some(9)));
    assert_eq!(traces[0].question.as_ref().unwrap().text(), "Go");
}
