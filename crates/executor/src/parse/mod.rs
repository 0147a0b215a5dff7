//! Reads what models write where they should write something definite. Nothing is guessed that could change what was
//! meant: a tool's name stays as it was written, and what cannot be read is told as such.

mod calls;
mod json;
mod plan;
mod react;

pub(super) use calls::{Calls, Wanted, calls};
pub(super) use plan::{decision, plan};
pub(super) use react::{Act, Reacted, react};
