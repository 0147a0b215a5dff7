//! From runs to references: verdict, proposal, rules.

use m3_testkit::model_server::ScriptedReply;
use serde_json::{Value, json};

use super::{
    SUCCESS, asking, best, command, failed, ids, is_verdict, journal, judge_by, kept, kept_steps, kind,
    long_run, made, one, prediction, product, references, refusal, rejected, target, task, two,
};
use crate::support::{Folder, failure, json_of, m3_bare, root, run, stdout, text};

#[test]
fn a_success_becomes_a_reference_and_a_failure_does_not() {
    let folder = Folder::new();
    let predictions = folder.json("predictions.json", &json!([long_run("a"), long_run("b")]));
    let model = judge_by(|seen| match (is_verdict(seen), task(seen).as_str()) {
        (true, "b") => {
            ScriptedReply::Say(r#"{"verdict": "fail", "reason": "The sum of step 3 is wrong."}"#.to_owned())
        }
        _ => kind(seen),
    });
    let table = stdout(&mut asking(&folder, &[&predictions], &model));
    assert_eq!(model.problems(), Vec::<String>::new());
    for row in [
        "tasks         2\n",
        "accepted      1\n",
        "rejected      1 (runs: 1 verdict fail)\n",
        "undecided     0\n",
        "calls         4 in the runs, 3 in the references\n",
        "steps         4 in the runs, 2 in the references\n",
        "removed       1 call\n",
        // The second sum is merged; the product, whose step is also earlier, stays alone in its step.
        "merged        1 call\n",
        // Two texts of four and five digits and one of eight, with their quotes.
        "results       23 bytes\n",
    ] {
        assert!(table.contains(row), "{row}{table}");
    }
    // Two verdicts and one proposal, each with the image.
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| request.to_string().contains("sha256:")));
    let verdict = requests[0].to_string();
    for part in ["What is the sum of", "math/multiply", "no such page", "86388638.", "BEGIN RECORD"] {
        assert!(verdict.contains(part), "{part} {verdict}");
    }
    let [reference] = references(&folder).try_into().unwrap();
    assert_eq!(reference["steps"], kept_steps());
    for (key, value) in [("id", "a"), ("type", "sums"), ("final_reply", "86388638.")] {
        assert_eq!(reference[key], value);
    }
    assert_eq!(reference["level"], 3);
    assert!(reference.get("finish").is_none() && reference.get("versions").is_none());
    let judged = &reference["judge"]["runs"][0];
    assert_eq!(
        (&judged["calls"], &judged["steps"], &judged["model"]),
        (&json!(4), &json!(4), &json!("openai:tested"))
    );
    assert_eq!(judged["verdict"]["verdict"], "success");
    let removed = &judged["reconstruction"]["removed"][0];
    assert_eq!((&removed["tool"], &removed["reason"]), (&json!("wiki/summary"), &json!("failed")));
    assert!(!removed["evidence"].as_str().unwrap().is_empty());
    assert_eq!(judged["reconstruction"]["merged"].as_array().unwrap().len(), 1);
    assert_eq!(judged["reconstruction"]["dependencies"].as_array().unwrap().len(), 2);
    assert_eq!(reference["judge"]["prompts"]["verdict"].as_str().unwrap().len(), 64);
    let [refused] = rejected(&folder).try_into().unwrap();
    assert_eq!(refusal(&refused), &json!({"kind": "verdict_fail", "reason": "The sum of step 3 is wrong."}));
    assert_eq!(refused["steps"][3]["calls"][0]["result"], "86388638");
    // A verdict and a proposal for the successful run, a verdict for the other.
    assert_eq!(journal(&folder).len(), model.requests().len());
    // Reading the written files gives no warnings.
    let report =
        stdout(m3_bare(folder.path()).arg("validate").arg(target(&folder)).args(["--format", "json"]));
    let report: Value = serde_json::from_str(&report).unwrap();
    let problems: Vec<&Value> = report["files"][0]["problems"].as_array().unwrap().iter().collect();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0]["pointer"], "/0/level");
}

#[test]
fn a_cassette_gives_the_same_references_without_a_network() {
    let folder = Folder::new();
    let predictions = folder.json("predictions.json", &json!([long_run("a"), long_run("b")]));
    let model = judge_by(kind);
    let cassette = folder.path().join("judge.tape");
    stdout(asking(&folder, &[&predictions], &model).arg("--record").arg(&cassette));
    let written = std::fs::read_to_string(target(&folder)).unwrap();
    drop(model);
    std::fs::remove_file(folder.path().join("references.journal.jsonl")).unwrap();
    std::fs::remove_file(target(&folder)).unwrap();
    let mut again = command(&folder, &[&predictions]);
    again.args(["--llm", &format!("replay:{}", cassette.display()), "--images"]).arg(root().join("images"));
    stdout(&mut again);
    assert_eq!(std::fs::read_to_string(target(&folder)).unwrap(), written);
}

#[test]
fn a_reply_that_cannot_be_read_is_asked_for_once_again() {
    let folder = Folder::new();
    let predictions = folder.json("predictions.json", &json!([long_run("a"), long_run("b"), long_run("c")]));
    let model = judge_by(|seen| {
        let reply = match (is_verdict(seen), task(seen).as_str(), seen.turn) {
            // Wrong the first time, then right.
            (true, "a", 1) => "success",
            (false, "a", 1) => "Here it is: {}",
            // Never right.
            (true, "b", _) => "{\"verdict\": \"yes\"}",
            (false, "c", _) => "I would keep all of it.",
            _ => return kind(seen),
        };
        if seen.turn == 2 {
            assert!(seen.last_user_text.contains("That reply cannot be used"), "{}", seen.last_user_text);
        }
        ScriptedReply::Say(reply.to_owned())
    });
    let done = run(&mut asking(&folder, &[&predictions], &model));
    assert_eq!(model.problems(), Vec::<String>::new());
    assert_eq!(done.status.code(), Some(3), "{}", text(&done.stderr));
    assert!(text(&done.stderr).contains("2 of 3 runs are undecided"), "{}", text(&done.stderr));
    assert!(
        text(&done.stdout).contains("undecided     2 (runs: 1 unreadable verdict, 1 unreadable proposal)\n")
    );
    assert_eq!(ids(&references(&folder)), ["a"]);
    let problems = references(&folder)[0]["judge"]["runs"][0]["problems"].as_array().unwrap().clone();
    assert_eq!(problems.len(), 2, "{problems:?}");
    let rejected = rejected(&folder);
    assert_eq!(ids(&rejected), ["b", "c"]);
    assert_eq!(rejected[0]["judge"]["status"], "undecided");
    assert_eq!(refusal(&rejected[0])["kind"], "unreadable_verdict");
    assert_eq!(refusal(&rejected[1])["kind"], "unreadable_proposal");
    // Four requests for `a`, two verdicts for `b`, a verdict and two proposals for `c`.
    assert_eq!(model.requests().len(), 4 + 2 + 3);
    // The same command repeats only the questions whose replies were unusable.
    let again = run(&mut asking(&folder, &[&predictions], &model));
    assert_eq!(again.status.code(), Some(3), "{}", text(&again.stderr));
    assert_eq!(model.requests().len(), 4 + 2 + 3 + 2);
}

#[test]
fn a_proposal_that_breaks_a_rule_is_sent_back_once_with_the_reasons() {
    let folder = Folder::new();
    let predictions = folder.json("predictions.json", &json!([long_run("a"), long_run("b"), long_run("c")]));
    let model = judge_by(|seen| {
        // Everything in one step, although the product needs the sums.
        let at_once = json!({"steps": [{"calls": [one(), two(), product()]}]}).to_string();
        let mut invented = one();
        invented["arguments"]["firstNumber"] = json!(9999);
        let invented = json!({"steps": [{"calls": [invented]}]}).to_string();
        match (is_verdict(seen), task(seen).as_str(), seen.turn) {
            (true, ..) => ScriptedReply::Say(SUCCESS.to_owned()),
            (false, "a", 1) | (false, "b", _) => ScriptedReply::Say(at_once),
            (false, "c", 1) => ScriptedReply::Say(invented),
            (false, "c", _) => ScriptedReply::Say("fail".to_owned()),
            (false, _, turn) => {
                assert_eq!(turn, 2);
                let said = &seen.last_user_text;
                assert!(said.contains("math/multiply") && said.contains("it has to come later"), "{said}");
                ScriptedReply::Say(best())
            }
        }
    });
    let done = run(&mut asking(&folder, &[&predictions], &model));
    assert_eq!(model.problems(), Vec::<String>::new());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(ids(&references(&folder)), ["a"]);
    let problems = &references(&folder)[0]["judge"]["runs"][0]["problems"];
    assert!(
        problems[0].as_str().unwrap().starts_with("proposal: `math/multiply` in step 1 uses"),
        "{problems}"
    );
    let rejected = rejected(&folder);
    assert_eq!(ids(&rejected), ["b", "c"]);
    assert_eq!(refusal(&rejected[0])["kind"], "breaks_rules");
    assert!(refusal(&rejected[0])["reason"].as_str().unwrap().contains("it has to come later"));
    assert_eq!(refusal(&rejected[1])["kind"], "no_proposal");
    let problems = rejected[1]["judge"]["runs"][0]["problems"].to_string();
    assert!(
        problems.contains("calls `math/add` with arguments that no successful call of the run had"),
        "{problems}"
    );
}

/// A task that rightly needs no call: the judge's verdict makes the run a reference, and no proposal is asked for.
/// Rules alone cannot distinguish it from a model that should have made calls.
#[test]
fn an_answer_without_calls_is_a_reference_if_the_judge_finds_it_right() {
    let folder = Folder::new();
    let mut silent = prediction("c", "openai:tested", &[]);
    silent["final_reply"] = json!("");
    let runs = json!([
        prediction("a", "openai:tested", &[]),
        prediction("b", "openai:tested", &[]),
        silent,
        prediction("d", "openai:tested", &[]),
        long_run("d"),
    ]);
    let predictions = folder.json("predictions.json", &runs);
    let model = judge_by(|seen| {
        if !is_verdict(seen) {
            return ScriptedReply::Say(best());
        }
        let has_calls = !seen.last_user_text.contains("This run made no calls.");
        ScriptedReply::Say(match (task(seen).as_str(), has_calls) {
            ("a" | "d", _) => SUCCESS.to_owned(),
            _ => r#"{"verdict": "fail", "reason": "It should have looked it up."}"#.to_owned(),
        })
    });
    stdout(&mut asking(&folder, &[&predictions], &model));
    assert_eq!(model.problems(), Vec::<String>::new());
    let (found, others) = (references(&folder), rejected(&folder));
    assert_eq!((ids(&found), ids(&others)), (vec!["a", "d"], vec!["b", "c"]));
    assert_eq!((&found[0]["steps"], &found[0]["final_reply"]), (&json!([]), &json!("86388638.")));
    let first = &found[0]["judge"]["runs"][0];
    assert_eq!((&first["status"], &first["calls"]), (&json!("accepted"), &json!(0)));
    assert_eq!(
        (&first["verdict"]["verdict"], &first["reconstruction"]["steps"]),
        (&json!("success"), &json!([]))
    );
    // A run with calls is preferred to one without.
    assert_eq!((&found[1]["judge"]["chosen"], found[1]["steps"].as_array().unwrap().len()), (&json!(1), 2));
    assert_eq!(refusal(&others[0])["kind"], "verdict_fail");
    assert_eq!(refusal(&others[1])["reason"], "it has no calls");
    // Five runs: four verdicts, one proposal.
    assert_eq!(model.requests().len(), 5);
    std::fs::remove_file(target(&folder)).unwrap();
    let ended = run(command(&folder, &[&predictions]).arg("--rules-only"));
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert_eq!(ids(&references(&folder)), ["d"]);
    let reason = refusal(&rejected(&folder)[0])["reason"].clone();
    assert!(reason.as_str().unwrap().contains("rules alone cannot tell"), "{reason}");
}

/// The setting is sent and is part of the key of an answer; rules alone ignore it.
#[test]
fn the_judges_temperature_and_longest_reply_are_sent_and_are_part_of_its_answers() {
    let folder = Folder::new();
    let predictions = folder.json("predictions.json", &json!([long_run("a")]));
    let model = judge_by(kind);
    let ask = |arguments: &[&str]| {
        let mut command = asking(&folder, &[&predictions], &model);
        stdout(command.args(arguments));
        model.requests()
    };
    let set = ["--temperature", "0.5", "--max-output-tokens", "700"];
    let first = ask(&set);
    assert!(first.iter().all(|request| request["temperature"] == 0.5), "{first:?}");
    assert!(first.iter().all(|request| json!(request).to_string().contains("700")), "{first:?}");
    assert_eq!(ask(&set).len(), first.len());
    let last = ask(&[]);
    assert_eq!(last.len(), 2 * first.len());
    assert_eq!(last.last().unwrap().get("temperature"), None);
    let mut rules = command(&folder, &[&predictions]);
    let (code, said) = failure(rules.args(["--rules-only", "--temperature", "0"]));
    assert_eq!((code, said.contains("`--rules-only` asks none")), (2, true), "{said}");
}

#[test]
fn rules_alone_ask_nobody() {
    let folder = Folder::new();
    let mut cut_short = long_run("b");
    cut_short["finish"] = json!("max_steps");
    let nothing = prediction("c", "openai:tested", &[vec![failed("wiki/summary")]]);
    // For files that are not from `m3 run`, the rules of outcomes decide which calls succeeded; a repeated call is
    // left out.
    let bare = |mut call: Value, result: &str| {
        call["result"] = json!(result);
        call
    };
    // Only the server's message shows that these failed.
    let mut refused = bare(two(), "no file of this name");
    refused["is_error"] = json!(true);
    let steps = [
        json!({"step": 1, "calls": [bare(one(), "1234")]}),
        json!({"step": 2, "calls": [bare(one(), "1234")]}),
        json!({"step": 3, "calls": [refused]}),
    ];
    let foreign = json!({"id": "d", "question": "?", "num_step": 2, "steps": steps});
    let predictions = folder.json("predictions.json", &json!([long_run("a"), cut_short, nothing, foreign]));
    let table = stdout(command(&folder, &[&predictions]).arg("--rules-only"));
    assert!(table.contains("rejected      2 (runs: 1 no successful call, 1 not answered)\n"), "{table}");
    assert!(!table.contains("tokens"), "{table}");
    let found = references(&folder);
    assert_eq!(ids(&found), ["a", "d"]);
    assert_eq!(found[0]["steps"], kept_steps());
    assert_eq!(found[1]["steps"], json!([{"step": 1, "calls": [kept(one(), "1234")]}]));
    assert!(found[1].get("num_step").is_none());
    assert_eq!(found[0]["judge"]["mode"], "rules");
    assert!(found[0]["judge"].get("model").is_none());
    assert!(!folder.path().join("references.journal.jsonl").exists());
    // Making references from references changes nothing: nothing is left to leave out.
    let mut again: Value = found[0].clone();
    again.as_object_mut().unwrap().remove("judge");
    let results = [["1234", "70007"].as_slice(), &["86388638"]];
    for (step, results) in results.iter().enumerate() {
        for (call, result) in results.iter().enumerate() {
            let entry = &mut again["steps"][step]["calls"][call];
            *entry = made(entry.clone(), result);
        }
    }
    let path = folder.json("again.json", &json!([again]));
    stdout(command(&folder, &[&path]).arg("--rules-only"));
    assert_eq!(references(&folder)[0]["steps"], found[0]["steps"]);
    assert_eq!(json_of(folder.path().join("references.rejected.json")), json!([]));
}
