//! `m3 fidelity --llm`: a scripted model is asked about pairs that fidelity is not sure of.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest};
use serde_json::{Value, json};

use super::fidelity;
use crate::support::{Folder, failure, follows_kept_schema, m3, m3_bare, report, run, stdout, text};

/// Every score but that of equal arguments.
pub(super) const ALL_BUT_EQUAL: [&str; 2] = ["--llm-band", "0..0.99"];

/// Pairs that differ in one word; the tool's name tells the scripted model what to say.
fn pairs(folder: &Folder, tools: &[&str]) -> PathBuf {
    let schema =
        json!({"type": "object", "properties": {"q": {"type": "string", "title": "what is sought"}}});
    let pair = |tool: &&str| {
        let b = json!({"q": if *tool == "s/equal" { "eel" } else { "American eel" }});
        json!({"tool": tool, "a": {"q": "eel"}, "b": b, "same": 1, "question": "Which eels\nare there?", "schema": schema})
    };
    folder.json("pairs.json", &json!(tools.iter().map(pair).collect::<Vec<_>>()))
}

/// Whether `eel` is call A.
fn is_in_order(text: &str) -> bool {
    text.find(r#"{"q":"eel"}"#).unwrap() < text.find(r#"{"q":"American eel"}"#).unwrap()
}

/// What a pair's tool says: the same, different, what comes first, or nothing that can be read.
pub(super) fn answer(seen: &SeenRequest) -> ScriptedReply {
    let asked = &seen.last_user_text;
    let says =
        |same: bool| ScriptedReply::Say(json!({"same": same, "reason": "because of the eel"}).to_string());
    if asked.contains("s/same") {
        says(true)
    } else if asked.contains("s/different") {
        says(false)
    } else if asked.contains("s/undecided") {
        says(is_in_order(asked))
    } else if asked.contains("s/refused") && is_in_order(asked) {
        let header = seen.authorization.clone().unwrap_or_default();
        ScriptedReply::Raw {
            status: 400,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: json!({"error": {"message": format!("against the policy, {header}")}}).to_string(),
        }
    } else {
        ScriptedReply::Say("I think they are the same.".to_owned())
    }
}

pub(super) fn name(model: &ScriptedModel) -> String {
    format!("openai@{}:scripted", model.base_url())
}

/// `m3 fidelity PAIRS --llm MODEL` with further options.
fn ask(pairs: &Path, model: &str, further: &[&str]) -> Option<Command> {
    let mut command = m3()?;
    command.arg("fidelity").arg(pairs).args(["--llm", model]).args(further);
    Some(command)
}

/// The text that a request to the scripted model shows, and the tool that it is about.
fn shown(request: &Value) -> (String, String) {
    let content = &request["messages"].as_array().unwrap().last().unwrap()["content"];
    let parts = || content.as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect();
    let text: String = content.as_str().map_or_else(parts, str::to_owned);
    let tool = text.lines().find(|line| line.starts_with("s/")).unwrap().to_owned();
    (text, tool)
}

#[test]
fn each_pair_is_asked_in_both_orders_and_only_agreement_makes_it_sure() {
    let folder = Folder::new();
    let tools = ["s/same", "s/different", "s/undecided", "s/unreadable", "s/equal"];
    let pairs = pairs(&folder, &tools);
    let Some(plain) = fidelity(&pairs, &[]) else { return };
    assert!(plain.get("asked").is_none() && plain["pairs"][0].get("asked").is_none());
    let model = ScriptedModel::start(ScriptedWire::OpenAi, answer);
    let found = report(&mut ask(&pairs, &name(&model), &ALL_BUT_EQUAL).unwrap());
    follows_kept_schema("fidelity", &found);
    assert_eq!(model.problems(), Vec::<String>::new());
    let fingerprint = &found["asked"]["fingerprint"];
    assert_eq!(fingerprint.as_str().unwrap().len(), 16);
    assert_eq!(
        found["asked"],
        json!({"model": name(&model), "band": {"low": 0.0, "high": 0.99}, "fingerprint": fingerprint, "asked": 4,
            "same": 1, "different": 1, "uncertain": 2, "disagreement": 1, "unreadable": 1, "no_reply": 0, "too_long": 0})
    );
    let before = |index: usize| plain["pairs"][index]["score"].clone();
    let pair = |index: usize| &found["pairs"][index];
    let scores: Vec<&Value> = (0..tools.len()).map(|index| &pair(index)["score"]).collect();
    assert_eq!(json!(scores), json!([0.95, 0.05, before(2), before(3), 1.0]));
    for (index, said) in ["same", "different", "disagreement", "unreadable"].iter().enumerate() {
        assert_eq!(
            [&pair(index)["asked"]["answer"], &pair(index)["asked"]["before"]],
            [&json!(said), &before(index)]
        );
    }
    let opinion = |same: bool| json!({"same": same, "reason": "because of the eel"});
    assert_eq!(pair(2)["asked"]["opinions"], json!([opinion(true), opinion(false)]));
    assert_eq!(pair(3)["asked"]["opinions"], json!([null, null]));
    assert!(pair(4).get("asked").is_none());
    // Both orders of each pair that is not equal, with everything that is known of it.
    let requests = model.requests();
    assert_eq!(requests.len(), 8);
    for tool in &tools[..4] {
        let texts: Vec<String> =
            requests.iter().map(shown).filter(|(_, of)| of == tool).map(|(text, _)| text).collect();
        assert_eq!(texts.len(), 2);
        assert_ne!(is_in_order(&texts[0]), is_in_order(&texts[1]));
        for known in ["\nWhich eels\\nare there?\n", "\nq\n", "what is sought"] {
            assert!(texts.iter().all(|text| text.contains(known)), "{known}: {}", texts[0]);
        }
    }
    let system = requests[0]["messages"][0]["content"].to_string();
    assert!(
        system.contains("Decide whether both calls ask the tool for the same") && !system.contains("eel"),
        "{system}"
    );
}

#[test]
fn a_recording_plays_to_the_same_bytes_without_a_server() {
    let folder = Folder::new();
    let pairs = pairs(&folder, &["s/same", "s/different", "s/undecided", "s/unreadable"]);
    let model = ScriptedModel::start(ScriptedWire::OpenAi, answer);
    let cassette = folder.path().join("asked.tape");
    let record = ["--record", cassette.to_str().unwrap()];
    let Some(mut command) = ask(&pairs, &name(&model), &ALL_BUT_EQUAL) else { return };
    let first = stdout(command.args(record).args(["--format", "json"]));
    drop(model);
    let replay = format!("replay:{}", cassette.display());
    let mut again = ask(&pairs, &replay, &ALL_BUT_EQUAL).unwrap();
    assert_eq!(stdout(again.args(["--format", "json"])), first);
    // Notes are wrapped where a name is long.
    let table = stdout(&mut ask(&pairs, &replay, &ALL_BUT_EQUAL).unwrap());
    let words: Vec<&str> = table.split_whitespace().collect();
    let said = "in both orders: 1 the same, 1 different, 2 uncertain (1 disagreement, 1 unreadable)";
    assert!(words.join(" ").contains(said), "{table}");
    let said = text(&run(&mut ask(&pairs, &replay, &ALL_BUT_EQUAL).unwrap()).stderr);
    assert!(said.contains("asked about 4 pairs") && said.contains("8 replies"), "{said}");
    assert!(said.contains("cannot be read: it is not the JSON object that was asked for"), "{said}");
    let (code, said) =
        failure(ask(&pairs, &replay, &ALL_BUT_EQUAL).unwrap().args(["--record", cassette.to_str().unwrap()]));
    assert!(code == 2 && said.contains("name another file"), "{said}");
}

/// Equal pairs are one question for each order, also where one pair is the other one swapped.
#[test]
fn no_question_is_asked_twice() {
    let folder = Folder::new();
    let (a, b) = (json!({"q": "eel"}), json!({"q": "American eel"}));
    let pair = |a: &Value, b: &Value| json!({"tool": "s/same", "a": a, "b": b, "same": 1});
    let pairs = folder.json("pairs.json", &json!([pair(&a, &b), pair(&b, &a), pair(&a, &b)]));
    let model = ScriptedModel::start(ScriptedWire::OpenAi, answer);
    let Some(mut command) = ask(&pairs, &name(&model), &ALL_BUT_EQUAL) else { return };
    assert_eq!(report(&mut command)["asked"]["same"], 3);
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn only_pairs_in_the_band_are_asked_about() {
    let folder = Folder::new();
    let queries = ["American eel", "eels", "quarterly tax forms", "kittens"];
    let pair = |(index, query): (usize, &&str)| json!({"tool": format!("s/same-{index}"), "a": {"q": "eel"}, "b": {"q": query}, "same": 1});
    let pairs = folder.json("pairs.json", &json!(queries.iter().enumerate().map(pair).collect::<Vec<_>>()));
    let Some(plain) = fidelity(&pairs, &[]) else { return };
    let model = ScriptedModel::start(ScriptedWire::OpenAi, answer);
    let asked = |further: &[&str], low: f64, high: f64| {
        let before = model.requests().len();
        let found = report(&mut ask(&pairs, &name(&model), further).unwrap());
        let mut count = 0;
        for (index, pair) in found["pairs"].as_array().unwrap().iter().enumerate() {
            let before = &plain["pairs"][index];
            let is_in = (low..=high).contains(&before["score"].as_f64().unwrap());
            assert_eq!(pair.get("asked").is_some(), is_in, "{pair}");
            assert!(is_in || pair == before, "{pair}");
            count += usize::from(is_in);
        }
        assert_eq!((model.requests().len() - before, &found["asked"]["asked"]), (2 * count, &json!(count)));
        count
    };
    let by_default = asked(&[], 0.25, 0.75);
    assert!(by_default < queries.len(), "some are sure");
    assert!(asked(&["--llm-band", "0.0..0.1"], 0.0, 0.1) > 0);
    assert_eq!(asked(&["--llm-band", "0.999..1"], 0.999, 1.0), 0);
}

#[test]
fn a_request_without_reply_is_told_and_the_report_is_written() {
    let folder = Folder::new();
    let pairs = pairs(&folder, &["s/same", "s/refused"]);
    let Some(plain) = fidelity(&pairs, &[]) else { return };
    let model = ScriptedModel::start_with_key(ScriptedWire::OpenAi, "the-secret-key", answer);
    let (out, cassette) = (folder.path().join("report.json"), folder.path().join("asked.tape"));
    let mut command = ask(&pairs, &name(&model), &ALL_BUT_EQUAL).unwrap();
    command
        .args(["--llm-key-from", "EEL_KEY", "--out", out.to_str().unwrap()])
        .env("EEL_KEY", "the-secret-key");
    let (code, said) = failure(command.args(["--record", cassette.to_str().unwrap()]));
    assert_eq!(model.problems(), Vec::<String>::new());
    assert!(code == 3 && said.contains("1 of 2 pairs got no reply") && said.contains("hint:"), "{said}");
    assert!(said.contains("against the policy"), "{said}");
    let written = std::fs::read_to_string(&out).unwrap();
    let found: Value = serde_json::from_str(&written).unwrap();
    follows_kept_schema("fidelity", &found);
    assert_eq!(found["pairs"][0]["score"], 0.95);
    assert_eq!(found["pairs"][1]["score"], plain["pairs"][1]["score"]);
    assert_eq!([&found["asked"]["no_reply"], &found["asked"]["uncertain"]], [&json!(1), &json!(1)]);
    for text in [&said, &written, &std::fs::read_to_string(&cassette).unwrap()] {
        assert!(!text.contains("the-secret-key"), "{text}");
    }
}

#[test]
fn a_model_that_answers_nothing_is_given_up_and_nothing_is_lost() {
    let folder = Folder::new();
    let tools: Vec<String> = (0..20).map(|index| format!("s/t{index}")).collect();
    let pairs = pairs(&folder, &tools.iter().map(String::as_str).collect::<Vec<_>>());
    let Some(plain) = fidelity(&pairs, &[]) else { return };
    let refuses = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Raw {
        status: 401,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: json!({"error": {"message": "who are you?"}}).to_string(),
    });
    let ended = run(ask(&pairs, &name(&refuses), &ALL_BUT_EQUAL).unwrap().args(["--format", "json"]));
    let said = text(&ended.stderr);
    assert!(ended.status.code() == Some(4) && said.contains("who are you?"), "{said}");
    assert!(refuses.requests().len() < 40, "it is given up");
    let found: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!([&found["all"], &found["asked"]["no_reply"]], [&plain["all"], &json!(20)]);
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_is_done() {
    let folder = Folder::new();
    let pairs = pairs(&folder, &["s/same"]);
    let refused = |further: &[&str]| {
        let mut command = m3_bare(folder.path());
        command.current_dir(folder.path()).env_remove("OPENAI_API_KEY").env_remove("M3_LLM_KEY");
        failure(command.arg("fidelity").arg(&pairs).args(further))
    };
    let model = "openai@http://127.0.0.1:9:m";
    for (options, expected) in [
        (&["--llm", model, "--similarity", "cosine"][..], "cosines are no probabilities"),
        (&["--llm", model, "--train", "--model-out", "model"], "cannot be used with"),
        (&["--record", "asked.tape"], "--llm <MODEL>"),
        (&["--temperature", "0"], "`--llm MODEL` names one"),
        (&["--llm", model, "--llm-band", "0.9..0.1"], "should not be above"),
        (&["--llm", model, "--record", "pairs.json"], "name another one"),
        (&["--llm", model, "--record", "x", "--out", "x"], "name another one"),
        (&["--llm", "replay:played.tape", "--out", "played.tape"], "name another one"),
        (&["--llm", "gpt"], "hint:"),
        (&["--llm", "replay:none.tape"], "none.tape"),
    ] {
        let (code, said) = refused(options);
        assert!(code == 2 && said.contains(expected), "{options:?}: {said}");
    }
    assert!(!folder.path().join("x").exists(), "no recording was begun");
    let (code, said) = refused(&["--llm", "openai:gpt-5"]);
    assert!(code == 4 && said.contains("OPENAI_API_KEY"), "{said}");
}
