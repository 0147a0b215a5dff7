//! What people decide of references, and how each reference stands.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::arrangement::Arrangement;
use super::store::{Store, StoreError};
use super::time::now;
use crate::text::{hexadecimal, visible};
use crate::trajectory::Trajectory;
use crate::trajectory::json::Keys;

/// The schema of a line.
pub const REVIEW_SCHEMA: &str = "m3.review/1";

/// The longest note, in characters.
pub(super) const LONGEST_NOTE: usize = 4000;

/// The longest name of a person, in characters.
pub(super) const LONGEST_NAME: usize = 100;

/// A decision: a line of the file beside the references.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "m3.review/1")]
pub struct Decision {
    /// `m3.review/1`.
    pub schema: String,
    /// The reference.
    pub id: String,
    /// SHA-256 of the reference as it was, in hexadecimal: a decision says nothing of another one of that id.
    pub reference: String,
    /// The person.
    pub name: String,
    /// When, as RFC 3339 in UTC.
    pub time: String,
    /// How many decisions of this reference the person had seen.
    pub base: u64,
    /// True where somebody else had decided in the meantime: the decision is kept here and does not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub set_aside: bool,
    /// What was decided.
    #[serde(flatten)]
    pub action: Action,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// The reference is right as it stands, with the edits before.
    Accept {
        /// A remark; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// It is no reference.
    Reject {
        /// Why; not empty.
        note: String,
    },
    /// Its calls are these instead.
    Edit {
        /// All steps with all calls that are left.
        steps: Arrangement,
        /// What was changed, in a few words.
        #[serde(default)]
        change: String,
        /// A remark; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// The decision before does not count any more.
    Undo,
}

/// How a reference stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nobody has decided.
    Open,
    /// It is right.
    Accepted,
    /// It was edited, and nobody has accepted or rejected it since.
    Edited,
    /// It is no reference.
    Rejected,
}

impl State {
    /// As files have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Accepted => "accepted",
            Self::Edited => "edited",
            Self::Rejected => "rejected",
        }
    }
}

/// The decisions of one reference.
#[derive(Debug, Clone, Default)]
struct Standing {
    /// How many decisions count or counted.
    version: u64,
    /// Those that count, by their places in the file.
    stack: Vec<usize>,
    /// All of them, by their places in the file.
    history: Vec<usize>,
}

/// A decision was not taken.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// The file.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Somebody else was faster.
    #[error("{name} has decided in the meantime ({what}, {time})")]
    Conflict {
        /// Who.
        name: String,
        /// What, in a few words.
        what: String,
        /// When.
        time: String,
    },
    /// There is nothing to undo.
    #[error("there is no decision to undo")]
    NothingToUndo,
    /// It lacks something.
    #[error("{0}")]
    Incomplete(&'static str),
}

/// References, and what was decided of them.
#[derive(Debug)]
pub struct Reviews {
    references: Vec<Trajectory>,
    digests: Vec<String>,
    indices: HashMap<String, usize>,
    standings: Vec<Standing>,
    store: Store<Decision>,
    /// So many lines of the file are in `standings`.
    folded: usize,
    /// Decisions of other references than these.
    foreign: usize,
}

/// The file of decisions beside a file of references: `references.json.reviews.jsonl`.
#[must_use]
pub fn store_path(references: &Path) -> PathBuf {
    beside(references, ".reviews.jsonl")
}

/// A file whose name is that of another, with something after it.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

impl Reviews {
    /// References with the decisions of a file; their ids should differ.
    ///
    /// # Errors
    /// [`StoreError`], of the file.
    pub fn open(references: Vec<Trajectory>, path: &Path) -> Result<Self, StoreError> {
        let digests = references.iter().map(digest).collect();
        let indices = references.iter().enumerate().map(|(index, found)| (found.id.clone(), index)).collect();
        let standings = vec![Standing::default(); references.len()];
        let store = Store::open(path)?;
        let mut reviews = Self { references, digests, indices, standings, store, folded: 0, foreign: 0 };
        reviews.fold();
        Ok(reviews)
    }

    /// The references as the file has them.
    #[must_use]
    pub fn references(&self) -> &[Trajectory] {
        &self.references
    }

    /// Where a reference is.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<usize> {
        self.indices.get(id).copied()
    }

    /// The file of decisions.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.store.path()
    }

    /// How many decisions are of references that are not here, or that were others then.
    #[must_use]
    pub fn foreign(&self) -> usize {
        self.foreign
    }

    /// How many decisions there are of all references.
    #[must_use]
    pub fn len(&self) -> usize {
        self.folded
    }

    /// True before the first decision.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.folded == 0
    }

    /// Reads what others have decided.
    ///
    /// # Errors
    /// [`StoreError`], of the file.
    pub fn refresh(&mut self) -> Result<(), StoreError> {
        self.store.refresh()?;
        self.fold();
        Ok(())
    }

    fn fold(&mut self) {
        for (place, decision) in self.store.records().iter().enumerate().skip(self.folded) {
            match self.indices.get(&decision.id) {
                Some(&index) if self.digests[index] == decision.reference => {
                    self.standings[index].take(place, decision);
                }
                _ => self.foreign += 1,
            }
        }
        self.folded = self.store.records().len();
    }

    /// How a reference stands.
    #[must_use]
    pub fn state(&self, index: usize) -> State {
        match self.last(index).map(|decision| &decision.action) {
            None | Some(Action::Undo) => State::Open,
            Some(Action::Accept { .. }) => State::Accepted,
            Some(Action::Edit { .. }) => State::Edited,
            Some(Action::Reject { .. }) => State::Rejected,
        }
    }

    /// How many decisions there were of a reference; what [`Reviews::decide`] takes as its base.
    #[must_use]
    pub fn version(&self, index: usize) -> u64 {
        self.standings[index].version
    }

    /// The decision that counts.
    #[must_use]
    pub fn last(&self, index: usize) -> Option<&Decision> {
        self.counting(index).next_back()
    }

    /// The decisions that count, in their order: those that were not undone.
    pub fn counting(&self, index: usize) -> impl DoubleEndedIterator<Item = &Decision> {
        self.standings[index].stack.iter().map(|place| &self.store.records()[*place])
    }

    /// All decisions of a reference, each with whether it counts.
    pub fn history(&self, index: usize) -> impl Iterator<Item = (&Decision, bool)> {
        let standing = &self.standings[index];
        let counts = |place: &usize| standing.stack.contains(place);
        standing.history.iter().map(move |place| (&self.store.records()[*place], counts(place)))
    }

    /// Where the newest line about a reference stands in the file, from 1; 0 without any.
    #[must_use]
    pub fn changed(&self, index: usize) -> usize {
        self.standings[index].history.last().map_or(0, |place| place + 1)
    }

    /// The calls as they stand after the edits that count; `None` without any.
    #[must_use]
    pub fn arrangement(&self, index: usize) -> Option<&Arrangement> {
        self.counting(index).rev().find_map(|decision| match &decision.action {
            Action::Edit { steps, .. } => Some(steps),
            _ => None,
        })
    }

    /// Takes a decision of somebody who has seen `base` decisions of the reference. It is on disk on return. Edits
    /// should have been checked.
    ///
    /// # Errors
    /// [`DecideError`]; of a conflict the decision is kept in the file, set aside.
    pub fn decide(&mut self, index: usize, base: u64, name: &str, action: Action) -> Result<(), DecideError> {
        let action = complete(action)?;
        let name = person(name)?;
        // What others have written is read under the lock: folding it there tells whether the base is the newest.
        let (references, digests) = (&self.references, &self.digests);
        let mut standing = self.standings[index].clone();
        let folded = self.folded;
        let mut refused = None;
        self.store.append_with(|records| {
            for (place, decision) in records.iter().enumerate().skip(folded) {
                if decision.id == references[index].id && decision.reference == digests[index] {
                    standing.take(place, decision);
                }
            }
            let mut decision = Decision {
                schema: REVIEW_SCHEMA.to_owned(),
                id: references[index].id.clone(),
                reference: digests[index].clone(),
                name,
                time: now(),
                base,
                set_aside: false,
                action,
            };
            let newest = standing.history.iter().rev().map(|place| &records[*place]).find(|by| !by.set_aside);
            if let Some(newest) = newest.filter(|_| base != standing.version) {
                refused = Some(DecideError::Conflict {
                    name: newest.name.clone(),
                    what: newest.action.summary(),
                    time: newest.time.clone(),
                });
                decision.set_aside = true;
                return (decision.action != Action::Undo).then_some(decision);
            }
            if decision.action == Action::Undo && standing.stack.is_empty() {
                refused = Some(DecideError::NothingToUndo);
                return None;
            }
            Some(decision)
        })?;
        self.fold();
        refused.map_or(Ok(()), Err)
    }
}

impl Standing {
    fn take(&mut self, place: usize, decision: &Decision) {
        self.history.push(place);
        if decision.set_aside {
            return;
        }
        self.version += 1;
        if decision.action == Action::Undo {
            self.stack.pop();
        } else {
            self.stack.push(place);
        }
    }
}

impl Action {
    /// In a few words.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Self::Accept { .. } => "accepted".to_owned(),
            Self::Reject { .. } => "rejected".to_owned(),
            Self::Edit { change, .. } if change.is_empty() => "edited".to_owned(),
            Self::Edit { change, .. } => format!("edited: {change}"),
            Self::Undo => "undid the decision before".to_owned(),
        }
    }

    /// The remark; empty without one.
    #[must_use]
    pub fn note(&self) -> &str {
        match self {
            Self::Accept { note } | Self::Reject { note } | Self::Edit { note, .. } => note,
            Self::Undo => "",
        }
    }
}

/// An action that may be written.
fn complete(mut action: Action) -> Result<Action, DecideError> {
    if let Action::Accept { note } | Action::Reject { note } | Action::Edit { note, .. } = &mut action {
        *note = checked_note(note).map_err(DecideError::Incomplete)?;
    }
    match &action {
        Action::Reject { note } if note.is_empty() => {
            Err(DecideError::Incomplete("a rejection needs a note that says why"))
        }
        _ => Ok(action),
    }
}

/// A note that may be kept: trimmed, safe to show.
pub(super) fn checked_note(note: &str) -> Result<String, &'static str> {
    if note.chars().nth(LONGEST_NOTE).is_some() {
        return Err("a note has at most 4000 characters");
    }
    Ok(visible(&note.replace("\r\n", "\n"), true).trim().to_owned())
}

/// A name that may be kept.
pub(super) fn person(name: &str) -> Result<String, DecideError> {
    let name = visible(name.trim(), false).into_owned();
    match name.chars().count() {
        0 => Err(DecideError::Incomplete("a decision needs the name of who decides")),
        1..=LONGEST_NAME => Ok(name),
        _ => Err(DecideError::Incomplete("a name has at most 100 characters")),
    }
}

/// Of a reference as the file has it.
pub(super) fn digest(reference: &Trajectory) -> String {
    hexadecimal(&Sha256::digest(reference.to_json().to_text(Keys::AsRead)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references(ids: &[&str]) -> Vec<Trajectory> {
        ids.iter().map(|id| Trajectory { id: (*id).to_owned(), ..Trajectory::default() }).collect()
    }

    fn accept() -> Action {
        Action::Accept { note: String::new() }
    }

    fn reject(note: &str) -> Action {
        Action::Reject { note: note.to_owned() }
    }

    #[test]
    fn decisions_follow_one_another_and_are_undone_in_turn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        let mut reviews = Reviews::open(references(&["a", "b"]), &path).unwrap();
        let edit = Action::Edit { steps: Vec::new(), change: "moved".to_owned(), note: String::new() };
        for (base, action) in [(0, edit), (1, accept()), (2, reject("no"))] {
            reviews.decide(0, base, "Ada", action).unwrap();
        }
        assert_eq!((reviews.state(0), reviews.state(1)), (State::Rejected, State::Open));
        let mut states = Vec::new();
        for base in 3..6 {
            reviews.decide(0, base, "Ada", Action::Undo).unwrap();
            states.push((reviews.state(0), reviews.arrangement(0).is_some()));
        }
        assert_eq!(states, [(State::Accepted, true), (State::Edited, true), (State::Open, false)]);
        assert!(matches!(reviews.decide(0, 6, "Ada", Action::Undo), Err(DecideError::NothingToUndo)));
        let again = Reviews::open(references(&["b", "a"]), &path).unwrap();
        assert_eq!((again.state(1), again.version(1), again.len()), (State::Open, 6, 6));
        assert_eq!(again.history(1).filter(|(_, counts)| *counts).count(), 0);
    }

    #[test]
    fn who_comes_late_is_told_and_the_decision_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        let open = || Reviews::open(references(&["a"]), &path).unwrap();
        let (mut ada, mut bob) = (open(), open());
        ada.decide(0, 0, "Ada", accept()).unwrap();
        let error = bob.decide(0, 0, "Bob", reject("late")).unwrap_err();
        assert!(matches!(&error, DecideError::Conflict { name, .. } if name == "Ada"), "{error}");
        assert_eq!((bob.state(0), bob.version(0)), (State::Accepted, 1));
        ada.refresh().unwrap();
        let kept: Vec<_> = ada.history(0).map(|(decision, counts)| (decision.set_aside, counts)).collect();
        assert_eq!(kept, [(false, true), (true, false)]);
        bob.decide(0, 1, "Bob", reject("still")).unwrap();
        assert_eq!(bob.state(0), State::Rejected);
        // Nobody undoes what he has not seen.
        assert!(matches!(ada.decide(0, 1, "Ada", Action::Undo), Err(DecideError::Conflict { .. })));
        assert_eq!(ada.state(0), State::Rejected);
    }

    #[test]
    fn a_decision_says_nothing_of_another_reference_of_its_id() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        Reviews::open(references(&["a"]), &path).unwrap().decide(0, 0, "Ada", accept()).unwrap();
        let mut changed = references(&["a"]);
        changed[0].question = Some("another".to_owned());
        let reviews = Reviews::open(changed, &path).unwrap();
        assert_eq!((reviews.state(0), reviews.foreign()), (State::Open, 1));
    }

    #[test]
    fn a_rejection_needs_a_note_and_everything_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let mut reviews = Reviews::open(references(&["a"]), &folder.path().join("r.jsonl")).unwrap();
        for (name, action) in [
            ("Ada", reject(" \n")),
            (" ", accept()),
            ("Ada", reject(&"x".repeat(LONGEST_NOTE + 1))),
            (&"x".repeat(LONGEST_NAME + 1), accept()),
        ] {
            assert!(matches!(reviews.decide(0, 0, name, action), Err(DecideError::Incomplete(_))), "{name}");
        }
        assert_eq!(reviews.state(0), State::Open);
        reviews.decide(0, 0, "A\u{202e}da", reject("\u{1b}[31mred\r\nx")).unwrap();
        let decision = reviews.last(0).unwrap();
        assert_eq!((decision.name.as_str(), decision.action.note()), ("A\\u{202e}da", "\\u{1b}[31mred\nx"));
    }
}
