//! Existing files at the place of the references: only those that `m3 judge` wrote are replaced.

use std::path::Path;

use assert_cmd::Command;
use serde_json::json;

use super::{command, long_run, target};
use crate::support::{Folder, failure, m3_bare, stdout};

fn predictions(folder: &Folder) -> std::path::PathBuf {
    let failed = super::prediction("b", "openai:tested", &[vec![super::failed("wiki/summary")]]);
    folder.json("predictions.json", &json!([long_run("a"), failed]))
}

fn judging(folder: &Folder, predictions: &Path) -> Command {
    let mut command = command(folder, &[predictions]);
    command.arg("--rules-only");
    command
}

/// Asserts that the file is refused, and why, and that `--overwrite` replaces it.
fn is_refused(folder: &Folder, predictions: &Path, file: &Path, why: &str) {
    let before = std::fs::read(file).unwrap();
    let (code, message) = failure(&mut judging(folder, predictions));
    assert_eq!(code, 2, "{message}");
    assert!(message.contains(why) && message.contains("--overwrite"), "{message}");
    assert!(message.contains(&file.display().to_string()), "{message}");
    assert_eq!(std::fs::read(file).unwrap(), before);
    stdout(judging(folder, predictions).arg("--overwrite"));
    assert_ne!(std::fs::read(file).unwrap(), before);
}

#[test]
fn what_was_written_and_nobody_has_changed_is_replaced() {
    let folder = Folder::new();
    let predictions = predictions(&folder);
    stdout(&mut judging(&folder, &predictions));
    let first = std::fs::read(target(&folder)).unwrap();
    stdout(&mut judging(&folder, &predictions));
    assert_eq!(std::fs::read(target(&folder)).unwrap(), first);
    // Also for another set of tasks; then neither file has any.
    stdout(judging(&folder, &predictions).args(["--id", "b"]));
    assert_eq!(std::fs::read_to_string(target(&folder)).unwrap(), "[]\n");
    stdout(&mut judging(&folder, &predictions));
    assert_eq!(std::fs::read(target(&folder)).unwrap(), first);
}

#[test]
fn what_somebody_else_has_written_or_changed_is_kept() {
    const WHY: &str = "was not written by `m3 judge`, or somebody has changed it since";
    let folder = Folder::new();
    let predictions = predictions(&folder);
    folder.json("references.json", &json!([long_run("a")]));
    is_refused(&folder, &predictions, &target(&folder), WHY);
    let text = std::fs::read_to_string(target(&folder)).unwrap();
    folder.write("references.json", text.replace("70000", "7000"));
    is_refused(&folder, &predictions, &target(&folder), WHY);
    let rejected = folder.write("references.rejected.json", "notes of mine");
    is_refused(&folder, &predictions, &rejected, WHY);
    stdout(&mut judging(&folder, &predictions));
}

#[test]
fn what_people_have_reviewed_is_kept() {
    let folder = Folder::new();
    let predictions = predictions(&folder);
    stdout(&mut judging(&folder, &predictions));
    let table = folder.path().join("review.csv");
    let review = |option: &str| {
        let mut review = m3_bare(folder.path());
        review.arg("review").arg(target(&folder)).arg(option).arg(&table).args(["--name", "Ada"]);
        stdout(&mut review);
    };
    review("--export");
    stdout(&mut judging(&folder, &predictions));
    let decided = std::fs::read_to_string(&table).unwrap().replace(",open,", ",accepted,");
    std::fs::write(&table, decided).unwrap();
    review("--import");
    let before = std::fs::read(target(&folder)).unwrap();
    let (code, message) = failure(&mut judging(&folder, &predictions));
    assert_eq!(code, 2, "{message}");
    assert!(message.contains("was reviewed, and `"), "{message}");
    assert!(message.contains("references.json.reviews.jsonl` has the decisions"), "{message}");
    stdout(judging(&folder, &predictions).arg("--overwrite"));
    assert_eq!(std::fs::read(target(&folder)).unwrap(), before);
}
