//! The types of an audit, `m3.audit/1`: a score, and everything that is needed to see where its numbers come from.
//! `m3 schema audit` prints the JSON Schema of these types.

use schemars::JsonSchema;
use serde::Serialize;

use super::flow_model::FlowAudit;
use crate::{ScoreSummary, TrajectoryReport};

/// The version of this format.
pub const AUDIT_SCHEMA: &str = "m3.audit/1";

/// What `m3 audit --format json` writes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "m3.audit/1")]
pub struct AuditReport {
    /// Always `m3.audit/1`.
    pub schema: String,
    /// The score of the whole set.
    pub score: ScoreSummary,
    /// Statistics of the whole set.
    pub overview: Overview,
    /// The chosen trajectories, those that cost most first.
    pub trajectories: Vec<TrajectoryAudit>,
}

/// Statistics of the whole set, whichever trajectories were chosen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Overview {
    /// The number of reference calls by their similarity to their partner or, if unmatched, to their best candidate;
    /// 20 bins from 0 to 1. Calls without any candidate are in no bin.
    pub similarities: Vec<SimilarityBin>,
    /// Why calls are unmatched, the most common first.
    pub reasons: Vec<ReasonCount>,
    /// Which tools were called where the reference has others, the most common first.
    pub confused_tools: Vec<ConfusedTools>,
}

/// A bin of the histogram of similarities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct SimilarityBin {
    /// The lower end. A bin ends where the next begins; the last ends at 1 and includes it.
    pub from: f64,
    /// Reference calls that are matched.
    pub matched: u64,
    /// Reference calls that are unmatched.
    pub unmatched: u64,
}

/// How often calls of one side are unmatched for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReasonCount {
    /// `reference` or `prediction`.
    pub side: String,
    /// `tool_not_in_reference`, `tool_not_in_prediction`, `below_threshold`, `assigned_elsewhere` or `too_large`.
    pub reason: String,
    /// The number of calls.
    pub calls: u64,
}

/// A tool of the reference and the tool that was called in its place: in each trajectory, the calls of tools
/// that the other side does not use are paired in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfusedTools {
    /// The tool of the reference.
    pub reference: String,
    /// The tool of the prediction.
    pub predicted: String,
    /// The number of calls.
    pub calls: u64,
}

/// One trajectory, with both sides and everything between them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrajectoryAudit {
    /// The trajectory's score: id, type, metrics, matches, unmatched calls.
    #[serde(flatten)]
    pub score: TrajectoryReport,
    /// The cost to the set's average, in [-1, 1]: the average of the others less that of all; 0 if there is no other.
    pub cost: f64,
    /// The question of the task.
    pub question: Option<String>,
    /// Path of the reference's image, as its file has it.
    pub image: Option<String>,
    /// The reference.
    pub reference: SideAudit,
    /// The prediction; without steps if it is missing.
    pub prediction: SideAudit,
    /// How the arguments of each match compare, in the order of `matches`, then of each of `further_pairs`.
    pub arguments: Vec<MatchArguments>,
    /// The flow of both trajectories: which call makes what another one reads, what calls returned, what is left
    /// behind. Left out if it is empty.
    #[serde(default, skip_serializing_if = "FlowAudit::is_empty")]
    pub flow: FlowAudit,
    /// How the steps compare.
    pub structure: Structure,
    /// The similarities of the calls of each tool that both sides use.
    pub buckets: Vec<BucketAudit>,
}

/// One side of an audit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SideAudit {
    /// The steps in order.
    pub steps: Vec<StepAudit>,
    /// The final reply of the trajectory.
    pub final_reply: Option<String>,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StepAudit {
    /// Its calls.
    pub calls: Vec<CallAudit>,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CallAudit {
    /// The tool as `server/tool`.
    pub tool: String,
    /// The arguments as JSON text; null where the file has none.
    pub arguments: Option<String>,
}

/// How the arguments of a reference call and of its partner compare: the comparison behind the match's
/// `argument_fidelity`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct MatchArguments {
    /// The number of arguments, or values within them, by verdict.
    pub verdicts: VerdictCounts,
    /// Each argument that is equal, and each value within an argument that is not. The first 100; where there are more,
    /// those that are not equal go first.
    pub arguments: Vec<ArgumentAudit>,
    /// The number of arguments that are left out.
    pub more: u64,
}

/// The number of arguments by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is the verdict of its name")]
pub struct VerdictCounts {
    pub equal: u64,
    pub equivalent: u64,
    pub close: u64,
    pub different: u64,
    pub missing: u64,
    pub extra: u64,
}

/// An argument of both calls, or a value within one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ArgumentAudit {
    /// The place in the reference's arguments (in the prediction's, for an extra argument), such as `location.lat` or
    /// `box[2]`; empty for the arguments as a whole. Keys are cut after 1,000 characters.
    pub argument: String,
    /// The place in the prediction's arguments; left out where it is the same. Items of sets are paired wherever they
    /// are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted_argument: Option<String>,
    /// The kind of the comparison: `number`, `coordinate`, `moment`, `text` and others.
    pub kind: String,
    /// `equal`, `equivalent` (the same in another writing), `close`, `different`, `missing` or `extra`.
    #[schemars(extend("enum" = ["equal", "equivalent", "close", "different", "missing", "extra"]))]
    pub verdict: String,
    /// The reason for the verdict, in a few words.
    pub reason: String,
    /// How far both values mean the same, in [0, 1]; below 0.5 the argument is wrong.
    pub score: f64,
    /// The reference's value as JSON text; null where only the prediction has it. For a value inside a text, such as a
    /// list with commas, the whole text, cut after 2,000 characters; the same holds for the prediction.
    pub reference: Option<String>,
    /// The prediction's value as JSON text; null where it is missing.
    pub predicted: Option<String>,
}

/// How the steps compare. All numbers count from 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Structure {
    /// W of M³-Bench, equation 4: the summed similarity of the matches between each reference step and each
    /// predicted step. Pairs of steps without a match are left out.
    pub weights: Vec<StepWeight>,
    /// Reference steps whose calls were made in several steps: they lower step coherence.
    pub split: Vec<SplitStep>,
    /// Predicted steps that hold calls of several reference steps: they lower merge purity.
    pub merged: Vec<MergedStep>,
    /// Pairs of matches in opposite orders: they lower order consistency. The first 100.
    pub inverted: Vec<InvertedPair>,
    /// The number of pairs of matches in opposite orders.
    pub inversions: u64,
}

/// An entry of W.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct StepWeight {
    /// The reference step.
    pub reference: usize,
    /// The predicted step.
    pub predicted: usize,
    /// The sum of the similarities.
    pub weight: f64,
}

/// A reference step whose matched calls were made in several predicted steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SplitStep {
    /// The reference step.
    pub reference: usize,
    /// The predicted steps, rising.
    pub predicted: Vec<usize>,
}

/// A predicted step that holds matched calls of several reference steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MergedStep {
    /// The predicted step.
    pub predicted: usize,
    /// The reference steps, rising.
    pub reference: Vec<usize>,
}

/// Two matches, as indices into `matches`: the first belongs to the earlier reference step and to the later
/// predicted step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InvertedPair {
    /// The match of the earlier reference step.
    pub first: usize,
    /// The match of the later reference step.
    pub second: usize,
}

/// The similarities of the calls of one tool.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BucketAudit {
    /// The tool.
    pub tool: String,
    /// Reference calls, the rows: indices into the trajectory, rising.
    pub references: Vec<usize>,
    /// Predicted calls, the columns: indices into the trajectory, rising.
    pub predictions: Vec<usize>,
    /// S of each row and column, in [-1, 1]. The first 64 of each.
    pub similarity: Vec<Vec<f64>>,
    /// How many reference calls of this tool there are in all.
    pub reference_calls: usize,
    /// How many predicted calls of this tool there are in all.
    pub predicted_calls: usize,
}
