//! The executor: sends a task's image, question and tools to a model, runs the calls it asks for step by step, and
//! records what happened.
//!
//! [`attempt()`] runs one task once. What happens on the way is told as [`Event`]s; the outcome is a [`Record`], a
//! native prediction with everything that was said and returned. [`run`] runs many tasks and keeps what they give.

mod attempt;
mod attempt_state;
mod dialogue;
mod event;
mod fate;
mod modes;
pub mod nearest;
mod observation;
mod offered;
mod options;
mod parse;
mod picture_room;
mod pool;
mod prompts;
mod record;
mod recorded;
pub mod run;
mod run_blocker;
mod schemas;
mod step;
mod tools;

pub use attempt::{Attempt, Attempted, attempt};
pub use event::{Event, Events, TaskEvent};
pub use fate::{Fate, Outlook, TASKS};
pub use modes::TOOLS_UNREAD;
pub use offered::Offered;
pub use options::{Instruction, Limits, Mode, RunOptions};
pub use prompts::prompts_hash;
pub use record::{CallRecord, FinishReason, Record, StepRecord, TurnRecord};
pub use recorded::{from_record, recorded_catalog, to_record};
pub use run_blocker::RunBlocker;
pub use schemas::{TooManyTools, check_tool_count};
pub use tools::Tools;
