//! Replies of references, from m3's small benchmark and from Open-M3-Bench.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A task's question and the reference's reply.
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) question: String,
    pub(crate) reply: String,
}

impl Task {
    /// Whether it is of the half that was looked at while the comparison was written: by the first byte of the id's SHA-256.
    pub(crate) fn is_seen(&self) -> bool {
        Sha256::digest(&self.id)[0].is_multiple_of(2)
    }
}

pub(crate) fn own() -> Vec<Task> {
    read(&root().join("trajectories/references.json"))
}

/// Those of Open-M3-Bench; if they are missing, `None` and a line that says so.
pub(crate) fn open_m3_bench() -> Option<Vec<Task>> {
    let path = root().join("../shared/data/open-m3-bench/references.json");
    if path.exists() {
        return Some(read(&path));
    }
    crate::print("skipped: ../shared/data is not here");
    None
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &Path) -> Vec<Task> {
    let file: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let text = |task: &Value, key: &str| task[key].as_str().unwrap_or_default().to_owned();
    let tasks = file.iter().map(|task| Task {
        id: text(task, "id"),
        question: text(task, "question"),
        reply: text(task, "final_reply"),
    });
    tasks.filter(|task| !task.reply.trim().is_empty()).collect()
}
