//! Keeps the judge's replies and the servers' results by key, so that the same command asks nothing twice: a
//! [`Journal`], which only one process can hold at a time.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use m3_llm::Usage;
use m3_support::journal::{Journal, JournalError, Kind};
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::provenance::Verification;

const KIND: Kind = Kind {
    name: "journal of `m3 judge`",
    schema: Some("m3.judge-journal/1"),
    elsewhere: "name another place with `-o`",
};

/// A line of the journal, after the first one, which is `{"schema": "m3.judge-journal/1"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "m3.judge-journal/1")]
pub struct JudgeJournalLine {
    /// Hash of everything that the answer depends on.
    pub key: String,
    /// The task, for readers.
    pub task: String,
    /// The value under the key.
    #[serde(flatten)]
    pub kept: JournalRecord,
}

/// A value of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JournalRecord {
    /// A reply of the model.
    Answer(KeptAnswer),
    /// The result of replaying a reference.
    Verification(Verification),
    /// The reason why the earlier answer under the key no longer counts; it is asked for again.
    Withdrawn(String),
}

/// A reply of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeptAnswer {
    /// The text of the reply.
    pub text: String,
    /// The model that answered, according to the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tokens of the request and the reply.
    pub usage: Usage,
}

/// A line as it is read. An entry in the form of another version is ignored, and its question is asked again.
#[derive(Deserialize)]
#[serde(untagged)]
enum ReadLine {
    Known(JudgeJournalLine),
    Other(IgnoredAny),
}

/// The open journal, locked for this process until it is dropped.
#[derive(Debug)]
pub struct JudgeJournal {
    journal: Journal,
    kept: Mutex<HashMap<String, JournalRecord>>,
}

impl JudgeJournal {
    /// Opens or makes the journal at `path`. A last line that was cut off is removed.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let mut kept = HashMap::new();
        let journal = Journal::open(path, KIND, |line| {
            if let ReadLine::Known(line) = line {
                kept.insert(line.key, line.kept);
            }
        })?;
        Ok(Self { journal, kept: Mutex::new(kept) })
    }

    /// The path of the journal's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.journal.path()
    }

    /// The value that is kept under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<JournalRecord> {
        self.kept().get(key).cloned()
    }

    /// Whether the model has answered anything.
    #[must_use]
    pub fn has_answers(&self) -> bool {
        self.kept().values().any(|kept| matches!(kept, JournalRecord::Answer(_)))
    }

    /// Appends a value to the journal under a key.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn keep(&self, key: &str, task: &str, kept: JournalRecord) -> Result<(), JournalError> {
        let line = JudgeJournalLine { key: key.to_owned(), task: task.to_owned(), kept };
        self.journal.append(&line)?;
        self.kept().insert(line.key, line.kept);
        Ok(())
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<String, JournalRecord>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> JournalRecord {
        JournalRecord::Answer(KeptAnswer { text: text.to_owned(), model: None, usage: Usage::default() })
    }

    #[test]
    fn an_answer_that_was_withdrawn_is_not_there_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.journal.jsonl");
        let journal = JudgeJournal::open(&path).unwrap();
        journal.keep("a", "t", answer("hello")).unwrap();
        journal.keep("a", "t", JournalRecord::Withdrawn("it is no JSON".to_owned())).unwrap();
        drop(journal);
        let journal = JudgeJournal::open(&path).unwrap();
        assert_eq!(journal.get("a"), Some(JournalRecord::Withdrawn("it is no JSON".to_owned())));
        journal.keep("a", "t", answer("good")).unwrap();
        drop(journal);
        assert_eq!(JudgeJournal::open(&path).unwrap().get("a"), Some(answer("good")));
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
        assert!(matches!(JudgeJournal::open(&path), Err(JournalError::Locked { .. })));
        drop(journal);
        std::fs::write(&path, "[1, 2]\n").unwrap();
        assert!(matches!(JudgeJournal::open(&path), Err(JournalError::Foreign { .. })));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[1, 2]\n");
    }

    #[test]
    fn what_another_version_has_kept_is_asked_again_and_what_is_no_json_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.journal.jsonl");
        JudgeJournal::open(&path).unwrap().keep("a", "t", answer("first")).unwrap();
        let known = std::fs::read_to_string(&path).unwrap();
        let other = "{\"key\":\"b\",\"task\":\"t\",\"thought\":{\"text\":\"second\"}}\n";
        std::fs::write(&path, format!("{known}{other}")).unwrap();
        let journal = JudgeJournal::open(&path).unwrap();
        assert_eq!((journal.get("a"), journal.get("b")), (Some(answer("first")), None));
        drop(journal);
        std::fs::write(&path, format!("{known}garbage\n{other}")).unwrap();
        let said = JudgeJournal::open(&path).unwrap_err().to_string();
        assert!(said.contains("r.journal.jsonl:3` is no line of a journal of `m3 judge`"), "{said}");
    }
}
