//! References, and the state of each by people's decisions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use m3_support::journal::{JournalError, Kind, SharedJournal};
use m3_support::text::shortened;
use m3_trajectory::Trajectory;

use super::ELSEWHERE;
use super::arrangement::{Revision, normal, summary};
use super::checks::{Digests, SAYS_NOTHING, beside, now, person, says_nothing};
use super::decision::{Action, DecideError, Decision, REVIEW_SCHEMA, State, complete};
use super::origin::{Origin, Subject, find_runs};

const KIND: Kind = Kind { name: "file of decisions", schema: None, elsewhere: ELSEWHERE };

/// The decisions on one reference.
#[derive(Debug, Clone, Default)]
struct DecisionsOnReference {
    /// The number of decisions that were not set aside, including undone ones.
    version: u64,
    /// The decisions that count, by their places in the file.
    stack: Vec<usize>,
    /// All decisions, by their places in the file.
    history: Vec<usize>,
}

/// References and the decisions on them.
#[derive(Debug)]
pub struct Reviews {
    references: Vec<Trajectory>,
    digests: Vec<Digests>,
    origins: Vec<Origin>,
    indices: HashMap<String, usize>,
    decisions: Vec<DecisionsOnReference>,
    store: SharedJournal<Decision>,
    /// The number of lines of the file that `decisions` includes.
    folded: usize,
    /// The number of decisions on other references than these.
    foreign: usize,
}

/// The file of decisions beside a file of references: `references.json.reviews.jsonl`.
#[must_use]
pub fn store_path(references: &Path) -> PathBuf {
    beside(references, ".reviews.jsonl")
}

impl Reviews {
    /// Opens references with the decisions of a file; the ids of the references should differ.
    ///
    /// # Errors
    /// [`JournalError`], of the file.
    pub fn open(references: Vec<Trajectory>, path: &Path) -> Result<Self, JournalError> {
        let digests = references.iter().map(Digests::of).collect();
        let origins = references.iter().map(Origin::of).collect();
        let indices = references.iter().enumerate().map(|(index, found)| (found.id.clone(), index)).collect();
        let decisions = vec![DecisionsOnReference::default(); references.len()];
        let store = SharedJournal::open(path, KIND)?;
        let mut reviews =
            Self { references, digests, origins, indices, decisions, store, folded: 0, foreign: 0 };
        reviews.fold()?;
        Ok(reviews)
    }

    /// The references as the file has them.
    #[must_use]
    pub fn references(&self) -> &[Trajectory] {
        &self.references
    }

    /// Looks for the runs that the references were made of, to get the results of their calls. Their files are named
    /// as `m3 judge` read them: relative to the working folder or to `folder`, which should be that of the
    /// references.
    pub fn find_runs(&mut self, folder: &Path) {
        find_runs(&self.references, &mut self.origins, folder);
    }

    /// A reference with what is known about its run.
    #[must_use]
    pub fn subject(&self, index: usize) -> Subject<'_> {
        Subject { reference: &self.references[index], origin: &self.origins[index] }
    }

    /// Identifies a reference by its content, in a form that no spreadsheet takes for a number.
    #[must_use]
    pub fn key(&self, index: usize) -> String {
        self.digests[index].key()
    }

    /// The index of the reference with an id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<usize> {
        self.indices.get(id).copied()
    }

    /// The file of decisions.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.store.path()
    }

    /// The number of decisions on references that are not here, or were different at the time.
    #[must_use]
    pub fn foreign(&self) -> usize {
        self.foreign
    }

    /// The number of decisions in the file, including those on other references.
    #[must_use]
    pub fn len(&self) -> usize {
        self.folded
    }

    /// True before the first decision.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.folded == 0
    }

    /// Reads decisions that other processes have added.
    ///
    /// # Errors
    /// [`JournalError`], of the file.
    pub fn refresh(&mut self) -> Result<(), JournalError> {
        self.store.refresh()?;
        self.fold()
    }

    fn fold(&mut self) -> Result<(), JournalError> {
        for (place, decision) in self.store.records().iter().enumerate().skip(self.folded) {
            if decision.schema != REVIEW_SCHEMA {
                let message = format!("this version of m3 reads {REVIEW_SCHEMA}, and this is another schema");
                return Err(wrong(self.store.path(), place, &message));
            }
            match self.indices.get(&decision.id) {
                Some(&index) if self.digests[index].are_in(&decision.reference) => {
                    check(&self.references[index], decision)
                        .map_err(|message| wrong(self.store.path(), place, &message))?;
                    self.decisions[index].take(place, decision);
                }
                _ => self.foreign += 1,
            }
            self.folded = place + 1;
        }
        Ok(())
    }

    /// The state of a reference.
    #[must_use]
    pub fn state(&self, index: usize) -> State {
        match self.last(index).map(|decision| &decision.action) {
            None | Some(Action::Undo) => State::Open,
            Some(Action::Accept { .. }) => State::Accepted,
            Some(Action::Edit { .. }) => State::Edited,
            Some(Action::Reject { .. }) => State::Rejected,
        }
    }

    /// The number of decisions on a reference, which [`Reviews::decide`] takes as its base.
    #[must_use]
    pub fn version(&self, index: usize) -> u64 {
        self.decisions[index].version
    }

    /// The newest decision that counts.
    #[must_use]
    pub fn last(&self, index: usize) -> Option<&Decision> {
        self.counting(index).next_back()
    }

    /// The decisions that count, in order: those that were not undone.
    #[must_use]
    pub fn counting(&self, index: usize) -> impl DoubleEndedIterator<Item = &Decision> {
        self.decisions[index].stack.iter().map(|place| &self.store.records()[*place])
    }

    /// All decisions of a reference, each with whether it counts.
    pub fn history(&self, index: usize) -> impl Iterator<Item = (&Decision, bool)> {
        let decisions = &self.decisions[index];
        let counts = |place: &usize| decisions.stack.contains(place);
        decisions.history.iter().map(move |place| (&self.store.records()[*place], counts(place)))
    }

    /// The line in the file, from 1, of the newest decision on a reference; 0 without any.
    #[must_use]
    pub fn changed(&self, index: usize) -> usize {
        self.decisions[index].history.last().map_or(0, |place| place + 1)
    }

    /// The calls and the answer after the edits that count; `None` without an edit.
    #[must_use]
    pub fn revision(&self, index: usize) -> Option<&Revision> {
        self.counting(index).rev().find_map(|decision| decision.action.revision())
    }

    /// The reference with the edits that count.
    #[must_use]
    pub fn current(&self, index: usize) -> Revision {
        self.revision(index).cloned().unwrap_or_else(|| Revision::of(&self.references[index]))
    }

    /// Makes the decision of a person who has seen `base` decisions on the reference. It is on disk on return. Edits
    /// should have been checked.
    ///
    /// # Errors
    /// [`DecideError`]; after a conflict the decision is kept in the file, but does not count.
    pub fn decide(&mut self, index: usize, base: u64, name: &str, action: Action) -> Result<(), DecideError> {
        self.decide_all(index, base, name, vec![action])
    }

    /// Makes several decisions in order, all or none of them.
    ///
    /// # Errors
    /// [`DecideError`]; after a conflict the decisions are kept in the file, but do not count.
    pub fn decide_all(
        &mut self,
        index: usize,
        base: u64,
        name: &str,
        actions: Vec<Action>,
    ) -> Result<(), DecideError> {
        let actions = actions.into_iter().map(complete).collect::<Result<Vec<_>, _>>()?;
        let is_accepted = actions.iter().any(|action| matches!(action, Action::Accept { .. }));
        let edited = actions.iter().rev().find_map(Action::revision).cloned();
        let revision = edited.unwrap_or_else(|| self.current(index));
        if is_accepted && says_nothing(&self.references[index], &revision) {
            return Err(DecideError::Incomplete(SAYS_NOTHING));
        }
        let name = person(name).map_err(DecideError::Incomplete)?;
        // Lines of other processes are read under the lock, so that it is certain whether the base is the newest.
        let (reference, digests) = (&self.references[index], &self.digests[index]);
        let mut decisions = self.decisions[index].clone();
        let folded = self.folded;
        let mut refused = None;
        self.store.append_all_with(|records| {
            for (place, decision) in records.iter().enumerate().skip(folded) {
                if decision.id == reference.id && digests.are_in(&decision.reference) {
                    decisions.take(place, decision);
                }
            }
            if base != decisions.version {
                let newest = decisions.history.iter().rev().map(|place| &records[*place]);
                refused = Some(conflict(newest.into_iter().find(|by| !by.set_aside), base));
            } else if actions.first() == Some(&Action::Undo) && decisions.stack.is_empty() {
                refused = Some(DecideError::NothingToUndo);
                return Vec::new();
            }
            let set_aside = refused.is_some();
            let kept = actions.into_iter().filter(|action| !(set_aside && *action == Action::Undo));
            let decision = |(action, base): (Action, u64)| Decision {
                schema: REVIEW_SCHEMA.to_owned(),
                id: reference.id.clone(),
                reference: digests.judged.clone(),
                name: name.clone(),
                time: now(),
                base,
                set_aside,
                action,
            };
            kept.zip(base..).map(decision).collect()
        })?;
        self.fold()?;
        refused.map_or(Ok(()), Err)
    }
}

/// Whether an edit fits its reference: anybody may have written the line.
fn check(reference: &Trajectory, decision: &Decision) -> Result<(), String> {
    let Some(revision) = decision.action.revision() else { return Ok(()) };
    normal(reference, revision.clone()).map(|_| ()).map_err(|problems| summary(&problems))
}

/// An error about the decision at a place, from 0.
fn wrong(path: &Path, place: usize, message: &str) -> JournalError {
    JournalError::Line {
        path: path.to_owned(),
        line: place as u64 + 1,
        name: KIND.name,
        message: shortened(message, 200),
        elsewhere: KIND.elsewhere,
    }
}

/// The error if another person decided first, or if the person has seen decisions that are not in the file.
fn conflict(newest: Option<&Decision>, base: u64) -> DecideError {
    newest.map_or(DecideError::Unseen { base }, |newest| DecideError::Conflict {
        name: newest.name.clone(),
        what: newest.action.summary(),
        time: newest.time.clone(),
    })
}

impl DecisionsOnReference {
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

#[cfg(test)]
mod tests;
