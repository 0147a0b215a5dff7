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
