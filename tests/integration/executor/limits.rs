//! A limit ends a task with what it has done; an interruption ends it without a prediction.

use std::time::Duration;

use m3_executor::{Event, FinishReason, Mode};
use m3_testkit::model_server::ScriptedReply;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::stage::{Stage, action, native_calls, plan, refusal, staged_calls, text};

#[tokio::test]
async fn after_the_last_step_the_model_is_asked_for_its_answer() {
    let echo = [("kit/echo", json!({"text": "a"}))];
    let native = [("kit__echo", json!({"text": "a"}))];
    let staged = [plan(&["kit/echo"]), staged_calls(&echo), text("no"), text("what I have")];
    let native = [native_calls(&native), native_calls(&native), text("what I have")];
    let react = [action(&echo), action(&echo), text("Final Answer: what I have")];
    for (mode, lines) in
        [(Mode::Staged, staged.to_vec()), (Mode::Native, native.to_vec()), (Mode::React, react.to_vec())]
    {
        let stage = Stage::new(mode, lines).with(|stage| stage.options.limits.steps = 1);
        let played = stage.play().await;
        assert_eq!(played.record.finish, FinishReason::MaxSteps, "{mode:?}");
        assert_eq!(played.record.final_reply, "what I have", "{mode:?}");
        assert_eq!((played.record.steps.len(), played.called.len()), (1, 1), "{mode:?}");
        let last = played.last_message(played.requests.len() - 1).to_string();
        assert!(last.contains("the limit of 1 step is reached"), "{mode:?}: {last}");
    }
}

#[tokio::test]
async fn a_task_that_ends_with_its_last_step_is_answered() {
    let lines = [native_calls(&[("kit__echo", json!({"text": "a"}))]), text("done")];
    let played = Stage::new(Mode::Native, lines).with(|stage| stage.options.limits.steps = 1).play().await;
    assert_eq!(played.record.finish, FinishReason::Answered);
}

#[tokio::test]
async fn further_calls_of_a_reply_are_not_made_and_told() {
    let three = ["a", "b", "c"].map(|said| ("kit__echo", json!({ "text": said })));
    let lines = [native_calls(&three), text("done")];
    let stage = Stage::new(Mode::Native, lines).with(|stage| stage.options.limits.calls_per_step = 2);
    let played = stage.play().await;
    assert_eq!((played.outcomes(), played.called.len()), (vec![vec!["success"; 2]], 2));
    assert!(played.last_message(1).to_string().contains("not made: no more than 2 calls"));
    let told = "2 of 3 calls were made: no more are allowed";
    assert!(played.record.turns[0].oddities.iter().any(|oddity| oddity == told));
}

#[tokio::test]
async fn a_budget_of_calls_ends_with_an_answer() {
    let two = ["a", "b"].map(|said| ("kit/echo", json!({ "text": said })));
    let lines = [action(&two), action(&two), action(&two[..1]), text("Final Answer: what I have")];
    let played =
        Stage::new(Mode::React, lines).with(|stage| stage.options.limits.calls = Some(3)).play().await;
    assert_eq!(played.outcomes(), [vec!["success"; 2], vec!["success"]]);
    assert_eq!(played.record.finish, FinishReason::Budget);
    assert_eq!(played.record.final_reply, "what I have");
    assert!(played.record.reason.as_ref().unwrap().contains("calls: the limit of 3"));
}

#[tokio::test]
async fn a_budget_of_tokens_ends_with_what_there_is() {
    // Each reply reports 110 tokens.
    let echo = [("kit__echo", json!({"text": "a"}))];
    let lines = [native_calls(&echo), native_calls(&echo)];
    let stage = Stage::new(Mode::Native, lines).with(|stage| stage.options.limits.tokens = Some(200));
    let played = stage.play().await;
    assert_eq!((played.record.finish, played.record.final_reply.as_str()), (FinishReason::Budget, ""));
    assert!(played.record.reason.as_ref().unwrap().contains("tokens: 220 are used, the limit is 200"));
    assert_eq!(played.record.steps.len(), 1);
    // An answer counts, however many tokens it took.
    let stage = Stage::new(Mode::Native, [text("done")]).with(|stage| stage.options.limits.tokens = Some(1));
    assert_eq!(stage.play().await.record.finish, FinishReason::Answered);
}

#[tokio::test]
async fn a_call_that_hangs_is_given_up_and_the_others_are_not() {
    let calls = [("kit__hang", json!({})), ("kit__echo", json!({"text": "a"}))];
    let stage = Stage::new(Mode::Native, [native_calls(&calls), text("done")]);
    let played = stage.with(|stage| stage.options.limits.call_time = Duration::from_millis(400)).play().await;
    assert_eq!(played.outcomes(), [["timed_out", "success"]]);
    let call = &played.record.steps[0].calls[0];
    assert_eq!((&call.result, call.is_error), (&None, false));
    assert!(call.milliseconds >= 400);
    assert!(played.request(1).contains("The call failed: `kit` gave no result within"));
    assert_eq!(played.record.finish, FinishReason::Answered);
}

/// The second call waits until the first is given up, which takes as long as a call may take.
#[tokio::test]
async fn a_call_has_its_time_from_when_it_is_sent_and_a_step_from_its_beginning() {
    let calls =
        || [native_calls(&[("kit__hang", json!({})), ("kit__echo", json!({"text": "a"}))]), text("done")];
    let stage = Stage::new(Mode::Native, calls()).with(|stage| stage.places = Some(1));
    let played =
        stage.with(|stage| stage.options.limits.call_time = Duration::from_millis(1500)).play().await;
    assert_eq!(played.outcomes(), [["timed_out", "success"]]);
    let echo = &played.record.steps[0].calls[1];
    assert!(echo.milliseconds < 1500, "without the wait: {}", echo.milliseconds);
    let stage = Stage::new(Mode::Native, calls()).with(|stage| stage.places = Some(1));
    let played = stage.with(|stage| stage.options.limits.step_time = Duration::from_millis(400)).play().await;
    assert_eq!(played.outcomes(), [["timed_out", "server_not_available"]]);
    assert_eq!(played.called.len(), 1, "the second was never sent");
    let times: Vec<u64> = played.record.steps[0].calls.iter().map(|call| call.milliseconds).collect();
    // The step began a moment before its first call was sent.
    assert!(times[0] > 300, "{times:?}");
    assert_eq!(times[1], 0, "{times:?}");
    let said = played.request(1);
    assert!(said.contains("`kit` gave no result within 400ms"), "{said}");
    assert!(said.contains("the call was never sent to `kit`: its time, 400ms, was over"), "{said}");
    assert_eq!(played.record.finish, FinishReason::Answered);
}

#[tokio::test]
async fn a_model_that_never_answers_costs_no_more_than_the_time_of_the_task() {
    let stage = Stage::new(Mode::Native, [ScriptedReply::Stall]);
    let played = stage.with(|stage| stage.options.limits.task_time = Duration::from_millis(300)).play().await;
    // A model that gave no reply has used up no budget: the task may be run again.
    assert_eq!(played.record.finish, FinishReason::Error);
    assert!(
        played.record.reason.as_ref().unwrap().ends_with("within the time of the task: it did not answer")
    );
}

/// Once the model has answered, the task's time is a budget like others.
#[tokio::test]
async fn a_model_that_answers_no_more_has_used_up_the_time() {
    let stage = Stage::new(
        Mode::Native,
        [native_calls(&[("kit__echo", json!({"text": "a"}))]), ScriptedReply::Stall],
    );
    let played = stage.with(|stage| stage.options.limits.task_time = Duration::from_secs(2)).play().await;
    assert_eq!(played.record.finish, FinishReason::Budget);
    assert!(played.record.reason.as_ref().unwrap().starts_with("time:"));
    assert_eq!(played.record.steps.len(), 1);
}

#[tokio::test]
async fn an_interruption_waits_for_calls_and_not_for_the_model() {
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let lines = [native_calls(&[("kit__slow", json!({}))])];
    let stage = Stage::new(Mode::Native, lines).with(|stage| stage.stop = stop);
    let (played, ()) = tokio::join!(stage.play_until_stopped(), async move {
        tokio::time::sleep(Duration::from_millis(150)).await;
        stopping.cancel();
    });
    assert!(played.is_none());
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let stage = Stage::new(Mode::Native, [ScriptedReply::Stall]).with(|stage| stage.stop = stop);
    let (played, ()) = tokio::join!(stage.play_until_stopped(), async move {
        tokio::time::sleep(Duration::from_millis(150)).await;
        stopping.cancel();
    });
    assert!(played.is_none());
}

#[tokio::test]
async fn a_long_result_is_shortened_by_rule_or_by_the_model() {
    let long = || native_calls(&[("kit__long", json!({}))]);
    let played = Stage::new(Mode::Native, [long(), text("done")]).play().await;
    let seen = played.last_message(1)["content"].as_str().unwrap();
    assert!(seen.chars().count() <= 2_000 && seen.contains("results/00001-kit__long.json"), "{seen}");
    // The record and the disk have the whole result.
    assert_eq!(played.record.steps[0].calls[0].result.as_ref().unwrap().as_str().unwrap().len(), 20_000);
    assert!(played.workspace.path().join("results/00001-kit__long.json").exists());

    let stage = Stage::new(Mode::Native, [long(), text("5,000 times eel"), text("done")]);
    let played = stage.with(|stage| stage.options.compress = true).play().await;
    assert_eq!(played.purposes(), ["turn", "compress", "turn"]);
    assert!(played.request(1).contains("How many eels?") && played.request(1).len() > 20_000);
    assert!(played.last_message(2)["content"].as_str().unwrap().contains("5,000 times eel"));

    // A model that cannot summarize does not end the task.
    let lines = [long(), refusal("too long"), text("done")];
    let played = Stage::new(Mode::Native, lines).with(|stage| stage.options.compress = true).play().await;
    assert_eq!(played.record.finish, FinishReason::Answered);
    assert!(played.last_message(2)["content"].as_str().unwrap().contains("characters are cut"));
    assert!(played.told.iter().any(|told| matches!(told.event, Event::Asked { .. })));
}
