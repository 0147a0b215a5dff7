//! Reads one trajectory that a program holds, as a file with nothing else in it would be read.

use super::{OpenError, SINGLE_ID, TrajectoryFile};
use crate::format::Format;
use crate::json::{self, Json};
use crate::model::Trajectory;
use crate::problem::{Place, Problems, Severity};
use crate::read::{self, CallForms, Reading};

impl Trajectory {
    /// Reads the only trajectory of `bytes`, in m3's own form or one of `formats`; messages use `name` as the name of
    /// the file, `forms` says how calls are read.
    ///
    /// # Errors
    /// [`OpenError`], also if there is not exactly one.
    pub fn of_bytes(
        name: &str,
        bytes: &[u8],
        forms: CallForms,
        formats: &[Format],
    ) -> Result<Self, OpenError> {
        // A temporary file would take some hundred times as long.
        if let Ok((value, oddities)) = json::parse(bytes)
            && oddities.is_empty()
            && is_own(&value)
        {
            return Self::of_own(name, value, forms);
        }
        let file = TrajectoryFile::of_bytes(name, bytes, forms, formats)?;
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

    fn of_own(name: &str, value: Json, forms: CallForms) -> Result<Self, OpenError> {
        let mut problems = Problems::default();
        let place = Place {
            file: name.to_owned(),
            id: value.get("id").and_then(Json::as_str).map(str::to_owned),
            ..Place::default()
        };
        let mut report = |severity, pointer: String, message: String| {
            problems.push(severity, &place, &pointer, &message);
        };
        let reading = Reading { forms, ..Reading::default() };
        read::trajectory(value, None, Some(SINGLE_ID), reading, &mut report)
            .ok_or_else(|| OpenError::Invalid { file: name.to_owned(), problems })
    }
}

/// Whether a value is a trajectory in m3's own form, whatever else it has: each step has `calls`.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Trajectory, String> {
        Trajectory::of_bytes("given", text.as_bytes(), CallForms::Understood, &[]).map_err(
            |error| match error {
                OpenError::Invalid { problems, .. } => problems.iter().map(ToString::to_string).collect(),
                OpenError::Source(error) => error.to_string(),
            },
        )
    }

    #[test]
    fn one_trajectory_is_read_as_from_a_file() {
        let call = r#"{"name": "image/crop", "arguments": {"x": 3}}"#;
        let own = format!(r#"{{"id": "a", "question": "q", "steps": [{{"calls": [{call}]}}], "more": 1}}"#);
        let file = TrajectoryFile::of_bytes("given", own.as_bytes(), CallForms::Understood, &[])
            .unwrap()
            .read(0)
            .unwrap();
        assert_eq!(read(&own), Ok(file));
        // A list of one, an object by id, and a trajectory without steps are read as a file.
        assert_eq!(read(&format!("[{own}]")).unwrap().id, "a");
        assert_eq!(read(r#"{"b": {"steps": []}}"#).unwrap().id, "b");
        assert_eq!(read(&format!(r#"{{"steps": [{{"calls": [{call}]}}]}}"#)).unwrap().id, SINGLE_ID);
    }

    #[test]
    fn what_is_no_trajectory_says_why_and_where() {
        let wrong = read(r#"{"id": "a", "steps": [{"calls": [{"arguments": 3}]}]}"#).unwrap_err();
        assert!(wrong.starts_with("given /steps/0/calls/0"), "{wrong}");
        assert!(
            read(r#"[{"id": "a", "steps": []}, {"id": "b", "steps": []}]"#)
                .unwrap_err()
                .contains("2 trajectories")
        );
        assert!(read(r#"{"id": "a", "question": "what?"}"#).unwrap_err().contains("a task"));
        for text in ["", "[]", "3", "nonsense", "{\"steps\": 3}", &"[".repeat(100_000)] {
            assert!(read(text).is_err(), "{}", &text[..text.len().min(20)]);
        }
    }
}
