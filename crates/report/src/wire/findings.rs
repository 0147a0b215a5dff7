//! Wrong arguments in the JSON of a score: those of a match, and the most frequent ones of the set.

use m3_score::RejectedMatch;
use m3_score::fidelity::constants::CLOSE;
use m3_score::fidelity::{ArgumentComparison, CallFidelity};
use schemars::JsonSchema;
use serde::Serialize;

/// An argument of a match that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ArgumentReport {
    /// The place in the reference's arguments (in the prediction's, for an extra argument), as a JSON pointer; empty
    /// for the arguments as a whole.
    pub argument: String,
    /// `different`, `missing` or `extra`.
    #[schemars(extend("enum" = ["different", "missing", "extra"]))]
    pub verdict: String,
    /// The reason for the verdict, in a few words.
    pub reason: String,
}

/// Matched pairs whose arguments do not ask for the same: what a reader of similarities alone would miss.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct RejectedMatchesReport {
    /// The number of these pairs.
    pub count: u64,
    /// The most similar of these pairs, at most 1,000.
    pub matches: Vec<RejectedMatch>,
}

impl ArgumentReport {
    /// The wrong arguments of a match.
    #[must_use]
    pub fn of_wrong(fidelity: &CallFidelity) -> Vec<Self> {
        let wrong = fidelity.arguments.iter().filter(|argument| argument.score < CLOSE);
        let report = |argument: &ArgumentComparison| Self {
            argument: argument.path.clone(),
            verdict: argument.verdict.name().to_owned(),
            reason: argument.reason.to_string(),
        };
        wrong.map(report).collect()
    }
}
