//! Time limits, cancellation, progress, deaths and restarts.

use std::time::{Duration, Instant};

use m3_mcp::{CallError, HostEvent, ServerState, StartError, ToolName};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::support::{PATIENCE, host, host_with, object};

#[tokio::test]
async fn a_call_that_gives_no_sign_ends_and_the_server_is_told() {
    let hosting = host_with("default", |config| config.timeouts.idle = Duration::from_secs(2)).await;
    let outcome = hosting.call("hang", Value::Null).await;
    assert!(matches!(outcome.result, Err(CallError::TimedOutIdle { .. })), "{outcome:?}");
    assert_eq!(wait_for_cancelled(&hosting).await, "1");
    hosting.close().await;
}

/// The number of cancellations that have reached the server, which may take a moment.
async fn wait_for_cancelled(hosting: &super::support::Hosting) -> String {
    let asking = async {
        loop {
            let count = hosting.text("cancelled", Value::Null).await;
            if count != "0" {
                return count;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.unwrap()
}

#[tokio::test]
async fn progress_keeps_a_long_call_alive() {
    let hosting = host_with("default", |config| config.timeouts.idle = Duration::from_secs(2)).await;
    // 3 s of work in steps that are far shorter than the limit.
    assert_eq!(hosting.text("progress", json!({"steps": 60, "every": 50})).await, "done");
    let steps = hosting.events().into_iter().filter(|event| matches!(event, HostEvent::Progress { .. }));
    assert!(steps.count() >= 5);
    hosting.close().await;
}

#[tokio::test]
async fn progress_for_ever_ends_with_the_total_time() {
    let hosting = host_with("default", |config| config.timeouts.total = Duration::from_secs(1)).await;
    let outcome = hosting.call("progress", json!({"steps": 1000, "every": 50})).await;
    assert!(matches!(outcome.result, Err(CallError::TimedOutTotal { .. })), "{outcome:?}");
    // A flood of progress must not delay the end either.
    let outcome = hosting.call("progress", json!({"steps": 10_000_000, "every": 0})).await;
    assert!(matches!(outcome.result, Err(CallError::TimedOutTotal { .. })), "{outcome:?}");
    assert!(outcome.elapsed < PATIENCE);
    hosting.close().await;
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once_and_the_server_is_told() {
    let hosting = host("default").await;
    let cancel = CancellationToken::new();
    let name = ToolName { server: "stub".to_owned(), tool: "hang".to_owned() };
    let (outcome, ()) = tokio::join!(hosting.host.call(&name, object(Value::Null), &cancel), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        cancel.cancel();
    });
    assert_eq!(outcome.result, Err(CallError::Cancelled));
    assert_eq!(wait_for_cancelled(&hosting).await, "1");
    // A call that is cancelled beforehand is not made.
    let outcome = hosting.host.call(&name, object(Value::Null), &cancel).await;
    assert_eq!(outcome.result, Err(CallError::Cancelled));
    assert_eq!(wait_for_cancelled(&hosting).await, "1");
    hosting.close().await;
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled() {
    let hosting = host("default").await;
    let call = hosting.call("hang", Value::Null);
    assert!(tokio::time::timeout(Duration::from_millis(200), call).await.is_err());
    assert_eq!(wait_for_cancelled(&hosting).await, "1");
    hosting.close().await;
}

#[tokio::test]
async fn a_server_that_stops_reading_is_started_again() {
    let hosting = host_with("default", |config| config.timeouts.idle = Duration::from_secs(4)).await;
    assert_eq!(hosting.text("stop_reading", Value::Null).await, "deaf");
    // More than any pipe holds.
    let large = json!({"text": "x".repeat(4 << 20)});
    let outcome = hosting.call("echo", large.clone()).await;
    assert!(matches!(outcome.result, Err(CallError::TimedOutIdle { .. })), "{:?}", outcome.elapsed);
    let again = hosting.call("echo", large).await;
    assert_eq!(again.result.unwrap().all_text().len(), (4 << 20) + 11);
    assert_eq!(hosting.host.statuses().await[0].restarts, 1);
    hosting.close().await;
}

#[tokio::test]
async fn a_busy_server_is_not_taken_for_one_that_stopped_reading() {
    let hosting = host_with("serial", |config| config.timeouts.idle = Duration::from_secs(2)).await;
    let large = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        hosting.call("echo", json!({"text": "x".repeat(4 << 20)})).await
    };
    // 4 s of work during which the server reads nothing.
    let (busy, large) = tokio::join!(hosting.call("progress", json!({"steps": 80, "every": 50})), large);
    assert!(matches!(large.result, Err(CallError::TimedOutIdle { .. })), "{:?}", large.elapsed);
    assert_eq!(busy.result.unwrap().all_text(), "done");
    assert_eq!(hosting.text("echo", json!({})).await, "{}");
    assert_eq!(hosting.host.statuses().await[0].restarts, 0);
    hosting.close().await;
}

#[tokio::test]
async fn closing_does_not_wait_for_a_server_that_does_not_read() {
    let hosting = host("default").await;
    assert_eq!(hosting.text("stop_reading", Value::Null).await, "deaf");
    let large = hosting.call("echo", json!({"text": "x".repeat(4 << 20)}));
    assert!(tokio::time::timeout(Duration::from_millis(300), large).await.is_err());
    hosting.close().await;
}

#[tokio::test]
async fn a_crash_fails_the_calls_in_flight_and_later_ones_get_a_new_server() {
    let hosting = host("default").await;
    assert_eq!(hosting.text("count", Value::Null).await, "1");
    assert_eq!(hosting.text("count", Value::Null).await, "2");
    let finished = hosting.call("slow", json!({"milliseconds": 50})).await;
    let (hanging, crashed) = tokio::join!(hosting.call("hang", Value::Null), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        hosting.call("crash", Value::Null).await
    });
    assert_eq!(finished.result.unwrap().all_text(), "done");
    for outcome in [hanging, crashed] {
        let Err(CallError::ServerDied { reason, .. }) = outcome.result else { panic!("{outcome:?}") };
        assert_eq!(reason, "exit code 7: Traceback: it broke");
    }
    // Several calls wait for the same restart; the new process has its own state.
    let (one, two) = tokio::join!(hosting.call("count", Value::Null), hosting.call("count", Value::Null));
    let mut counts = [one, two].map(|outcome| outcome.result.unwrap().all_text());
    counts.sort();
    assert_eq!(counts, ["1", "2"]);
    assert_eq!(hosting.host.statuses().await[0].restarts, 1);
    let events = hosting.events();
    assert!(
        events.contains(&HostEvent::Restarted { server: "stub".into(), restart: 1, limit: 2 }),
        "{events:?}"
    );
    hosting.close().await;
}

#[tokio::test]
async fn restarts_are_bounded() {
    let hosting = host_with("default", |config| config.restarts = 1).await;
    for _ in 0..2 {
        let outcome = hosting.call("exit", Value::Null).await;
        assert!(matches!(outcome.result, Err(CallError::ServerDied { .. })), "{outcome:?}");
    }
    for _ in 0..2 {
        let outcome = hosting.call("echo", Value::Null).await;
        assert!(matches!(outcome.result, Err(CallError::Unavailable { .. })), "{outcome:?}");
    }
    let statuses = hosting.host.statuses().await;
    assert!(
        matches!(&statuses[0].state, ServerState::Failed(StartError::Restarts { restarts: 1, reason }) if reason == "exit code 0"),
        "{statuses:?}"
    );
    hosting.close().await;
}

#[tokio::test]
async fn a_dead_server_is_told_and_its_next_list_of_tools_is_held_to_the_same_rules() {
    let hosting = host_with("changes", |config| config.tools.deny = vec!["cwd".to_owned()]).await;
    let names = || {
        let catalog = hosting.host.catalog();
        catalog.servers[0].tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(), ["exit", "echo", "count"]);
    let outcome = hosting.call("exit", Value::Null).await;
    assert!(matches!(outcome.result, Err(CallError::ServerDied { .. })), "{outcome:?}");
    let state = hosting.host.statuses().await.remove(0).state;
    assert_eq!(state, ServerState::Died { reason: "exit code 0".to_owned() });
    // The call that restarts the server is of a tool that it no longer has.
    for gone in ["count", "cwd", "broken"] {
        let outcome = hosting.call(gone, Value::Null).await;
        assert!(matches!(outcome.result, Err(CallError::UnknownTool { .. })), "{gone}: {outcome:?}");
    }
    assert_eq!(names(), ["exit", "echo", "pid"]);
    assert_eq!(hosting.host.catalog().servers[0].rejected[0].name, "broken");
    let status = hosting.host.statuses().await.remove(0);
    assert!(matches!(&status.state, ServerState::Ready(ready) if (ready.tools, ready.rejected) == (3, 1)));
    assert_eq!(status.restarts, 1);
    hosting.text("pid", Value::Null).await;
    hosting.close().await;
}

#[tokio::test]
async fn closing_ends_calls_that_are_under_way_or_wait() {
    let hosting = host_with("default", |config| config.max_concurrent = Some(1)).await;
    let (under_way, waiting, ()) =
        tokio::join!(hosting.call("hang", Value::Null), hosting.call("hang", Value::Null), async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            hosting.host.close().await;
        });
    assert!(matches!(under_way.result, Err(CallError::ServerDied { .. })), "{under_way:?}");
    assert!(matches!(waiting.result, Err(CallError::Unavailable { .. })), "{waiting:?}");
    hosting.close().await;
}

#[tokio::test]
async fn calls_beyond_the_limit_wait_and_their_time_begins_when_they_are_sent() {
    let hosting = host_with("default", |config| {
        config.max_concurrent = Some(1);
        config.timeouts.idle = Duration::from_secs(3);
    })
    .await;
    let slow = || hosting.call("slow", json!({"milliseconds": 900}));
    let began = Instant::now();
    let outcomes = tokio::join!(slow(), slow(), slow(), slow());
    // Longer than the limit of any single call.
    assert!(began.elapsed() >= Duration::from_millis(3600));
    for outcome in [outcomes.0, outcomes.1, outcomes.2, outcomes.3] {
        assert_eq!(outcome.result.unwrap().all_text(), "done");
    }
    hosting.close().await;
}

#[tokio::test]
async fn a_server_that_works_on_one_call_at_a_time_serves_all() {
    let hosting = host("serial").await;
    let slow = || hosting.call("slow", json!({"milliseconds": 200}));
    let outcomes = tokio::join!(slow(), slow(), slow());
    for outcome in [outcomes.0, outcomes.1, outcomes.2] {
        assert_eq!(outcome.result.unwrap().all_text(), "done");
    }
    hosting.close().await;
}

#[tokio::test]
async fn the_last_lines_of_standard_error_are_kept() {
    let hosting = host("default").await;
    let text = format!("{}last \u{1b}[1m", "one more line\n".repeat(100_000));
    hosting.text("stderr", json!({ "text": text })).await;
    let looking = async {
        loop {
            let stderr = hosting.host.statuses().await.remove(0).stderr;
            if stderr.last().is_some_and(|line| line == "last \\u{1b}[1m") {
                return stderr.len();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert_eq!(tokio::time::timeout(PATIENCE, looking).await.unwrap(), 40);
    hosting.close().await;
}
