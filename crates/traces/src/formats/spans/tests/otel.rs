use serde_json::{Value, json};

use super::{agent, assistant, call, chat, failed, notes, one, response, span, tool, user};
use crate::testing::shown;

#[test]
fn results_are_of_the_spans_first_and_arguments_of_the_reply() {
    let output = json!([assistant(json!([call("1", "a", json!("{\"x\"")), call("2", "b", json!({}))]))]);
    let trace = one(&[
        chat("r", "", (1, 2), json!([user("Go")]), output),
        tool(
            "a",
            "",
            (3, 4),
            "a",
            json!({"id": "1", "arguments": "{\"INVALID_JSON\": \"{\"}", "result": "of the span"}),
        ),
        chat(
            "s",
            "",
            (5, 6),
            json!([user("Go"), response("1", "told"), response("2", "told")]),
            json!([assistant(json!([{"type": "text", "content": "Done"}]))]),
        ),
    ]);
    assert_eq!(shown(&trace), [r#"a({"x")=of the span b({})=told"#]);
    assert_eq!(trace.final_reply.as_deref(), Some("Done"));
    assert_eq!(trace.question.unwrap().text(), "Go");
    assert_eq!(trace.steps[0][0].seconds, Some(1.0));
    assert_eq!(trace.seconds, Some(5.0));
}

#[test]
fn ids_that_come_again_are_of_the_reply_before() {
    let output = |name: &str| json!([assistant(json!([call("call_0", name, json!({}))]))]);
    let history = json!([user("Go"), response("call_0", "1"), response("call_0", "2")]);
    let trace = one(&[
        chat("r", "", (1, 2), json!([user("Go")]), output("a")),
        chat("s", "", (3, 4), json!([user("Go"), response("call_0", "1")]), output("b")),
        chat("u", "", (5, 6), history, output("c")),
    ]);
    assert_eq!(shown(&trace), ["a({})=1", "b({})=2", "c({})=-"]);
    assert_eq!(trace.final_reply, None);
}

#[test]
fn without_ids_a_span_is_found_by_name_and_arguments_then_by_order() {
    let output = json!([assistant(json!([
        {"type": "tool_call", "name": "a", "arguments": {"n": 1}},
        {"type": "tool_call", "name": "a", "arguments": {"n": 2}},
        {"type": "tool_call", "name": "a", "arguments": "{"}
    ]))]);
    let trace = one(&[
        chat("r", "", (1, 2), json!([]), output),
        tool("y", "", (3, 9), "a", json!({"arguments": "{\"n\": 2}", "result": "two"})),
        tool("z", "", (4, 5), "a", json!({"arguments": "{\"repaired\": 1}", "result": "three"})),
        tool("x", "", (6, 7), "a", json!({"arguments": "{\"n\": 1.0}", "result": "one"})),
    ]);
    assert_eq!(shown(&trace), [r#"a({"n":1})=one a({"n":2})=two a({)=three"#]);
}

#[test]
fn spans_of_tools_alone_are_a_step_if_their_times_overlap() {
    let trace = one(&[
        agent("boss", "", (1, 20), json!({})),
        tool("a", "boss", (2, 4), "a", json!({})),
        tool("b", "boss", (3, 5), "b", json!({})),
        tool("c", "boss", (5, 6), "c", json!({})),
        tool("d", "", (5, 6), "d", json!({})),
    ]);
    assert_eq!(shown(&trace), ["a(-)=- b(-)=-", "c(-)=-", "d(-)=-"]);
    assert_eq!(notes(&trace), ["a call whose step is judged by its time"]);
}

#[test]
fn a_reply_without_content_divides_calls() {
    let trace = one(&[
        span("r", "", (1, 2), json!({"gen_ai.operation.name": "chat"})),
        tool("a", "", (3, 9), "a", json!({})),
        span("s", "", (4, 5), json!({"gen_ai.operation.name": "chat"})),
        tool("b", "", (6, 7), "b", json!({})),
    ]);
    assert_eq!(shown(&trace), ["a(-)=-", "b(-)=-"]);
}

#[test]
fn three_layers_are_one_call() {
    let layer = |id: &str, parent: &str, times, more: Value| {
        let mut attributes = json!({"mcp.method.name": "tools/call"});
        for (key, value) in more.as_object().unwrap() {
            attributes[key] = value.clone();
        }
        span(id, parent, times, attributes)
    };
    let named = json!({"gen_ai.tool.name": "look", "gen_ai.operation.name": "execute_tool", "error.type": "tool_error"});
    let trace = one(&[
        chat("r", "", (1, 2), json!([]), json!([assistant(json!([call("1", "look", json!({}))]))])),
        tool("o", "", (3, 9), "look", json!({"id": "1", "result": "no"})),
        layer("m", "o", (4, 8), named),
        layer("i", "m", (5, 7), json!({})),
        layer("server", "i", (6, 7), json!({"gen_ai.tool.name": "look", "fastmcp.server.name": "shop"})),
        span("list", "o", (4, 5), json!({"mcp.method.name": "tools/list"})),
    ]);
    assert_eq!(shown(&trace), ["shop/look({})=no!"]);
    assert_eq!(trace.steps[0][0].error_type.as_deref(), Some("tool_error"));
    assert!(trace.nested.is_empty());
    // A call that another one makes is no layer of it.
    let trace = one(&[tool("o", "", (3, 9), "look", json!({})), tool("i", "o", (4, 5), "fetch", json!({}))]);
    assert_eq!(
        (shown(&trace), shown(&trace.nested[0].1)),
        (vec!["look(-)=-".to_owned()], vec!["fetch(-)=-".to_owned()])
    );
}

#[test]
fn what_is_below_a_call_is_nested_unless_control_is_passed() {
    let spans = |mode: Value| {
        [
            agent("boss", "", (1, 20), json!({})),
            tool("go", "boss", (2, 10), "go", json!({})),
            agent("helper", "go", (3, 9), mode),
            tool("x", "helper", (4, 5), "x", json!({})),
            agent("inner", "helper", (6, 8), json!({})),
            tool("y", "inner", (6, 7), "y", json!({})),
        ]
    };
    let trace = one(&spans(json!({})));
    assert_eq!(shown(&trace), ["go(-)=-"]);
    assert_eq!(
        (&*trace.nested[0].0, shown(&trace.nested[0].1)),
        ("helper", vec!["x(-)=-".to_owned(), "y(-)=-".to_owned()])
    );
    let trace = one(&spans(json!({"gen_ai.transfer.mode": "return_to_caller"})));
    assert_eq!(shown(&trace.nested[0].1), ["x(-)=-", "y(-)=-"]);
    // Without a call above, the mode decides.
    let below = |mode: &str| {
        one(&[
            agent("boss", "", (1, 20), json!({})),
            tool("a", "boss", (2, 3), "a", json!({})),
            agent("helper", "boss", (4, 9), json!({"gen_ai.transfer.mode": mode})),
            tool("x", "helper", (4, 5), "x", json!({})),
        ])
    };
    assert_eq!(shown(&below("pass_control")), ["a(-)=-", "x(-)=-"]);
    let trace = below("return_to_caller");
    assert_eq!((shown(&trace), &*trace.nested[0].0), (vec!["a(-)=-".to_owned()], "helper"));
}

#[test]
fn content_that_was_cut_is_not_captured() {
    let cut = format!("[{{\"role\": \"assistant\", \"x\": \"{}", "y".repeat(4096));
    let cut = &cut[..4096];
    let trace = one(&[
        span("r", "", (1, 2), json!({"gen_ai.operation.name": "chat", "gen_ai.output.messages": cut})),
        tool("a", "", (3, 4), "a", json!({"arguments": "{\"n\": 1}", "result": "fine"})),
    ]);
    assert_eq!(shown(&trace), [r#"a({"n":1})=fine"#]);
    assert!(notes(&trace).contains(&"content that was cut by a limit of length is not captured"));
    // The arguments alone: the span of the tool has them whole.
    let arguments = format!("{{\"n\": \"{}", "1".repeat(4089));
    assert_eq!(arguments.len(), 4096);
    let trace = one(&[
        chat("r", "", (1, 2), json!([]), json!([assistant(json!([call("1", "a", json!(arguments))]))])),
        tool("a", "", (3, 4), "a", json!({"id": "1", "arguments": "{\"n\": 1}"})),
    ]);
    assert_eq!(shown(&trace), [r#"a({"n":1})=-"#]);
}

#[test]
fn failed_requests_and_other_choices_are_left_out() {
    let choices =
        json!(
            [assistant(json!([call("1", "a", json!({}))])), assistant(json!([call("2", "b", json!({}))])),]
        );
    let trace = one(&[
        failed(chat("r", "", (1, 2), json!([user("Go")]), Value::Null), "429"),
        chat("s", "", (3, 4), json!([user("Go")]), choices.clone()),
        tool("b", "", (5, 6), "b", json!({"id": "2", "result": "fine"})),
    ]);
    assert_eq!(shown(&trace), ["b({})=fine"]);
    assert_eq!(
        notes(&trace),
        ["a request to the model that failed is left out", "another choice of the same reply is left out"]
    );
    assert_eq!(shown(&one(&[chat("s", "", (3, 4), json!([]), choices)])), ["a({})=-"]);
}

#[test]
fn a_reply_that_is_not_recorded_is_in_the_next_request() {
    let reply = assistant(json!([call("1", "a", json!({}))]));
    let trace = one(&[
        chat("r", "", (1, 2), json!([user("Go")]), Value::Null),
        chat(
            "s",
            "",
            (3, 4),
            json!([user("Go"), reply, response("1", "fine")]),
            json!([assistant(json!([{"type": "text", "content": "Yes"}]))]),
        ),
    ]);
    assert_eq!(shown(&trace), ["a({})=fine"]);
    assert_eq!(trace.final_reply.as_deref(), Some("Yes"));
}

#[test]
fn calls_of_the_provider_have_their_results_beside_them() {
    let parts = json!([
        {"type": "server_tool_call", "id": "1", "name": "web_search", "server_tool_call": {"type": "web_search", "query": "x"}},
        {"type": "server_tool_call_response", "id": "1", "server_tool_call_response": {"type": "web_search", "response": "found"}},
        {"type": "tool_call", "id": "2", "name": "a"},
        {"type": "tool_call_response", "id": "2", "result": "built in"},
        {"type": "text", "content": "So it is."}
    ]);
    let trace = one(&[chat("r", "", (1, 2), json!([user("Go")]), json!([assistant(parts)]))]);
    assert_eq!(shown(&trace), [r#"web_search({"query":"x"})=found"#, "a(-)=built in"]);
    assert_eq!(trace.final_reply.as_deref(), Some("So it is."));
}

#[test]
fn events_of_a_span_and_flat_attributes_hold_messages() {
    let event = |name: &str, attributes: Value| {
        let mut event = span("", "", (0, 0), attributes);
        event["name"] = json!(name);
        event
    };
    let mut old =
        span("r", "", (1, 2), json!({"gen_ai.operation.name": "chat", "gen_ai.usage.prompt_tokens": 3}));
    old["events"] = json!([
        event("gen_ai.user.message", json!({"content": "[1, 2]"})),
        event(
            "gen_ai.choice",
            json!({"index": 0, "message":
            {"tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}}]}})
        ),
    ]);
    let next = span(
        "s",
        "",
        (3, 4),
        json!({
        "llm.request.type": "chat", "gen_ai.usage.completion_tokens": 4, "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "[1, 2]",
        "gen_ai.prompt.1.role": "tool", "gen_ai.prompt.1.content": "fine",
        "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "Done"}),
    );
    let trace = one(&[old, next]);
    assert_eq!(shown(&trace), ["a({})=fine"]);
    assert_eq!(trace.question.as_ref().unwrap().text(), "[1, 2]");
    assert_eq!(trace.final_reply.as_deref(), Some("Done"));
    assert_eq!((trace.usage.input, trace.usage.output), (Some(3), Some(4)));
}

#[test]
fn an_agent_may_hold_all_messages_itself() {
    let messages = json!([user("Go"), assistant(json!([call("1", "a", json!("{}"))])),
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "result": "told"}]},
        assistant(json!([{"type": "text", "content": "Done"}]))]);
    let trace = one(&[
        agent(
            "boss",
            "",
            (1, 9),
            json!({"pydantic_ai.all_messages": messages, "gen_ai.aggregated_usage.input_tokens": 9}),
        ),
        failed(tool("a", "boss", (2, 3), "a", json!({"id": "1"})), "broken"),
    ]);
    assert_eq!(shown(&trace), ["a({})=told!"]);
    assert_eq!((trace.final_reply.as_deref(), trace.usage.input), (Some("Done"), None));
    let trace = one(&[
        agent("boss", "", (1, 9), json!({"final_result": "42"})),
        tool("a", "boss", (2, 3), "a", json!({"result": "9"})),
    ]);
    assert_eq!(trace.final_reply.as_deref(), Some("42"));
}

#[test]
fn two_layers_of_one_reply_count_once() {
    let mut outer =
        chat("r", "", (1, 4), json!([user("Go")]), json!([assistant(json!([call("1", "a", json!({}))]))]));
    let mut inner = outer.clone();
    for (span, tokens) in [(&mut outer, "5"), (&mut inner, "5")] {
        let usage = json!({"key": "gen_ai.usage.input_tokens", "value": {"intValue": tokens}});
        span["attributes"].as_array_mut().unwrap().push(usage);
    }
    inner["spanId"] = json!("inner");
    inner["parentSpanId"] = json!("r");
    let trace = one(&[outer, inner]);
    assert_eq!((shown(&trace), trace.usage.input), (vec!["a({})=-".to_owned()], Some(5)));
}

#[test]
fn turns_before_the_trace_are_left_out() {
    let history = json!([
        user("First"),
        assistant(json!([call("0", "old", json!({}))])),
        response("0", "x"),
        assistant(json!([{"type": "text", "content": "There"}])),
        user("Second")
    ]);
    let trace =
        one(&[chat("r", "", (1, 2), history, json!([assistant(json!([call("1", "a", json!({}))]))]))]);
    assert_eq!(
        (shown(&trace), trace.question.unwrap().text()),
        (vec!["a({})=-".to_owned()], "Second".to_owned())
    );
}

#[test]
fn a_call_passes_control_and_two_spans_of_an_agent_are_one() {
    let mut go = tool("go", "boss", (2, 10), "go", json!({}));
    let mode = json!({"key": "gen_ai.transfer.mode", "value": {"stringValue": "pass_control"}});
    go["attributes"].as_array_mut().unwrap().push(mode);
    let trace = one(&[
        agent("boss", "", (1, 20), json!({})),
        go,
        agent("helper", "go", (3, 9), json!({})),
        tool("x", "helper", (4, 5), "x", json!({})),
    ]);
    assert_eq!((shown(&trace), trace.nested.len()), (vec!["go(-)=-".to_owned(), "x(-)=-".to_owned()], 0));
    let trace = one(&[
        agent("client", "", (1, 20), json!({"gen_ai.agent.name": "boss"})),
        agent("internal", "client", (2, 19), json!({"gen_ai.agent.name": "boss"})),
        tool("a", "client", (3, 5), "a", json!({})),
        tool("b", "internal", (4, 6), "b", json!({})),
    ]);
    assert_eq!(shown(&trace), ["a(-)=- b(-)=-"]);
}

#[test]
fn a_reply_that_was_tried_again_is_left_out() {
    let output = |id: &str| json!([assistant(json!([call(id, "a", json!({"id": id}))]))]);
    let trace = one(&[
        chat("r", "", (1, 2), json!([user("Go")]), output("1")),
        chat("s", "", (3, 4), json!([user("Go")]), output("2")),
        chat("u", "", (5, 6), json!([user("Go"), output("2")[0], response("2", "fine")]), output("3")),
    ]);
    assert_eq!(shown(&trace), [r#"a({"id":"2"})=fine"#, r#"a({"id":"3"})=-"#]);
    assert_eq!(notes(&trace), ["a reply that was not gone on with is left out"]);
    // Two questions are no second try.
    let trace = one(&[
        chat("r", "", (1, 2), json!([user("Go")]), output("1")),
        chat("s", "", (3, 4), json!([user("And now?")]), output("2")),
    ]);
    assert_eq!(trace.call_count(), 2);
}

#[test]
fn several_messages_that_are_all_gone_on_with_are_no_choices() {
    let output =
        json!([assistant(json!([call("1", "a", json!({}))])), assistant(json!([call("2", "b", json!({}))]))]);
    let result = json!({"role": "tool", "tool_call_id": "2", "parts": [{"type": "text", "content": "two"}]});
    let trace = one(&[
        chat("r", "", (1, 2), json!([user("Go")]), output),
        chat("s", "", (3, 4), json!([user("Go"), response("1", "one"), result]), json!(null)),
    ]);
    assert_eq!(shown(&trace), ["a({})=one b({})=two"]);
}
