//! The six dimensions of a judge (section 5.2, appendices A.6 and A.9).

use m3_trajectory::json::Json;

use crate::members::{grade, grades, number};
use crate::suite::Trial;

/// A dimension: its name here and in judges' replies, and the name of its grade by `m3 grade --rubric mcp-bench`, which
/// is a tenth of it.
const DIMENSIONS: [(&str, &str); 6] = [
    ("task_fulfillment", "mcp_bench_task_fulfillment"),
    ("grounding", "mcp_bench_information_grounding"),
    ("tool_appropriateness", "mcp_bench_tool_appropriateness"),
    ("parameter_accuracy", "mcp_bench_parameter_accuracy"),
    ("dependency_awareness", "mcp_bench_dependency_awareness"),
    ("parallelism_and_efficiency", "mcp_bench_parallelism_and_efficiency"),
];

/// The six dimensions of a task, each from 0 to 10.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Dimensions(pub(super) [f64; 6]);

impl Dimensions {
    /// The names, in their order.
    pub(super) const NAMES: [&str; 6] = [
        DIMENSIONS[0].0,
        DIMENSIONS[1].0,
        DIMENSIONS[2].0,
        DIMENSIONS[3].0,
        DIMENSIONS[4].0,
        DIMENSIONS[5].0,
    ];

    /// The grades of a prediction: the mean of the member `judge_replies`, else the grades of `m3 grade`; `None` if no
    /// reply of a judge is an object, or if `m3 grade` gave no grade for one of the dimensions.
    pub(super) fn from_trial(trial: &Trial<'_>) -> Option<Self> {
        let prediction = trial.graded.or(trial.prediction)?;
        if let Some(replies) = prediction.get("judge_replies") {
            return Self::mean(replies.items());
        }
        let grades = DIMENSIONS.map(|(_, name)| grade(trial, name));
        let is_graded = grades.iter().all(Option::is_some);
        is_graded.then(|| Self(grades.map(|grade| 10.0 * grade.unwrap_or_default())))
    }

    /// The mean over replies, as `_calculate_average_scores` of `benchmark/evaluator.py` computes it: only numbers
    /// count, unclipped, and a dimension without a number is 0. A reply that is not an object, at which the program
    /// breaks off, is left out.
    pub(super) fn mean(replies: &[Json]) -> Option<Self> {
        let objects: Vec<&Json> = replies.iter().filter(|reply| matches!(reply, Json::Object(_))).collect();
        if objects.is_empty() {
            return None;
        }
        Some(Self(DIMENSIONS.map(|(name, _)| {
            let numbers: Vec<f64> =
                objects.iter().filter_map(|reply| reply.get(name).and_then(score)).collect();
            mean(&numbers).unwrap_or_default()
        })))
    }

    /// The mean of the two dimensions of an axis: 0 is completion, 1 usage, 2 planning.
    pub(super) fn axis(&self, axis: usize) -> f64 {
        let of = |at: usize| self.0.get(at).copied().unwrap_or_default();
        f64::midpoint(of(2 * axis), of(2 * axis + 1))
    }
}

/// A judge's number; the program counts true and false as 1 and 0.
fn score(value: &Json) -> Option<f64> {
    match value {
        Json::Bool(flag) => Some(f64::from(u8::from(*flag))),
        other => number(other),
    }
}

/// The coefficient of variation of completion among judges or replies, in percent: the standard deviation (divisor k)
/// divided by the mean. `None` with fewer than two, or a mean of 0.
pub(super) fn variation(trial: &Trial<'_>) -> Option<f64> {
    let prediction = trial.graded.or(trial.prediction)?;
    let completion = |judged: &Json, names: [&str; 2]| -> Option<f64> {
        let [first, second] = names.map(|name| judged.get(name).and_then(score));
        Some(f64::midpoint(first?, second?))
    };
    let of_replies = |name: &str| -> Vec<f64> {
        let replies = prediction.get(name).map(Json::items).unwrap_or_default();
        replies.iter().filter_map(|reply| completion(reply, [DIMENSIONS[0].0, DIMENSIONS[1].0])).collect()
    };
    let judges = grades(trial).flat_map(|grades| grades.get("by_judge").map(Json::items).unwrap_or_default());
    let judges: Vec<f64> =
        judges.filter_map(|judge| completion(judge, [DIMENSIONS[0].1, DIMENSIONS[1].1])).collect();
    let scores = if judges.len() > 1 { judges } else { of_replies("judge_replies") };
    let mean = mean(&scores).filter(|mean| *mean > 0.0 && scores.len() > 1)?;
    let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
    Some(100.0 * (squares / scores.len() as f64).sqrt() / mean)
}

/// The mean; `None` without values.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
