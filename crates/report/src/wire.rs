//! The JSON of a score, `m3.score/1`: the types for writing and reading, separate from those that the scorer computes
//! with. `m3 schema score` prints their JSON Schema.

mod asked;
mod by_tool;
mod calls;
mod conditions;
mod findings;
mod from_scores;
mod hashes;
mod jobs;
mod ledger;
mod regions;
mod repeats;
mod results;
mod signature;
mod suites;
mod verdicts;

use std::collections::BTreeMap;

use m3_score::{Similarity, WrongArgument};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

pub use asked::{AskedReport, Band};
pub use by_tool::{CostReport, CostToolReport, ReplacementReport, ToolReport};
pub(super) use calls::is_known_place;
pub use calls::{
    BestPrediction, BestReference, FurtherPairReport, MatchReport, UnmatchedPredictionReport,
    UnmatchedReferenceReport,
};
pub use conditions::{EncoderReport, FidelityModelReport, ThresholdsReport};
pub use findings::{ArgumentReport, RejectedMatchesReport};
pub(super) use hashes::start;
pub use jobs::{JobReason, JobReport, JobsReport};
pub use ledger::{CoverageReport, LedgerReport};
pub use regions::{RegionReport, RegionsReport};
pub use repeats::{PassRateReport, RepeatsReport, RepetitionReport, SpreadReport, TaskTrialsReport};
pub use results::ResultsReport;
pub(super) use signature::signature;
pub use signature::{InputReport, InputsReport};
pub use suites::{
    Named, OWN_SUITE, SuiteGroupReport, SuiteMetricReport, SuiteReport, SuiteTrial, SuiteValue, SuiteValues,
};
pub use verdicts::{ArgumentRuleReport, MatchOptionsReport, MatchedReport, VerdictReport};

use super::metrics::MetricsReport;
use super::{PanelGrades, Places, TaskOutcomes, ToolNamesReport};

/// The version of this format.
pub const SCORE_SCHEMA: &str = "m3.score/1";

/// What `m3 score --format json` writes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "m3.score/1")]
pub struct ScoreReport {
    /// Everything but the trajectories.
    #[serde(flatten)]
    pub summary: ScoreSummary,
    /// Every scored trajectory, in the order of the references.
    pub trajectories: Vec<TrajectoryReport>,
}

/// The head of a score; with JSON Lines, the last line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct ScoreSummary {
    /// Always `m3.score/1`.
    pub schema: String,
    /// The version of m3 that made it.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub version: String,
    /// One line that says all that decides the numbers, `m3|v:..|profile:..|sim:..|enc:..|tau:..|refs:..|preds:..`;
    /// hashes by their first eight digits; `fid:..` is the model of fidelity if it is not the built-in one, `ask:..` what a
    /// language model was asked and said.
    #[serde(default)]
    #[schemars(!default)]
    pub signature: String,
    /// The files that were read.
    #[serde(default)]
    #[schemars(!default)]
    pub inputs: InputsReport,
    /// The definitions that were used: `paper` or `open-m3-bench`.
    #[serde(default)]
    #[schemars(!default, extend("enum" = ["paper", "open-m3-bench"]))]
    pub profile: String,
    /// The encoder that the similarities come from.
    #[serde(default)]
    #[schemars(!default)]
    pub encoder: EncoderReport,
    /// The model that argument fidelity comes from. Scores of earlier versions do not name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub fidelity_model: Option<FidelityModelReport>,
    /// What a language model was asked about matched pairs whose fidelity is uncertain, with `--llm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedReport>,
    /// The similarity by which calls are aligned: `cosine` or `typed`.
    #[serde(default = "cosine")]
    #[schemars(!default, extend("enum" = ["cosine", "typed"]))]
    pub similarity: String,
    /// Whether fidelity compares names of files by which call made them: `on` or `off`; left out in scores of versions that
    /// did not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("enum" = ["on", "off"]))]
    pub flow: String,
    /// What recorded results show of tools, where both sides have results and these are evidence; left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<ResultsReport>,
    /// tau_weak and tau_strong.
    #[serde(default = "ThresholdsReport::unknown")]
    #[schemars(!default)]
    pub thresholds: ThresholdsReport,
    /// How the names of the predictions' tools were read.
    #[serde(default)]
    #[schemars(!default)]
    pub tool_names: ToolNamesReport,
    /// How trajectories are also matched as a whole, with `--match`; `aggregate` says how many pass.
    #[serde(rename = "match", skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(!skip_deserializing)]
    pub match_options: Option<MatchOptionsReport>,
    /// How far predictions and references are of the same tasks.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub coverage: CoverageReport,
    /// Whether every prediction says that its model was shown no image (`m3 run --no-images`); left out otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_images: bool,
    /// What was counted and what was not.
    #[serde(default)]
    #[schemars(!default)]
    pub ledger: LedgerReport,
    /// All trajectories together.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub aggregate: AggregateReport,
    /// Trajectories of each type; those without a type are only in the aggregate.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub by_type: BTreeMap<String, AggregateReport>,
    /// Why calls are lost, what costs most first.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub costs: Vec<CostReport>,
    /// The calls of each tool, tools that lose the most calls first; at most 10,000.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub by_tool: Vec<ToolReport>,
    /// The arguments that are wrong in matched pairs, those that are wrong most often first; at most 10,000.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub wrong_arguments: Vec<WrongArgument>,
    /// Matched pairs whose arguments do not ask for the same.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub rejected_matches: RejectedMatchesReport,
    /// Repetitions of the same tasks, with `--repeat`, `--pass` or a run's folder; all other numbers are of all
    /// repetitions together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<RepeatsReport>,
    /// The values of the same trajectories by the rules of other benchmarks, by the suites' names, with `--suite`.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub suites: Named<SuiteReport>,
    /// The trajectories of a document: read with its head, but written one by one.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub trajectories: Vec<TrajectoryReport>,
}

/// Counts and metrics of a set of trajectories. Metrics are in [0, 1].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct AggregateReport {
    /// The number of trajectories.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub trajectories: u64,
    /// Calls of the references.
    #[serde(deserialize_with = "count_of_calls")]
    #[schemars(with = "u64")]
    pub reference_calls: u64,
    /// Calls of the predictions.
    #[serde(deserialize_with = "count_of_calls")]
    #[schemars(with = "u64")]
    pub predicted_calls: u64,
    /// Matched pairs.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub matched: u64,
    /// The metrics.
    #[serde(flatten)]
    pub metrics: MetricsReport,
    /// Predicted steps per trajectory.
    pub average_steps: f64,
    /// Predicted calls per trajectory.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub average_calls: f64,
    /// How many trajectories did their job, by their verdicts; left out of the metrics of a trajectory.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(!skip_deserializing)]
    pub jobs: Option<JobsReport>,
    /// How many trajectories pass, with `--match`; left out of the metrics of a trajectory.
    #[serde(rename = "match", skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(!skip_deserializing)]
    pub matched_whole: Option<MatchedReport>,
}

/// One trajectory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct TrajectoryReport {
    /// The task's id.
    pub id: String,
    /// Which repetition of the task, from 1; left out where tasks are not repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<usize>,
    /// The task's type; null if it has none.
    #[serde(rename = "type")]
    pub task_type: Option<String>,
    /// The class of failure, as in the ledger's `failures`; left out if no failure is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [
        "provider", "server_lost", "time", "limit", "context", "other", "missing", "too_large"
    ]))]
    pub failure: Option<String>,
    /// Whether the trajectory passes, with `--match`.
    #[serde(rename = "match", skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(!skip_deserializing)]
    pub verdict: Option<VerdictReport>,
    /// Whether the trajectory did its job, by the calls that change something and by what is left behind. Null where
    /// the reference has no call, and in the profile `open-m3-bench`.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub job: Option<JobReport>,
    /// The metrics of a set with only this trajectory in it.
    pub metrics: AggregateReport,
    /// Matched pairs, by reference call.
    pub matches: Vec<MatchReport>,
    /// Unmatched reference calls that are compared with a predicted call nevertheless; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_pairs: Vec<FurtherPairReport>,
    /// Reference calls without a partner.
    pub unmatched_references: Vec<UnmatchedReferenceReport>,
    /// Predicted calls without a partner.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub unmatched_predictions: Vec<UnmatchedPredictionReport>,
    /// The outcomes of the calls, with `m3 score --outcomes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<TaskOutcomes>,
    /// The grades by a panel, with `m3 score --grades`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grades: Option<PanelGrades>,
    /// The values by suites, under the names of the suites, with `--suite`.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub suites: Named<SuiteTrial>,
    /// The tokens of the trajectory: read by leaderboards if another program has added them, never written.
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub usage: Option<UsageReport>,
    /// The places of the trajectory in files, for formats that point there; never part of the JSON.
    #[serde(skip)]
    #[schemars(skip)]
    pub places: Places,
}

/// The tokens of a trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(expecting = "an object")]
pub struct UsageReport {
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
}

/// Reads a count of calls. No trajectory has more calls than 32 bits can count, so a larger number is refused.
fn count_of_calls<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    u32::deserialize(deserializer).map(u64::from)
}

/// The similarity by which calls were aligned before there was a choice.
fn cosine() -> String {
    Similarity::Cosine.name().to_owned()
}
