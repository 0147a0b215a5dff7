//! Runs that go on while somebody looks.

use m3_testkit::browser::Browser;
use serde_json::{Value, json};

use super::{View, one_call, recall_of, visit, write};
use crate::support::Folder;

/// A prediction of a task.
fn prediction(id: &str) -> Value {
    one_call(id, "image/crop", &json!({"x": 1}))
}

/// Writes the journal of a run of three tasks: its start, by this process, and what follows.
fn journal(folder: &Folder, events: &[Value]) {
    journal_of(folder, "one", events);
}

fn journal_of(folder: &Folder, run: &str, events: &[Value]) {
    let mut lines = vec![
        json!({"time": 1.0, "event": "run_started", "m3": "0.1.0", "process": std::process::id(), "model": "openai:gpt-5", "to_do": 3, "done": 0}),
    ];
    lines.extend_from_slice(events);
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    std::fs::create_dir_all(folder.path().join("runs").join(run)).unwrap();
    std::fs::write(folder.path().join("runs").join(run).join("journal.jsonl"), lines.join("\n") + "\n")
        .unwrap();
}

#[test]
fn a_run_that_goes_on_is_shown_as_it_goes() {
    let folder = Folder::new();
    let predictions = folder.path().join("runs/one/predictions.json");
    write(&predictions, &json!([prediction("a")]));
    let called = json!({"time": 2.0, "task": "b", "repeat": 1, "attempt": 1, "event": "called", "step": 1, "call": 0, "tool": "image/crop"});
    let finished = |id: &str| json!({"time": 2.0, "task": id, "repeat": 1, "attempt": 1, "event": "finished", "finish": "answered", "steps": 1, "calls": 1, "usage": {}});
    journal(&folder, &[finished("a"), called.clone()]);
    write(&folder.path().join("references.json"), &json!(["a", "b", "c"].map(prediction)));
    let (Some(view), Some(browser)) = (View::start(&folder, &["."]), Browser::open(1280, 1000)) else {
        return;
    };
    let state = view.json("data/state.json");
    assert_eq!(state["runs"][0]["progress"]["running"], json!([["b", 1, "called: image/crop"]]));
    visit(&browser, &view.address, "#/");
    let main = "document.getElementById('main').textContent";
    browser.wait(&format!("{main}.includes('running 1 of 3 tasks')"), "true");
    browser.wait("document.getElementById('live').textContent", "1 run in progress: 1 of 3 tasks");
    // Its model is that of its journal.
    assert!(browser.text(main).contains("openai:gpt-5"));
    // Two are done: the page says so by itself, and scores it anew.
    write(&predictions, &json!([prediction("a"), prediction("b")]));
    journal(&folder, &[finished("a"), called.clone(), finished("b")]);
    browser.wait(&format!("{main}.includes('running 2 of 3 tasks')"), "true");
    // A file that is being written is no reason to lose what was there.
    std::fs::write(&predictions, "[{\"id\": \"a\", \"st").unwrap();
    journal(&folder, &[finished("a"), called.clone(), finished("b"), finished("c")]);
    browser.wait(&format!("{main}.includes('running 3 of 3 tasks')"), "true");
    assert!(view.json("data/home.json")["runs"][0]["trajectories"].as_u64().unwrap() >= 2);
    write(&predictions, &json!(["a", "b", "c"].map(prediction)));
    journal(
        &folder,
        &[
            finished("a"),
            called,
            finished("b"),
            finished("c"),
            json!({"time": 9.0, "event": "run_ended", "is_interrupted": false}),
        ],
    );
    browser.wait("document.getElementById('live').hidden", "true");
    // Scores follow: recall of all three tasks is 1.
    let start = std::time::Instant::now();
    while recall_of(&view.json("data/home.json"), 0) != json!(1.0) {
        assert!(start.elapsed().as_secs() < 60, "{}", view.json("data/home.json"));
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

#[test]
fn runs_that_begin_later_are_found() {
    let folder = Folder::new();
    write(&folder.path().join("references.json"), &json!(["a"].map(prediction)));
    journal(&folder, &[]);
    let Some(view) = View::start(&folder, &[".", "--no-score"]) else { return };
    let names = || {
        view.json("data/state.json");
        let home = view.json("data/home.json");
        let runs = home["runs"].as_array().unwrap().iter();
        runs.map(|run| (run["name"].as_str().unwrap().to_owned(), run["trajectories"].as_u64().unwrap()))
            .collect::<Vec<_>>()
    };
    // A run that has only begun is there before its first prediction.
    assert_eq!(names(), [("one".to_owned(), 0)]);
    write(&folder.path().join("runs/one/predictions.json"), &json!([prediction("a")]));
    assert_eq!(names(), [("one".to_owned(), 1)]);
    journal_of(&folder, "two", &[]);
    write(&folder.path().join("runs/one/predictions-2.json"), &json!([prediction("a")]));
    // What is being written is read once it is whole.
    std::fs::write(folder.path().join("later.json"), "[{\"id\": \"a\", ").unwrap();
    assert_eq!(names(), [("one".to_owned(), 2), ("two".to_owned(), 0)]);
    std::thread::sleep(std::time::Duration::from_millis(20));
    write(&folder.path().join("later.json"), &json!([prediction("a")]));
    assert_eq!(names(), [("one".to_owned(), 2), ("two".to_owned(), 0), ("later".to_owned(), 1)]);
}

#[test]
fn a_run_whose_process_is_gone_is_not_going_on() {
    let folder = Folder::new();
    write(&folder.path().join("runs/one/predictions.json"), &json!([prediction("a")]));
    // No process has this number: Linux has at most 2^22.
    let started = json!({"time": 1.0, "event": "run_started", "m3": "0.1.0", "process": 4_194_305, "model": "m", "to_do": 3, "done": 0});
    std::fs::write(folder.path().join("runs/one/journal.jsonl"), format!("{started}\n")).unwrap();
    let Some(view) = View::start(&folder, &["runs", "--no-score"]) else { return };
    let progress = view.json("data/home.json")["runs"][0]["progress"].clone();
    assert_eq!((&progress["is_running"], &progress["of"]), (&json!(false), &json!(3)));
}
