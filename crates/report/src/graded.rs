//! Reads the grades in graded predictions, to put them beside scores.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use m3_score::Metric;
use m3_support::text::{counted, shortened};
use m3_trajectory::{OpenError, Trajectory, TrajectoryFile};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::metrics::by_name;
use super::unusable::{ExpectedFile, UnusableFile};

/// The grades of a trajectory by a panel: the grades that are known, by their metric, each in [0, 1].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PanelGrades(pub BTreeMap<Metric, f64>);

impl Serialize for PanelGrades {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(metric, grade)| (metric.name(), grade)))
    }
}

impl<'de> Deserialize<'de> for PanelGrades {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let grades: BTreeMap<Metric, Option<f64>> = by_name(deserializer, Metric::is_graded)?;
        Ok(Self(grades.into_iter().filter_map(|(metric, grade)| Some((metric, grade?))).collect()))
    }
}

impl JsonSchema for PanelGrades {
    fn schema_name() -> Cow<'static, str> {
        "PanelGrades".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let property = |metric: Metric| {
            let schema =
                json!({ "description": metric.meaning(), "type": ["number", "null"], "format": "double" });
            (metric.name().to_owned(), schema)
        };
        let properties: Map<String, Value> = Metric::of_grades().map(property).collect();
        let description = "What a panel says of a trajectory, each in [0, 1].";
        json_schema!({ "description": description, "type": "object", "properties": properties })
    }
}

const EXPECTED: ExpectedFile =
    ExpectedFile { not_met: "holds no graded predictions", hint: "`m3 grade .. --graded FILE` writes them" };

/// Grades by the id of their trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct GradesByTrajectory {
    path: PathBuf,
    found: HashMap<String, (usize, PanelGrades)>,
}

impl GradesByTrajectory {
    /// Reads what `m3 grade --graded` wrote. Among trajectories with the same id the last counts, as in scores.
    ///
    /// # Errors
    /// [`UnusableFile`], for a file without any grade as well.
    pub fn read(path: &Path) -> Result<Self, UnusableFile> {
        let wrong =
            |message: String| UnusableFile::Content { path: path.to_owned(), expected: EXPECTED, message };
        let file = TrajectoryFile::open_all(path, &mut |_, _| ()).map_err(|error| match error {
            OpenError::Source(error) => UnusableFile::Source(error),
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
            if grades.0.values().any(|grade| !(0.0..=1.0).contains(grade)) {
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
    /// [`UnusableFile::OtherCalls`] if the graded prediction has another number of calls.
    pub fn get(&self, id: &str, calls: usize) -> Result<Option<PanelGrades>, UnusableFile> {
        match self.found.get(id) {
            None => Ok(None),
            Some((found, grades)) if *found == calls => Ok(Some(grades.clone())),
            Some((found, _)) => Err(UnusableFile::OtherCalls {
                path: self.path.clone(),
                id: id.to_owned(),
                found: counted(*found, "call"),
                calls,
                command: "m3 grade",
            }),
        }
    }
}

/// The grades of a trajectory by any rubric; `None` if it has no grades. Fails if a key of grades holds anything else.
fn panel_grades(trajectory: &Trajectory) -> Result<Option<PanelGrades>, ()> {
    let mut found = None;
    for grades in trajectory.grades() {
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
        let completion = Some(PanelGrades([(Metric::TaskCompletion, 0.5)].into()));
        let grades = r#", "grades": {"rubric": "m3-bench", "task_completion": 0.5}"#;
        assert_eq!(read(grades).unwrap(), completion);
        let others = r#", "grades": {"rubric": "mcp-eval", "mcp_eval": 1.0},
            "other_grades": [{"rubric": "mcp-bench"}, {"rubric": "m3-bench", "task_completion": 0.5}]"#;
        assert_eq!(read(others).unwrap(), completion);
        assert_eq!(read(r#", "grades": {"mcp_eval": 1.0}"#).unwrap(), Some(PanelGrades::default()));
        for wrong in ["", r#", "grades": 7"#, r#", "grades": {"task_completion": 5}"#] {
            assert!(matches!(read(wrong), Err(UnusableFile::Content { .. })), "{wrong}");
        }
    }
}
