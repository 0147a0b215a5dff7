use crate::testing::{read_text, shown};

const START: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}
{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"shop"}}}
"#;

#[test]
fn ids_of_both_sides_are_independent_and_texts_are_no_numbers() {
    let text = format!(
        "{START}{}",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","_meta":{"traceparent":"00-abc-def-01"}}}
{"jsonrpc":"2.0","id":"2","method":"tools/call","params":{"name":"b","arguments":{"x":1}}}
{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage","params":{}}
{"jsonrpc":"2.0","id":2,"result":{"role":"assistant","content":{"type":"text","text":"no"},"model":"m"}}
{"jsonrpc":"2.0","id":"2","result":{"content":[{"type":"text","text":"B"}],"isError":true}}
{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"A"}]}}
{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{}}
{"jsonrpc":"2.0","id":3,"result":{"contents":[]}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"c","arguments":{}}}
{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"bad"}}"#
    );
    let (format, kept) = read_text("wire.jsonl", &text).unwrap();
    assert_eq!(format, "mcp");
    let [trace] = &kept.traces[..] else { panic!("{kept:?}") };
    assert_eq!(shown(trace), [r#"shop/a({})=A shop/b({"x":1})=B!"#, "shop/c({})=bad!"]);
    assert_eq!((&trace.id, &trace.origin), (&None, &vec![("trace_id", "abc".to_owned())]));
}

#[test]
fn with_directions_an_answer_is_of_the_other_side() {
    let line = |from: &str, at: u64, message: &str| {
        format!("{{\"ts\": {at}, \"dir\": \"{from}\", \"msg\": {message}}}\n")
    };
    let text = [
        line("c", 10, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#),
        line("s", 11, r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}"#),
        line("c", 12, r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"refused"}}"#),
        line(
            "s",
            13,
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"resource","resource":{"uri":"u","text":"T"}}]}}"#,
        ),
    ];
    let (_, kept) = read_text("wire.jsonl", &text.concat()).unwrap();
    assert_eq!(shown(&kept.traces[0]), ["a({})=T"]);
    assert_eq!((kept.traces[0].steps[0][0].seconds, kept.traces[0].seconds), (Some(3.0), Some(3.0)));
}

#[test]
fn a_call_that_is_cancelled_ends_and_a_new_initialize_begins_a_trajectory() {
    let call = |id: u64| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"a\"}}}}\n"
        )
    };
    let done = |id: u64| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[],\"structuredContent\":{{\"n\":1}}}}}}\n"
        )
    };
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
    let batch = format!("[{},{}]\n", call(4).trim(), call(5).trim());
    let text =
        [START, &call(2), cancelled, "\n", &done(2), &call(3), &done(3), START, &batch, &done(5), &done(4)];
    let (_, kept) = read_text("wire.jsonl", &text.concat()).unwrap();
    let all: Vec<(Option<&str>, Vec<String>)> =
        kept.traces.iter().map(|it| (it.id.as_deref(), shown(it))).collect();
    let own = r#"shop/a({})={"n":1}"#.to_owned();
    let first = vec!["shop/a({})=-".to_owned(), own.clone()];
    assert_eq!(all, [(Some("0"), first), (Some("1"), vec![format!("{own} {own}")])]);
}

#[test]
fn a_message_can_be_a_text_in_an_envelope() {
    let call = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a"}}"#;
    let line = format!("{{\"time\": \"2026-01-01T00:00:00Z\", \"data\": {call:?}}}\n");
    let (format, kept) =
        read_text("wire.jsonl", &[&line, "{\"time\": 1, \"note\": \"x\"}\n"].concat()).unwrap();
    assert_eq!((format, shown(&kept.traces[0])), ("mcp", vec!["a({})=-".to_owned()]));
    assert_eq!(kept.warnings, ["lines without a JSON-RPC message, left out: 1"]);
}

#[test]
fn files_without_calls_or_without_arguments_are_refused() {
    let reason = |name, text| read_text(name, text).unwrap_err();
    assert!(reason("wire.jsonl", START).contains("no request `tools/call`"));
    let log = "2026-02-01T10:00:00.000Z [info] [shop] Server started\n\
               2026-02-01T10:00:00.000Z [info] [shop] Message from client: method=\"tools/call\" id=3 params\n\
               2026-02-01T10:00:00.000Z [info] [shop] Message from server: id=3 result\n";
    assert!(reason("mcp-server-shop.log", log).contains("no arguments"));
    let log = "{\"debug\":\"Calling MCP tool: lookup\",\"timestamp\":\"2026-02-01T10:00:00.000Z\",\
               \"sessionId\":\"s\",\"cwd\":\"/\"}\n";
    assert!(reason("x.jsonl", &[log, log].concat()).contains("not with what arguments"));
}

#[test]
fn a_log_has_the_server_in_its_lines_or_its_name() {
    let text = "2025-10-01T10:00:00.000Z [info] Message from client: \
                {\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}} { metadata: undefined }\n\
                2025-10-01T10:00:01.000Z [info] Message from server: {\"jsonrpc\":\"2.0\",\"id\":0,\"resu\n";
    let (format, kept) = read_text("mcp-server-shop.log", text).unwrap();
    assert_eq!((format, shown(&kept.traces[0])), ("mcp-log", vec!["shop/a({})=-".to_owned()]));
    assert_eq!(kept.warnings, ["a message that is no JSON, left out: it was cut"]);
}

#[test]
fn messages_of_other_kinds_in_envelopes_are_no_traffic() {
    let line = "{\"message\": {\"role\": \"user\", \"content\": \"Message from client: {}\"}}\n";
    assert_eq!(read_text("x.jsonl", &line.repeat(2)).unwrap().0, "messages");
    let line = "{\"error\": \"x\", \"timestamp\": \"2026-02-01T10:00:00.000Z\", \"type\": \"assistant\"}\n";
    assert_eq!(read_text("x.jsonl", &line.repeat(2)).unwrap_err(), "not recognized");
}
