//! Replies that cannot be read: the model is asked again with the reason, then an illegal format is recorded, and the
//! task goes on.

use m3_executor::{Event, FinishReason, Mode, Record};
use m3_testkit::model_server::ScriptedReply;
use serde_json::{Value, json};

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

/// Empty arguments are none, which a tool without required arguments takes.
#[tokio::test]
async fn empty_arguments_are_none() {
    let empty =
        native_calls(&[("kit__slow", json!("")), ("kit__long", Value::Null), ("kit__either", json!(""))]);
    let played = Stage::new(Mode::Native, [empty, text("done")]).play().await;
    assert_eq!(played.outcomes(), [["success", "success", "illegal_format"]]);
    assert_eq!(played.record.steps[0].calls[0].arguments, json!({}));
    assert_eq!(played.called, [("slow".to_owned(), json!({})), ("long".to_owned(), json!({}))]);
    assert!(played.record.turns[0].oddities.iter().any(|oddity| oddity.contains("had no arguments")));
    let in_text = text("Thought: t\nAction: [{\"name\": \"kit/slow\", \"arguments\": \"\"}]");
    let played = Stage::new(Mode::React, [in_text, text("Final Answer: done")]).play().await;
    assert_eq!(played.outcomes(), [["success"]]);
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
    // Its reply is still recorded.
    assert!(json!(played.record.dialogue).to_string().contains("99 eels"));
}

/// Conversations that end without a reply, and the purposes of their turns.
fn silent_lines() -> Vec<(Mode, Vec<ScriptedReply>, Vec<&'static str>)> {
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
        // Everything done before is kept, and an empty reply gives no call.
        assert!(played.outcomes().iter().flatten().all(|outcome| *outcome == "success"), "{mode:?}");
    }
}

#[tokio::test]
async fn an_empty_reply_is_asked_for_again_once() {
    for (mode, lines) in [
        (Mode::Native, vec![text(""), text("done")]),
        (Mode::React, vec![text(""), text("Final Answer: done")]),
        (Mode::Staged, vec![plan(&[]), text(""), text("done")]),
        // One empty reply followed by an unusable one does not count as silence.
        (Mode::React, vec![text(""), text("I wonder."), text("Final Answer: done")]),
    ] {
        let played = Stage::new(mode, lines).play().await;
        let ended = (played.record.finish, played.record.final_reply.as_str());
        assert_eq!(ended, (FinishReason::Answered, "done"), "{mode:?}");
    }
}

/// A message of the model, as chat completions have it.
fn completion(message: &Value, finish_reason: &str) -> ScriptedReply {
    let body = json!({
        "id": "c", "object": "chat.completion", "created": 1, "model": "test-model",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
    });
    ScriptedReply::Raw { status: 200, headers: Vec::new(), body: body.to_string() }
}

/// The provider holds back the whole reply: asking again would give the same.
#[tokio::test]
async fn a_reply_that_is_blocked_ends_the_task_with_the_providers_word() {
    let blocked = || completion(&json!({"role": "assistant", "content": null}), "content_filter");
    let echo = [("kit/echo", json!({"text": "a"}))];
    for (mode, lines) in [
        (Mode::Native, vec![blocked()]),
        (Mode::Staged, vec![blocked()]),
        (Mode::Staged, vec![plan(&[]), blocked()]),
        (Mode::Staged, vec![plan(&[]), text(""), blocked()]),
        (Mode::React, vec![action(&echo), blocked()]),
    ] {
        let played = Stage::new(mode, lines).play().await;
        let reason = played.record.reason.as_deref();
        let said = "the provider blocked the reply: `content_filter`";
        assert_eq!((played.record.finish, reason), (FinishReason::Error, Some(said)), "{mode:?}");
        assert!(played.record.turns.last().unwrap().oddities.iter().any(|oddity| oddity == said));
    }
    // The used-up steps stay the reason.
    let native = [("kit__echo", json!({"text": "a"}))];
    let lines = [native_calls(&native), native_calls(&native), blocked()];
    let stage = Stage::new(Mode::Native, lines).with(|stage| stage.options.limits.steps = 1);
    assert_eq!(stage.play().await.record.finish, FinishReason::MaxSteps);
}

#[tokio::test]
async fn what_the_model_refuses_in_words_is_its_answer() {
    let refused = completion(&json!({"role": "assistant", "content": null, "refusal": "I cannot."}), "stop");
    let record = Stage::new(Mode::Native, [refused]).play().await.record;
    assert_eq!((record.finish, record.final_reply.as_str()), (FinishReason::Answered, "I cannot."));
    assert_eq!(record.turns[0].oddities, ["the model refused; its refusal was taken as its text"]);
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_told() {
    let cut = completion(&json!({"role": "assistant", "content": "There are"}), "length");
    let record = Stage::new(Mode::Native, [cut]).play().await.record;
    assert_eq!((record.finish, record.final_reply.as_str()), (FinishReason::Answered, "There are"));
    let said = "the reply was cut off: it had reached the longest that was allowed (`length`)";
    assert_eq!(record.turns[0].oddities, [said]);
}

/// The oddities of the first turn, without the one that the scripted model reports too few tokens.
fn oddities(record: &Record) -> Vec<&str> {
    let all = record.turns[0].oddities.iter().map(String::as_str);
    all.filter(|oddity| !oddity.contains("fewer tokens")).collect()
}

/// Calls in text, as vLLM returns them without a parser, by the templates of Qwen, Mistral and Llama.
#[tokio::test]
async fn an_answer_that_was_meant_as_a_call_is_told() {
    for said in [
        "<tool_call>\n{\"name\": \"kit__echo\", \"arguments\": {\"text\": \"a\"}}\n</tool_call>",
        "<tool_call>\n<function=kit__echo>\n<parameter=text>\na\n</parameter>\n</function>\n</tool_call>",
        "[TOOL_CALLS]kit__echo{\"text\": \"a\"}",
        "{\"name\": \"kit__echo\", \"parameters\": {\"text\": \"a\"}}",
    ] {
        let record = Stage::new(Mode::Native, [text(said)]).play().await.record;
        assert_eq!((record.finish, record.final_reply.as_str()), (FinishReason::Answered, said));
        let oddity = oddities(&record)[0];
        assert!(
            oddity.contains("has a call in its text") && oddity.contains("--tool-call-parser"),
            "{oddity}"
        );
    }
    for said in ["{\"name\": \"Eel\"}", "kit/echo said 3", "{\"count\": 3}"] {
        let record = Stage::new(Mode::Native, [text(said)]).play().await.record;
        assert_eq!(oddities(&record), [""; 0], "{said}");
    }
}

#[tokio::test]
async fn a_call_without_a_name_is_told_once() {
    let lines = [native_calls(&[("", json!({})), ("kit__echo", json!({"text": "a"}))]), text("done")];
    let record = Stage::new(Mode::Native, lines).play().await.record;
    assert_eq!(oddities(&record), ["a call has no name"]);
}

/// The used-up steps stay the reason, whatever the model says afterwards.
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
    // Each call waits for the other, so they run at the same time.
    assert_eq!(played.outcomes(), [["success", "success"]]);
    assert_eq!(played.record.steps[0].calls[1].result, Some(json!("4 eels")));
    assert!(!played.request(1).contains("99 eels") && played.request(1).contains("Action Input:"));
    assert_eq!(played.record.final_reply, "7 eels");
}
