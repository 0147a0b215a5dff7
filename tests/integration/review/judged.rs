//! `m3 review` of references that `m3 judge` wrote: results of the run, dependencies, the right run beside it.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::support::{Review, lines};
use crate::support::{Folder, failure, json_of, m3_bare, root, run, stdout, text};

fn call(name: &str, arguments: &Value, result: &str) -> Value {
    json!({"name": name, "arguments": arguments, "result": result})
}

fn find(query: &str) -> Value {
    call("shop/find", &json!({"query": query}), "{\"id\": \"item-77310\"}")
}

fn get() -> Value {
    call("shop/get", &json!({"id": "item-77310"}), "a lamp, 12 EUR")
}

/// A run of the task `t`, a call in each step.
fn ran(calls: &[Value]) -> Value {
    let steps = calls.iter().zip(1..).map(|(call, number)| json!({"step": number, "calls": [call]}));
    let steps: Vec<Value> = steps.collect();
    json!({"id": "t", "question": "What does it cost?", "steps": steps, "final_reply": "12 EUR"})
}

/// Judges these runs by rules alone.
fn judged(folder: &Folder, runs: &Value) -> PathBuf {
    folder.json("runs.json", runs);
    let mut judge = m3_bare(folder.path());
    judge.current_dir(folder.path()).args(["judge", "runs.json", "--rules-only", "-o", "references.json"]);
    let output = run(&mut judge);
    assert!(output.status.success(), "{}", text(&output.stderr));
    folder.path().join("references.json")
}

/// Two pairs of calls: in one, a call uses the other's result; in the other, it reads the file that the other wrote.
fn two_chains(folder: &Folder) -> PathBuf {
    let picture = |tool: &str, from: &str, to: &str| {
        call(tool, &json!({"input_path": from, "output_path": to}), "saved")
    };
    let grey = picture("image/grey", "crowd.png", "crowd-grey.png");
    let blur = picture("image/blur", "crowd-grey.png", "crowd-blur.png");
    judged(folder, &json!([ran(&[find("blue lamp"), grey, get(), blur])]))
}

/// The reference as sent to the page, and the number of each tool's call.
fn told(review: &Review) -> (Value, impl Fn(&str) -> usize + use<>) {
    let (status, told) = review.json("api/reference?index=0");
    assert_eq!(status, 200);
    let calls: Vec<Value> =
        told["steps"].as_array().unwrap().iter().flat_map(|step| step.as_array().unwrap().clone()).collect();
    let number = move |tool: &str| {
        let found = calls.iter().find(|call| call["tool"] == tool).unwrap();
        usize::try_from(found["call"].as_u64().unwrap()).unwrap()
    };
    (told, number)
}

/// The server's answer to an edit.
fn edit(review: &Review, steps: &[&[usize]]) -> (u16, String) {
    let steps: Vec<Vec<Value>> =
        steps.iter().map(|step| step.iter().map(|call| json!({ "call": call })).collect()).collect();
    let sent = json!({"index": 0, "base": 0, "name": "Ada", "action": "edit", "steps": steps});
    let (status, answer) = review.post("api/decide", &sent);
    (status, answer["error"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn results_and_dependencies_of_the_run_are_shown_and_kept() {
    let folder = Folder::new();
    let references = two_chains(&folder);
    let references = references.to_str().unwrap();
    let review = Review::start(&folder, &[references]);
    let (shown, number) = told(&review);
    let [find, get, grey, blur] = ["shop/find", "shop/get", "image/grey", "image/blur"].map(number);
    let results: Vec<&str> = shown["steps"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|step| step.as_array().unwrap())
        .map(|call| call["result"]["text"].as_str().unwrap())
        .collect();
    assert!(results.contains(&"a lamp, 12 EUR"), "{results:?}");
    assert!(
        shown["origin"].as_str().unwrap().starts_with("Results are those of the run"),
        "{}",
        shown["origin"]
    );
    let mut links: Vec<(u64, u64)> = shown["links"]
        .as_array()
        .unwrap()
        .iter()
        .map(|link| (link["from"].as_u64().unwrap(), link["to"].as_u64().unwrap()))
        .collect();
    links.sort_unstable();
    let mut expected = [(find as u64, get as u64), (grey as u64, blur as u64)];
    expected.sort_unstable();
    assert_eq!(links, expected);
    drop(review);

    // Without the run, the judge's record still counts.
    std::fs::remove_file(folder.path().join("runs.json")).unwrap();
    let review = Review::start(&folder, &[references]);
    let (shown, _) = told(&review);
    assert!(
        shown["origin"].as_str().unwrap().contains("its results are those that the reference has kept"),
        "{}",
        shown["origin"]
    );
    for (steps, part) in [
        (vec![&[find, get, grey][..], &[blur]], "uses `item-77310`"),
        (vec![&[find, grey, blur][..], &[get]], "uses `crowd-grey.png`"),
        (vec![&[blur][..], &[find, grey], &[get]], "uses `crowd-grey.png`"),
        (vec![&[grey][..], &[get, blur]], "is left out"),
    ] {
        let (status, error) = edit(&review, &steps);
        assert!(status == 422 && error.contains(part), "{status} {error}");
    }
    assert_eq!(edit(&review, &[&[find], &[grey], &[get, blur]]).0, 200);
}

#[test]
fn a_table_keeps_to_the_same_dependencies() {
    let folder = Folder::new();
    let references = two_chains(&folder);
    let table = folder.path().join("review.csv");
    let review = || {
        let mut command = m3_bare(folder.path());
        command.current_dir(folder.path()).arg("review").arg(&references);
        command
    };
    stdout(review().arg("--export").arg(&table));
    let written = std::fs::read_to_string(&table).unwrap();
    std::fs::write(&table, written.replace("t,2,", "t,1,").replace(",open,", ",accepted,")).unwrap();
    let (code, message) = failure(review().arg("--import").arg(&table));
    assert_eq!(code, 2);
    assert!(message.contains("uses `crowd-grey.png`") && message.contains("uses `item-77310`"), "{message}");
    // An edit and its note are one write, and reading the same table again changes nothing.
    std::fs::write(
        &table,
        written.replace("t,2,", "t,3,").replacen("t,1,", "t,2,", 1).replace(",open,", ",accepted,"),
    )
    .unwrap();
    for expected in [2, 2] {
        let output = run(review().arg("--import").arg(&table).args(["--name", "Ada"]));
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(lines(&folder, "references.json.reviews.jsonl").len(), expected);
    }
    // People's decisions are never overwritten.
    for kept in ["references.json.reviews.jsonl", "./references.json.preferences.jsonl"] {
        for option in ["--out", "--export"] {
            let (code, message) = failure(review().args([option, kept, "-q"]));
            assert!(code == 2 && message.contains("read or kept"), "{message}");
        }
    }
    assert_eq!(lines(&folder, "references.json.reviews.jsonl").len(), 2);
}

#[test]
fn a_reference_is_compared_with_the_run_that_it_was_made_of() {
    let folder = Folder::new();
    let pay = call("shop/pay", &json!({"note": "a lamp, 12 EUR"}), "done");
    let long = ran(&[find("red lamp"), get(), pay]);
    let short = ran(&[find("blue lamp"), find("blue lamp"), get()]);
    let references = judged(&folder, &json!([long, short]));
    let references = references.to_str().unwrap();
    let runs = folder.path().join("runs.json");
    let runs = runs.to_str().unwrap();
    let summary = stdout(m3_bare(folder.path()).args(["review", "--pairs", runs, references, "--summary"]));
    assert_eq!(summary, "1 pair, and nobody has judged any of them\n");
    let review = Review::start(&folder, &["--pairs", runs, references]);
    let (_, pair) = review.json("api/pair?place=0&name=Ada");
    let sides = format!("{}{}", pair["left"], pair["right"]);
    assert_eq!((sides.matches("blue lamp").count(), sides.matches("red lamp").count()), (3, 0), "{sides}");
    let fails = |originals: &str| {
        let (code, message) =
            failure(m3_bare(folder.path()).args(["review", "--pairs", originals, references, "--summary"]));
        assert_eq!(code, 2, "{message}");
        message
    };
    assert!(fails(references).contains("both files are the same"));
    let other = folder.json("other.json", &json!([ran(&[find("green lamp")])]));
    let message = fails(other.to_str().unwrap());
    assert!(message.contains("1 reference left out") && message.contains("was made of"), "{message}");
    let reference: Value = json_of(references);
    let mut bare = reference;
    bare[0].as_object_mut().unwrap().remove("judge");
    let same = folder.json("same.json", &bare);
    let bare = folder.json("bare.json", &bare);
    let (_, message) =
        failure(m3_bare(folder.path()).arg("review").arg("--pairs").arg(same).arg(bare).arg("--summary"));
    assert!(message.contains("1 pair left out: both sides are the same"), "{message}");
}

/// Pictures that tools made lie in the workspace of the run, and nothing of a run elsewhere is shown.
#[test]
fn pictures_that_the_run_made_are_shown_from_its_workspace() {
    let folder = Folder::new();
    let picture = json!({"content": [{"type": "image", "file": "made.png"}]});
    let mut made = call("image/draw", &json!({"x": 1}), "");
    made["result"] = picture;
    let run = json!([ran(&[made])]);
    std::fs::create_dir_all(folder.path().join("first/workspaces/t")).unwrap();
    folder.json("first/predictions.json", &run);
    let image = std::fs::read(root().join("images/clock.png")).unwrap();
    folder.write("first/workspaces/t/made.png", &image);
    let mut judge = m3_bare(folder.path());
    judge.current_dir(folder.path()).args([
        "judge",
        "first/predictions.json",
        "--rules-only",
        "-o",
        "references.json",
    ]);
    let output = crate::support::run(&mut judge);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let address = |review: &Review| {
        let (_, told) = review.json("api/reference?index=0");
        told["steps"][0][0]["result"]["pictures"][0]["address"].as_str().unwrap().to_owned()
    };
    let review = Review::start(&folder, &["references.json"]);
    let found = review.get(&address(&review));
    assert_eq!(
        (found.status().as_u16(), found.headers()["content-type"].to_str().unwrap()),
        (200, "image/jpeg")
    );
    drop(review);
    // The run is not in the folder of images.
    std::fs::create_dir(folder.path().join("images")).unwrap();
    let review = Review::start(&folder, &["references.json", "--images", "images"]);
    assert_eq!(review.get(&address(&review)).status().as_u16(), 404);
}

/// A decision on what is not in the file any more would not count.
#[test]
fn a_file_that_changes_under_a_review_takes_no_decisions() {
    let folder = Folder::new();
    judged(&folder, &json!([ran(&[find("blue lamp"), get()])]));
    let review = Review::start(&folder, &["references.json"]);
    let accept = json!({"index": 0, "base": 0, "name": "Ada", "action": "accept"});
    let mut references = json_of(folder.path().join("references.json"));
    references[0]["question"] = json!("What does it cost now?");
    folder.json("references.json", &references);
    let (status, answer) = review.post("api/decide", &accept);
    assert_eq!(status, 410);
    assert!(answer["error"].as_str().unwrap().contains("has changed since it was opened"), "{answer}");
    assert!(!folder.path().join("references.json.reviews.jsonl").exists());
}

/// Another version may mean something else by the same line.
#[test]
fn decisions_of_another_schema_are_refused() {
    let folder = Folder::new();
    judged(&folder, &json!([ran(&[find("blue lamp"), get()])]));
    let line = json!({
        "schema": "m3.review/2", "id": "t", "reference": "00", "name": "Ada", "time": "2026-01-01T00:00:00Z", "base": 0,
        "action": "accept"
    });
    folder.write("references.json.reviews.jsonl", format!("{line}\n"));
    let mut review = m3_bare(folder.path());
    let (code, message) =
        failure(review.current_dir(folder.path()).args(["review", "references.json", "--out", "o.json"]));
    assert!(code == 2 && message.contains("reads m3.review/1") && message.contains(":1"), "{code} {message}");
}
