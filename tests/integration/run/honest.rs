//! What a run reports about itself: no images shown, tools that were not read, unreported tokens.

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest};
use serde_json::{Value, json};

use super::{add, command, math_arguments, model, output_of, predictions, questions, two_calls};
use crate::support::{Folder, follows_kept_schema, m3_bare, run, stdout, text};

const ONE: [&str; 2] = ["--id", "00010000"];

/// The blind baseline: the model gets no image and no mention of one, and no tool finds it in the workspace.
#[test]
fn without_images_the_model_is_shown_and_told_of_none() {
    let folder = Folder::new();
    let output = output_of(&folder);
    // An image made by a call is named but not shown.
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |seen| {
        assert!(seen.images.is_empty(), "{:?}", seen.images);
        assert!(!seen.texts.iter().any(|text| text.contains("images/")), "{:?}", seen.texts);
        two_calls(seen)
    });
    let blind = || {
        let mut command = command(&model, &output);
        command.args(ONE).arg("--no-images");
        command
    };
    stdout(&mut blind());
    let found = predictions(&output).remove(0);
    follows_kept_schema("prediction", &found);
    assert_eq!(found["run"]["no_images"], true);
    assert_eq!(found["images"], json!([]));
    // The prediction still names the task's image.
    assert!(found["image"].is_string());
    assert!(!output.join("workspaces/00010000/images").exists());
    // `get_metainfo` of an image that does not exist.
    assert_ne!(found["steps"][0]["calls"][0]["outcome"], "success");
    let asked = model.requests().len();
    stdout(&mut blind());
    assert_eq!(model.requests().len(), asked, "it is done");
    // With images it is a different run.
    let sighted = self::model();
    stdout(command(&sighted, &output).args(ONE));
    let found = predictions(&output).remove(0);
    assert_eq!((found["run"].get("no_images"), found["images"].as_array().unwrap().len()), (None, 1));
}

/// The scripted model reports 100 tokens, whatever it is sent; the tools of our own servers have many more words.
#[test]
fn tools_that_the_provider_leaves_out_are_warned_of_in_native_mode() {
    let (folder, model) = (Folder::new(), model());
    let output = output_of(&folder);
    let done = run(command(&model, &output).args(ONE));
    assert_eq!(done.status.code(), Some(0));
    assert!(text(&done.stderr).contains("seems to leave the tools out"), "{}", text(&done.stderr));
    let turns = predictions(&output).remove(0)["turns"].clone();
    assert!(turns[0]["oddities"][0].as_str().unwrap().contains("fewer tokens"), "{turns}");
    assert_eq!(turns[1].get("oddities"), None, "said once");
    // As many tokens as words are enough: if nothing can be concluded, nothing is reported.
    let honest = ScriptedModel::start(ScriptedWire::OpenAi, |_| {
        reply(&json!({"prompt_tokens": 5000, "completion_tokens": 3}))
    });
    let done = run(command(&honest, &folder.path().join("honest")).args(ONE));
    assert!(!text(&done.stderr).contains("leave the tools out"), "{}", text(&done.stderr));
}

/// A reply with this usage.
fn reply(usage: &Value) -> ScriptedReply {
    let message = json!({"role": "assistant", "content": "3"});
    let body = json!({
        "id": "c", "object": "chat.completion", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage,
    });
    ScriptedReply::Raw { status: 200, headers: Vec::new(), body: body.to_string() }
}

/// Usage in the first turn, and none in the second.
fn forgetful(seen: &SeenRequest) -> ScriptedReply {
    if seen.turn == 1 { ScriptedReply::Call(vec![add(1, 2)]) } else { reply(&Value::Null) }
}

#[test]
fn a_sum_of_tokens_with_gaps_is_called_partial() {
    let folder = Folder::new();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, forgetful);
    let (tasks, output) = (questions(&folder, 1), output_of(&folder));
    let llm = format!("openai@{}:scripted", model.base_url());
    let prices = folder.json("prices.json", &json!({"scripted": {"input": 1_000_000, "output": 1}}));
    let mut run = m3_bare(folder.path());
    run.args(math_arguments(&tasks, &llm, &output)).arg("--prices").arg(prices);
    let table = stdout(&mut run);
    assert!(table.contains("tokens     100 in, 10 out (partial: some replies came without)\n"), "{table}");
    assert!(table.contains("cost       at least 100.0000\n"), "{table}");
    let found = predictions(&output).remove(0);
    follows_kept_schema("prediction", &found);
    assert_eq!(found["usage"]["partial"], true);
    let mut show = m3_bare(folder.path());
    let shown = stdout(show.arg("show").arg(output.join("predictions.json")));
    assert!(shown.contains("Tokens  100 in, 10 out, partial: 1 of 2 turns without\n"), "{shown}");
}
