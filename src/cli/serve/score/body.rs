//! Requests and answers of the reward service.

use m3_report::AggregateReport;
use m3_trajectory::Problem;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::cli::library::pairs::{self, PairError, PairScorer, ScoredPair};

/// A request of a trainer: the pairs to score.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Batch {
    pub(super) pairs: Vec<Pair>,
    /// Whether each result is a whole report, with the calls that are matched.
    #[serde(default)]
    detail: bool,
}

/// A prediction, null for a missing one, and its reference: trajectories in m3's form, or message lists.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pair {
    prediction: Option<Box<RawValue>>,
    reference: Box<RawValue>,
}

/// The answer, a result for each pair in their order.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    results: Vec<Box<RawValue>>,
    #[serde(skip)]
    pub(super) refused: usize,
}

/// A scored pair without its calls.
#[derive(Debug, Serialize)]
struct Brief<'p> {
    id: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'static str>,
    metrics: Option<&'p AggregateReport>,
}

/// A pair that cannot be read.
#[derive(Debug, Serialize)]
struct RefusedPair {
    error: String,
    problems: Vec<Place>,
}

/// A problem and its place.
#[derive(Debug, Serialize)]
struct Place {
    of: String,
    pointer: String,
    message: String,
}

impl From<Problem> for Place {
    fn from(problem: Problem) -> Self {
        Self { of: problem.place.file, pointer: problem.place.pointer, message: problem.message }
    }
}

impl Batch {
    /// Scores the pairs. A pair that cannot be read does not stop the others.
    pub(super) fn score(self, scorer: &PairScorer) -> Result<Answer, PairError> {
        let outcomes = scorer.score_read(self.pairs.iter().map(|pair| pair.read(scorer)))?;
        let refused = outcomes.iter().filter(|outcome| outcome.is_err()).count();
        let results = outcomes.into_iter().map(|outcome| match outcome {
            Ok(pair) => pair_to_json(&pair, self.detail),
            Err(error) => {
                let problems = error.problems.into_iter().map(Place::from).collect();
                raw(&RefusedPair { error: error.message, problems })
            }
        });
        Ok(Answer { results: results.collect(), refused })
    }
}

impl Pair {
    fn read(&self, scorer: &PairScorer) -> Result<pairs::Pair, PairError> {
        let read = |name: &str, value: &RawValue| scorer.read(name, value.get().as_bytes());
        let prediction = self.prediction.as_deref().map(|value| read("prediction", value)).transpose()?;
        Ok((prediction, read("reference", &self.reference)?))
    }
}

fn pair_to_json(pair: &ScoredPair, has_detail: bool) -> Box<RawValue> {
    if has_detail {
        let text = pair.to_json().unwrap_or_default();
        return RawValue::from_string(text).unwrap_or_default();
    }
    let report = pair.report.as_ref();
    raw(&Brief {
        id: report.map(|report| report.id.as_str()),
        failure: pair.failure.map(m3_trajectory::FailureClass::name),
        metrics: report.map(|report| &report.metrics),
    })
}

fn raw(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_default()
}
