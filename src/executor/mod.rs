//! The executor: sends a task's image, question and tools to a model, runs the calls it asks for step by step, and
//! records what happened.
//!
//! [`attempt`] runs one task once. What happens on the way is told as [`Event`]s; the outcome is a [`Record`], a
//! native prediction with everything that was said and returned.

mod event;
pub mod nearest;
mod options;
mod record;
pub mod run;

pub use event::{Event, Events, Told};
pub use options::{Instruction, Limits, Mode, RunOptions};
pub use record::{CallRecord, FinishReason, Record, StepRecord, TurnRecord};
