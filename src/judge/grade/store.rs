//! Keeps what judges answered, so that nothing is asked twice: [`AnswerStore`], a JSON Lines file.
//!
//! An answer is found by the key of its request (see `question`), so a changed prediction, reference, image, prompt or
//! judge is asked about anew and what is stale is never found. Each line is written at once and by one write; of a run
//! that was killed at most the last line is cut off, and removed by the next run.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::rubric::Aspect;
use crate::llm::Usage;

/// The schema of the file, in its first line.
pub const ANSWERS_SCHEMA: &str = "m3.answers/1";

/// The answers of judges cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be read or written to.
    #[error("failed to {action} `{}`: {cause}\nhint: make space, or name another file with `--answers`", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        cause: io::Error,
    },
    /// It is something else.
    #[error(
        "line {line} of `{}` is no answer of a judge\nhint: name another file with `--answers`, or remove the line",
        path.display()
    )]
    Content {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// Another run has it.
    #[error("another m3 works with `{}`\nhint: wait for its end, or name another file with `--answers`", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    schema: String,
}

/// What is kept of one answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeptAnswer {
    /// Of the request.
    pub key: String,
    /// The judge.
    pub judge: String,
    /// The trajectory.
    pub id: String,
    /// What was asked.
    pub aspect: Aspect,
    /// For the how many-th time, from 1.
    pub pass: u32,
    /// What was read from the reply.
    pub answer: Answer,
    /// The reply itself.
    pub reply: String,
    /// Tokens, of all replies that it took.
    pub usage: Usage,
}

/// The answers of a file, which only this process has until they are dropped.
#[derive(Debug)]
pub struct AnswerStore {
    path: PathBuf,
    /// Held open: the system releases its lock with it, however the process ends.
    file: Option<Mutex<File>>,
    known: Mutex<HashMap<String, Answer>>,
}

impl AnswerStore {
    /// A store that keeps nothing after this run.
    #[must_use]
    pub fn in_memory() -> Self {
        Self { path: PathBuf::new(), file: None, known: Mutex::default() }
    }

    /// Opens or makes the file, and locks it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let failed = |action| move |cause| StoreError::Io { action, path: path.to_owned(), cause };
        let mut file =
            OpenOptions::new().create(true).read(true).append(true).open(path).map_err(failed("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(cause)) => return Err(failed("lock")(cause)),
        }
        let (known, whole) = read(&file, path)?;
        let mut repair = || {
            if whole < file.metadata()?.len() {
                file.set_len(whole)?;
            }
            file.seek(io::SeekFrom::End(0))?;
            if whole == 0 {
                file.write_all(&line(&Head { schema: ANSWERS_SCHEMA.to_owned() })?)?;
            }
            Ok(())
        };
        repair().map_err(failed("write to"))?;
        Ok(Self { path: path.to_owned(), file: Some(Mutex::new(file)), known: Mutex::new(known) })
    }

    /// The answer to a request, if it was given.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Answer> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Keeps an answer; it is in the file before this returns.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn put(&self, kept: &KeptAnswer) -> Result<(), StoreError> {
        if let Some(file) = &self.file {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let written = line(kept).and_then(|line| file.write_all(&line));
            written.map_err(|cause| StoreError::Io { action: "write to", path: self.path.clone(), cause })?;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(kept.key.clone(), kept.answer.clone());
        Ok(())
    }
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// The answers by key, and where the last whole line ends.
fn read(file: &File, path: &Path) -> Result<(HashMap<String, Answer>, u64), StoreError> {
    let mut reader = BufReader::new(file);
    let (mut known, mut whole, mut bytes, mut number) = (HashMap::new(), 0, Vec::new(), 0);
    loop {
        bytes.clear();
        let length = reader.read_until(b'\n', &mut bytes).map_err(|cause| StoreError::Io {
            action: "read",
            path: path.to_owned(),
            cause,
        })?;
        number += 1;
        let is_whole = bytes.ends_with(b"\n");
        let foreign = || StoreError::Content { path: path.to_owned(), line: number };
        if number == 1 && length > 0 {
            let is_ours = match serde_json::from_slice::<Head>(&bytes) {
                Ok(head) => head.schema == ANSWERS_SCHEMA,
                // Cut off while it was written.
                Err(_) => {
                    !is_whole
                        && line(&Head { schema: ANSWERS_SCHEMA.to_owned() })
                            .is_ok_and(|head| head.starts_with(&bytes))
                }
            };
            if !is_ours {
                return Err(foreign());
            }
        }
        if !is_whole {
            return Ok((known, whole));
        }
        if number > 1 {
            let kept: KeptAnswer = serde_json::from_slice(&bytes).map_err(|_| foreign())?;
            known.insert(kept.key, kept.answer);
        }
        whole += length as u64;
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
            aspect: Aspect::TaskCompletion,
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
        assert!(matches!(AnswerStore::open(&path), Err(StoreError::Locked { .. })), "a second one");
        drop(store);
        let whole = std::fs::read(&path).unwrap();
        // Wherever a kill has cut it.
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
            assert!(matches!(AnswerStore::open(&path), Err(StoreError::Content { line: 1, .. })), "{text}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        let head = format!("{{\"schema\":\"{ANSWERS_SCHEMA}\"}}\n{{}}\n");
        std::fs::write(&path, head).unwrap();
        assert!(matches!(AnswerStore::open(&path), Err(StoreError::Content { line: 2, .. })));
    }
}
