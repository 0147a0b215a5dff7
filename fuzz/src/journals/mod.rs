//! Files that only grow, as the next process finds them: journals of judges, answers of graders, decisions of people, cassettes, and
//! the folder of a run.
//!
//! An input is such a file; all readers get it. `{key}` in it stands for the key that the prediction of the run would have.

mod cassettes;
mod runs;

use std::collections::BTreeSet;

use m3_judge::grade::{AnswerStore, Aspect, KeptAnswer};
use m3_judge::reference::{JournalRecord, JudgeJournal};
use m3_judge::review::{Pairs, Reviews};
use m3_llm::Usage;
use m3_support::journal::JournalError;
use m3_trajectory::Trajectory;
use serde_json::Value;

use crate::input::{Temporary, assert_text};

/// Keys of one input that are asked for.
const MOST_KEYS: usize = 10;

/// Opens a file with every reader and lets it append records. A reader that accepts the file must keep all its whole
/// lines, and what it appended must be read again; a reader that refuses the file must leave it unchanged.
///
/// # Panics
/// If a reader loses lines, changes a file that it refuses, or cannot read what was appended.
pub fn check(bytes: &[u8]) {
    check_judge(bytes);
    check_answers(bytes);
    check_decisions(bytes);
    cassettes::check(bytes);
    runs::check(bytes);
}

/// The suffix of the keys under which every record is written a second time.
const AGAIN: &str = " once more";

/// The keys in the lines of a file.
fn keys(bytes: &[u8]) -> BTreeSet<String> {
    let lines =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let keys = lines.filter_map(|line| Some(line.get("key")?.as_str()?.to_owned()));
    keys.filter(|key| !key.ends_with(AGAIN)).take(MOST_KEYS).collect()
}

/// The lines that were written to their ends.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)]
}

/// A file that is refused is left as it is, with a reason; of one that is used at most a line that was cut off is lost.
fn assert_left<T>(opened: Result<T, JournalError>, file: &Temporary, before: &[u8]) -> Option<T> {
    let after = file.bytes();
    match opened {
        Ok(opened) => {
            assert!(after.starts_with(whole_lines(before)), "what was kept is lost");
            Some(opened)
        }
        Err(error) => {
            assert_text("an error", &error.to_string(), 2000);
            assert!(after == before, "a file that is refused is changed");
            None
        }
    }
}

fn check_judge(bytes: &[u8]) {
    let file = Temporary::file("journal.jsonl", bytes);
    let Some(journal) = assert_left(JudgeJournal::open(file.path()), &file, bytes) else { return };
    let known: Vec<(String, JournalRecord)> =
        keys(bytes).into_iter().filter_map(|key| Some((key.clone(), journal.get(&key)?))).collect();
    let has_answers = journal.has_answers();
    for (key, kept) in &known {
        let written = journal.keep(&format!("{key}{AGAIN}"), "t", kept.clone());
        assert!(written.is_ok(), "{written:?}");
    }
    drop(journal);
    let again = JudgeJournal::open(file.path());
    assert!(again.is_ok(), "what was written is read again: {again:?}");
    let Ok(again) = again else { return };
    assert_eq!(again.has_answers(), has_answers);
    for (key, kept) in known {
        assert_eq!(again.get(&format!("{key}{AGAIN}")).as_ref(), Some(&kept));
        assert_eq!(again.get(&key), Some(kept));
    }
}

fn check_answers(bytes: &[u8]) {
    let file = Temporary::file("answers.jsonl", bytes);
    let Some(store) = assert_left(AnswerStore::open(file.path()), &file, bytes) else { return };
    let Some(aspect) = Aspect::all().next() else { return };
    let known = keys(bytes).into_iter().filter_map(|key| Some((key.clone(), store.get(&key)?)));
    let known: Vec<KeptAnswer> = known
        .map(|(key, answer)| KeptAnswer {
            key: format!("{key}{AGAIN}"),
            judge: "j".to_owned(),
            id: "t".to_owned(),
            aspect,
            pass: 1,
            answer,
            reply: String::new(),
            usage: Usage::default(),
        })
        .collect();
    for kept in &known {
        let written = store.put(kept);
        assert!(written.is_ok(), "{written:?}");
    }
    drop(store);
    let again = AnswerStore::open(file.path());
    assert!(again.is_ok(), "what was written is read again: {again:?}");
    let Ok(again) = again else { return };
    for kept in known {
        assert_eq!(again.get(&kept.key), Some(kept.answer));
        assert!(again.had_answers_of("j"));
    }
}

/// Files of people's decisions are read as they are, and written only when somebody decides.
fn check_decisions(bytes: &[u8]) {
    let file = Temporary::file("reviews.jsonl", bytes);
    let reference = Trajectory { id: "t".to_owned(), ..Trajectory::default() };
    if let Some(reviews) = assert_left(Reviews::open(vec![reference.clone()], file.path()), &file, bytes) {
        let history = reviews.history(0).count();
        assert!(reviews.counting(0).count() <= history && history + reviews.foreign() <= bytes.len());
        let _ = (reviews.state(0), reviews.version(0), reviews.current(0), reviews.changed(0));
    }
    let pair = [reference.clone(), reference];
    let _ = assert_left(Pairs::open(vec![pair], file.path()), &file, bytes);
    assert!(file.bytes() == bytes, "a file is written though nobody decides");
}
