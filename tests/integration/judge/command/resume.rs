//! Judging that was killed or stopped continues where it was, and asks nothing twice.
#![cfg(unix)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use m3_testkit::model_server::{ScriptedModel, ScriptedReply};
use rand::{RngExt as _, SeedableRng as _};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{journal, judge_by, kind, long_run, name_of, references, target};
use crate::support::{Folder, root, wait_for};

const TASKS: usize = 12;
/// A verdict and a proposal for each task.
const QUESTIONS: usize = 2 * TASKS;

fn predictions(folder: &Folder) -> std::path::PathBuf {
    folder.json(
        "predictions.json",
        &json!((0..TASKS).map(|task| long_run(&format!("t{task:02}"))).collect::<Vec<_>>()),
    )
}

fn start(folder: &Folder, predictions: &Path, model: &ScriptedModel) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("m3"));
    command.arg("judge").arg(predictions).arg("-o").arg(target(folder)).args(["--workers", "3"]);
    command.args(["--llm", &name_of(model), "--images"]).arg(root().join("images"));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn model(wait: u64) -> ScriptedModel {
    judge_by(move |seen| ScriptedReply::After(Duration::from_millis(wait), Box::new(kind(seen))))
}

/// The references without the judge's address, which is part of its name, and without the hash over everything.
fn comparable(folder: &Folder) -> Vec<Value> {
    let mut all = references(folder);
    for reference in &mut all {
        reference["judge"]["model"] = json!("");
        reference["judge"]["written"] = json!("");
        reference["judge"]["runs"][0]["file"] = json!("");
    }
    all
}

#[test]
fn judging_that_is_killed_asks_nothing_again_that_was_answered() {
    let calm = Folder::new();
    let fast = model(0);
    assert!(start(&calm, &predictions(&calm), &fast).wait().unwrap().success());
    assert_eq!(fast.requests().len(), QUESTIONS);
    let folder = Folder::new();
    let (predictions, model) = (predictions(&folder), model(60));
    let mut random = rand::rngs::ChaCha8Rng::seed_from_u64(6);
    for _ in 0..6 {
        let mut child = start(&folder, &predictions, &model);
        std::thread::sleep(Duration::from_millis(random.random_range(50..600)));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // Replies that were under way at the kill still arrive.
    std::thread::sleep(Duration::from_millis(200));
    let (kept, asked) = (journal(&folder).len(), model.requests().len());
    assert!(start(&folder, &predictions, &model).wait().unwrap().success());
    assert_eq!(model.requests().len() - asked, QUESTIONS - kept);
    assert_eq!(model.problems(), Vec::<String>::new());
    assert_eq!(comparable(&folder), comparable(&calm));
    // The third time asks nothing at all.
    let asked = model.requests().len();
    assert!(start(&folder, &predictions, &model).wait().unwrap().success());
    assert_eq!(model.requests().len(), asked);
}

#[test]
fn a_signal_saves_the_replies_that_are_under_way() {
    for signal in [Signal::INT, Signal::TERM] {
        let folder = Folder::new();
        let (predictions, model) = (predictions(&folder), model(100));
        let mut child = start(&folder, &predictions, &model);
        wait_for("the model is asked", || model.requests().len() >= 3);
        kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let asked = model.requests().len();
        assert!(asked < QUESTIONS);
        assert_eq!(journal(&folder).len(), asked);
        assert!(!target(&folder).exists());
        assert!(start(&folder, &predictions, &model).wait().unwrap().success());
        assert_eq!(model.requests().len(), QUESTIONS);
        assert_eq!(references(&folder).len(), TASKS);
    }
}

/// A changed run, image or judge makes another question; a changed order of keys does not.
#[test]
fn whatever_matters_is_asked_about_again() {
    let folder = Folder::new();
    let model = model(0);
    let image = |shade: u8| {
        let path = folder.path().join("shelf.png");
        image::RgbImage::from_pixel(8, 8, image::Rgb([shade, 0, 0])).save(path).unwrap();
    };
    let asked = |run: &Value, arguments: &[&str]| {
        let predictions = folder.json("predictions.json", &json!([run]));
        let before = model.requests().len();
        let mut command = super::command(&folder, &[&predictions]);
        command.args(["--llm", &name_of(&model), "--images"]).arg(folder.path()).args(arguments);
        crate::support::stdout(&mut command);
        model.requests().len() - before
    };
    image(1);
    let mut run = long_run("a");
    assert_eq!(asked(&run, &[]), 2);
    assert_eq!(asked(&run, &["--workers", "2"]), 0);
    run["note"] = json!("nothing that the judge is told");
    assert_eq!(asked(&run, &[]), 0);
    run["steps"][1]["calls"][0]["result"] = json!("another page");
    assert_eq!(asked(&run, &[]), 2);
    image(2);
    assert_eq!(asked(&run, &[]), 2);
    assert_eq!(asked(&run, &[]), 0);
}
