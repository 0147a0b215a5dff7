//! The executor: sends a task's image, question and tools to a model, runs the calls it asks for step by step, and
//! records what happened.
//!
//! [`attempt()`] runs one task once. Progress is reported as [`Event`]s; the outcome is a [`Record`], a native
//! prediction with everything that was said and returned. [`run`] runs many tasks and keeps their records:
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use m3_executor::run::{KeepWorkspaces, OutputFolder, Run, RunTask, ToolSource};
//! use m3_images::task_image::TaskImage;
//! use m3_executor::{Instruction, Limits, Mode, OfferedTools, RunOptions, recorded_catalog};
//! use m3_llm::{Cassette, Model, Pictures, Settings};
//! use m3_support::redact::Redactor;
//! use m3_trajectory::Task;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A task of the small benchmark, and a recording of what a model and its tools replied.
//! let benchmark = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
//! let cassette = Arc::new(Cassette::open(&benchmark.join("trajectories/cassette.jsonl.gz"))?);
//! let task = Task {
//!     id: "00070001".into(),
//!     image: Some("images/clock.png".into()),
//!     question: Some("What time is it?".into()),
//!     ..Task::default()
//! };
//! let folder = tempfile::tempdir()?;
//! let run = Run {
//!     tasks: vec![RunTask {
//!         task,
//!         image: Some(TaskImage::new(benchmark.join("images/clock.png"))),
//!         is_selected: true,
//!         offered: Arc::new(OfferedTools::new(recorded_catalog(&cassette))),
//!     }],
//!     output: OutputFolder::open(folder.path())?,
//!     model: Arc::new(Model::replay(Arc::clone(&cassette))?),
//!     tools: ToolSource::Replayed { cassette, recorder: None },
//!     redactor: Redactor::default(),
//!     pictures: Pictures::new(),
//!     options: RunOptions {
//!         mode: Mode::Staged,
//!         instruction: Instruction::Question,
//!         limits: Limits::default(),
//!         compress: false,
//!         result_limit: 8000,
//!         no_images: false,
//!         max_image_side: None,
//!         settings: Settings::default(),
//!     },
//!     repeats: 1,
//!     workers: 1,
//!     keep: KeepWorkspaces::Never,
//!     retry_failed: false,
//! };
//! let end = run.begin()?.go(Arc::new(|_| ()), Default::default()).await?;
//! assert_eq!((end.summary.predictions, end.summary.answered), (1, 1));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod attempt;
mod attempt_state;
mod dialogue;
mod event;
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
mod stop;
mod tools;
mod workspace_pictures;

pub use m3_trajectory::FinishReason;

pub use attempt::{AttemptEnd, attempt};
pub use attempt_state::Attempt;
pub use event::{Event, Events, TaskEvent};
pub use modes::TOOLS_UNREAD;
pub use offered::OfferedTools;
pub use options::{Instruction, Limits, Mode, RunOptions};
pub use prompts::prompts_hash;
pub use record::{CallRecord, Record, StepRecord};
pub use recorded::{from_record, recorded_catalog, to_record};
pub use run_blocker::RunBlocker;
pub use schemas::{TooManyTools, check_tool_count};
pub use tools::Tools;
