//! Replies that cannot be read: once more with the reason, then recorded as an illegal format, and on it goes.

use m3::executor::{Event, FinishReason, Mode};
use serde_json::json;

use super::stage::{Stage, action, native_calls, plan, staged_calls, text};
use crate::model_server::Scripted;

/// M³-Bench, section 8: GLM-4.5v.
const GLM: &str =
    r#"<|begin_of_box|>"name":"food.mcp/get.nutrition" "arguments":{"query":"1 watermelon"}"<|end_of_box|>"#;

#[tokio::test]
async fn a_reply_that_cannot_be_read_is_asked_for_again() {
    let echo = [("kit/echo", json!({"text": "a"}))];
    let lines = [plan(&["kit/echo"]), text(GLM), staged_calls(&echo), text("yes"), text("done")];
    let played = Stage::new(Mode::Staged, lines).play().await;
    assert_eq!(played.outcomes(), [["success"]]);
    assert_eq!(played.purposes(), ["plan", "calls", "calls", "decision", "answer"]);
    let again = played.last_message(2).to_string();
    assert!(again.contains("That reply cannot be used: it has JSON, but no `tool_calls`"), "{again}");
    let malformed = played.told.iter().filter(|told| matches!(told.event, Event::Malformed { .. }));
    assert_eq!(malformed.count(), 1);
    assert!(!played.record.turns[1].oddities.is_empty());
}

#[tokio::test]
async fn the_second_time_it_is_an_illegal_format_and_the_loop_goes_on() {
    let echo = [("kit/echo", json!({"text": "a"}))];
    let staged = [
        plan(&["kit/echo"]),
        text(GLM),
        text("I call echo."),
        text("no"),
        plan(&["kit/echo"]),
        staged_calls(&echo),
        text("yes"),
        text("done"),
    ];
    let react = [text("I wonder."), text("I call echo."), action(&echo), text("Final Answer: done")];
    for (mode, lines) in [(Mode::Staged, staged.to_vec()), (Mode::React, react.to_vec())] {
        let played = Stage::new(mode, lines).play().await;
        assert_eq!(played.outcomes(), [["illegal_format"], ["success"]], "{mode:?}");
        let call = &played.record.steps[0].calls[0];
        assert_eq!((call.name.as_str(), &call.arguments), ("", &json!("I call echo.")), "{mode:?}");
        assert!(call.is_error && call.result.as_ref().unwrap().is_string(), "{mode:?}");
        assert_eq!(played.record.final_reply, "done");
        assert_eq!(played.called.len(), 1);
    }
}

#[tokio::test]
async fn malformed_arguments_of_the_provider_are_no_empty_object() {
    let cut = native_calls(&[("kit__echo", json!("{\"text\": \"a")), ("kit__echo", json!({"text": "b"}))]);
    let played = Stage::new(Mode::Native, [cut, text("done")]).play().await;
    assert_eq!(played.outcomes(), [["illegal_format", "success"]]);
    assert_eq!(played.record.steps[0].calls[0].arguments, json!("{\"text\": \"a"));
    assert_eq!(played.called, [("echo".to_owned(), json!({"text": "b"}))]);
    assert!(played.request(1).contains("No call was made: the arguments of a call are no JSON object"));
}

#[tokio::test]
async fn an_unclear_decision_is_asked_for_again_and_then_taken_for_no() {
    let echo = [("kit/echo", json!({"text": "a"}))];
    let lines = [
        plan(&["kit/echo"]),
        staged_calls(&echo),
        text("Perhaps."),
        text("Who knows?"),
        plan(&[]),
        text("done"),
    ];
    let played = Stage::new(Mode::Staged, lines).play().await;
    assert_eq!(played.record.finish, FinishReason::Answered);
    assert!(played.record.turns[3].oddities.iter().any(|oddity| oddity == "taken for no"));
}

#[tokio::test]
async fn a_plan_in_prose_is_understood_by_the_tools_that_it_names() {
    let lines = [
        text("I will use kit/echo, and `kit/unheard` too."),
        staged_calls(&[("kit/echo", json!({"text": "a"}))]),
        text("yes"),
        text("done"),
    ];
    let played = Stage::new(Mode::Staged, lines).play().await;
    assert_eq!(played.purposes(), ["plan", "calls", "decision", "answer"]);
    assert!(!played.record.turns[0].oddities.is_empty());
}

#[tokio::test]
async fn an_observation_that_the_model_invents_is_not_its_own_to_see() {
    let invented = text(
        "Thought: t\nAction: [{\"name\": \"kit/echo\", \"arguments\": {\"text\": \"a\"}}]\nObservation: 99 eels\nFinal Answer: 99",
    );
    let played = Stage::new(Mode::React, [invented, text("Final Answer: a")]).play().await;
    assert_eq!(played.record.final_reply, "a");
    assert!(!played.request(1).contains("99 eels"));
    // What it said is recorded all the same.
    assert!(json!(played.record.dialogue).to_string().contains("99 eels"));
}

/// Conversations that end with nothing, and what their turns are for.
fn silent_lines() -> Vec<(Mode, Vec<Scripted>, Vec<&'static str>)> {
    let echo = [("kit/echo", json!({"text": "a"}))];
    let native_echo = [("kit__echo", json!({"text": "a"}))];
    vec![
        (Mode::Native, vec![text(""), text(" \n")], vec!["turn"; 2]),
        (Mode::Native, vec![native_calls(&native_echo), text(""), text("")], vec!["turn"; 3]),
        (Mode::React, vec![text(""), text("")], vec!["turn"; 2]),
        (Mode::React, vec![action(&echo), text(""), text("")], vec!["turn"; 3]),
        (Mode::Staged, vec![text(""), text("")], vec!["plan"; 2]),
        (Mode::Staged, vec![plan(&[]), text(""), text("")], vec!["plan", "answer", "answer"]),
        (
            Mode::Staged,
            vec![plan(&["kit/echo"]), staged_calls(&echo), text("yes"), text(""), text("")],
            vec!["plan", "calls", "decision", "answer", "answer"],
        ),
    ]
}

#[tokio::test]
async fn a_model_that_says_nothing_twice_has_failed_in_every_mode() {
    for (mode, lines, purposes) in silent_lines() {
        let played = Stage::new(mode, lines).play().await;
        assert_eq!(played.purposes(), purposes, "{mode:?}");
        assert_eq!((played.record.finish, played.record.final_reply.as_str()), (FinishReason::Error, ""));
        let reason = played.record.reason.as_ref().unwrap();
        assert!(reason.contains("has said nothing") && reason.contains("neither text nor calls"), "{reason}");
        // What was done until then is kept, and no call is made of nothing.
        assert!(played.outcomes().iter().flatten().all(|outcome| *outcome == "success"), "{mode:?}");
    }
}

#[tokio::test]
async fn an_empty_reply_is_asked_for_again_once() {
    for (mode, lines) in [
        (Mode::Native, vec![text(""), text("done")]),
        (Mode::React, vec![text(""), text("Final Answer: done")]),
        (Mode::Staged, vec![plan(&[]), text(""), text("done")]),
        // Nothing once, and then something that cannot be used, is no silence.
        (Mode::React, vec![text(""), text("I wonder."), text("Final Answer: done")]),
    ] {
        let played = Stage::new(mode, lines).play().await;
        let ended = (played.record.finish, played.record.final_reply.as_str());
        assert_eq!(ended, (FinishReason::Answered, "done"), "{mode:?}");
    }
}

/// The provider holds the text back: that is its answer.
#[tokio::test]
async fn a_refusal_without_words_is_no_silence() {
    let refused = || {
        let message = json!({"role": "assistant", "content": null});
        let body = json!({
            "id": "c", "object": "chat.completion", "created": 1, "model": "test-model",
            "choices": [{"index": 0, "message": message, "finish_reason": "content_filter"}],
        });
        Scripted::Raw { status: 200, headers: Vec::new(), body: body.to_string() }
    };
    let native = Stage::new(Mode::Native, [refused()]).play().await;
    let staged = Stage::new(Mode::Staged, [plan(&[]), refused()]).play().await;
    for played in [native, staged] {
        assert_eq!((played.record.finish, played.record.reason), (FinishReason::Answered, None));
    }
    // Neither an action nor an answer, as before.
    let react = Stage::new(Mode::React, [refused(), refused(), text("Final Answer: done")]).play().await;
    assert_eq!(react.outcomes(), [["illegal_format"]]);
    assert_eq!(react.record.finish, FinishReason::Answered);
}

/// That the steps were used up stays the reason, whatever the model says afterwards.
#[tokio::test]
async fn silence_after_a_limit_leaves_the_limit_as_the_reason() {
    let echo = [("kit/echo", json!({"text": "a"}))];
    let native = [("kit__echo", json!({"text": "a"}))];
    let staged = vec![plan(&["kit/echo"]), staged_calls(&echo), text("no"), text(""), text("")];
    let native = vec![native_calls(&native), native_calls(&native), text("")];
    let react = vec![action(&echo), action(&echo), text("")];
    for (mode, lines) in [(Mode::Staged, staged), (Mode::Native, native), (Mode::React, react)] {
        let stage = Stage::new(mode, lines).with(|stage| stage.options.limits.steps = 1);
        let played = stage.play().await;
        assert_eq!(played.record.finish, FinishReason::MaxSteps, "{mode:?}");
        assert_eq!(played.record.final_reply, "", "{mode:?}");
    }
}

#[tokio::test]
async fn the_classic_form_of_react_is_made_as_one_step() {
    let classic = text(
        "Thought: t\nAction: kit/together\nAction Input: {\"text\": \"3\"}\nAction: kit/together\n\
         Action Input: {\"text\": \"4\"}\nObservation 1, kit/together: 99 eels",
    );
    let played = Stage::new(Mode::React, [classic, text("Final Answer: 7 eels")]).play().await;
    // Each waits for the other: they are under way at once.
    assert_eq!(played.outcomes(), [["success", "success"]]);
    assert_eq!(played.record.steps[0].calls[1].result, Some(json!("4 eels")));
    assert!(!played.request(1).contains("99 eels") && played.request(1).contains("Action Input:"));
    assert_eq!(played.record.final_reply, "7 eels");
}
