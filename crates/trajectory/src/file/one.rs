//! Reads one trajectory that a program holds, as a file with nothing else in it would be read.

use super::{OpenError, SINGLE_ID, TrajectoryFile};
use crate::format::Format;
use crate::json::{self, Json};
use crate::model::Trajectory;
use crate::problem::{Place, Problems, Severity};
use crate::read::{self, Reading};

impl Trajectory {
    /// Reads the only trajectory of `bytes`, in m3's own form or one of `formats`; `name` stands for a file's in
    /// messages.
    ///
    /// # Errors
    /// [`OpenError`], also if there is not exactly one.
    pub fn of_bytes(name: &str, bytes: &[u8], formats: &[Format]) -> Result<Self, OpenError> {
        // Without a file, which takes some hundred times as long.
        if let Ok((value, oddities)) = json::parse(bytes)
            && oddities.is_empty()
            && is_own(&value)
        {
            return Self::of_own(name, value);
        }
        let file = TrajectoryFile::of_bytes(name, bytes, formats)?;
        if file.len() == 1 && !file.is_tasks() {
            return Ok(file.read(0)?);
        }
        let message = if file.is_tasks() {
            "a task, not a trajectory: it has no `steps`".to_owned()
        } else {
            format!("{} trajectories; there should be one", file.len())
        };
        Err(invalid(file.name(), &message))
    }

    fn of_own(name: &str, value: Json) -> Result<Self, OpenError> {
        let mut problems = Problems::default();
        let place = Place {
            file: name.to_owned(),
            id: value.get("id").and_then(Json::as_str).map(str::to_owned),
            ..Place::default()
        };
        let mut report = |severity, pointer: String, message: String| {
            problems.push(severity, &place, &pointer, &message);
        };
        read::trajectory(value, None, Some(SINGLE_ID), Reading::default(), &mut report)
            .ok_or_else(|| OpenError::Invalid { file: name.to_owned(), problems })
    }
}

/// Whether it is a trajectory in m3's own form, whatever else it has: each step has `calls`.
fn is_own(value: &Json) -> bool {
    match value.get("steps") {
        Some(Json::Array(steps)) => !steps.is_empty() && steps.iter().all(|step| step.get("calls").is_some()),
        _ => false,
    }
}

fn invalid(name: &str, message: &str) -> OpenError {
    let mut problems = Problems::default();
    let place = Place { file: name.to_owned(), ..Place::default() };
    problems.push(Severity::Error, &place, "", message);
    OpenError::Invalid { file: name.to_owned(), problems }
}
