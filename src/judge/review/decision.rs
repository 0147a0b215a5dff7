//! What people decide of references, and how each reference stands.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ELSEWHERE;
use super::arrangement::Arrangement;
use super::checks::{beside, checked_note, digest, person};
use super::time::now;
use crate::journal::{JournalError, Kind, SharedJournal};
use crate::trajectory::Trajectory;

/// The schema of a line.
pub const REVIEW_SCHEMA: &str = "m3.review/1";

const KIND: Kind = Kind { name: "file of decisions", schema: None, elsewhere: ELSEWHERE };

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
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
    Store(#[from] JournalError),
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
    store: SharedJournal<Decision>,
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

impl Reviews {
    /// References with the decisions of a file; their ids should differ.
    ///
    /// # Errors
    /// [`JournalError`], of the file.
    pub fn open(references: Vec<Trajectory>, path: &Path) -> Result<Self, JournalError> {
        let digests = references.iter().map(digest).collect();
        let indices = references.iter().enumerate().map(|(index, found)| (found.id.clone(), index)).collect();
        let standings = vec![Standing::default(); references.len()];
        let store = SharedJournal::open(path, KIND)?;
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
    /// [`JournalError`], of the file.
    pub fn refresh(&mut self) -> Result<(), JournalError> {
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
    #[must_use]
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

#[cfg(test)]
#[path = "decision_tests.rs"]
mod tests;
