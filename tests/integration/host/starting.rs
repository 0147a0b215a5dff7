//! Servers that start, servers that fail, and their lists of tools.

use std::time::Duration;

use m3_mcp::config::Transport;
use m3_mcp::{CallError, HostEvent, ReadyServer, ServerState, StartError};
use serde_json::{Value, json};

use super::support::{Hosting, host, host_all, host_with, m3, marker, server, wait_until_gone};

fn ready(hosting: &Hosting) -> ReadyServer {
    let ready = hosting.events().into_iter().find_map(|event| match event {
        HostEvent::Ready { ready, .. } => Some(ready),
        _ => None,
    });
    ready.unwrap_or_else(|| panic!("{:?}", hosting.events()))
}

async fn failure(hosting: &Hosting) -> StartError {
    match hosting.host.statuses().await.remove(0).state {
        ServerState::Failed(error) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn old_and_unknown_protocol_versions_are_spoken() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2024-10-07"] {
        let hosting = host(&format!("version:{version}")).await;
        assert_eq!(ready(&hosting).protocol_version, version);
        assert_eq!(hosting.text("echo", json!({})).await, "{}");
        hosting.close().await;
    }
}

/// MCP 2026-07-28: no handshake; each request says its version by itself.
#[tokio::test]
async fn servers_that_need_no_handshake_are_spoken_with() {
    for scenario in ["newest", "newest_of_few_words"] {
        let hosting = host(scenario).await;
        assert_eq!(ready(&hosting).protocol_version, "2026-07-28", "{scenario}");
        assert_eq!(ready(&hosting).name, if scenario == "newest" { "stub" } else { "" });
        assert_eq!(hosting.text("echo", json!({"a": 1})).await, r#"{"a":1}"#);
        hosting.close().await;
    }
    let hosting = host("later").await;
    let message = failure(&hosting).await.to_string();
    assert!(message.contains("it speaks only 2999-01-01; m3 speaks 2024-11-05"), "{message}");
    hosting.close().await;
}

#[tokio::test]
async fn a_server_that_writes_headers_is_told_apart_at_once() {
    let hosting = host("headers").await;
    let message = failure(&hosting).await.to_string();
    assert!(message.contains("as language servers do"), "{message}");
    hosting.close().await;
}

#[tokio::test]
async fn servers_that_say_little_or_much_are_understood() {
    for scenario in ["sparse", "chatty", "noise", "slow_start"] {
        let hosting = host(scenario).await;
        ready(&hosting);
        assert_eq!(hosting.text("echo", json!({})).await, "{}", "{scenario}");
        hosting.close().await;
    }
}

#[tokio::test]
async fn a_server_that_ends_at_its_start_tells_why() {
    let hosting = host("exits").await;
    let error = failure(&hosting).await;
    let expected = ["reading settings", "API_KEY is not set"].map(str::to_owned).to_vec();
    assert_eq!(error, StartError::Exited { how: "exit code 3".into(), stderr: expected });
    assert_eq!(error.to_string(), "it ended before it was ready: exit code 3: API_KEY is not set");
    let outcome = hosting.call("echo", Value::Null).await;
    assert!(matches!(outcome.result, Err(CallError::Unavailable { .. })), "{outcome:?}");
    assert_eq!(hosting.events().len(), 1);
    hosting.close().await;
}

#[tokio::test]
async fn a_server_that_does_not_speak_the_protocol_fails() {
    for scenario in ["refuses", "nonsense", "nonsense_list", "closes_stdout"] {
        let hosting = host(scenario).await;
        let error = failure(&hosting).await;
        assert!(matches!(error, StartError::Protocol { .. }), "{scenario}: {error:?}");
        wait_until_gone(&hosting.marker);
        hosting.close().await;
    }
    for (scenario, code) in [("only_noise", 0), ("crashes_in_handshake", 4)] {
        let hosting = host(scenario).await;
        let error = failure(&hosting).await;
        let expected = format!("exit code {code}");
        assert!(
            matches!(&error, StartError::Exited { how, .. } if *how == expected),
            "{scenario}: {error:?}"
        );
        hosting.close().await;
    }
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up_in_time_and_ended() {
    for scenario in ["hangs", "hangs_on_list"] {
        let hosting = host_with(scenario, |config| config.timeouts.start = Duration::from_millis(500)).await;
        assert!(matches!(failure(&hosting).await, StartError::TimedOut { .. }), "{scenario}");
        wait_until_gone(&hosting.marker);
        hosting.close().await;
    }
}

#[tokio::test]
async fn a_missing_command_is_named_with_a_hint() {
    for (command, hint) in [("npx-that-is-not-here", "`PATH`"), ("./not/here", "`PATH`")] {
        let hosting = host_with("default", |config| {
            if let Transport::Stdio { command: named, .. } = &mut config.transport {
                command.clone_into(named);
            }
        })
        .await;
        let message = failure(&hosting).await.to_string();
        assert!(message.contains(&format!("`{command}`")) && message.contains(hint), "{message}");
        hosting.close().await;
    }
    let hosting = host_with("default", |config| {
        if let Transport::Stdio { cwd, .. } = &mut config.transport {
            *cwd = Some("not/here".into());
        }
    })
    .await;
    assert!(matches!(failure(&hosting).await, StartError::WorkingDirectory { .. }));
    hosting.close().await;
}

#[tokio::test]
async fn a_file_that_is_no_program_fails_with_the_systems_reason() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("server");
    std::fs::write(&program, "\u{0}\u{1}not a program").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    for guard in [None, Some(m3())] {
        let marker = marker();
        let mut config = server("stub", "default", &marker);
        if let Transport::Stdio { command, .. } = &mut config.transport {
            *command = program.to_string_lossy().into_owned();
        }
        let hosting = host_all(vec![config], marker, guard).await;
        let message = failure(&hosting).await.to_string();
        assert!(message.contains("server") && message.contains("failed to start"), "{message}");
        hosting.close().await;
    }
}

#[tokio::test]
async fn a_malformed_tool_costs_only_itself() {
    let hosting = host("malformed_tool").await;
    let ready = ready(&hosting);
    assert_eq!((ready.tools, ready.rejected), (8, 1));
    assert_eq!(hosting.host.catalog().servers[0].rejected[0].name, "broken");
    hosting.close().await;
}

/// MCP 2025-11-25, "Tasks": such a tool answers every plain call with an error.
#[tokio::test]
async fn a_tool_that_needs_tasks_is_not_offered() {
    let hosting = host("tasks").await;
    let ready = ready(&hosting);
    assert_eq!((ready.tools, ready.rejected), (2, 1));
    let rejected = &hosting.host.catalog().servers[0].rejected[0];
    assert_eq!(rejected.name, "slow");
    assert!(
        rejected.reason.contains("taskSupport") && rejected.reason.contains("m3 does not do"),
        "{}",
        rejected.reason
    );
    hosting.close().await;
}

#[tokio::test]
async fn lists_that_do_not_end_are_cut() {
    // (scenario, tools): at most a hundred pages; a repeated cursor or page ends the list.
    for (scenario, tools) in
        [("endless_cursor", 100), ("same_cursor", 2), ("same_page", 2), ("pages", 3), ("no_list", 0)]
    {
        let hosting = host(scenario).await;
        assert_eq!(ready(&hosting).tools, tools, "{scenario}");
        hosting.close().await;
    }
}

#[tokio::test]
async fn hostile_tools_are_contained_and_reported() {
    let hosting = host("hostile_tools").await;
    let catalog = hosting.host.catalog();
    let names: Vec<_> = catalog.servers[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["bell\u{7}\u{1b}[31m\n\u{202e}", "cycle", "loops", "twice", "snake"]);
    // One that is too large, a second tool of the same name, one without a name, one with an empty name, two that are not objects.
    assert_eq!(catalog.servers[0].rejected.len(), 6);
    for tool in &catalog.servers[0].tools {
        // Checking ends, whatever the schema says.
        if let Ok(schema) = m3_mcp::arguments::ArgumentSchema::new(&tool.input_schema) {
            let _ = schema.problems(&json!({"x": 1}));
        }
    }
    hosting.close().await;
}

#[tokio::test]
async fn one_failure_does_not_stop_the_others_and_a_disabled_one_is_not_started() {
    let marker = marker();
    let mut slow = server("slow", "hangs", &marker);
    slow.timeouts.start = Duration::from_secs(4);
    let mut disabled = server("disabled", "default", &marker);
    disabled.is_disabled = true;
    let servers = vec![slow, server("bad", "exits", &marker), disabled, server("stub", "default", &marker)];
    let hosting = host_all(servers, marker, Some(m3())).await;
    let statuses = hosting.host.statuses().await;
    let names: Vec<_> = statuses.iter().map(|status| status.server.as_str()).collect();
    assert_eq!(names, ["slow", "bad", "disabled", "stub"]);
    assert!(matches!(statuses[0].state, ServerState::Failed(StartError::TimedOut { .. })));
    assert!(matches!(statuses[1].state, ServerState::Failed(StartError::Exited { .. })));
    assert_eq!(statuses[2].state, ServerState::Disabled);
    assert!(matches!(statuses[3].state, ServerState::Ready(_)));
    // Reported one by one: the slow one comes last.
    let events = hosting.events();
    assert_eq!(events.len(), 3);
    assert!(matches!(&events[2], HostEvent::Failed { server, .. } if server == "slow"), "{events:?}");
    assert_eq!(hosting.text("echo", json!({})).await, "{}");
    hosting.close().await;
}
