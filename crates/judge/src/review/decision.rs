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
    /// The id of the reference.
    pub id: String,
    /// SHA-256, in hexadecimal, of the parts of the reference that a person judges: its id, question, image, steps with
    /// results, and answer. A decision does not count for a reference of that id with other content. In lines of older
    /// versions it is the hash of the whole reference.
    pub reference: String,
    /// The name of the person.
    pub name: String,
    /// The time of the decision, as RFC 3339 in UTC.
    pub time: String,
    /// The number of decisions on this reference that the person had seen.
    pub base: u64,
    /// True if somebody else had decided in the meantime: the decision is kept here and does not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub set_aside: bool,
    /// The action.
    #[serde(flatten)]
    pub action: Action,
}

/// The action of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// The reference is right, with the earlier edits.
    Accept {
        /// A remark; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// The reference is not usable.
    Reject {
        /// The reason; not empty.
        note: String,
    },
    /// The calls and the answer of the reference are replaced.
    Edit {
        /// The new calls and the new answer.
        #[serde(flatten)]
        revision: Revision,
        /// What was changed, in a few words.
        #[serde(default)]
        change: String,
        /// A remark; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// The previous decision no longer counts.
    Undo,
}

/// The state of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nobody has decided.
    Open,
    /// The reference is right.
    Accepted,
    /// The reference was edited, and nobody has accepted or rejected it since.
    Edited,
    /// The reference is not usable.
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
    #[error(
        "the decisions that were seen ({base}) are not in the file of decisions: open the reference again"
    )]
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

    /// The revision of an edit; `None` for other actions.
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
