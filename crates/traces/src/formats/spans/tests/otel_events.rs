//! Spans whose messages stand in events: as JSON in texts, and one event for the request, one for the reply.

use serde_json::json;

use super::{agent, assistant, call, one, response, span, tool, user, with_event};
use crate::testing::shown;

#[test]
fn messages_of_events_may_be_json_in_texts() {
    let question = json!([{"text": "Go"}]);
    let blocks = json!([{"text": "ok"}, {"toolUse": {"toolUseId": "1", "name": "f", "input": {"a": 1}}},
        {"toolUse": {"toolUseId": "2", "name": "f", "input": {"a": 2}}}]);
    let operation = json!({"gen_ai.operation.name": "chat"});
    let reply = with_event(
        span("r", "a", (2, 3), operation.clone()),
        "gen_ai.user.message",
        &[("content", question.clone())],
    );
    let reply = with_event(reply, "gen_ai.choice", &[("message", blocks)]);
    let run = |id: &str, name: &str, arguments: serde_json::Value| {
        let run = tool(name, "a", (4, 5), "f", json!({"id": id}));
        let run = with_event(run, "gen_ai.tool.message", &[("content", arguments), ("id", json!(id))]);
        with_event(run, "gen_ai.choice", &[("message", json!([{"text": "r"}])), ("id", json!(id))])
    };
    let last = with_event(
        span("l", "a", (6, 7), operation),
        "gen_ai.choice",
        &[("message", json!([{"text": "Done"}]))],
    );
    let root = with_event(agent("a", "", (1, 8), json!({})), "gen_ai.user.message", &[("content", question)]);
    let root = with_event(root, "gen_ai.choice", &[("message", json!("Done"))]);
    let trace = one(&[root, reply, run("1", "x", json!({"a": 1})), run("2", "y", json!({"a": 2})), last]);
    assert_eq!(shown(&trace), [r#"f({"a":1})=r f({"a":2})=r"#]);
    assert_eq!(trace.question.unwrap().text(), "Go");
    assert_eq!(trace.final_reply.as_deref(), Some("Done"));
}

#[test]
fn request_and_reply_may_be_two_events_of_one_name() {
    let details = "gen_ai.client.inference.operation.details";
    let with = |span, input, output| {
        let span = with_event(span, details, &[("gen_ai.input.messages", input)]);
        with_event(span, details, &[("gen_ai.output.messages", output)])
    };
    let (input, calls) = (json!([user("Go")]), json!([assistant(json!([call("1", "f", json!({"a": 1}))]))]));
    let done = json!([assistant(json!([{"type": "text", "content": "Done"}]))]);
    let root = with(agent("a", "", (1, 8), json!({})), input.clone(), done.clone());
    let chat = |id: &str, times| span(id, "a", times, json!({"gen_ai.operation.name": "chat"}));
    // A tool's span may hold the conversation before it: its own call is the one with its id.
    let history = json!([
        assistant(json!([call("0", "g", json!({"b": 9}))])),
        response("0", "of g"),
        assistant(json!([call("1", "f", json!({"a": 1}))]))
    ]);
    let run = with(tool("x", "a", (4, 5), "f", json!({"id": "1"})), history, json!([response("1", "r")]));
    let trace = one(&[
        root,
        with(chat("r", (2, 3)), input.clone(), calls),
        run,
        with(chat("l", (6, 7)), input, done),
    ]);
    assert_eq!(shown(&trace), [r#"f({"a":1})=r"#]);
    assert_eq!(trace.question.unwrap().text(), "Go");
    assert_eq!(trace.final_reply.as_deref(), Some("Done"));
}
