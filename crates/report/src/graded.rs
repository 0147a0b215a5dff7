//! Reads the grades in graded predictions, to put them beside scores.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use m3_score::Metric;
use m3_support::text::{counted, shortened, visible};
use m3_trajectory::json::Json;
use m3_trajectory::{OpenError, SourceError, Trajectory, TrajectoryFile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The key of a graded prediction for a list of the grades by other rubrics than that of its `grades`.
pub const OTHER_GRADES: &str = "other_grades";

/// What a panel says of a trajectory, each in [0, 1].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct PanelGrades {
    /// Was the task done?
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_completion: Option<f64>,
    /// Was found out what had to be found out?
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub information_grounding: Option<f64>,
}

impl PanelGrades {
    /// The grades by metric.
    pub(crate) fn by_metric(&self) -> BTreeMap<Metric, f64> {
        let grades = [
            (Metric::TaskCompletion, self.task_completion),
            (Metric::InformationGrounding, self.information_grounding),
        ];
        grades.into_iter().filter_map(|(metric, grade)| Some((metric, grade?))).collect()
    }
}

/// Why grades cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GradedFileError {
    /// The file does not hold trajectories.
    #[error(
        "`{}` holds no graded predictions: {message}\nhint: `m3 grade .. -o FILE` writes them",
        visible(&.path.display().to_string(), false)
    )]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// It cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The grades belong to other predictions.
    #[error(
        "`{}` is of other predictions: trajectory `{}` has {} in it, and {} in the predictions\nhint: run `m3 grade` again \
         on the predictions that are scored",
        visible(&.path.display().to_string(), false), shortened(.id, 80), counted(*.found, "call"),
        counted(*.calls, "call")
    )]
    OtherCalls {
        /// The file.
        path: PathBuf,
        /// The trajectory.
        id: String,
        /// How many calls were graded.
        found: usize,
        /// How many calls the prediction has.
        calls: usize,
    },
}

/// Grades by the id of their trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct GradesByTrajectory {
    path: PathBuf,
    found: HashMap<String, (usize, PanelGrades)>,
}

impl GradesByTrajectory {
    /// Reads what `m3 grade -o` wrote. Of trajectories with one id the last counts, as in scores.
    ///
    /// # Errors
    /// [`GradedFileError`], for a file without any grade as well.
    pub fn read(path: &Path) -> Result<Self, GradedFileError> {
        let wrong = |message: String| GradedFileError::Content { path: path.to_owned(), message };
        let file = TrajectoryFile::open_all(path, &mut |_, _| ()).map_err(|error| match error {
            OpenError::Source(error) => GradedFileError::Source(error),
            OpenError::Invalid { .. } => wrong("it has errors, which `m3 validate` lists".to_owned()),
        })?;
        let mut found = HashMap::new();
        for index in 0..file.len() {
            let trajectory = file.look_at(index)?;
            let id = shortened(&trajectory.id, 80);
            let Some(grades) =
                panel_grades(&trajectory).map_err(|()| wrong(format!("the grades of `{id}` are none")))?
            else {
                continue;
            };
            let all = [grades.task_completion, grades.information_grounding];
            if all.into_iter().flatten().any(|grade| !(0.0..=1.0).contains(&grade)) {
                return Err(wrong(format!("a grade of `{id}` is not between 0 and 1")));
            }
            found.insert(trajectory.id.clone(), (trajectory.call_count(), grades));
        }
        if found.is_empty() {
            Err(wrong("no trajectory has `grades`".to_owned()))
        } else {
            Ok(Self { path: path.to_owned(), found })
        }
    }

    /// The grades of a trajectory with this number of predicted calls; `None` if it was not graded.
    ///
    /// # Errors
    /// [`GradedFileError::OtherCalls`] if they are of another number of calls.
    pub fn get(&self, id: &str, calls: usize) -> Result<Option<PanelGrades>, GradedFileError> {
        match self.found.get(id) {
            None => Ok(None),
            Some((found, grades)) if *found == calls => Ok(Some(*grades)),
            Some((found, _)) => Err(GradedFileError::OtherCalls {
                path: self.path.clone(),
                id: id.to_owned(),
                found: *found,
                calls,
            }),
        }
    }
}

/// The grades of a trajectory by any rubric; `None` if it has none. The keys may also hold something else.
fn panel_grades(trajectory: &Trajectory) -> Result<Option<PanelGrades>, ()> {
    let member = |name: &str| trajectory.extra.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let others = match member(OTHER_GRADES) {
        Some(Json::Array(others)) => others.as_slice(),
        _ => &[],
    };
    let mut found = None;
    for grades in member("grades").into_iter().chain(others) {
        let value = grades.to_value().ok_or(())?;
        let grades: PanelGrades = serde_json::from_value(value).map_err(|_| ())?;
        if grades != PanelGrades::default() {
            return Ok(Some(grades));
        }
        found = Some(grades);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grades_are_found_whichever_rubric_was_asked_last() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graded.json");
        let read = |members: &str| {
            let text = format!(r#"[{{"id": "a", "steps": []{members}}}]"#);
            std::fs::write(&path, text).unwrap();
            GradesByTrajectory::read(&path).map(|grades| grades.get("a", 0).unwrap())
        };
        let completion = Some(PanelGrades { task_completion: Some(0.5), information_grounding: None });
        let grades = r#", "grades": {"rubric": "m3-bench", "task_completion": 0.5}"#;
        assert_eq!(read(grades).unwrap(), completion);
        let others = r#", "grades": {"rubric": "mcp-eval", "mcp_eval": 1.0},
            "other_grades": [{"rubric": "mcp-bench"}, {"rubric": "m3-bench", "task_completion": 0.5}]"#;
        assert_eq!(read(others).unwrap(), completion);
        assert_eq!(read(r#", "grades": {"mcp_eval": 1.0}"#).unwrap(), Some(PanelGrades::default()));
        for wrong in ["", r#", "grades": 7"#, r#", "grades": {"task_completion": 5}"#] {
            assert!(matches!(read(wrong), Err(GradedFileError::Content { .. })), "{wrong}");
        }
    }
}
