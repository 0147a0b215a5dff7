//! Tasks, trajectories and the files that hold them.
//!
//! A [`Trajectory`] is a list of [`Step`]s, a step an unordered set of [`Call`]s, a call a tool and its
//! arguments (M³-Bench, section 4.1). [`TrajectoryFile`] reads them from every shape of file and reports
//! each problem with its place.

pub mod catalog;
mod file;
pub mod json;
mod model;
mod problem;
mod read;
mod source;
mod split;
mod whole;

pub use file::{Duplicate, Duplicates, OpenError, TrajectoryFile};
pub use model::{Call, MalformedCall, Step, Task, Trajectory};
pub use problem::{Place, Problem, Problems, Severity};
pub use read::PREDICTION_SCHEMA;
pub(crate) use read::is_recorded_key;
pub use source::SourceError;
pub use split::Shape;
pub use whole::{WholeFile, WholeFileError};
