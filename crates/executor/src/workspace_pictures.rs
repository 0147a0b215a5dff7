//! Finds the picture of the workspace that a picture of a result is. Tools write a picture and also show it in their
//! answer; the model gets one name for it, by which every tool finds it, also when the calls are made again.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use m3_images::ImageFacts;
use m3_images::looks::{Looks, have_one_shape};
use m3_images::media::Kind;
use m3_mcp::ToolResult;
use m3_mcp::results::{SavedFile, WorkspaceFile};
use serde_json::{Map, Value};

use super::pool::{FileState, Folder};

/// The most pictures of one result that are looked for.
const MOST_SOUGHT: usize = 16;

/// The most pictures of the workspace that are looked at for one result.
const MOST_LOOKED_AT: usize = 16;

/// The most pixels of a picture that is looked at; our own image server makes no larger ones.
const MOST_PIXELS: u64 = 25_000_000;

/// The most bytes of the words of a call that are searched for names.
const WORDS: usize = 1 << 16;

/// The lock of the decoder: a large picture takes a hundred megabytes, so only one is decoded at a time.
static DECODING: Mutex<()> = Mutex::new(());

/// The pictures of a workspace when a step began: what has changed since then was written by its calls.
pub(super) struct WorkspaceBefore {
    folder: Arc<Folder>,
    states: BTreeMap<String, FileState>,
}

impl WorkspaceBefore {
    /// The pictures that are there now. This blocks on the disk.
    pub(super) fn new(folder: Arc<Folder>) -> Self {
        let states = folder.states();
        Self { folder, states }
    }
}

/// Looks for the pictures of one result.
pub(super) struct Search<'a> {
    before: &'a WorkspaceBefore,
    /// The texts of the call and of its answer.
    words: String,
    /// The candidates, made when the first picture is looked for.
    candidates: Option<Vec<Candidate>>,
    sought: usize,
}

/// A picture of the workspace that may be one of the result.
struct Candidate {
    name: String,
    path: PathBuf,
    facts: ImageFacts,
    /// Whether the step has written the picture.
    is_new: bool,
    /// Whether the call or its answer names the picture.
    is_named: bool,
    /// Whether a picture of the result was matched with this one already.
    is_taken: bool,
    /// What the picture looks like; `None` if it cannot be read.
    looks: OnceCell<Option<Looks>>,
}

impl<'a> Search<'a> {
    /// A search for the pictures of the result of a call with these arguments.
    pub(super) fn new(
        before: &'a WorkspaceBefore,
        arguments: &Map<String, Value>,
        result: &ToolResult,
    ) -> Self {
        let mut words = String::new();
        arguments.values().chain(&result.structured_content).for_each(|value| push_words(&mut words, value));
        for text in result.content.iter().filter_map(m3_mcp::Content::as_text) {
            push(&mut words, text);
        }
        Self { before, words, candidates: None, sought: 0 }
    }

    /// The picture of the workspace that this file is. The same pixels count if the step has written them or the call
    /// names them; a picture that only looks the same counts if both are true. This blocks on the disk.
    pub(super) fn find(&mut self, saved: &SavedFile) -> Option<WorkspaceFile> {
        self.sought += 1;
        if saved.kind != Kind::Image || self.sought > MOST_SOUGHT {
            return None;
        }
        let pixels = saved.pixels?;
        let (before, words) = (self.before, &self.words);
        let candidates = self.candidates.get_or_insert_with(|| candidates(before, words));
        if !candidates.iter().any(|candidate| candidate.may_be(pixels)) {
            return None;
        }
        let _decoding = DECODING.lock().unwrap_or_else(PoisonError::into_inner);
        let looks = Looks::of_file(&saved.path, MOST_PIXELS).ok()?;
        let ranked = candidates.iter_mut().filter(|candidate| candidate.may_be(pixels));
        let ranked = ranked.filter_map(|candidate| Some((candidate.rank(&looks)?, candidate)));
        let (_, best) =
            ranked.min_by(|(one, _), (other, _)| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)))?;
        best.is_taken = true;
        Some(WorkspaceFile {
            name: best.name.clone(),
            mime_type: best.facts.format.to_mime_type().to_owned(),
            bytes: usize::try_from(best.facts.bytes).unwrap_or(usize::MAX),
            pixels: Some((best.facts.width, best.facts.height)),
        })
    }
}

impl Candidate {
    fn may_be(&self, pixels: (u32, u32)) -> bool {
        !self.is_taken && have_one_shape((self.facts.width, self.facts.height), pixels)
    }

    /// The rank of the candidate, lower is better: first by the kind of evidence, then by the distance of the looks.
    /// `None` if it cannot be the picture.
    fn rank(&self, sought: &Looks) -> Option<(u8, f64)> {
        let looks = self.looks.get_or_init(|| Looks::of_file(&self.path, MOST_PIXELS).ok()).as_ref()?;
        match (looks.is_same(sought), self.is_new, self.is_named) {
            (true, true, true) => Some((0, 0.0)),
            (true, true, false) => Some((1, 0.0)),
            (true, false, true) => Some((2, 0.0)),
            (false, true, true) => Some((3, looks.distance(sought)?)),
            _ => None,
        }
    }
}

/// The pictures of the workspace that the step has written or the call names. Those with both come first, then new
/// ones, then those with the longest paths: the name of a file in a folder is also a name of one that lies outside of
/// it.
fn candidates(before: &WorkspaceBefore, words: &str) -> Vec<Candidate> {
    let candidate = |(name, state): (String, FileState)| {
        let is_new = before.states.get(&name) != Some(&state);
        let is_named = names(words, &name);
        let path = before.folder.path().join(&name);
        let facts = if is_new || is_named { m3_images::facts(&path).ok()? } else { return None };
        Some(Candidate { name, path, facts, is_new, is_named, is_taken: false, looks: OnceCell::new() })
    };
    let mut candidates: Vec<Candidate> = before.folder.states().into_iter().filter_map(candidate).collect();
    candidates.sort_by_key(|it| (!(it.is_new && it.is_named), !it.is_new, usize::MAX - it.name.len()));
    candidates.truncate(MOST_LOOKED_AT);
    candidates
}

/// Whether a text has this path as a word of its own, or at the end of a longer path.
fn names(text: &str, path: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(path).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        !before.is_some_and(|c| is_of_name(c) || c == '.') && !after.is_some_and(is_of_name)
    })
}

/// Adds all texts in a value.
fn push_words(words: &mut String, value: &Value) {
    match value {
        Value::String(text) => push(words, text),
        Value::Array(items) => items.iter().for_each(|item| push_words(words, item)),
        Value::Object(members) => members.values().for_each(|member| push_words(words, member)),
        _ => {}
    }
}

fn push(words: &mut String, text: &str) {
    let room = WORDS.saturating_sub(words.len());
    if room == 0 {
        return;
    }
    words.push_str(&text[..text.floor_char_boundary(room)]);
    words.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_whole_path_or_at_the_end_of_a_longer_one() {
        for (text, is_named) in [
            ("a.png", true),
            (r#"{"result":["./a.png"]}"#, true),
            ("Saved to /runs/w/a.png.", true),
            ("images/a.png", true),
            ("aa.png", false),
            ("x-a.png", false),
            ("a.png_old", false),
            ("b.png", false),
        ] {
            assert_eq!(names(text, "a.png"), is_named, "{text}");
        }
        assert!(!names("a.png", "images/a.png"));
    }

    #[test]
    fn words_are_bounded() {
        let mut words = String::new();
        for _ in 0..3 {
            push_words(&mut words, &serde_json::json!({"a": ["\u{e9}".repeat(WORDS), 1]}));
        }
        assert!(words.len() <= WORDS + 3, "{}", words.len());
    }
}
