//! The providers on the command line: Anthropic's, Gemini's and Bedrock's interfaces as well as OpenAI's, and their failures.

use std::sync::atomic::{AtomicUsize, Ordering};

use assert_cmd::Command;
use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest, hash};
use serde_json::{Value, json};

use super::{add, journal, output_of, predictions};
use crate::support::{Folder, m3_bare, root, stdout};

const KEY: &str = "sk-a1b2c3d4e5f6-not-a-real-one";

const WIRES: [(ScriptedWire, &str); 4] = [
    (ScriptedWire::OpenAi, "openai"),
    (ScriptedWire::Anthropic, "anthropic"),
    (ScriptedWire::Gemini, "gemini"),
    (ScriptedWire::Bedrock, "bedrock"),
];

/// Two calls at once, then what they returned.
fn add_twice(seen: &SeenRequest) -> ScriptedReply {
    match seen.results.as_slice() {
        [] => ScriptedReply::Call(vec![add(1, 2), add(30, 40)]),
        results => {
            let results: Vec<&str> = results.iter().map(|(_, text)| text.as_str()).collect();
            ScriptedReply::Say(results.join(" and "))
        }
    }
}

/// One task of our benchmark.
fn asking(folder: &Folder, provider: &str, model: &ScriptedModel) -> Command {
    let mut command = m3_bare(folder.path());
    command.env("M3_TEST_KEY", KEY).args(["run", "trajectories/tasks.json", "--llm"]);
    command.arg(format!("{provider}@{}:scripted", model.base_url())).args(["--llm-key-from", "M3_TEST_KEY"]);
    command.args(["--servers", "servers/local.json", "--server", "math", "--mode", "native"]);
    command.args(["--id", "00010000", "-o"]).arg(output_of(folder));
    command
}

/// The model finds no problem in any request, including the key and the ids of calls.
#[test]
fn every_provider_gets_the_image_and_the_results_of_calls_made_at_once() {
    let image = std::fs::read(root().join("images/shelf.png")).unwrap();
    let hash = hash(&image);
    for (wire, provider) in WIRES {
        let folder = Folder::new();
        let model = ScriptedModel::start_with_key(wire, KEY, add_twice);
        stdout(&mut asking(&folder, provider, &model));
        assert_eq!(model.problems(), Vec::<String>::new(), "{provider}");
        let requests = model.requests();
        assert_eq!(requests.len(), 2, "{provider}");
        for request in requests {
            assert_eq!(request.to_string().matches(&hash).count(), 1, "{provider}: {request}");
        }
        let prediction = &predictions(&output_of(&folder))[0];
        assert_eq!(prediction["final_reply"], "3 and 70", "{provider}");
        assert_eq!(prediction["model"]["requested"], format!("{provider}@{}:scripted", model.base_url()));
        // Bedrock's replies do not say which model made them.
        if wire != ScriptedWire::Bedrock {
            assert_eq!(prediction["model"]["reported"], "scripted", "{provider}");
        }
        assert_eq!(prediction["steps"].as_array().unwrap().len(), 1, "{provider}");
        let calls: Vec<&Value> = prediction["steps"][0]["calls"].as_array().unwrap().iter().collect();
        assert_eq!(calls.len(), 2, "{provider}");
        for (call, sum) in calls.iter().zip(["3", "70"]) {
            assert_eq!(
                (&call["name"], &call["result"], &call["outcome"]),
                (&json!("math/add"), &json!(sum), &json!("success"))
            );
        }
    }
}

/// The model first asks to wait, then fails, then answers.
#[test]
fn every_provider_is_asked_again_until_it_answers() {
    for (wire, provider) in WIRES {
        let folder = Folder::new();
        let asked = AtomicUsize::new(0);
        let raw = |status, headers| ScriptedReply::Raw { status, headers, body: "{}".to_owned() };
        let model = ScriptedModel::start(wire, move |_| match asked.fetch_add(1, Ordering::Relaxed) {
            0 => raw(429, vec![("retry-after".to_owned(), "0".to_owned())]),
            1 => raw(500, Vec::new()),
            _ => ScriptedReply::Say("here".to_owned()),
        });
        stdout(&mut asking(&folder, provider, &model));
        assert_eq!((model.requests().len(), model.problems()), (3, Vec::new()), "{provider}");
        let prediction = &predictions(&output_of(&folder))[0];
        assert_eq!((&prediction["finish"], &prediction["final_reply"]), (&json!("answered"), &json!("here")));
        assert_eq!(prediction["turns"][0]["tries"], 3, "{provider}");
        let journal = journal(&output_of(&folder));
        let reasons: Vec<String> = journal
            .iter()
            .filter(|line| line["event"] == "retried")
            .map(|line| line["reason"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(reasons.len(), 2, "{provider}: {reasons:?}");
        assert!(reasons[0].contains("429") && reasons[1].contains("500"), "{provider}: {reasons:?}");
    }
}
