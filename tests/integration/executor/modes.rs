//! Each mode plays the same task: two calls that must run at the same time, then one that uses their results.

use m3_executor::{Event, FinishReason, Mode};
use m3_testkit::model_server::ScriptedWire;
use serde_json::json;

use super::stage::{Played, Stage, action, native_calls, plan, refusal, staged_calls, text};
use super::tools::png;

const PAIR: [(&str, &str); 2] = [("kit/together", "3"), ("kit/together", "4")];

fn pair() -> Vec<(&'static str, serde_json::Value)> {
    PAIR.iter().map(|(name, said)| (*name, json!({ "text": said }))).collect()
}

fn has_done_the_task(played: &Played) {
    assert_eq!(played.names(), [vec!["kit/together"; 2], vec!["kit/echo"]]);
    assert_eq!(played.outcomes(), [vec!["success"; 2], vec!["success"]]);
    let calls = &played.record.steps[0].calls;
    assert_eq!(calls[0].arguments, json!({"text": "3"}));
    assert_eq!(calls[0].result, Some(json!("3 eels")));
    assert_eq!(calls[1].result, Some(json!("4 eels")));
    assert_eq!((played.record.finish, played.record.reason.as_deref()), (FinishReason::Answered, None));
    assert_eq!(played.record.final_reply, "7 eels.");
    // The check is made where the next turn begins.
    let last = played.requests.len() - 1;
    for said in ["3 eels", "4 eels", "7 of them"] {
        assert!(played.request(last).contains(said), "{said}");
    }
    let told = |wanted: fn(&Event) -> bool| played.told.iter().filter(|told| wanted(&told.event)).count();
    assert_eq!(told(|event| matches!(event, Event::Called { .. })), 3);
    assert_eq!(told(|event| matches!(event, Event::Returned { .. })), 3);
    assert_eq!(told(|event| matches!(event, Event::Asked { .. })), played.requests.len());
    assert_eq!(told(|event| matches!(event, Event::Answered { .. })), played.requests.len());
    assert_eq!(played.record.turns.len(), played.requests.len());
    assert!(played.record.turns.iter().all(|turn| turn.model.as_deref() == Some("test-model")));
    let roles: Vec<&str> =
        played.record.dialogue.iter().filter_map(|message| message["role"].as_str()).collect();
    assert_eq!(roles[..2], ["system", "user"]);
    assert_eq!(roles.iter().filter(|role| **role == "assistant").count(), played.requests.len());
}

#[tokio::test]
async fn staged_plans_calls_decides_and_answers() {
    let lines = [
        plan(&["kit/together"]),
        staged_calls(&pair()),
        text("no"),
        plan(&["kit/echo"]),
        staged_calls(&[("kit/echo", json!({"text": "7 of them"}))]),
        text("Yes."),
        text("7 eels."),
    ];
    let played = Stage::new(Mode::Staged, lines).play().await;
    has_done_the_task(&played);
    assert_eq!(played.purposes(), ["plan", "calls", "decision", "plan", "calls", "decision", "answer"]);
    let system = |index: usize| played.requests[index]["messages"][0]["content"].as_str().unwrap();
    // The plan sees all tools; the calls see the chosen ones with their schemas.
    assert!(system(0).contains("kit/echo: A tool.") && system(0).contains("text (string)"));
    assert!(system(1).contains("additionalProperties"));
    assert!(system(1).contains("kit/together") && !system(1).contains("kit/echo"));
    assert!(!system(2).contains("kit/"));
    assert!(played.requests.iter().all(|request| request.get("tools").is_none()));
}

#[tokio::test]
async fn native_uses_the_tool_calling_of_the_provider() {
    let calls: Vec<_> = pair().into_iter().map(|(_, arguments)| ("kit__together", arguments)).collect();
    let lines =
        [native_calls(&calls), native_calls(&[("kit__echo", json!({"text": "7 of them"}))]), text("7 eels.")];
    let played = Stage::new(Mode::Native, lines).play().await;
    has_done_the_task(&played);
    assert_eq!(played.purposes(), ["turn"; 3]);
    let tool = &played.requests[0]["tools"][0]["function"];
    assert_eq!((&tool["name"], &tool["description"]), (&json!("kit__echo"), &json!("A tool.")));
    assert_eq!(tool["parameters"]["additionalProperties"], json!(false));
}

/// The scripted model reports every schema that its provider would refuse; the server gets the model's arguments.
#[tokio::test]
async fn native_gives_every_provider_schemas_that_it_takes() {
    for wire in [ScriptedWire::OpenAi, ScriptedWire::Anthropic, ScriptedWire::Gemini, ScriptedWire::Bedrock] {
        let lines = [native_calls(&[("kit__either", json!({"text": "one eel"}))]), text("1")];
        let played = Stage::new(Mode::Native, lines).with(|stage| stage.wire = wire).play().await;
        assert_eq!(played.outcomes(), [["success"]], "{wire:?}");
        let said = "It takes one of these combinations of arguments: `id`; `text`.";
        assert!(played.requests[0].to_string().contains(said), "{wire:?}");
    }
}

#[tokio::test]
async fn react_acts_on_what_it_observes() {
    let lines = [
        action(&pair()),
        action(&[("kit/echo", json!({"text": "7 of them"}))]),
        text("Thought: done.\nFinal Answer: 7 eels."),
    ];
    let played = Stage::new(Mode::React, lines).play().await;
    has_done_the_task(&played);
    assert!(played.last_message(1)["content"].to_string().contains("Observation 2, kit/together:"));
}

#[tokio::test]
async fn a_task_that_needs_no_call_is_answered_at_once() {
    let staged = Stage::new(Mode::Staged, [plan(&[]), text("7 eels.")]).play().await;
    let native = Stage::new(Mode::Native, [text("7 eels.")]).play().await;
    let react = Stage::new(Mode::React, [text("Final Answer: 7 eels.")]).play().await;
    for played in [staged, native, react] {
        assert!(played.record.steps.is_empty());
        assert_eq!(played.record.finish, FinishReason::Answered);
        assert_eq!(played.record.final_reply, "7 eels.");
    }
}

#[tokio::test]
async fn failed_calls_and_unknown_tools_are_observations() {
    let wanted = [
        ("kit/fail", json!({})),
        ("kit/nothing", json!({})),
        ("kit/echo", json!({"words": "taken all the same"})),
        ("echo", json!({"text": "not this one"})),
    ];
    let lines = [action(&wanted), text("Final Answer: none.")];
    let played = Stage::new(Mode::React, lines).play().await;
    assert_eq!(
        played.outcomes(),
        [["resource_not_found", "unknown_tool", "invalid_arguments", "unknown_tool"]]
    );
    assert_eq!(played.record.finish, FinishReason::Answered);
    let calls = &played.record.steps[0].calls;
    assert!(calls[0].is_error && calls[1].is_error && !calls[2].is_error);
    assert_eq!(calls[1].result, None);
    let request = played.request(1);
    for said in ["no such page: 404", "`kit/nothing` is none of the tools", "`echo` is none of the tools"] {
        assert!(request.contains(said), "{said}: {request}");
    }
    // Arguments that the schema refuses are sent; calls of unknown tools are not.
    let mut called: Vec<&str> = played.called.iter().map(|(tool, _)| tool.as_str()).collect();
    called.sort_unstable();
    assert_eq!(called, ["echo", "fail"]);
}

#[tokio::test]
async fn an_error_of_the_model_keeps_what_was_done() {
    let lines = [native_calls(&[("kit__echo", json!({"text": "a"}))]), refusal("images are not supported")];
    let played = Stage::new(Mode::Native, lines).play().await;
    assert_eq!(played.record.finish, FinishReason::Error);
    assert!(played.record.reason.as_ref().unwrap().contains("images are not supported"));
    assert_eq!(played.names(), [["kit/echo"]]);
}

#[tokio::test]
async fn secrets_are_in_no_record_and_no_event() {
    let secret = "zitterrochen-42";
    let lines = [
        native_calls(&[("kit__echo", json!({ "text": secret }))]),
        native_calls(&[(secret, json!({}))]),
        text(format!("It is {secret}.")),
    ];
    let stage = Stage::new(Mode::Native, lines).with(|stage| stage.secrets.push(secret.to_owned()));
    let played = stage.play().await;
    assert_eq!(played.record.final_reply, "It is ***.");
    assert!(!format!("{:?}", played.record).contains(secret));
    assert!(!serde_json::to_string(&played.told).unwrap().contains(secret));
    assert!(!played.last_message(1).to_string().contains(secret));
}

#[tokio::test]
async fn native_works_over_every_wire() {
    for wire in [ScriptedWire::OpenAi, ScriptedWire::Anthropic, ScriptedWire::Gemini, ScriptedWire::Bedrock] {
        let echo = ["a", "b"].map(|said| ("kit__echo", json!({ "text": said })));
        let lines = [
            native_calls(&echo),
            native_calls(&[("kit__draw", json!({}))]),
            native_calls(&echo[..1]),
            text("7 eels."),
        ];
        let stage = Stage::new(Mode::Native, lines).with(|stage| {
            (stage.wire, stage.image) = (wire, Some(png(8, 6)));
            stage.options.limits.steps = 2;
        });
        let played = stage.play().await;
        assert_eq!(played.record.finish, FinishReason::MaxSteps, "{wire:?}");
        assert_eq!(played.record.final_reply, "7 eels.", "{wire:?}");
        assert_eq!(played.outcomes(), [vec!["success"; 2], vec!["success"]], "{wire:?}");
        assert_eq!(played.seen[2].images.len(), 2, "{wire:?}");
        assert_eq!(played.seen[3].results.len(), 4, "{wire:?}");
    }
}
