//! Choices on the command line: the mode, the offered tools, the price of tokens.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assert_cmd::Command;
use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest};
use serde_json::{Value, json};

use super::{arguments, output_of, predictions, two_calls};
use crate::support::{Folder, failure, json_of, m3, m3_bare, stdout};

/// A run of our benchmark with another mode or other tasks.
fn changed(
    command: Command,
    model: &ScriptedModel,
    output: &Path,
    change: impl FnOnce(&mut Vec<String>),
) -> Command {
    let mut arguments = arguments(model, output);
    change(&mut arguments);
    let mut command = command;
    command.args(arguments).timeout(Duration::from_mins(3));
    command
}

/// Two calls in the prompt's form, one in the classic form, then the answer.
fn react(seen: &SeenRequest) -> ScriptedReply {
    assert!(seen.tools.is_empty() && seen.system.contains("math/add"), "tools stand in the prompt");
    let said = &seen.last_user_text;
    ScriptedReply::Say(match seen.turn {
        1 => {
            let image = said.split('`').find(|part| part.starts_with("images/")).unwrap_or("none");
            let calls = json!([
                {"name": "image/get_metainfo", "arguments": {"input_path": image}},
                {"name": "math/add", "arguments": {"firstNumber": 1, "secondNumber": 2}},
            ]);
            format!("Thought: both at once.\nAction: {calls}")
        }
        2 if said.contains("Observation 1, image/get_metainfo") && said.contains("Observation 2, math/add") => {
            "Thought: once more.\nAction: math/multiply\nAction Input: {\"firstNumber\": 3, \"SecondNumber\": 4}\n\
             Observation: 13"
                .to_owned()
        }
        3 if said.contains("Observation 1, math/multiply") && said.contains("12") => {
            "Thought: that is it.\nFinal Answer: 12".to_owned()
        }
        turn => format!("Final Answer: turn {turn} has not what it needs: {said}"),
    })
}

#[test]
fn react_calls_tools_for_real_and_is_scored() {
    let (folder, model) = (Folder::new(), ScriptedModel::start(ScriptedWire::OpenAi, react));
    let output = output_of(&folder);
    let mut run = changed(m3_bare(folder.path()), &model, &output, |arguments| {
        "react".clone_into(&mut arguments[7]);
        arguments.extend(["--id", "00010000", "--id", "00030000"].map(str::to_owned));
    });
    let table = stdout(&mut run);
    assert_eq!(model.problems(), Vec::<String>::new());
    assert!(table.contains("answered   2\n") && table.contains("outcomes   6 success\n"), "{table}");
    for prediction in predictions(&output) {
        assert_eq!((&prediction["mode"], &prediction["final_reply"]), (&json!("react"), &json!("12")));
        let call = |place: &str| prediction.pointer(place).cloned().unwrap_or_default();
        assert_eq!(call("/steps/0/calls/0/name"), "image/get_metainfo");
        let image = Path::new(prediction["image"].as_str().unwrap()).file_name().unwrap().to_str().unwrap();
        assert!(call("/steps/0/calls/0/result").to_string().contains(image));
        assert_eq!(call("/steps/0/calls/1/result"), "3");
        assert_eq!(call("/steps/1/calls/0/arguments"), json!({"firstNumber": 3, "SecondNumber": 4}));
        assert_eq!(call("/steps/1/calls/0/result"), "12");
        // The form that the prompt does not ask for, and the observation that the model invented.
        assert_eq!(prediction["turns"][0]["oddities"], Value::Null);
        assert_eq!(prediction["turns"][1]["oddities"].as_array().unwrap().len(), 2);
    }
    let Some(mut score) = m3() else { return };
    score.args(["score", "-q"]).arg(output.join("predictions.json")).arg("trajectories/references.json");
    assert!(stdout(&mut score).contains("precision"));
}

/// The similarities of the two nearest and the next one: 0.84, 0.47, 0.34 and 0.63, 0.60, 0.31
/// (`m3 tools servers/local.json --search`).
#[test]
fn the_nearest_tools_are_offered_and_no_others() {
    let folder = Folder::new();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Say("done".to_owned()));
    let tasks = json!([
        {"id": "a", "question": "What is the product of two numbers? Multiply 6 by 7."},
        {"id": "b", "question": "Decode the QR code in the picture."},
    ]);
    let tasks = folder.json("tasks.json", &tasks);
    let run = |name: &str, further: &[&str]| {
        let mut command = m3()?;
        command.env("M3_CACHE_DIR", folder.path());
        let output = folder.path().join(name);
        stdout(&mut changed(command, &model, &output, |arguments| {
            tasks.to_str().unwrap().clone_into(&mut arguments[1]);
            arguments.extend(["--workers", "1"].iter().chain(further).map(|text| (*text).to_owned()));
        }));
        Some(predictions(&output))
    };
    let Some(two) = run("two", &["--top-tools", "2"]) else { return };
    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    // In the order of the catalog.
    assert_eq!(offered(&requests[0]), ["math__add", "math__multiply"]);
    assert_eq!(offered(&requests[1]), ["barcode__scan_barcode", "barcode__scan"]);
    let all = run("all", &[]).unwrap();
    let requests = model.requests();
    // 2 of barcode, 12 of image, 22 of math.
    assert_eq!(offered(&requests[2]).len(), 36);
    let hash = |prediction: &Value| prediction["tools"].to_string();
    let hashes = [hash(&two[0]), hash(&two[1]), hash(&all[0])];
    assert!(hashes[0] != hashes[1] && hashes[0] != hashes[2] && hashes[1] != hashes[2], "{hashes:?}");
    assert_eq!(hash(&all[0]), hash(&all[1]));
    // So many that all tools are offered: the same as without the option, and no encoder is needed.
    let mut command = m3_bare(folder.path());
    command.env("M3_ENCODER_DIR", "/nonexistent").env("ORT_DYLIB_PATH", "/nonexistent");
    let asked = model.requests().len();
    stdout(&mut changed(command, &model, &folder.path().join("all"), |arguments| {
        tasks.to_str().unwrap().clone_into(&mut arguments[1]);
        arguments.extend(["--top-tools", "36"].map(str::to_owned));
    }));
    assert_eq!(model.requests().len(), asked);
}

/// The tools that a request offers.
fn offered(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Two tasks, one of which needs two tools of `math`, and their references.
fn tasks_with_needs(folder: &Folder) -> [std::path::PathBuf; 2] {
    let calls = |names: &[&str]| {
        let calls: Vec<Value> = names.iter().map(|name| json!({"name": name, "arguments": {}})).collect();
        json!([{"step": 1, "calls": calls}])
    };
    let references = json!([
        {"id": "a", "steps": calls(&["math/add", "math/multiply", "math/add"])},
        {"id": "b", "steps": calls(&["barcode/scan"])},
    ]);
    let tasks = json!([{"id": "a", "question": "What is 6 x 7 + 1?"}, {"id": "b", "question": "Decode it."}]);
    [folder.json("tasks.json", &tasks), folder.json("references.json", &references)]
}

/// What each of the two tasks was offered with each of some options.
#[test]
fn candidates_hold_what_a_task_needs_and_are_nested() {
    let folder = Folder::new();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Say("done".to_owned()));
    let [tasks, references] = tasks_with_needs(&folder);
    let run = |name: &str, further: &[&str]| {
        let before = model.requests().len();
        let mut command = m3_bare(folder.path());
        command.env("M3_ENCODER_DIR", "/nonexistent").env("ORT_DYLIB_PATH", "/nonexistent");
        stdout(&mut changed(command, &model, &folder.path().join(name), |arguments| {
            tasks.to_str().unwrap().clone_into(&mut arguments[1]);
            let given = ["--workers", "1", "--references", references.to_str().unwrap()];
            arguments.extend(given.iter().chain(further).map(|text| (*text).to_owned()));
        }));
        model.requests()[before..].iter().map(offered).collect::<Vec<_>>()
    };
    let (five, ten) = (run("five", &["--candidates", "5"]), run("ten", &["--candidates", "10"]));
    for (task, needed) in [(0, &["math__add", "math__multiply"][..]), (1, &["barcode__scan"][..])] {
        assert_eq!((five[task].len(), ten[task].len()), (5, 10));
        assert!(needed.iter().all(|name| five[task].contains(&(*name).to_owned())), "{:?}", five[task]);
        let kept: Vec<&String> = ten[task].iter().filter(|name| five[task].contains(name)).collect();
        assert_eq!(kept, five[task].iter().collect::<Vec<_>>());
    }
    // The same lists are the same conditions; another seed and another number are others.
    assert_eq!(run("five", &["--candidates", "5"]).len(), 0);
    let other = run("five", &["--candidates", "5", "--candidates-seed", "1"]);
    assert!(other.len() == 2 && other != five, "{other:?}");
}

#[test]
fn near_candidates_are_nested_too() {
    let folder = Folder::new();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Say("done".to_owned()));
    let [tasks, references] = tasks_with_needs(&folder);
    let run = |count: &str| {
        let before = model.requests().len();
        let output = folder.path().join(count);
        stdout(&mut changed(m3()?, &model, &output, |arguments| {
            tasks.to_str().unwrap().clone_into(&mut arguments[1]);
            let given = ["--workers", "1", "--references", references.to_str().unwrap()];
            let near = ["--candidates", count, "--distractor-kind", "near"];
            arguments.extend(given.iter().chain(&near).map(|text| (*text).to_owned()));
        }));
        Some(model.requests()[before..].iter().map(offered).collect::<Vec<_>>())
    };
    let (Some(four), Some(six)) = (run("4"), run("6")) else { return };
    assert!((0..2).all(|task| four[task].iter().all(|name| six[task].contains(name))), "{four:?} {six:?}");
    // The barcode server's other tool is what a model may take instead.
    assert!(four[1].contains(&"barcode__scan_barcode".to_owned()), "{four:?}");
}

#[test]
fn tasks_without_candidates_are_named_before_anything_is_asked() {
    let folder = Folder::new();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Say("done".to_owned()));
    let [tasks, references] = tasks_with_needs(&folder);
    let none = folder.json(
        "none.json",
        &json!([{"id": "b", "steps": [{"calls": [{"name": "web/none", "arguments": {}}]}]}]),
    );
    for (references, further, said) in [
        (&references, &["--candidates", "1"][..], "task `a`: it needs 2 tools, which is more than 1"),
        (&references, &["--candidates", "99"][..], "other tools may be offered"),
        (&references, &["--candidates", "5", "--top-tools", "5"][..], "cannot be used with"),
        (&references, &[][..], "--candidates <K>"),
        (&none, &["--candidates", "5"][..], "none.json` has no reference for it"),
        (
            &none,
            &["--candidates", "5"][..],
            "task `b`: its reference calls `web/none`, which no server offers",
        ),
        (&folder.path().join("missing.json"), &["--candidates", "5"][..], "missing.json"),
    ] {
        let output = folder.path().join("out");
        let (code, message) = failure(&mut changed(m3_bare(folder.path()), &model, &output, |arguments| {
            tasks.to_str().unwrap().clone_into(&mut arguments[1]);
            let given = ["--references", references.to_str().unwrap()];
            arguments.extend(given.iter().chain(further).map(|text| (*text).to_owned()));
        }));
        assert!(code == 2 && message.contains(said), "{said}: {code} {message}");
    }
    assert_eq!(model.requests().len(), 0);
}

/// A reply that reports some tokens as read from the provider's cache.
fn cached(seen: &SeenRequest) -> ScriptedReply {
    let message = if seen.turn > 1 {
        json!({"role": "assistant", "content": "3"})
    } else {
        let function = json!({"name": "math__add", "arguments": "{\"firstNumber\": 1, \"secondNumber\": 2}"});
        json!({"role": "assistant", "content": null,
               "tool_calls": [{"id": "c1", "type": "function", "function": function}]})
    };
    let body = json!({
        "id": "c", "object": "chat.completion", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050,
                  "prompt_tokens_details": {"cached_tokens": 400}},
    });
    ScriptedReply::Raw { status: 200, headers: Vec::new(), body: body.to_string() }
}

#[test]
fn a_run_costs_the_same_live_and_replayed() {
    let (folder, model) = (Folder::new(), ScriptedModel::start(ScriptedWire::OpenAi, cached));
    let price = json!({"input": 2000, "cached_input": 500, "output": 10_000});
    let prices = folder.json("prices.json", &json!({ "scripted": price }));
    let cassette = folder.path().join("run.cassette");
    let run = |name: &str, further: &[&str]| {
        let output = folder.path().join(name);
        let table = stdout(&mut changed(m3_bare(folder.path()), &model, &output, |arguments| {
            let two = ["--id", "00010000", "--id", "00010001", "--prices", prices.to_str().unwrap()];
            arguments.extend(two.iter().chain(further).map(|text| (*text).to_owned()));
            if name == "replayed" {
                arguments[3] = format!("replay:{}", cassette.display());
            }
        }));
        assert_eq!(json_of(output.join("predictions.json"))[0]["usage"]["cached_input_tokens"], 800);
        table
    };
    // Two tasks of two turns. A turn has 600 input tokens at 2000 for a million, 400 from the cache at 500, and 50
    // output tokens at 10,000, that is 1.2 + 0.2 + 0.5 = 1.9; four turns: 7.6.
    let live = run("live", &["--record", cassette.to_str().unwrap()]);
    assert!(live.contains("tokens     4000 in, 200 out\ncost       7.6000\n"), "{live}");
    let asked = model.requests().len();
    let replayed = run("replayed", &[]);
    assert!(replayed.contains("tokens     4000 in, 200 out\ncost       7.6000\n"), "{replayed}");
    assert_eq!(model.requests().len(), asked);
}

/// The model gives neither text nor calls, twice: the task has failed, and `--retry-failed` runs it again.
#[test]
fn a_model_that_says_nothing_has_failed() {
    let is_silent = Arc::new(AtomicBool::new(true));
    let silent = Arc::clone(&is_silent);
    let model = ScriptedModel::start(ScriptedWire::OpenAi, move |seen| {
        if silent.load(Ordering::Relaxed) { ScriptedReply::Say(String::new()) } else { two_calls(seen) }
    });
    let folder = Folder::new();
    let output = output_of(&folder);
    let run = |further: &[&str]| {
        let mut command = super::command(&model, &output);
        crate::support::run(command.args(["--id", "00010000"]).args(further))
    };
    let done = run(&[]);
    assert_eq!(done.status.code(), Some(3));
    let failed = &predictions(&output)[0];
    assert_eq!(failed["finish"], "error");
    assert!(failed["reason"].as_str().unwrap().contains("neither text nor calls"), "{failed}");
    is_silent.store(false, Ordering::Relaxed);
    assert_eq!(run(&[]).status.code(), Some(3), "left as it is");
    assert_eq!(run(&["--retry-failed"]).status.code(), Some(0));
    assert_eq!(predictions(&output)[0]["finish"], "answered");
}
