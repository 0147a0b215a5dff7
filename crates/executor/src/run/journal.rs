//! The journal: an append-only file with a line for every event, each written at once and by one write, so that a
//! run that is killed leaves at most one line that is cut off.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use m3_support::journal::{Lines, line_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::TaskEvent;

/// A line of the journal.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "m3.journal/1")]
pub struct JournalLine {
    /// Seconds since 1970-01-01, UTC, to the millisecond.
    pub time: f64,
    /// The event of the task or of the run.
    #[serde(flatten)]
    pub entry: JournalEntry,
}

/// An event of a task or of the run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum JournalEntry {
    /// An event of a task.
    Task(TaskEvent),
    /// An event of the run itself.
    Run(RunEvent),
}

/// An event of a run as a whole.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// The run begins.
    RunStarted {
        /// The version of m3.
        m3: String,
        /// The id of the process.
        process: u32,
        /// The model as requested.
        model: String,
        /// The number of runs of tasks that are to be done.
        to_do: usize,
        /// The number of runs of tasks that were done before.
        done: usize,
    },
    /// The run ends, by itself or because it was stopped.
    RunEnded {
        /// Whether the run was stopped.
        is_interrupted: bool,
    },
}

/// The part of a journal's line that is read again: the task, its repetition and its attempt.
#[derive(Deserialize)]
struct Try {
    task: String,
    repeat: u32,
    attempt: u32,
}

/// The open journal.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    lines: Mutex<Lines>,
    /// Cancelled when the journal can no longer be written.
    failed: CancellationToken,
}

/// How often each task was tried before, by id and repetition.
pub(super) type Attempts = HashMap<(String, u32), u32>;

impl Journal {
    /// Opens the journal at `path`, and reads how often tasks were tried. A last line that was cut off is removed.
    /// `failed` is cancelled when a line cannot be written.
    pub(super) fn open(path: &Path, failed: CancellationToken) -> io::Result<(Self, Attempts)> {
        let file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        let mut attempts = Attempts::new();
        let lines = Lines::recover(file, |line| {
            // Lines about the whole run name no task; a line that cannot be read is ignored.
            if let Ok(Try { task, repeat, attempt }) = serde_json::from_slice(line) {
                let last = attempts.entry((task, repeat)).or_default();
                *last = (*last).max(attempt);
            }
        })?;
        Ok((Self { path: path.to_owned(), lines: Mutex::new(lines), failed }, attempts))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a line. [`Journal::failure`] says why it could not be written.
    pub(super) fn write(&self, entry: JournalEntry) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = (time.as_secs_f64() * 1000.0).round() / 1000.0;
        let line = line_of(&JournalLine { time, entry });
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.append(line);
        if lines.failure().is_some() {
            self.failed.cancel();
        }
    }

    /// Why a line could not be written.
    pub(super) fn failure(&self) -> Option<io::Error> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.failure()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Event;

    fn started(task: &str, repeat: u32, attempt: u32) -> TaskEvent {
        TaskEvent { task: task.to_owned(), repeat, attempt, event: Event::Started }
    }

    #[test]
    fn a_line_that_was_cut_off_is_removed_and_tries_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let open = || Journal::open(&path, CancellationToken::new()).unwrap();
        let (journal, attempts) = open();
        assert!(attempts.is_empty());
        journal.write(JournalEntry::Run(RunEvent::RunEnded { is_interrupted: false }));
        journal.write(JournalEntry::Task(started("a", 1, 1)));
        journal.write(JournalEntry::Task(started("a", 2, 3)));
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&whole[..], br#"{"time":1,"task":"a","repeat":1,"att"#].concat()).unwrap();
        let (journal, attempts) = open();
        assert_eq!(attempts, HashMap::from([(("a".to_owned(), 1), 1), (("a".to_owned(), 2), 3)]));
        journal.write(JournalEntry::Task(started("a", 1, 2)));
        drop(journal);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.as_bytes().starts_with(&whole));
        assert_eq!(text.lines().count(), 4);
        assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{text}");
        assert_eq!(open().1[&("a".to_owned(), 1)], 2);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_once() {
        let failed = CancellationToken::new();
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let journal =
            Journal { path: PathBuf::new(), lines: Mutex::new(Lines::new(full)), failed: failed.clone() };
        journal.write(JournalEntry::Task(started("a", 1, 1)));
        assert!(failed.is_cancelled());
        assert_eq!(journal.failure().unwrap().kind(), io::ErrorKind::StorageFull);
    }
}
