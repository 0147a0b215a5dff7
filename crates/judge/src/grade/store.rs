//! Keeps the answers of graders, so that nothing is asked twice: [`AnswerStore`], a [`Journal`].
//!
//! An answer is found by the key of its request (see `question`), so a changed prediction, reference, image, prompt or
//! grader is asked about anew and what is stale is never found.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use m3_llm::Usage;
use m3_support::journal::{Journal, JournalError, Kind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::rubric::Aspect;

/// The schema of the file, in its first line.
pub const ANSWERS_SCHEMA: &str = "m3.answers/1";

const KIND: Kind = Kind {
    name: "file of answers of judges",
    schema: Some(ANSWERS_SCHEMA),
    elsewhere: "name another file with `--answers`",
};

/// A kept answer: a line of the file, after the first one, which is `{"schema": "m3.answers/1"}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "m3.answers/1")]
pub struct KeptAnswer {
    /// Hash of everything that the answer depends on.
    pub key: String,
    /// The judge.
    pub judge: String,
    /// The id of the trajectory.
    pub id: String,
    /// The aspect that was asked about.
    pub aspect: Aspect,
    /// The number of the pass, from 1.
    pub pass: u32,
    /// What was read from the reply.
    pub answer: Answer,
    /// The reply itself.
    pub reply: String,
    /// The usage of all replies of the conversation that gave this answer.
    pub usage: Usage,
}

/// The answers in a file, which is locked for this process until the store is dropped.
#[derive(Debug)]
pub struct AnswerStore {
    /// `None` if nothing is kept after this run.
    journal: Option<Journal>,
    known: Mutex<HashMap<String, Answer>>,
    /// Graders that had answered when the file was opened.
    graders: HashSet<String>,
}

impl AnswerStore {
    /// A store that keeps nothing after this run.
    #[must_use]
    pub fn in_memory() -> Self {
        Self { journal: None, known: Mutex::default(), graders: HashSet::new() }
    }

    /// Opens or makes the file, and locks it.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let (mut known, mut graders) = (HashMap::new(), HashSet::new());
        let journal = Journal::open(path, KIND, |kept: KeptAnswer| {
            known.insert(kept.key, kept.answer);
            graders.insert(kept.judge);
        })?;
        Ok(Self { journal: Some(journal), known: Mutex::new(known), graders })
    }

    /// Whether a grader had answered anything when the file was opened.
    #[must_use]
    pub fn had_answers_of(&self, grader: &str) -> bool {
        self.graders.contains(grader)
    }

    /// The kept answer to a request, if there is one.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Answer> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Keeps an answer; it is in the file before this returns.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn put(&self, kept: &KeptAnswer) -> Result<(), JournalError> {
        if let Some(journal) = &self.journal {
            journal.append(kept)?;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(kept.key.clone(), kept.answer.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(key: &str) -> KeptAnswer {
        KeptAnswer {
            key: key.to_owned(),
            judge: "openai:a".to_owned(),
            id: "task".to_owned(),
            aspect: Aspect::named("task_completion").unwrap(),
            pass: 1,
            answer: Answer { scores: [("task_completion".to_owned(), 0.5)].into(), matrix: None },
            reply: "\\boxed{5}".to_owned(),
            usage: Usage::default(),
        }
    }

    #[test]
    fn what_was_kept_is_there_again_and_a_cut_line_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers.jsonl");
        let store = AnswerStore::open(&path).unwrap();
        store.put(&kept("a")).unwrap();
        store.put(&kept("b")).unwrap();
        assert!(matches!(AnswerStore::open(&path), Err(JournalError::Locked { .. })), "a second one");
        drop(store);
        let whole = std::fs::read(&path).unwrap();
        // A killed process may have cut the file anywhere.
        for end in 0..=whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            let store = AnswerStore::open(&path).unwrap();
            let lines = whole[..end].split(|byte| *byte == b'\n').count() - 1;
            assert_eq!(store.get("a").is_some(), lines > 1, "{end}");
            assert_eq!(store.get("b").is_some(), lines > 2, "{end}");
            store.put(&kept("c")).unwrap();
            drop(store);
            assert!(AnswerStore::open(&path).unwrap().get("c").is_some(), "{end}");
        }
    }

    #[test]
    fn a_foreign_file_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        for text in ["dear diary", "dear diary\n", "{\"schema\": \"m3.score/1\"}\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(AnswerStore::open(&path), Err(JournalError::Foreign { .. })), "{text}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        let head = format!("{{\"schema\":\"{ANSWERS_SCHEMA}\"}}\n{{}}\n");
        std::fs::write(&path, head).unwrap();
        assert!(matches!(AnswerStore::open(&path), Err(JournalError::Line { line: 2, .. })));
    }
}
