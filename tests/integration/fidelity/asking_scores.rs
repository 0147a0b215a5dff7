//! `m3 score --llm` and `m3 audit --llm`: a scripted model is asked about matched pairs that fidelity is not sure of.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use assert_cmd::Command;
use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::asking::{ALL_BUT_EQUAL, answer, name};
use crate::support::{
    Folder, call, encoder, failure, follows_kept_schema, json_of, m3, m3_bare, m3_process, m3_with_cache,
    report, run, stdout, text, trajectory, wait_for,
};

/// What the scripted model answers to; `s/equal` needs no answer.
const TOOLS: [&str; 5] = ["s/same", "s/different", "s/undecided", "s/unreadable", "s/equal"];

/// Predictions and references of one task, a step for each tool. A call of `s/other` is matched with nothing.
fn files(folder: &Folder, tools: &[&str]) -> [PathBuf; 2] {
    let side = |predicted: bool| {
        let step = |tool: &&str| {
            let is_other = predicted && *tool != "s/equal";
            vec![call(tool, json!({"q": if is_other { "American eel" } else { "eel" }}))]
        };
        let mut steps: Vec<Vec<Value>> = tools.iter().map(step).collect();
        steps
            .push(vec![call("s/other", json!({"q": if predicted { "quarterly tax forms" } else { "eel" }}))]);
        let steps: Vec<&[Value]> = steps.iter().map(Vec::as_slice).collect();
        let mut task = trajectory("eels", &steps);
        task["question"] = json!("Which eels\nare there?");
        json!([task])
    };
    [folder.json("predictions.json", &side(true)), folder.json("references.json", &side(false))]
}

/// `m3 COMMAND PREDICTIONS REFERENCES` with further options.
fn m3_of(command: &str, files: &[PathBuf; 2], further: &[&str]) -> Option<Command> {
    let mut m3 = m3()?;
    m3.arg(command).args(files).args(further);
    Some(m3)
}

/// The same with a model that is asked about everything that is not equal.
fn ask(command: &str, files: &[PathBuf; 2], model: &str, further: &[&str]) -> Option<Command> {
    let mut m3 = m3_of(command, files, &["--llm", model])?;
    m3.args(ALL_BUT_EQUAL).args(further);
    Some(m3)
}

fn matches(score: &Value) -> &Vec<Value> {
    score["trajectories"][0]["matches"].as_array().unwrap()
}

/// A score without what argument fidelity decides, and without its signature.
fn without_fidelity(score: &Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|key, _| {
                    !(key.contains("fidelity")
                        || key.contains("wrong")
                        || key.contains("rejected")
                        || ["verdict", "job", "jobs"].contains(&key.as_str()))
                });
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut score = score.clone();
    for key in ["asked", "signature", "costs"] {
        score.as_object_mut().unwrap().remove(key);
    }
    strip(&mut score);
    score
}

/// Whichever similarity aligns the calls, answers come after it.
#[test]
fn agreement_settles_fidelity_and_changes_nothing_else() {
    let folder = Folder::new();
    let files = files(&folder, &TOOLS);
    for similarity in ["cosine", "typed"] {
        let options = ["--similarity", similarity];
        let Some(mut plain) = m3_of("score", &files, &options) else { return };
        let plain = report(&mut plain);
        assert!(plain.get("asked").is_none() && !plain["signature"].as_str().unwrap().contains("|ask:"));
        assert_eq!((matches(&plain).len(), &plain["aggregate"]["reference_calls"]), (5, &json!(6)));
        let model = ScriptedModel::start(ScriptedWire::OpenAi, answer);
        let found = report(&mut ask("score", &files, &name(&model), &options).unwrap());
        follows_kept_schema("score", &found);
        assert_eq!((model.problems(), model.requests().len()), (Vec::new(), 8));
        let fingerprint = found["asked"]["fingerprint"].as_str().unwrap();
        assert_eq!(
            found["asked"],
            json!({"model": name(&model), "band": {"low": 0.0, "high": 0.99}, "fingerprint": fingerprint, "asked": 4,
                "same": 1, "different": 1, "uncertain": 2, "disagreement": 1, "unreadable": 1, "no_reply": 0,
                "too_long": 0})
        );
        assert!(found["signature"].as_str().unwrap().contains(&format!("|ask:{}|", &fingerprint[..8])));
        let before = |index: usize| matches(&plain)[index]["argument_fidelity"].as_f64().unwrap();
        let fidelities: Vec<f64> =
            matches(&found).iter().map(|pair| pair["argument_fidelity"].as_f64().unwrap()).collect();
        assert_eq!(fidelities, [0.95, 0.05, before(2), before(3), 1.0]);
        // By docs/metrics.md: the mean over the matched calls.
        let mean = found["aggregate"]["argument_fidelity"].as_f64().unwrap();
        assert!((mean - fidelities.iter().sum::<f64>() / 5.0).abs() < 1e-12, "{mean}");
        assert_eq!(without_fidelity(&found), without_fidelity(&plain));
        let wrong = &matches(&found)[1]["wrong_arguments"][0];
        assert_eq!(wrong["reason"], "a language model takes the calls for different ones");
        assert!(matches(&found)[0].get("wrong_arguments").is_none());
        let rejected = found["rejected_matches"]["matches"].as_array().unwrap();
        assert!(rejected.iter().any(|pair| pair["tool"] == "s/different"), "{rejected:?}");
        assert!(found["by_tool"].as_array().unwrap().iter().any(|tool| tool["tool"] == "s/different"));
    }
}

#[test]
fn equal_pairs_of_all_repetitions_are_one_question_and_have_one_answer() {
    let folder = Folder::new();
    let files = files(&folder, &["s/same", "s/different"]);
    let again = folder.path().join("again.json");
    std::fs::copy(&files[0], &again).unwrap();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, answer);
    let repeat = ["--repeat", again.to_str().unwrap()];
    let Some(mut command) = ask("score", &files, &name(&model), &repeat) else { return };
    let found = report(&mut command);
    assert_eq!(model.requests().len(), 4);
    assert_eq!([&found["asked"]["asked"], &found["asked"]["same"]], [&json!(4), &json!(2)]);
    for trajectory in found["trajectories"].as_array().unwrap() {
        assert_eq!(trajectory["matches"][0]["argument_fidelity"], 0.95);
        assert_eq!(trajectory["matches"][1]["argument_fidelity"], 0.05);
    }
    assert_eq!(found["rejected_matches"]["count"], 2);
}

#[test]
fn answers_do_not_enter_the_cache() {
    let folder = Folder::new();
    let files = files(&folder, &["s/same", "s/different"]);
    let Some(assets) = encoder() else { return };
    let score = |further: &[&str]| {
        let mut m3 = m3_with_cache(&folder.path().join("cache"), assets);
        m3.arg("score").args(&files).args(further);
        report(&mut m3)
    };
    let model = ScriptedModel::start(ScriptedWire::OpenAi, answer);
    let asked = score(&["--llm", &name(&model), ALL_BUT_EQUAL[0], ALL_BUT_EQUAL[1]]);
    assert_eq!(asked["asked"]["same"], 1);
    let (cached, fresh) = (score(&[]), score(&["--no-cache"]));
    assert_eq!(cached, fresh);
    assert_ne!(matches(&cached), matches(&asked));
}

#[test]
fn an_audit_marks_arguments_by_the_answers_and_says_who_was_asked() {
    let folder = Folder::new();
    let files = files(&folder, &TOOLS);
    let model = ScriptedModel::start(ScriptedWire::OpenAi, answer);
    let cassette = folder.path().join("asked.tape");
    let record = ["--record", cassette.to_str().unwrap()];
    let Some(mut scored) = ask("score", &files, &name(&model), &record) else { return };
    let scored = report(&mut scored);
    let replay = format!("replay:{}", cassette.display());
    let found = report(&mut ask("audit", &files, &replay, &["--id", "eels"]).unwrap());
    follows_kept_schema("audit", &found);
    // The second scoring, which the audit shows, has the answers of the first.
    assert_eq!(found["score"]["asked"], scored["asked"]);
    assert_eq!(found["trajectories"][0]["matches"], scored["trajectories"][0]["matches"]);
    let argument = |index: usize| &found["trajectories"][0]["arguments"][index]["arguments"][0];
    for (index, verdict, said) in [
        (0, "equivalent", "a language model takes the calls for the same"),
        (1, "different", "a language model takes the calls for different ones"),
    ] {
        assert_eq!(
            [&argument(index)["verdict"], &argument(index)["reason"]],
            [&json!(verdict), &json!(said)]
        );
    }
    let sentence = "was asked about 4 pairs: 1 the same, 1 different, 2 still uncertain";
    let said = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").contains(sentence);
    let table = stdout(&mut ask("audit", &files, &replay, &[]).unwrap());
    assert!(said(table.split("eels").next().unwrap()), "{table}");
    let page = folder.path().join("audit.html");
    stdout(&mut ask("audit", &files, &replay, &["--html", page.to_str().unwrap()]).unwrap());
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(sentence) && page.contains("takes the calls for different ones"));
    for command in ["score", "audit"] {
        let plain = stdout(&mut m3_of(command, &files, &[]).unwrap());
        assert!(!plain.contains("asked"), "{plain}");
    }
}

#[test]
fn a_recording_plays_to_the_same_bytes_in_every_form() {
    let folder = Folder::new();
    let files = files(&folder, &TOOLS);
    let model = ScriptedModel::start(ScriptedWire::OpenAi, answer);
    let cassette = folder.path().join("asked.tape");
    let record = cassette.to_str().unwrap();
    let forms =
        [("score", "json"), ("score", "markdown"), ("score", "table"), ("audit", "json"), ("audit", "table")];
    let mut printed = Vec::new();
    for (command, form) in forms {
        let further = ["--format", form, "--record", record];
        let Some(mut command) = ask(command, &files, &name(&model), &further) else { return };
        printed.push(stdout(&mut command));
    }
    drop(model);
    let replay = format!("replay:{record}");
    for ((command, form), expected) in forms.into_iter().zip(&printed) {
        assert_eq!(&stdout(&mut ask(command, &files, &replay, &["--format", form]).unwrap()), expected);
        let words = expected.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_said = words.contains("was asked about 4 pairs: 1 the same, 1 different, 2 still uncertain");
        assert_eq!(is_said, form != "json", "{expected}");
    }
    // What was recorded by one command answers the other.
    let of_fidelity = run(&mut ask("score", &files, &replay, &[]).unwrap());
    assert!(text(&of_fidelity.stderr).contains("8 replies"));
}

#[test]
fn scores_that_were_settled_otherwise_are_not_compared() {
    let folder = Folder::new();
    let files = files(&folder, &TOOLS);
    let model = ScriptedModel::start(ScriptedWire::OpenAi, answer);
    let [plain, asked] = ["plain.json", "asked.json"].map(|name| folder.path().join(name));
    let Some(mut first) = m3_of("score", &files, &["--out", plain.to_str().unwrap()]) else { return };
    stdout(&mut first);
    stdout(&mut ask("score", &files, &name(&model), &["--out", asked.to_str().unwrap()]).unwrap());
    let changed = |name: &str, key: &str, value: Value| {
        let mut score = json_of(&asked);
        *score["asked"].pointer_mut(key).unwrap() = value;
        folder.json(name, &score)
    };
    let hostile = changed("other.json", "/model", json!("m:2\u{1b}[0m"));
    let wide = changed("wide.json", "/band/high", json!(0.75));
    let same = changed("same.json", "/fingerprint", json!("0123456789abcdef"));
    for command in ["compare", "leaderboard"] {
        let compared = |other: &PathBuf| {
            let mut m3 = m3_bare(folder.path());
            m3.arg(command).args([&asked, other]);
            m3
        };
        for (other, expected) in [
            (&plain, ")\n"),
            (&hostile, "m:2\\u{1b}[0m asked about 0 to 0.99"),
            (&wide, "asked about 0 to 0.75"),
        ] {
            let (code, said) = failure(&mut compared(other));
            assert!(code == 2 && said.contains("scripted asked about 0 to 0.99 and "), "{said}");
            assert!(said.contains(expected) && said.contains("`--llm`"), "{said}");
        }
        stdout(&mut compared(&same));
    }
}

#[test]
fn requests_without_reply_are_told_and_the_report_is_written() {
    let folder = Folder::new();
    let files = files(&folder, &["s/same", "s/refused"]);
    let model = ScriptedModel::start_with_key(ScriptedWire::OpenAi, "the-secret-key", answer);
    let (out, cassette) = (folder.path().join("report.json"), folder.path().join("asked.tape"));
    for command in ["score", "audit"] {
        let further = ["--llm-key-from", "EEL_KEY", "--out", out.to_str().unwrap(), "--record"];
        let Some(mut m3) = ask(command, &files, &name(&model), &further) else { return };
        let (code, said) = failure(m3.arg(&cassette).env("EEL_KEY", "the-secret-key"));
        assert!(code == 3 && said.contains("1 of 2 pairs got no reply"), "{said}");
        let written = std::fs::read_to_string(&out).unwrap();
        let found = json_of(&out);
        let summary = if command == "score" { &found } else { &found["score"] };
        assert_eq!([&summary["asked"]["same"], &summary["asked"]["no_reply"]], [&json!(1), &json!(1)]);
        for text in [&said, &written, &std::fs::read_to_string(&cassette).unwrap()] {
            assert!(!text.contains("the-secret-key"), "{text}");
        }
    }
    let silent = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Raw {
        status: 401,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: json!({"error": {"message": "who are you?"}}).to_string(),
    });
    let plain = report(&mut m3_of("score", &files, &[]).unwrap());
    let ended = run(ask("score", &files, &name(&silent), &["--format", "json"]).as_mut().unwrap());
    assert_eq!(ended.status.code(), Some(4), "{}", text(&ended.stderr));
    let found: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!([&found["aggregate"], &found["asked"]["no_reply"]], [&plain["aggregate"], &json!(2)]);
    // A floor that is missed as well is told beside it, and decides the code.
    let floor = ["--fail-under", "argument_fidelity=0.99"];
    let (code, said) = failure(&mut ask("score", &files, &name(&silent), &floor).unwrap());
    assert!(
        code == 1 && said.contains("2 of 2 pairs got no reply") && said.contains("--fail-under"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_is_done() {
    let folder = Folder::new();
    let files = files(&folder, &["s/same"]);
    folder.write("played.tape", "");
    let model = "openai@http://127.0.0.1:9:m";
    for command in ["score", "audit"] {
        let refused = |further: &[&str]| {
            let mut m3 = m3_bare(folder.path());
            m3.current_dir(folder.path()).env_remove("OPENAI_API_KEY").env_remove("M3_LLM_KEY");
            failure(m3.arg(command).args(&files).args(further))
        };
        for (options, expected) in [
            (&["--record", "asked.tape"][..], "--llm <MODEL>"),
            (&["--llm-band", "0.1..0.9"], "--llm <MODEL>"),
            (&["--temperature", "0"], "`--llm MODEL` names one"),
            (&["--llm", model, "--llm-band", "0.9..0.1"], "should not be above"),
            (&["--llm", model, "--record", "predictions.json"], "name another one"),
            (&["--llm", model, "--record", "x.json", "--out", "x.json"], "name another one"),
            (
                &["--llm", "replay:played.tape", "--format", "json", "--out", "played.tape"],
                "name another one",
            ),
            (&["--llm", "replay:none.tape"], "none.tape"),
        ] {
            let (code, said) = refused(options);
            assert!(code == 2 && said.contains(expected), "{command} {options:?}: {said}");
        }
        assert!(!folder.path().join("x.json").exists(), "no recording was begun");
        let (code, said) = refused(&["--llm", "openai:gpt-5"]);
        assert!(code == 4 && said.contains("OPENAI_API_KEY"), "{said}");
    }
}

/// Starts `m3 score` with a model, so that it can be interrupted.
fn start(files: &[PathBuf; 2], model: &str, cache: &Path) -> Option<std::process::Child> {
    let mut m3 = m3_process(cache, encoder()?);
    m3.arg("score").args(files).args(["--format", "json", "--llm", model]).args(ALL_BUT_EQUAL);
    Some(m3.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

fn interrupt(child: &std::process::Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

#[test]
fn an_interrupted_question_leaves_no_report() {
    let folder = Folder::new();
    let files = files(&folder, &["s/same"]);
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Stall);
    let Some(child) = start(&files, &name(&model), folder.path()) else { return };
    wait_for("the model is asked", || model.requests().len() == 2);
    interrupt(&child);
    interrupt(&child);
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), text(&ended.stdout)), (Some(130), String::new()));
}

/// Once the answers are there nothing has to be closed, and a signal ends the command at once, as it does without a model.
#[test]
fn after_the_answers_a_signal_ends_the_command_as_without_a_model() {
    let folder = Folder::new();
    // More than a pipe holds, which nobody reads.
    let files = files(&folder, &["s/same"; 600]);
    let model = ScriptedModel::start(ScriptedWire::OpenAi, answer);
    let Some(mut child) = start(&files, &name(&model), folder.path()) else { return };
    let said = BufReader::new(child.stderr.take().unwrap());
    assert!(said.lines().any(|line| line.unwrap().contains("was asked about 600 pairs")));
    interrupt(&child);
    assert_eq!(child.wait().unwrap().signal(), Some(2));
}
