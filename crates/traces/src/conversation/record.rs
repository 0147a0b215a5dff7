//! A record of what is added to a conversation, in its order.

use crate::content::Content;
use crate::outcome::Outcome;
use crate::trace::TracedCall;

/// Something that was added.
#[derive(Debug, Clone)]
pub(crate) enum Entry {
    /// A message of the user.
    User(Content),
    /// A text of the model.
    Text(String),
    /// A call of the model.
    Call(TracedCall),
    /// The result of a call.
    Result(Outcome),
}

/// A record, if one is kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record(Option<Vec<Entry>>);

impl Record {
    /// A record that is kept.
    pub(crate) fn kept() -> Self {
        Self(Some(Vec::new()))
    }

    /// Adds an entry, if a record is kept.
    pub(super) fn add(&mut self, entry: impl FnOnce() -> Entry) {
        if let Some(entries) = &mut self.0 {
            entries.push(entry());
        }
    }

    /// Takes the entries.
    pub(crate) fn take(&mut self) -> Vec<Entry> {
        self.0.take().unwrap_or_default()
    }
}
