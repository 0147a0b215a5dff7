//! Tasks that are recorded and replayed.

use m3_executor::{FinishReason, Mode};
use serde_json::json;

use super::stage::{Stage, action, native_calls, plan, replay, staged_calls, text};
use super::tools::png;

#[tokio::test]
async fn what_was_recorded_is_played_again_without_model_and_servers() {
    let staged = [
        plan(&["kit/draw", "kit/fail"]),
        text("I draw."),
        staged_calls(&[("kit/draw", json!({})), ("kit/fail", json!({})), ("kit/none", json!({}))]),
        text("no"),
        plan(&["kit/long"]),
        staged_calls(&[("kit/long", json!({})), ("kit/write", json!({}))]),
        text("yes"),
        text("done"),
    ];
    let native = [
        native_calls(&[("kit__draw", json!({})), ("kit__write", json!({}))]),
        native_calls(&[("kit__long", json!({})), ("kit__photograph", json!({"text": "eel.jpg"}))]),
        text("done"),
    ];
    let react = [action(&[("kit/write", json!({}))]), text("Final Answer: done")];
    let folder = tempfile::tempdir().unwrap();
    for (mode, lines) in
        [(Mode::Staged, staged.to_vec()), (Mode::Native, native.to_vec()), (Mode::React, react.to_vec())]
    {
        let cassette = folder.path().join(format!("{mode:?}.jsonl"));
        let stage = Stage::new(mode, lines).with(|stage| {
            stage.image = Some(png(8, 6));
            stage.cassette = Some(cassette.clone());
        });
        let options = stage.options.clone();
        let mut played = stage.play().await.record;
        let mut again = replay(&cassette, &options, Some(png(8, 6))).await;
        for record in [&mut played, &mut again] {
            record.turns.iter_mut().for_each(|turn| turn.milliseconds = 0);
            record.steps.iter_mut().flat_map(|step| &mut step.calls).for_each(|call| call.milliseconds = 0);
        }
        assert_eq!(played.finish, FinishReason::Answered, "{mode:?}");
        // Which file a picture is that the tool has written, too.
        assert!(
            json!(played.dialogue).to_string().contains("[image: saved as eel.jpg") || mode != Mode::Native
        );
        // The file that only the tool created is named in a replay too.
        assert!(json!(played.dialogue).to_string().contains("`written.png`") || mode == Mode::Staged);
        assert_eq!(played, again, "{mode:?}");
    }
}

#[tokio::test]
async fn a_call_that_was_not_recorded_ends_a_replay_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("cassette.jsonl");
    let lines = [native_calls(&[("kit__echo", json!({"text": "a"}))]), text("done")];
    let stage = Stage::new(Mode::Native, lines).with(|stage| stage.cassette = Some(cassette.clone()));
    let options = stage.options.clone();
    stage.play().await;
    let kept = std::fs::read_to_string(&cassette).unwrap();
    let lines = kept.lines().filter(|line| !line.contains("\"kind\":\"call\""));
    let without: Vec<&str> = lines.collect();
    assert!(without.len() < kept.lines().count());
    std::fs::write(&cassette, without.join("\n") + "\n").unwrap();
    let record = replay(&cassette, &options, None).await;
    assert_eq!(record.finish, FinishReason::Error);
    let reason = record.reason.unwrap();
    assert!(reason.contains("the cassette has no call of `kit/echo`") && reason.contains("`t1`"), "{reason}");
}
