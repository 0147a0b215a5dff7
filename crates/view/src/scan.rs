//! Finds what can be shown in the given files and folders, and nothing else: no file leads to another one.

use std::collections::HashSet;
use std::fs::DirEntry;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use m3_report::{SCORE_SCHEMA, open_decompressed};
use m3_support::unpack::unpacked_name;

/// How deep folders are searched.
const DEPTH: usize = 8;

/// The most files that are looked at.
pub(crate) const MOST_FILES: usize = 100_000;

/// The bytes of a file's beginning that are looked at to recognize a score.
const START: u64 = 4096;

/// Folders that hold no trajectories of their own: those of a run, and of others.
const OF_RUN: [&str; 3] = ["workspaces", "predictions", "interrupted"];
const OF_OTHERS: [&str; 2] = ["node_modules", "__pycache__"];

/// Endings of files that may hold trajectories or scores.
const ENDINGS: [&str; 5] = [".json", ".jsonl", ".ndjson", ".eval", ".log"];

/// The files and folders that were found.
#[derive(Debug, Default)]
pub(crate) struct ScannedFiles {
    /// Scores of `m3 score`.
    pub scores: Vec<PathBuf>,
    /// Other files, each with its repetitions in their order.
    pub files: Vec<Vec<PathBuf>>,
    /// Folders of runs that have no predictions yet.
    pub begun: Vec<PathBuf>,
    /// Whether there were more files than are looked at.
    pub is_cut: bool,
    looked_at: usize,
    /// The real paths that were visited: given paths may lie in one another.
    met: HashSet<PathBuf>,
}

impl ScannedFiles {
    /// Adds a path that the user named: a file as it is, or a folder with the files in it; only paths that are new.
    pub(crate) fn add(&mut self, path: &Path, is_new: &dyn Fn(&Path) -> bool) {
        if path.is_dir() { self.folder(path, 0, is_new) } else { self.file(path, is_new) }
    }

    fn folder(&mut self, folder: &Path, depth: usize, is_new: &dyn Fn(&Path) -> bool) {
        let predictions = folder.join("predictions.json");
        let is_begun = !predictions.is_file() && folder.join("journal.jsonl").is_file();
        let is_run = is_begun || predictions.is_file();
        if !self.meet(folder) {
            return;
        }
        if is_run && is_new(&predictions) {
            if is_begun {
                self.begun.push(folder.to_owned());
            } else {
                self.files.push(repetitions(&predictions));
            }
        }
        let mut entries: Vec<DirEntry> = folder.read_dir().into_iter().flatten().flatten().collect();
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else { continue };
            if name.starts_with('.') || kind.is_symlink() {
                continue;
            }
            if kind.is_dir() {
                if depth < DEPTH
                    && !OF_OTHERS.contains(&name.as_str())
                    && !(is_run && OF_RUN.contains(&name.as_str()))
                {
                    self.folder(&entry.path(), depth + 1, is_new);
                }
            } else if kind.is_file()
                && ENDINGS.iter().any(|ending| unpacked_name(&name.to_lowercase()).ends_with(ending))
            {
                let is_of_run = is_run && (is_predictions(&name) || name == "journal.jsonl");
                if !is_of_run {
                    self.file(&entry.path(), is_new);
                }
            }
        }
    }

    fn file(&mut self, path: &Path, is_new: &dyn Fn(&Path) -> bool) {
        self.looked_at += 1;
        if !is_new(path) || !self.meet(path) {
            return;
        }
        if self.looked_at > MOST_FILES {
            self.is_cut = true;
        } else if is_score(path) {
            self.scores.push(path.to_owned());
        } else {
            self.files.push(vec![path.to_owned()]);
        }
    }
}

impl ScannedFiles {
    /// Marks a path as visited, and returns whether this is the first visit.
    fn meet(&mut self, path: &Path) -> bool {
        self.met.insert(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
    }
}

/// Whether a file of a run's folder holds its predictions.
fn is_predictions(name: &str) -> bool {
    name.strip_prefix("predictions").is_some_and(|rest| rest == ".json" || rest.starts_with('-'))
}

/// The predictions of a run's folder, and of its repetitions in their order.
pub(crate) fn repetitions(predictions: &Path) -> Vec<PathBuf> {
    let further = (2..).map(|number| predictions.with_file_name(format!("predictions-{number}.json")));
    std::iter::once(predictions.to_owned()).chain(further.take_while(|path| path.is_file())).collect()
}

/// Whether a file begins like a score. In JSON Lines the head is the last line, so the first line is searched for
/// members that only a scored trajectory has.
fn is_score(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = open_decompressed(path).and_then(|reader| reader.take(START).read_to_end(&mut start));
    let text = String::from_utf8_lossy(&start);
    let is_scored_line = text.starts_with("{\"id\":") && text.contains("\"metrics\":{");
    read.is_ok() && (text.contains(&format!("\"{SCORE_SCHEMA}\"")) || is_scored_line)
}
