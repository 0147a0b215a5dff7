//! Images: the task's own, and those that tools return.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use m3_executor::{FinishReason, Mode};
// A picture that fits is sent unchanged, so its hash is known.
use m3_testkit::model_server::hash;
use serde_json::json;

use super::stage::{Stage, action, native_calls, plan, staged_calls, text};
use super::tools::{png, striped};

#[tokio::test]
async fn the_task_is_shown_with_its_image_and_its_path() {
    let stage = Stage::new(Mode::Native, [text("done")]);
    let played = stage.with(|stage| stage.image = Some(png(8, 6))).play().await;
    let first = &played.requests[0]["messages"][1];
    assert_eq!(played.seen[0].images, [hash(&png(8, 6))]);
    let said = first.to_string();
    assert!(said.contains("How many eels?") && said.contains("`task.png`"), "{said}");
    assert_eq!(played.record.images.len(), 1);
    let image = &played.record.images[0];
    assert_eq!(
        (&image["image"], &image["width"], &image["height"]),
        (&json!("task.png"), &json!(8), &json!(6))
    );
    let dialogue = json!(played.record.dialogue).to_string();
    assert!(dialogue.contains(image["sha256"].as_str().unwrap()));
    assert!(!dialogue.contains(&STANDARD.encode(png(8, 6))));
}

#[tokio::test]
async fn an_image_from_a_tool_is_shown_next_and_named_in_the_pool() {
    let staged = [
        plan(&["kit/draw"]),
        staged_calls(&[("kit/draw", json!({}))]),
        text("no"),
        plan(&["kit/echo"]),
        staged_calls(&[("kit/echo", json!({"text": "a"}))]),
        text("yes"),
        text("done"),
    ];
    let native = [native_calls(&[("kit__draw", json!({}))]), text("done")];
    let react = [action(&[("kit/draw", json!({}))]), text("Final Answer: done")];
    let saved = "result-00001-1.png";
    for (mode, lines, next) in [
        (Mode::Staged, staged.to_vec(), 2),
        (Mode::Native, native.to_vec(), 1),
        (Mode::React, react.to_vec(), 1),
    ] {
        let played = Stage::new(mode, lines).with(|stage| stage.image = Some(png(8, 6))).play().await;
        assert_eq!(played.record.finish, FinishReason::Answered, "{mode:?}");
        let hashes = [hash(&png(8, 6)), hash(&png(3, 2))];
        assert_eq!(played.seen[next].images, hashes, "{mode:?}");
        assert_eq!(std::fs::read(played.workspace.path().join(saved)).unwrap(), png(3, 2));
        // The image is named for later calls: in the staged mode in the turn in which calls are written.
        let named = if mode == Mode::Staged { 4 } else { next };
        let pool = format!("Image files that calls may name: `task.png`, `{saved}`.");
        assert!(played.request(named).contains(&pool), "{mode:?}: {}", played.request(named));
        let result = played.record.steps[0].calls[0].result.as_ref().unwrap();
        // The name is recorded, so that whoever makes the calls again puts the file there too.
        let part =
            json!({"type": "image", "file": "results/00001-1.png", "mimeType": "image/png", "name": saved});
        assert_eq!(result["content"][1], part);
        let sent = played.record.images.iter().map(|image| image["sha256"].as_str().unwrap());
        assert!(sent.eq(hashes.iter().map(String::as_str)), "{mode:?}");
    }
}

/// What a tool writes is offered once, by the tool's own name for it, and what the record has stays as it was.
#[tokio::test]
async fn a_picture_that_a_tool_wrote_has_its_name_and_no_second_one() {
    let paint = |name: &str| native_calls(&[("kit__paint", json!({"text": name}))]);
    let noted = native_calls(&[("kit__photograph", json!({"text": "eel.png"}))]);
    let lines = [paint("eel.png"), noted, text("done")];
    let played = Stage::new(Mode::Native, lines).with(|stage| stage.image = Some(png(8, 6))).play().await;
    let told = played.request(1);
    assert!(told.contains("[image: saved as eel.png, image/png, 40 x 30 pixels"), "{told}");
    assert!(told.contains("Image files that calls may name: `task.png`, `eel.png`."), "{told}");
    assert_eq!(played.seen[1].images, [hash(&png(8, 6)), hash(&striped(40, 30))]);
    assert_eq!(played.record.images[1]["image"], "eel.png");
    let result = |step: usize| played.record.steps[step].calls[0].result.as_ref().unwrap();
    let part = json!({"type": "image", "file": "results/00001-1.png", "mimeType": "image/png"});
    assert_eq!(result(0)["content"][1], part);
    // The second call has replaced the file, and not what the first call returned.
    let read = |name: &str| std::fs::read(played.workspace.path().join(name)).unwrap();
    assert_eq!(read("results/00001-1.png"), striped(40, 30));
    assert_ne!(read("eel.png"), striped(40, 30));
    let names = std::fs::read_dir(played.workspace.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().starts_with("result-")));
}

/// Tools count the pixels of the file, and servers show large files smaller.
#[tokio::test]
async fn a_file_that_is_shown_smaller_by_its_tool_is_told_as_it_is() {
    for name in ["eel.png", "eel.jpg", "sub.eel.bmp"] {
        let lines = [native_calls(&[("kit__photograph", json!({"text": name}))]), text("done")];
        let played = Stage::new(Mode::Native, lines).play().await;
        let told = played.request(1);
        assert!(told.contains(&format!("[image: saved as {name}, image/")), "{told}");
        assert!(told.contains("80 x 60 pixels"), "{told}");
        let words =
            format!("[{name} is shown at 40 x 30 pixels; the file has 80 x 60, and tools count in those]");
        assert!(told.contains(&words), "{told}");
        assert!(told.contains(&format!("Image files that calls may name: `{name}`.")), "{told}");
    }
}

/// A picture that hardly differs from the call's input is another one all the same.
#[tokio::test]
async fn an_answer_that_only_looks_like_the_input_has_a_name_of_its_own() {
    let lines = [
        native_calls(&[("kit__paint", json!({"text": "eel.png"}))]),
        native_calls(&[("kit__mark", json!({"text": "eel.png"}))]),
        text("done"),
    ];
    let played = Stage::new(Mode::Native, lines).play().await;
    let told = played.request(2);
    assert!(told.contains("[image: saved as result-00002-1.png"), "{told}");
    assert!(told.contains("Image files that calls may name: `eel.png`, `result-00002-1.png`."), "{told}");
}

/// Tools count the pixels of the file.
#[tokio::test]
async fn a_picture_that_was_scaled_down_is_told_with_both_sizes() {
    let words = |name: &str, shown: &str, size: &str| {
        format!("{name} is shown at {shown} pixels; the file has {size}, and tools count in those")
    };
    for (mode, lines) in [
        (Mode::Native, vec![native_calls(&[("kit__draw", json!({}))]), text("done")]),
        (Mode::React, vec![action(&[("kit/draw", json!({}))]), text("Final Answer: done")]),
    ] {
        let stage = Stage::new(mode, lines).with(|stage| {
            // Chat completions take 2048 pixels a side.
            stage.image = Some(png(2100, 1050));
            stage.options.max_image_side = Some(2);
        });
        let played = stage.play().await;
        let first = played.request(0);
        assert!(
            first.contains(&format!(" work in. {}.", words("It", "2048 x 1024", "2100 x 1050"))),
            "{first}"
        );
        let next = played.last_message(1).to_string() + &played.request(1);
        assert!(next.contains(&words("[result-00001-1.png", "2 x 1", "3 x 2")), "{mode:?}: {next}");
    }
    // A picture that is sent unchanged has only one size.
    let lines = [native_calls(&[("kit__draw", json!({}))]), text("done")];
    let played = Stage::new(Mode::Native, lines).with(|stage| stage.image = Some(png(8, 6))).play().await;
    assert!(!played.request(1).contains("is shown at"));
}

#[tokio::test]
async fn an_image_that_cannot_be_shown_is_told_in_words() {
    let lines = [native_calls(&[("kit__scribble", json!({}))]), text("done")];
    let played = Stage::new(Mode::Native, lines).play().await;
    let seen = played.last_message(1).to_string();
    assert!(seen.contains("result-00001-1.png cannot be shown"), "{seen}");
    assert!(!seen.contains(played.workspace.path().to_str().unwrap()), "{seen}");
    assert!(played.record.turns[0].oddities.iter().any(|oddity| oddity.contains("cannot be shown")));
    assert!(played.record.images.is_empty());
}

/// Gemini takes 20 MB for a whole request, and three such pictures are more: the scripted model refuses larger
/// requests.
#[tokio::test]
async fn the_oldest_pictures_make_room_when_a_request_would_be_too_large() {
    let draw = || native_calls(&[("kit__noise", json!({}))]);
    let lines = [draw(), draw(), draw(), text("done")];
    let stage = Stage::new(Mode::Native, lines).with(|stage| {
        stage.wire = m3_testkit::model_server::ScriptedWire::Gemini;
        stage.image = Some(png(8, 6));
    });
    let played = stage.play().await;
    assert_eq!(played.record.finish, FinishReason::Answered, "{:?}", played.record.reason);
    let counts: Vec<usize> = played.seen.iter().map(|seen| seen.images.len()).collect();
    assert_eq!(counts, [1, 2, 3, 3]);
    assert_eq!(played.seen[3].images[0], hash(&png(8, 6)), "the task's image stays");
    let said = played.requests[3].to_string();
    assert!(said.contains("[`result-00001-1.png` is not shown again"), "{said}");
    assert!(!said.contains("[`result-00002-1.png` is not shown again"), "{said}");
    let oddities: Vec<_> = played.record.turns.iter().map(|turn| turn.oddities.concat()).collect();
    assert!(oddities[3].contains("these were named instead: `result-00001-1.png`"), "{oddities:?}");
    assert!(oddities[..3].iter().all(|oddities| !oddities.contains("named instead")), "{oddities:?}");
}
