//! People's decisions on references: lines of the file beside them.

use m3_support::journal::JournalError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arrangement::Revision;
use super::checks::checked_note;

/// The schema of a line.
pub const REVIEW_SCHEMA: &str = "m3.review/1";

/// A decision: a line of the file beside the references.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "m3.review/1")]
pub struct Decision {
    /// `m3.review/1`.
    pub schema: String,
    /// The reference.
    pub id: String,
    /// SHA-256, in hexadecimal, of what a person judges of the reference: its id, question, image, steps with results,
    /// and answer, as they were. A decision says nothing of another reference of that id. Of all of the reference in
    /// lines of versions that did not tell them apart.
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
    /// Its calls and its answer are these instead.
    Edit {
        /// Calls and answer.
        #[serde(flatten)]
        revision: Revision,
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
    /// The name in files.
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

/// Why a decision was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// The file of decisions cannot be used.
    #[error(transparent)]
    Store(#[from] JournalError),
    /// Another person decided first.
    #[error("{name} has decided in the meantime ({what}, {time})")]
    Conflict {
        /// The other person.
        name: String,
        /// The other decision, in a few words.
        what: String,
        /// When the other decision was made.
        time: String,
    },
    /// The person has seen decisions that are not in the file.
    #[error("nobody has decided on this reference yet, and {base} decisions were seen: open it again")]
    Unseen {
        /// How many decisions the person has seen.
        base: u64,
    },
    /// There is nothing to undo.
    #[error("there is no decision to undo")]
    NothingToUndo,
    /// The decision is incomplete: what is missing.
    #[error("{0}")]
    Incomplete(&'static str),
}

impl Action {
    /// The decision in a few words.
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

    /// What an edit makes of the reference.
    #[must_use]
    pub fn revision(&self) -> Option<&Revision> {
        match self {
            Self::Edit { revision, .. } => Some(revision),
            _ => None,
        }
    }

    /// The note; empty without one.
    #[must_use]
    pub fn note(&self) -> &str {
        match self {
            Self::Accept { note } | Self::Reject { note } | Self::Edit { note, .. } => note,
            Self::Undo => "",
        }
    }
}

/// Checks that an action is complete and may be written.
pub(super) fn complete(mut action: Action) -> Result<Action, DecideError> {
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
