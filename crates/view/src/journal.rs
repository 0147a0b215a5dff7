//! The progress of a run by its journal, which is read as it grows.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The most bytes that are read of a journal at once.
const MOST: u64 = 64 << 20;

/// The most running tasks that are listed.
const LISTED: usize = 200;

/// The progress of a run.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    path: PathBuf,
    /// Bytes that were read, up to the end of a line.
    read: u64,
    model: Option<String>,
    is_running: bool,
    was_interrupted: bool,
    of: usize,
    /// The latest event of each running task.
    running: BTreeMap<(String, u64), String>,
    /// The number of tasks that the last command has finished.
    finished: usize,
    done_before: usize,
    started: Option<f64>,
    process: Option<u32>,
}

/// The progress of a run, for the page.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ProgressDocument {
    /// Whether the run goes on: its journal has no end, and its process was not killed, as far as that is known.
    pub is_running: bool,
    /// Whether the run was told to stop.
    pub was_interrupted: bool,
    /// Tasks that are done.
    pub done: usize,
    /// All tasks.
    pub of: usize,
    /// The start of the run's last command, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<f64>,
    /// Running tasks: id, repetition, latest event; the first 200.
    pub running: Vec<(String, u64, String)>,
}

/// The parts of a line that are read; all others may be anything.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    time: f64,
    event: String,
    #[serde(default)]
    task: Option<String>,
    #[serde(default)]
    repeat: Option<u64>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    process: Option<u32>,
    #[serde(default)]
    to_do: usize,
    #[serde(default)]
    done: usize,
    #[serde(default)]
    is_interrupted: bool,
    #[serde(default)]
    tool: Option<String>,
    #[serde(default)]
    purpose: Option<String>,
}

impl Progress {
    /// Reads the progress of the run in a folder, if it has a journal.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        let path = folder.join("journal.jsonl");
        let mut progress = path.is_file().then(|| Self { path, ..Self::default() })?;
        progress.read_on();
        Some(progress)
    }

    /// Reads the lines that were added to the journal.
    pub(crate) fn read_on(&mut self) {
        let Ok(added) = self.added() else { return };
        // A line that is being written is read the next time.
        let Some(end) = added.iter().rposition(|byte| *byte == b'\n') else { return };
        self.read += end as u64 + 1;
        let lines = added.get(..end).unwrap_or_default().split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).for_each(|line| self.take(line));
    }

    fn added(&self) -> std::io::Result<Vec<u8>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut added = Vec::new();
        file.take(MOST).read_to_end(&mut added)?;
        Ok(added)
    }

    fn take(&mut self, line: Line) {
        let task = line.task.map(|task| (task, line.repeat.unwrap_or(1)));
        match (line.event.as_str(), task) {
            ("run_started", _) => {
                self.model = line.model;
                self.is_running = true;
                self.was_interrupted = false;
                self.of = line.to_do.saturating_add(line.done);
                self.done_before = line.done;
                self.finished = 0;
                self.started = Some(line.time);
                self.process = line.process;
                self.running.clear();
            }
            ("run_ended", _) => {
                self.is_running = false;
                self.was_interrupted = line.is_interrupted;
                self.running.clear();
            }
            ("finished", Some(task)) => {
                self.running.remove(&task);
                self.finished += 1;
            }
            ("interrupted" | "workspace_left", Some(task)) => drop(self.running.remove(&task)),
            (event, Some(task)) => {
                let what = line.tool.or(line.purpose);
                let said = what.map_or_else(|| event.to_owned(), |what| format!("{event}: {what}"));
                self.running.insert(task, said);
            }
            _ => {}
        }
    }

    /// The model as requested.
    pub(crate) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Whether the process of the run exists; true if that is unknown. A killed process writes no end to the journal.
    fn is_alive(&self) -> bool {
        let processes = Path::new("/proc");
        let process = self.process.filter(|_| processes.join("self").exists());
        process.is_none_or(|process| processes.join(process.to_string()).exists())
    }

    pub(crate) fn document(&self) -> ProgressDocument {
        let running = self.running.iter().take(LISTED);
        ProgressDocument {
            is_running: self.is_running && self.is_alive(),
            was_interrupted: self.was_interrupted,
            done: self.done_before.saturating_add(self.finished),
            of: self.of,
            started: self.started,
            running: running.map(|((id, repeat), what)| (id.clone(), *repeat, what.clone())).collect(),
        }
    }
}
