//! Calls and their results.

use m3_mcp::{CallError, Content, HostEvent, ServerState, ToolName};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::support::{host, host_with, is_same, m3, object, stub};

#[tokio::test]
async fn a_server_is_started_listed_called_and_closed() {
    let hosting = host("default").await;
    let statuses = hosting.host.statuses().await;
    let ServerState::Ready(ready) = &statuses[0].state else { panic!("{statuses:?}") };
    assert_eq!((ready.name.as_str(), ready.version.as_str()), ("stub", "1.2.3"));
    assert_eq!(ready.protocol_version, "2025-11-25");
    assert_eq!(hosting.host.catalog().len(), ready.tools);
    assert_eq!(hosting.text("echo", json!({"a": "é", "b": [1, 2.5]})).await, r#"{"a":"é","b":[1,2.5]}"#);
    assert!(is_same(hosting.workspace.path(), &hosting.text("cwd", Value::Null).await));
    hosting.close().await;
}

#[tokio::test]
async fn results_of_every_content_type_arrive_as_they_are() {
    let hosting = host("default").await;
    let result = hosting.call("all_contents", Value::Null).await.result.unwrap();
    let kinds: Vec<_> = result.content.iter().map(std::mem::discriminant).collect();
    let resource = |value: Value| Content::Resource(object(value));
    assert_eq!(kinds.len(), 6);
    assert_eq!(result.content[0], Content::Text("words".into()));
    assert_eq!(result.content[1], Content::Image { data: "QUJD".into(), mime_type: "image/png".into() });
    assert_eq!(result.content[2], Content::Audio { data: "QUJD".into(), mime_type: "audio/wav".into() });
    assert!(matches!(&result.content[3], Content::ResourceLink(link) if link["uri"] == "file:///a.txt"));
    assert_eq!(result.content[4], resource(json!({"uri": "file:///b.txt", "text": "inside"})));
    assert_eq!(result.content[5], resource(json!({"uri": "file:///c.bin", "blob": "QUJD"})));
    assert_eq!(result.structured_content, Some(json!({"n": 6})));
    assert_eq!(result.extra["extension"], json!({"kept": true}));

    let unknown = hosting.call("unknown_content", Value::Null).await.result.unwrap();
    assert_eq!(unknown.content[0], Content::Other(json!({"type": "hologram", "depth": 3})));
    assert_eq!(unknown.content[1], Content::Text("and".into()));
    let invalid = hosting.call("invalid_base64", Value::Null).await.result.unwrap();
    assert!(matches!(&invalid.content[0], Content::Image { data, .. } if data == "%%%"));
    let empty = hosting.call("empty", Value::Null).await.result.unwrap();
    assert!(empty.content.is_empty() && !empty.is_error);
    let list = hosting.call("list", Value::Null).await.result.unwrap();
    assert_eq!(list.content, [Content::Text("1".into()), Content::Text("2".into())]);
    let structured = hosting.call("structured", Value::Null).await.result.unwrap();
    assert_eq!(structured.structured_content, Some(json!({"sum": 3})));
    assert_eq!(structured.extra["_meta"], json!({"took": 1}));
    let failure = hosting.call("failure", Value::Null).await.result.unwrap();
    assert!(failure.is_error);
    // Results are returned unchanged; making them safe to show is done elsewhere.
    assert_eq!(hosting.text("escapes", Value::Null).await, "\u{1b}]0;title\u{7}\u{1b}[2Jred");
    hosting.close().await;
}

#[tokio::test]
async fn errors_say_what_went_wrong() {
    let hosting = host("default").await;
    let server = || "stub".to_owned();
    let error = hosting.call("error", Value::Null).await.result.unwrap_err();
    let protocol = CallError::Protocol { server: server(), code: -32042, message: "not today".into() };
    assert_eq!(error, protocol);
    let error = hosting.call("no_such_tool", Value::Null).await.result.unwrap_err();
    assert_eq!(error, CallError::UnknownTool { server: server(), tool: "no_such_tool".into() });
    let error = hosting.call_on("no_such_server", "echo", Value::Null).await.result.unwrap_err();
    assert_eq!(error, CallError::UnknownServer { server: "no_such_server".into() });
    hosting.close().await;
}

#[tokio::test]
async fn answers_that_are_none_end_their_call_at_once() {
    let hosting = host("default").await;
    for tool in ["neither", "cut_escape"] {
        let outcome = hosting.call(tool, Value::Null).await;
        assert!(matches!(outcome.result, Err(CallError::Malformed { .. })), "{tool}: {outcome:?}");
    }
    assert_eq!(hosting.text("latin1", Value::Null).await, "caf\u{fffd}");
    assert_eq!(hosting.text("surrogate", Value::Null).await, "\u{fffd}");
    // MCP 2026-07-28: the server asks for input instead of giving a result.
    let unfinished = hosting.call("input_required", Value::Null).await.result.unwrap();
    assert!(unfinished.is_error && unfinished.all_text().contains("Whose?"), "{unfinished:?}");
    assert_eq!(hosting.text("echo", json!({})).await, "{}");
    hosting.close().await;
}

#[tokio::test]
async fn a_result_of_20_mib_passes_and_one_of_70_is_refused_at_once() {
    for scenario in ["default", "javascript"] {
        let hosting = host(scenario).await;
        let text = hosting.text("large", json!({"bytes": 20 << 20})).await;
        assert_eq!(text.len(), 20 << 20);
        for bytes in [70 << 20, 100 << 20] {
            let other = hosting.call("slow", json!({"milliseconds": 300}));
            let large = hosting.call("large", json!({"bytes": bytes}));
            let (large, other) = tokio::join!(large, other);
            assert!(
                matches!(large.result, Err(CallError::TooLarge { .. })),
                "{scenario}: {:?}",
                large.elapsed
            );
            assert_eq!(other.result.unwrap().all_text(), "done");
        }
        hosting.close().await;
    }
}

#[tokio::test]
async fn an_image_of_48_mib_arrives_whole() {
    let hosting = host("default").await;
    let arguments = json!({"bytes": 48 << 20, "image": true});
    let result = hosting.call("large", arguments).await.result.unwrap();
    assert!(matches!(&result.content[0], Content::Image { data, .. } if data.len() == 64 << 20));
    hosting.close().await;
}

#[tokio::test]
async fn noise_between_the_messages_harms_nothing_and_is_counted() {
    let hosting = host("noise").await;
    assert_eq!(hosting.text("noise", json!({"lines": 1000})).await, "done");
    let statuses = hosting.host.statuses().await;
    // Three lines before the handshake, two after it, 1000 in the call; an empty line does not count.
    assert_eq!(statuses[0].noise, 1005);
    let noise: Vec<_> = hosting
        .events()
        .into_iter()
        .filter_map(|event| match event {
            HostEvent::Noise { line, .. } => Some(line),
            _ => None,
        })
        .collect();
    assert_eq!(noise.len(), 5);
    assert_eq!(noise[1], "\\u{1b}[32m[INFO]\\u{1b}[0m {not json}");
    hosting.close().await;
}

#[tokio::test]
async fn a_server_that_asks_is_answered_or_declined() {
    let hosting = host("default").await;
    let asked = async |method: &str, params: Value| {
        let answer = hosting.text("ask", json!({"method": method, "params": params})).await;
        serde_json::from_str::<Value>(&answer).unwrap()
    };
    assert_eq!(asked("ping", json!({})).await["result"], json!({}));
    assert_eq!(asked("roots/list", json!({})).await["error"]["code"], -32601);
    let message = json!({"role": "user", "content": {"type": "text", "text": "hi"}});
    let sampling = json!({"messages": [message], "maxTokens": 5});
    assert_eq!(asked("sampling/createMessage", sampling).await["error"]["code"], -32601);
    let question = json!({"message": "name?", "requestedSchema": {"type": "object", "properties": {}}});
    assert_eq!(asked("elicitation/create", question).await["result"]["action"], "decline");
    assert_eq!(asked("its/own", json!({})).await["error"]["code"], -32601);
    hosting.close().await;
}

#[tokio::test]
async fn a_server_gets_its_own_variables_and_few_of_ours() {
    let hosting = host_with("default", |config| {
        if let m3_mcp::config::Transport::Stdio { env, .. } = &mut config.transport {
            env.insert("GIVEN".to_owned(), "yes".to_owned());
        }
    })
    .await;
    let env = async |name: &str| hosting.text("env", json!({"name": name})).await;
    assert_eq!(env("GIVEN").await, "yes");
    assert_eq!(env("PATH").await, std::env::var("PATH").unwrap());
    // Cargo sets this variable for tests.
    assert_eq!(env("CARGO_MANIFEST_DIR").await, "(not set)");
    hosting.close().await;
}

#[tokio::test]
async fn only_tools_that_are_offered_can_be_called() {
    let hosting = host_with("default", |config| {
        config.tools.allow = Some(vec!["e*".to_owned()]);
        config.tools.deny = vec!["e*r".to_owned()];
    })
    .await;
    let catalog = hosting.host.catalog();
    let names: Vec<_> = catalog.tools().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["stub/echo", "stub/empty", "stub/env", "stub/escapes", "stub/exit"]);
    let error = hosting.call("error", Value::Null).await.result.unwrap_err();
    assert!(matches!(error, CallError::UnknownTool { .. }));
    hosting.close().await;
}

#[tokio::test]
async fn a_hundred_calls_at_once_on_ten_servers_get_their_own_results() {
    let marker = super::support::marker();
    let servers = (0..10).map(|index| super::support::server(&format!("stub{index}"), "default", &marker));
    let hosting = super::support::host_all(servers.collect(), marker, Some(m3())).await;
    let hosting = std::sync::Arc::new(hosting);
    let mut calls = tokio::task::JoinSet::new();
    for index in 0..100 {
        let hosting = std::sync::Arc::clone(&hosting);
        calls.spawn(async move {
            let name = ToolName { server: format!("stub{}", index % 10), tool: "echo".to_owned() };
            let arguments = object(json!({ "index": index }));
            let outcome = hosting.host.call(&name, arguments, &CancellationToken::new()).await;
            assert_eq!(outcome.result.unwrap().all_text(), format!(r#"{{"index":{index}}}"#));
        });
    }
    calls.join_all().await;
    std::sync::Arc::into_inner(hosting).unwrap().close().await;
}

#[test]
fn ten_thousand_calls_do_not_grow_memory() {
    // In a separate process, because other tests of this one use memory at the same time.
    let host = std::process::Command::new(stub().with_file_name("stub_host"))
        .args([m3().as_os_str(), stub().as_os_str(), "serial".as_ref(), "calls".as_ref(), "call".as_ref()])
        .output()
        .unwrap();
    let out = String::from_utf8(host.stdout).unwrap();
    let memory: Vec<usize> = out.split_whitespace().map(|bytes| bytes.parse().unwrap()).collect();
    let [before, after] = memory[..] else { panic!("{out} {:?}", host.stderr) };
    // 9000 calls: less than half a kilobyte each, including pages that the allocator keeps.
    assert!(after.saturating_sub(before) < 4 << 20, "{before} bytes before, {after} after");
}
