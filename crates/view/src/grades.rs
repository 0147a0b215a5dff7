//! The grades of a trajectory by panels of judges: the `grades` that `m3 grade --graded` writes into predictions. Anything
//! else in such members is ignored.

use std::collections::BTreeMap;

use m3_trajectory::Trajectory;
use m3_trajectory::json::Json;
use serde::Serialize;

use crate::text::cut;

/// The most rubrics, judges and measures.
const MOST: usize = 100;

/// The most characters of a name.
const NAME: usize = 200;

/// Grades by their names, such as `task_completion`.
pub(crate) type Measures = BTreeMap<String, f64>;

/// The grades of a trajectory by a rubric.
#[derive(Debug, Serialize)]
pub(crate) struct GradesDocument {
    rubric: String,
    /// Whether as many judges pass as fail.
    is_tied: bool,
    /// The grades of the panel, and then those of each judge.
    said: Vec<(String, Measures)>,
}

/// The grades of a trajectory by each rubric.
pub(crate) fn grades(trajectory: &Trajectory) -> Vec<GradesDocument> {
    let document = |grades: &Json| {
        let text = |key: &str, of: &Json| of.get(key).and_then(Json::as_str).map(|text| cut(text, NAME));
        let judges = match grades.get("by_judge") {
            Some(Json::Array(judges)) => judges.as_slice(),
            _ => &[],
        };
        let judges = judges.iter().take(MOST);
        let judges = judges.map(|judge| (text("judge", judge).unwrap_or_default(), numbers(judge)));
        GradesDocument {
            rubric: text("rubric", grades).unwrap_or_default(),
            is_tied: grades.get("is_tied") == Some(&Json::Bool(true)),
            said: std::iter::once(("panel".to_owned(), numbers(grades))).chain(judges).collect(),
        }
    };
    trajectory
        .grades()
        .take(MOST)
        .map(document)
        .filter(|grades| grades.said.iter().any(|(_, found)| !found.is_empty()))
        .collect()
}

/// The panel's grades of a trajectory by all rubrics; the first of several with the same name counts.
pub(crate) fn measures(trajectory: &Trajectory) -> Measures {
    let mut found = Measures::new();
    for (name, value) in trajectory.grades().take(MOST).flat_map(numbers) {
        found.entry(name).or_insert(value);
    }
    found
}

/// The grades among the members of an object.
fn numbers(of: &Json) -> Measures {
    let Json::Object(members) = of else { return Measures::new() };
    let number = |value: &Json| value.to_value()?.as_f64();
    let is_grade = |value: &f64| (0.0..=1.0).contains(value);
    members
        .iter()
        .filter_map(|(name, value)| Some((cut(name, NAME), number(value).filter(is_grade)?)))
        .take(MOST)
        .collect()
}
