//! Tasks, trajectories and the files that hold them.
//!
//! A [`Trajectory`] is a list of [`Step`]s, a step an unordered set of [`Call`]s, a call a tool and its
//! arguments (M³-Bench, section 4.1). [`TrajectoryFile`] reads them from files of every [`format`](mod@format) and reports
//! each problem with its place.
//!
//! ```
//! use m3_trajectory::{Duplicates, TrajectoryFile};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("predictions.jsonl");
//! let call = r#"{"name": "image/crop", "arguments": {"x": 3}}"#;
//! std::fs::write(&path, format!(r#"{{"id": "a", "steps": [{{"calls": [{call}]}}]}}"#))?;
//!
//! let file = TrajectoryFile::open(&path, Duplicates::Error)?;
//! let trajectory = file.read(0)?;
//! assert_eq!((trajectory.id.as_str(), trajectory.call_count()), ("a", 1));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

pub mod catalog;
/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod failure;
mod file;
mod foreign;
pub mod format;
pub mod json;
mod marks;
mod member;
mod model;
mod problem;
mod read;
mod result;
mod run_record;
#[cfg(feature = "schema")]
mod schema;
mod source;
mod source_error;
mod split;
mod spool;
pub mod tool_names;
mod whole;
#[cfg(feature = "yaml")]
mod yaml;

pub use failure::FailureClass;
pub use file::{Duplicate, Duplicates, OpenError, TrajectoryFile};
pub use marks::PREDICTION_SCHEMA;
pub use marks::is_recorded_key;
pub use member::Member;
pub use model::{Call, MalformedCall, NO_NAME, Step, Task, Trajectory};
pub use problem::{Place, Problem, Problems, Severity};
pub use read::CallForms;
pub use result::{
    ReadResult, ResultPicture, file_name, file_names, is_file, read_result, result_parts, result_picture,
    sent_base64,
};
pub use run_record::{FinishReason, RunFacts, TurnRecord, Usage};
#[cfg(feature = "schema")]
pub use schema::TrajectorySchema;
pub use source::Source;
pub use source_error::SourceError;
pub use split::{Layout, Noun, Shape};
pub use whole::{WholeFile, WholeFileError};
