//! Replies that cannot be read: once more with the reason, then recorded as an illegal format, and on it goes.

use m3::executor::{Event, FinishReason, Mode};
use serde_json::json;

use super::stage::{Stage, action, native_calls, plan, staged_calls, text};

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

#[tokio::test]
async fn an_empty_reply_is_asked_for_again_once() {
    let played = Stage::new(Mode::Native, [text(""), text("done")]).play().await;
    assert_eq!(played.record.final_reply, "done");
    let played = Stage::new(Mode::Native, [text(""), text("")]).play().await;
    assert_eq!((played.record.finish, played.record.final_reply.as_str()), (FinishReason::Answered, ""));
}
