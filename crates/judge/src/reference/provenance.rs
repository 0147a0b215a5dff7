//! The provenance that is written with a reference: its run, and why each call of the run is in it or not.

use m3_llm::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::reply::Opinion;
use crate::CallPlace;
use crate::reconstruct::RemovalReason;
use m3_flow::Dependency;
use m3_trajectory::Member;

/// The schema of a reference.
pub const REFERENCE_SCHEMA: &str = "m3.reference/1";

/// Where a reference comes from. Places count steps and calls from 0 and are those of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// `m3.reference/1`.
    pub schema: String,
    /// The version of m3.
    pub m3: String,
    /// What came of the task.
    pub status: Status,
    /// Who decided.
    pub mode: JudgeMode,
    /// The judge as asked for; nothing with rules alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Hashes of what the judge was told; nothing with rules alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PromptHashes>,
    /// Which of `runs` it was made of, from 0; nothing if none was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<usize>,
    /// All runs of the task that there were, in the order of the files.
    pub runs: Vec<JudgedRun>,
    /// Where other accepted runs differ from the chosen one.
    pub disagreements: Vec<Disagreement>,
    /// The hash of everything in the file that it was written into, but for this key: whoever would replace the file
    /// knows by it whether anybody has changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
}

impl Member for Provenance {
    const KEY: &'static str = "judge";
}

/// Who decided on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JudgeMode {
    /// A language model, whose proposals rules have checked.
    Model,
    /// Rules alone.
    Rules,
}

/// SHA-256 in hexadecimal of the prompts, before they are filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptHashes {
    /// Of the verdict.
    pub verdict: String,
    /// Of the proposal.
    pub proposal: String,
}

/// What came of a run, or of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It gives a reference.
    Accepted,
    /// It does not.
    Rejected,
    /// Nobody could tell.
    Undecided,
}

/// A run and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedRun {
    /// The file that it is in.
    pub file: String,
    /// Which trajectory of the file, from 0.
    pub index: usize,
    /// The model that made it, where that is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Which repetition it is, from 1, where that is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u64>,
    /// `sha256:` and the hash of its JSON with sorted keys.
    pub content: String,
    /// The hash of the image's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Its steps.
    pub steps: usize,
    /// Its calls.
    pub calls: usize,
    /// What came of it.
    pub status: Status,
    /// Why it gives no reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// What the judge thinks of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Opinion>,
    /// What was wrong with replies of the judge, in order; it was asked again, or not any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// What became of its calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconstruction: Option<Rebuilt>,
    /// What came of replaying it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// The models that the provider says have answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answered_by: Vec<String>,
    /// Tokens of all questions about it.
    pub usage: Usage,
}

/// Why a run gives no reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    /// The kind of reason.
    pub kind: RefusalKind,
    /// In words.
    pub reason: String,
}

/// Kinds of reasons why a run gives no reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// None of its calls is recorded to have succeeded.
    NoSuccessfulCall,
    /// It is recorded to have ended without an answer (rules alone).
    NotAnswered,
    /// The judge says that it failed.
    VerdictFail,
    /// The judge says that no trajectory is contained in it.
    NoProposal,
    /// What the judge proposed breaks a rule, twice.
    BreaksRules,
    /// The rules leave no call.
    NothingLeft,
    /// A call did not succeed when it was made again.
    VerificationFailed,
    /// The judge's verdict could not be read, twice.
    UnreadableVerdict,
    /// The judge's proposal could not be read, twice.
    UnreadableProposal,
    /// Its image cannot be shown to the judge.
    ImageUnusable,
    /// The judge gave no reply.
    NoReply,
    /// It could not be replayed.
    NotVerified,
}

impl RefusalKind {
    /// All of them, in the order in which they are reported.
    pub const ALL: [Self; 12] = [
        Self::NoSuccessfulCall,
        Self::NotAnswered,
        Self::VerdictFail,
        Self::NoProposal,
        Self::BreaksRules,
        Self::NothingLeft,
        Self::VerificationFailed,
        Self::UnreadableVerdict,
        Self::UnreadableProposal,
        Self::ImageUnusable,
        Self::NoReply,
        Self::NotVerified,
    ];

    /// The status that this reason gives a run.
    #[must_use]
    pub fn status(self) -> Status {
        match self {
            Self::UnreadableVerdict
            | Self::UnreadableProposal
            | Self::ImageUnusable
            | Self::NoReply
            | Self::NotVerified => Status::Undecided,
            _ => Status::Rejected,
        }
    }

    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoSuccessfulCall => "no_successful_call",
            Self::NotAnswered => "not_answered",
            Self::VerdictFail => "verdict_fail",
            Self::NoProposal => "no_proposal",
            Self::BreaksRules => "breaks_rules",
            Self::NothingLeft => "nothing_left",
            Self::VerificationFailed => "verification_failed",
            Self::UnreadableVerdict => "unreadable_verdict",
            Self::UnreadableProposal => "unreadable_proposal",
            Self::ImageUnusable => "image_unusable",
            Self::NoReply => "no_reply",
            Self::NotVerified => "not_verified",
        }
    }
}

/// What became of the calls of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rebuilt {
    /// The steps of the reference, each call by its place in the run.
    pub steps: Vec<Vec<CallPlace>>,
    /// Calls that were left out.
    pub removed: Vec<RemovedCall>,
    /// Calls that were moved into an earlier step.
    pub merged: Vec<MergedCall>,
    /// What the calls that are left use of one another.
    pub dependencies: Vec<Dependency>,
}

/// A call that was left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemovedCall {
    /// Its place.
    pub place: CallPlace,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// Why.
    pub reason: RemovalReason,
    /// What shows it.
    pub evidence: String,
}

/// A call that was moved into an earlier step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergedCall {
    /// Its place.
    pub place: CallPlace,
    /// The tool.
    pub tool: String,
    /// Its step now, from 0.
    pub step: usize,
    /// Why that is allowed.
    pub evidence: String,
}

/// What came of replaying a reference against servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// How it ended.
    pub result: VerificationResult,
    /// The hash of the configuration of the servers.
    pub servers: String,
    /// The calls that were made.
    pub calls: usize,
    /// Those that did not succeed. Places are those of the reference.
    pub failures: Vec<FailedCall>,
    /// Servers that were not available, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<String>,
}

/// How a replay ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerificationResult {
    /// Every call succeeded.
    Passed,
    /// A call failed.
    Failed,
    /// A call could not be judged: its server was not available, or did not answer.
    NotPossible,
}

/// A call that did not succeed in a replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedCall {
    /// Its place in the reference.
    pub place: CallPlace,
    /// The tool.
    pub tool: String,
    /// What became of it: an outcome of `m3 outcomes`, or why there is none.
    pub outcome: String,
    /// What shows it.
    pub evidence: String,
}

/// Where an accepted run differs from the chosen one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disagreement {
    /// The other run, as its place in `runs`.
    pub run: usize,
    /// In what.
    pub kind: DisagreementKind,
    /// In words.
    pub detail: String,
}

/// In what two references of one task differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DisagreementKind {
    /// One calls tools that the other does not, or more often.
    Tools,
    /// The same tools with different arguments.
    Arguments,
    /// The same calls in other steps.
    Steps,
}
