//! What recorded results show of tools, where they are evidence of what calls asked for.

use m3_score::results::survey::Survey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the recorded results in the scored files show about tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct ResultsReport {
    /// Tools that answer the same to the same arguments and inputs, wherever that is shown: another result is evidence against
    /// a call. At most 1,000.
    #[serde(default)]
    pub answer_same_to_same: Vec<String>,
    /// Tools that answered alike to every call: their results tell nothing. At most 1,000.
    #[serde(default)]
    pub always_answer_alike: Vec<String>,
    /// Tools that gave different answers to the same arguments and inputs: another result tells nothing. At most 1,000.
    #[serde(default)]
    pub vary: Vec<String>,
    /// Calls of both sides whose results were read.
    #[serde(default)]
    pub calls: u64,
}

/// The most names in a list.
const MOST: usize = 1_000;

impl ResultsReport {
    /// What a survey shows; `None` where no task has results on both sides.
    pub(super) fn of(survey: &Survey) -> Option<Self> {
        let mut report = Self::default();
        for (name, tool) in survey.tools() {
            report.calls += tool.calls;
            let lists = [
                (tool.answers_same_to_same(), &mut report.answer_same_to_same),
                (tool.always_answers_alike(), &mut report.always_answer_alike),
                (tool.varies(), &mut report.vary),
            ];
            for (_, list) in lists.into_iter().filter(|(is_so, list)| *is_so && list.len() < MOST) {
                list.push(name.to_owned());
            }
        }
        (report.calls > 0).then_some(report)
    }
}
