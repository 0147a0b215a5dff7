//! Reads what models write where a definite form is asked for. Nothing is guessed that could change the meaning: a
//! tool's name stays as it was written, and what cannot be read is reported as unreadable.

mod calls;
mod json;
mod plan;
mod react;

pub(super) use calls::{Calls, ParsedCall, calls};
pub(super) use plan::{decision, plan};
pub(super) use react::{Act, ReactReply, react};
