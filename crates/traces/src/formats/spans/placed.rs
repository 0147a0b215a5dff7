//! Replies and calls, with their places in a trace.

use super::roles::{Ran, Reply, Said, Spoken};
use crate::trace::TracedCall;

/// A reply, and where it is.
#[derive(Debug)]
pub(super) struct Placed {
    /// An id of its own.
    pub(super) id: String,
    /// When it began.
    pub(super) start: Option<u64>,
    /// The agent or the call that it is of.
    pub(super) caller: Option<usize>,
    /// What it is.
    pub(super) reply: Reply,
    /// What was said, of several alternatives the one that was gone on with.
    pub(super) said: Option<Said>,
}

/// A call that was run, and where it is.
#[derive(Debug)]
pub(super) struct PlacedCall {
    /// Its span.
    pub(super) span: usize,
    /// When it began and ended.
    pub(super) start: Option<u64>,
    pub(super) end: Option<u64>,
    /// The agent or the call that it is of.
    pub(super) caller: Option<usize>,
    /// What it is.
    pub(super) ran: Ran,
}

/// The calls of what was said, to complete them.
pub(super) fn calls_mut(said: &mut Option<Said>) -> impl Iterator<Item = &mut TracedCall> {
    said.iter_mut().flatten().filter_map(|spoken| match spoken {
        Spoken::Call(call) => Some(call),
        _ => None,
    })
}
