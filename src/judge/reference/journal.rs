//! What the judge was told and what servers said, kept by key, so that the same command asks nothing twice: a file of
//! JSON lines, each written at once, which only one process has at a time.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::provenance::Verification;
use crate::llm::Usage;

/// The first line of every journal.
const HEADER: &str = "{\"schema\":\"m3.judge-journal/1\"}\n";

/// Longer lines are not read, in bytes: a reply has at most 1 MiB of use.
const LONGEST_LINE: u64 = 64 << 20;

/// A line of the journal, after the first one, which is `{"schema": "m3.judge-journal/1"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "m3.judge-journal/1")]
pub struct JudgeJournalLine {
    /// Hash of everything that the answer depends on.
    pub key: String,
    /// The task, for readers.
    pub task: String,
    /// What is kept.
    #[serde(flatten)]
    pub kept: Kept,
}

/// What is kept under a key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// What the model said.
    Answer(KeptAnswer),
    /// What came of replaying a reference.
    Verification(Verification),
}

/// What the model said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeptAnswer {
    /// Its text.
    pub text: String,
    /// The model that the provider says has answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens.
    pub usage: Usage,
}

/// The journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JudgeJournalError {
    /// It cannot be read or written.
    #[error("failed to {action} `{}`: {cause}\nhint: make space, or name another place with `-o`", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        cause: io::Error,
    },
    /// It is some other file.
    #[error("`{}` is no journal of `m3 judge`\nhint: move it away, or name another place with `-o`", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Another process has it.
    #[error("another m3 works with `{}`\nhint: wait for its end, or name another place with `-o`", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
}

impl JudgeJournalError {
    fn io<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |cause| Self::Io { action, path: path.to_owned(), cause }
    }
}

/// The open journal, locked for this process until it is dropped.
#[derive(Debug)]
pub struct JudgeJournal {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The system releases its lock with it, however the process ends.
    file: File,
    kept: HashMap<String, Kept>,
    /// Whether a write has failed: the file may end within a line.
    is_broken: bool,
}

impl JudgeJournal {
    /// Opens or makes the journal at `path`. A last line that was cut off is removed.
    ///
    /// # Errors
    /// [`JudgeJournalError`].
    pub fn open(path: &Path) -> Result<Self, JudgeJournalError> {
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(path)
            .map_err(JudgeJournalError::io("open", path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JudgeJournalError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(cause)) => return Err(JudgeJournalError::io("lock", path)(cause)),
        }
        let read = read(&mut file).map_err(JudgeJournalError::io("read", path))?;
        let Some((kept, whole)) = read else {
            return Err(JudgeJournalError::Foreign { path: path.to_owned() });
        };
        let mut repair = || {
            if whole < file.metadata()?.len() {
                file.set_len(whole)?;
            }
            if whole == 0 { file.write_all(HEADER.as_bytes()) } else { Ok(()) }
        };
        repair().map_err(JudgeJournalError::io("write", path))?;
        Ok(Self { path: path.to_owned(), state: Mutex::new(State { file, kept, is_broken: false }) })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is kept under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Kept> {
        self.state().kept.get(key).cloned()
    }

    /// Keeps something.
    ///
    /// # Errors
    /// [`JudgeJournalError::Io`]; after that, nothing more is written.
    pub fn keep(&self, key: &str, task: &str, kept: Kept) -> Result<(), JudgeJournalError> {
        let line = JudgeJournalLine { key: key.to_owned(), task: task.to_owned(), kept };
        let write = |state: &mut State| {
            if state.is_broken {
                return Err(io::Error::other("a line could not be written before"));
            }
            let mut text = serde_json::to_vec(&line).map_err(io::Error::from)?;
            text.push(b'\n');
            state.file.write_all(&text)
        };
        let mut state = self.state();
        if let Err(cause) = write(&mut state) {
            state.is_broken = true;
            return Err(JudgeJournalError::io("write", &self.path)(cause));
        }
        state.kept.insert(line.key, line.kept);
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is kept, and where the last whole line ends; `None` for a file that is no journal.
fn read(file: &mut File) -> io::Result<Option<(HashMap<String, Kept>, u64)>> {
    file.rewind()?;
    let mut reader = BufReader::new(&*file);
    let (mut kept, mut whole, mut line) = (HashMap::new(), 0_u64, Vec::new());
    loop {
        line.clear();
        let length = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? as u64;
        if whole == 0 {
            // The first line may have been cut off like any other.
            if !HEADER.as_bytes().starts_with(&line) {
                return Ok(None);
            }
        } else if length == LONGEST_LINE {
            return Ok(None);
        }
        if !line.ends_with(b"\n") {
            return Ok(Some((kept, whole)));
        }
        whole += length;
        // What another version has kept in another form is asked again.
        if let Ok(found) = serde_json::from_slice::<JudgeJournalLine>(&line) {
            kept.insert(found.key, found.kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Kept {
        Kept::Answer(KeptAnswer { text: text.to_owned(), model: None, usage: Usage::default() })
    }

    #[test]
    fn what_was_kept_is_there_again_and_a_line_that_was_cut_off_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.journal.jsonl");
        let journal = JudgeJournal::open(&path).unwrap();
        journal.keep("a", "t", answer("first")).unwrap();
        journal.keep("b", "t", answer("second")).unwrap();
        assert_eq!(journal.get("a"), Some(answer("first")));
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let journal = JudgeJournal::open(&path).unwrap();
            let lines = whole[..cut].split(|byte| *byte == b'\n').count() - 1;
            let found = [journal.get("a"), journal.get("b")].iter().flatten().count();
            assert_eq!(found, lines.saturating_sub(1), "{cut}");
            journal.keep("c", "t", answer("third")).unwrap();
            drop(journal);
            assert_eq!(JudgeJournal::open(&path).unwrap().get("c"), Some(answer("third")));
        }
    }

    #[test]
    fn a_second_process_and_a_foreign_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.journal.jsonl");
        let journal = JudgeJournal::open(&path).unwrap();
        assert!(matches!(JudgeJournal::open(&path), Err(JudgeJournalError::Locked { .. })));
        drop(journal);
        std::fs::write(&path, "[1, 2]\n").unwrap();
        assert!(matches!(JudgeJournal::open(&path), Err(JudgeJournalError::Foreign { .. })));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[1, 2]\n");
    }
}
