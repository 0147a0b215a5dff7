//! Trajectories in the formats of other programs: a target is one file and one row.
//! [`RecognizedFile::read`](crate::RecognizedFile::read) turns the output into the same trajectory again, except for
//! facts that a target cannot carry, which are noted.

mod anthropic;
mod atif;
mod exact;
mod openai;
pub(crate) mod otel;
mod span_ids;
mod trajectory;

use std::collections::HashMap;

use m3_trajectory::Trajectory;
use m3_trajectory::json::Json;

use crate::trace::Notes;
pub(crate) use exact::restore;
pub use span_ids::SpanIds;
use trajectory::ExportTrajectory;

/// A format that trajectories are written in.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name of the target for users.
    pub name: &'static str,
    /// A title for users: the format, and its unit.
    pub title: &'static str,
    /// Whether each trajectory is a line; else each is a document.
    pub is_lines: bool,
    /// Whether pictures can only be files beside the output.
    pub needs_files: bool,
    /// Writes a trajectory.
    write: fn(&ExportTrajectory<'_>, &mut Notes) -> Json,
}

/// All targets.
pub const TARGETS: &[Target] = &[openai::TARGET, anthropic::TARGET, atif::TARGET, otel::TARGET];

/// Writes trajectories for one target.
///
/// Media are written as the trajectory has them: data in base64, or references. The caller first replaces the names of
/// files by their data.
#[derive(Debug)]
pub struct Exporter {
    target: &'static Target,
    started: u64,
    ids: HashMap<String, u64>,
    notes: Notes,
}

impl Exporter {
    /// An exporter for a target. `started` is a time, in seconds since 1970, for targets in which every event has a
    /// time: trajectories do not say when they were made.
    #[must_use]
    pub fn new(target: &'static Target, started: u64) -> Self {
        Self { target, started, ids: HashMap::new(), notes: Notes::default() }
    }

    /// The trajectory in the target's form.
    pub fn write(&mut self, trajectory: &Trajectory) -> Json {
        let times = self.ids.entry(trajectory.id.clone()).or_default();
        *times += 1;
        let trajectory = ExportTrajectory::new(trajectory, *times, self.started, &mut self.notes);
        (self.target.write)(&trajectory, &mut self.notes)
    }

    /// Notes on the facts that the target cannot carry.
    #[must_use]
    pub fn notes(&self) -> &Notes {
        &self.notes
    }
}
