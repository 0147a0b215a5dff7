//! Wrong arguments in the JSON of a score: those of a match, and the most frequent ones of the set.

use m3_score::fidelity::constants::CLOSE;
use m3_score::fidelity::{ArgumentComparison, CallFidelity};
use m3_score::{Findings, RejectedMatch, WrongArgument};
use schemars::JsonSchema;
use serde::Serialize;

use super::PlaceReport;

/// An argument of a match that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ArgumentReport {
    /// Where it is in the reference's arguments (in the prediction's, where it is extra), as a JSON pointer; empty for the
    /// arguments as a whole.
    pub argument: String,
    /// `different`, `missing` or `extra`.
    #[schemars(extend("enum" = ["different", "missing", "extra"]))]
    pub verdict: String,
    /// Why, in a few words.
    pub reason: String,
}

/// An argument that is wrong in matched pairs of calls of its tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WrongArgumentReport {
    /// The tool.
    pub tool: String,
    /// The argument, such as `location.lat` or `stops[].name`; empty for the arguments as a whole.
    pub argument: String,
    /// Matched pairs in which it is different, missing or extra.
    pub wrong: u64,
    /// Matched pairs of calls of the tool.
    pub pairs: u64,
    /// A trajectory in which it is wrong, the first.
    pub id: String,
    /// What is wrong there.
    pub reason: String,
    /// The reference's value there as JSON text, cut after 200 characters; null if it has none.
    pub reference_value: Option<String>,
    /// The prediction's value there, likewise.
    pub predicted_value: Option<String>,
}

/// Matched pairs whose arguments do not ask for the same: what a reader of similarities alone would miss.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct RejectedMatchesReport {
    /// How many there are.
    pub count: u64,
    /// The most similar of them, at most 1,000.
    pub matches: Vec<RejectedMatchReport>,
}

/// A matched pair whose arguments do not ask for the same.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RejectedMatchReport {
    /// The trajectory.
    pub id: String,
    /// Which repetition of its task; left out where tasks are not repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<usize>,
    /// The tool of both calls.
    pub tool: String,
    /// The reference call.
    pub reference: PlaceReport,
    /// The predicted call.
    pub predicted: PlaceReport,
    /// S, by which they were matched.
    pub similarity: f64,
    /// The fidelity, below 0.5.
    pub argument_fidelity: f64,
    /// The argument that does most harm, such as `location.lat`; empty for the arguments as a whole.
    pub argument: String,
    /// What is wrong with it.
    pub reason: String,
    /// The reference's value of it as JSON text, cut after 200 characters; null if it has none.
    pub reference_value: Option<String>,
    /// The prediction's value of it, likewise.
    pub predicted_value: Option<String>,
}

impl ArgumentReport {
    /// The wrong arguments of a match.
    #[must_use]
    pub fn of_wrong(fidelity: &CallFidelity) -> Vec<Self> {
        let wrong = fidelity.arguments.iter().filter(|argument| argument.score < CLOSE);
        wrong.map(Self::from).collect()
    }
}

impl From<&ArgumentComparison> for ArgumentReport {
    fn from(argument: &ArgumentComparison) -> Self {
        Self {
            argument: argument.path.clone(),
            verdict: argument.verdict.name().to_owned(),
            reason: argument.reason.to_string(),
        }
    }
}

impl From<WrongArgument> for WrongArgumentReport {
    fn from(found: WrongArgument) -> Self {
        let WrongArgument { tool, argument, wrong, pairs, id, reason, values } = found;
        let (reference_value, predicted_value) = (values.reference, values.predicted);
        Self { tool, argument, wrong, pairs, id, reason, reference_value, predicted_value }
    }
}

impl From<RejectedMatch> for RejectedMatchReport {
    fn from(found: RejectedMatch) -> Self {
        let RejectedMatch {
            id,
            repeat,
            tool,
            reference,
            predicted,
            similarity,
            fidelity,
            argument,
            reason,
            values,
        } = found;
        Self {
            id,
            repeat,
            tool,
            reference: reference.into(),
            predicted: predicted.into(),
            similarity,
            argument_fidelity: fidelity,
            argument,
            reason,
            reference_value: values.reference,
            predicted_value: values.predicted,
        }
    }
}

impl From<&Findings> for RejectedMatchesReport {
    fn from(findings: &Findings) -> Self {
        let (matches, count) = findings.rejected_matches();
        Self { count, matches: matches.into_iter().map(RejectedMatchReport::from).collect() }
    }
}
