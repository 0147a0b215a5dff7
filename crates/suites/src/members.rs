//! Reads members of trajectories and calls, and the grades of graders.

use std::borrow::Cow;

use m3_trajectory::json::{Json, parse};
use m3_trajectory::{Call, Trajectory};

use crate::suite::Trial;

/// The arguments of a call as an object; empty if they are missing or null, `None` if they are of another type. A text
/// that holds an object is that object, since models write arguments as texts.
pub(crate) fn arguments(call: &Call) -> Option<Cow<'_, [(String, Json)]>> {
    match &call.arguments {
        None | Some(Json::Null) => Some(Cow::Borrowed(&[])),
        Some(Json::Object(members)) => Some(Cow::Borrowed(members)),
        Some(Json::String(text)) => match parse(text.as_bytes()) {
            Ok((Json::Object(members), _)) => Some(Cow::Owned(members)),
            _ => None,
        },
        Some(_) => None,
    }
}

/// The value as a finite number; `None` for everything else, such as texts, booleans and integers beyond 64 bits.
pub(crate) fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Integer(number) => Some(*number as f64),
        Json::Float(number) => Some(*number).filter(|number| number.is_finite()),
        _ => None,
    }
}

/// The recorded cost of a prediction.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) input_tokens: Option<f64>,
    pub(crate) output_tokens: Option<f64>,
    pub(crate) seconds: Option<f64>,
}

impl Cost {
    pub(crate) fn from_prediction(prediction: &Trajectory) -> Self {
        let tokens = |key: &str| prediction.get("usage")?.get(key).and_then(amount);
        // `m3 run` writes the milliseconds below `run`.
        let of_run = || prediction.get("run")?.get("milliseconds");
        let milliseconds = prediction.get("milliseconds").or_else(of_run).and_then(amount);
        Self {
            input_tokens: tokens("input_tokens"),
            output_tokens: tokens("output_tokens"),
            seconds: milliseconds.map(|milliseconds| milliseconds / 1000.0),
        }
    }

    /// The cost of the whole run that an imported prediction belongs to.
    pub(crate) fn from_import(prediction: &Trajectory) -> Self {
        let total = |key: &str| prediction.get("import")?.get("run")?.get(key).and_then(amount);
        Self { input_tokens: None, output_tokens: total("output_tokens"), seconds: total("seconds") }
    }
}

/// The value as a number that is not negative.
fn amount(value: &Json) -> Option<f64> {
    number(value).filter(|number| *number >= 0.0)
}

/// The grades that `m3 grade` wrote for a prediction, by rubric: from `trial.graded` if it is there, or else from the
/// prediction itself.
pub(crate) fn grades<'a>(trial: &Trial<'a>) -> impl Iterator<Item = &'a Json> {
    let graded = trial.graded.or(trial.prediction);
    graded.into_iter().flat_map(Trajectory::grades)
}

/// The grade with this name by any rubric.
pub(crate) fn grade(trial: &Trial<'_>, name: &str) -> Option<f64> {
    grades(trial).find_map(|grades| grades.get(name).and_then(number))
}
