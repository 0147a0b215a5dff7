//! Calls in a score: which are matched, which are not.

use m3_score::CallPlace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ArgumentReport, RegionsReport};

/// A reference call and the predicted call that is matched with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct MatchReport {
    /// The tool of both.
    #[serde(default)]
    #[schemars(!default)]
    pub tool: String,
    /// The similarity by which both were matched, at least tau_weak: the cosine of their arguments' embeddings, or,
    /// with `typed`, the fidelity.
    pub similarity: f64,
    /// `strong` from tau_strong on, else `weak`.
    #[serde(default)]
    #[schemars(!default, extend("enum" = ["strong", "weak"]))]
    pub strength: String,
    /// The reference call.
    #[serde(default = "unknown_place")]
    #[schemars(!default)]
    pub reference: CallPlace,
    /// The predicted call.
    #[serde(skip_deserializing, default = "unknown_place")]
    #[schemars(!skip_deserializing, !default)]
    pub predicted: CallPlace,
    /// The predicted call that the arguments are compared with, if it is not `predicted`: the cosine hardly
    /// distinguishes both, or they differ in the files that they use.
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(!skip_deserializing)]
    pub compared_with: Option<CallPlace>,
    /// How far the arguments of both ask for the same, in [0, 1]; below 0.5 they do not.
    #[serde(default = "not_known")]
    #[schemars(!default)]
    pub argument_fidelity: f64,
    /// The arguments that are wrong; left out if none is.
    #[serde(default, skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    #[schemars(!skip_deserializing)]
    pub wrong_arguments: Vec<ArgumentReport>,
    /// How far the regions of pictures in their arguments overlap; left out where the reference's have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regions: Option<RegionsReport>,
}

/// A reference call that the alignment leaves unmatched, and the predicted call that asks for the same: they differ in names of
/// files that the trajectory chooses itself. No metric of the paper sees such pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct FurtherPairReport {
    /// The tool of both.
    #[serde(default)]
    #[schemars(!default)]
    pub tool: String,
    /// The reference call.
    #[serde(default = "unknown_place")]
    #[schemars(!default)]
    pub reference: CallPlace,
    /// The predicted call.
    #[serde(skip_deserializing, default = "unknown_place")]
    #[schemars(!skip_deserializing, !default)]
    pub predicted: CallPlace,
    /// How far the arguments of both ask for the same, in [0.5, 1].
    #[serde(default = "not_known")]
    #[schemars(!default)]
    pub argument_fidelity: f64,
    /// The arguments that are wrong; left out if none is.
    #[serde(default, skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    #[schemars(!skip_deserializing)]
    pub wrong_arguments: Vec<ArgumentReport>,
}

/// An unmatched reference call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct UnmatchedReferenceReport {
    /// The place of the call.
    #[serde(flatten)]
    pub place: CallPlace,
    /// The tool of the call.
    #[serde(default)]
    #[schemars(!default)]
    pub tool: String,
    /// `tool_not_in_prediction`, `below_threshold`, `assigned_elsewhere` or `too_large`.
    #[schemars(extend("enum" = ["tool_not_in_prediction", "below_threshold", "assigned_elsewhere", "too_large"]))]
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub reason: String,
    /// The most similar predicted call of the tool; left out if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<BestPrediction>,
}

/// An unmatched predicted call.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UnmatchedPredictionReport {
    /// The place of the call.
    #[serde(flatten)]
    pub place: CallPlace,
    /// The tool of the call.
    pub tool: String,
    /// `tool_not_in_reference`, `below_threshold`, `assigned_elsewhere` or `too_large`.
    #[schemars(extend("enum" = ["tool_not_in_reference", "below_threshold", "assigned_elsewhere", "too_large"]))]
    pub reason: String,
    /// The most similar reference call of the tool; left out if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<BestReference>,
}

/// The best candidate of a reference call.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct BestPrediction {
    /// Index of the predicted call in its trajectory.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub predicted: usize,
    /// The similarity of both calls.
    pub similarity: f64,
}

/// The best candidate of a predicted call.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct BestReference {
    /// Index of the reference call in its trajectory.
    pub reference: usize,
    /// The similarity of both calls.
    pub similarity: f64,
}

/// The value for a metric that a score of an earlier version does not contain.
pub(super) fn not_known() -> f64 {
    f64::NAN
}

impl MatchReport {
    pub(crate) const STRONG: &str = "strong";
    pub(crate) const WEAK: &str = "weak";
}

/// Stands for a place that a score does not give.
fn unknown_place() -> CallPlace {
    CallPlace { step: usize::MAX, call: usize::MAX, index: usize::MAX }
}

/// Whether a score gives this place.
pub(crate) fn is_known_place(place: &CallPlace) -> bool {
    place.step < usize::MAX
}
