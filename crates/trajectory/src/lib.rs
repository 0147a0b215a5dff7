//! Tasks, trajectories and the files that hold them.
//!
//! A [`Trajectory`] is a list of [`Step`]s, a step an unordered set of [`Call`]s, a call a tool and its
//! arguments (M³-Bench, section 4.1). [`TrajectoryFile`] reads them from every shape of file and reports
//! each problem with its place.

pub mod catalog;
mod failure;
mod file;
mod foreign;
pub mod json;
mod marks;
mod model;
mod problem;
mod read;
mod source;
mod split;
pub mod tool_names;
mod whole;

pub use failure::FailureClass;
pub use file::{Duplicate, Duplicates, OpenError, TrajectoryFile};
pub use marks::PREDICTION_SCHEMA;
pub use marks::is_recorded_key;
pub use model::{Call, MalformedCall, Step, Task, Trajectory};
pub use problem::{Place, Problem, Problems, Severity};
pub use read::CallForms;
pub use source::SourceError;
pub use split::Shape;
pub use whole::{WholeFile, WholeFileError};
