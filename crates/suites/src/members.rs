//! Further members of trajectories, and what graders say of them.

use m3_trajectory::Trajectory;
use m3_trajectory::json::Json;

use crate::suite::Trial;

/// A member of a trajectory that m3 has no field for.
pub(crate) fn member<'t>(trajectory: &'t Trajectory, key: &str) -> Option<&'t Json> {
    trajectory.extra.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// A number; true and false are none.
pub(crate) fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Integer(number) => Some(*number as f64),
        Json::Float(number) => Some(*number).filter(|number| number.is_finite()),
        _ => None,
    }
}

/// The items of a list; none of anything else.
pub(crate) fn items(value: &Json) -> &[Json] {
    match value {
        Json::Array(items) => items,
        _ => &[],
    }
}

/// What `m3 grade` wrote of a prediction, by each rubric: of the graded file where there is one.
pub(crate) fn grades<'a>(trial: &Trial<'a>) -> impl Iterator<Item = &'a Json> {
    let graded = trial.graded.or(trial.prediction);
    let own = graded.and_then(|found| member(found, "grades"));
    let others = graded.and_then(|found| member(found, "other_grades")).map(items).unwrap_or_default();
    own.into_iter().chain(others)
}

/// The grade with this name by any rubric.
pub(crate) fn grade(trial: &Trial<'_>, name: &str) -> Option<f64> {
    grades(trial).find_map(|grades| grades.get(name).and_then(number))
}
