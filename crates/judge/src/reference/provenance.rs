//! The provenance that is written with a reference: its run, and why each call of the run is in it or not.

use m3_llm::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reply::Opinion;
use crate::CallPlace;
use crate::reconstruct::Reconstruction;
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
    /// The status of the task.
    pub status: Status,
    /// Who decided.
    pub mode: JudgeMode,
    /// The judge model as requested; absent with rules alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Hashes of the judge's prompts; absent with rules alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PromptHashes>,
    /// The index in `runs` of the run that gave the reference, from 0; absent if no run was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<usize>,
    /// All runs of the task, in the order of the files.
    pub runs: Vec<JudgedRun>,
    /// Where other accepted runs differ from the chosen one.
    pub disagreements: Vec<Disagreement>,
    /// The hash of all trajectories of the written file, without this key. It shows whether anybody has changed the
    /// file.
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
    /// A language model; rules check its proposals.
    Model,
    /// Rules alone.
    Rules,
}

/// SHA-256 in hexadecimal of the prompts, before they are filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptHashes {
    /// The hash of the prompt for a verdict.
    pub verdict: String,
    /// The hash of the prompt for a proposal.
    pub proposal: String,
}

/// The status of a run, or of a task.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The run or task gives a reference.
    Accepted,
    /// The run or task gives no reference.
    Rejected,
    /// No decision was possible.
    #[default]
    Undecided,
}

/// A run and the decision on it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedRun {
    /// The file that holds the run.
    pub file: String,
    /// The index of the run in the file, from 0.
    pub index: usize,
    /// The model that made the run, where that is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The number of the repetition, from 1, where that is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u64>,
    /// `sha256:` and the hash of the run's JSON with sorted keys.
    pub content: String,
    /// The hash of the image's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The number of steps of the run.
    pub steps: usize,
    /// The number of calls of the run.
    pub calls: usize,
    /// The status of the run.
    pub status: Status,
    /// Why the run gives no reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// The judge's verdict on the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Opinion>,
    /// Problems of the judge's replies, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// The calls of the run after reconstruction: kept, removed, merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconstruction: Option<Reconstruction>,
    /// The result of replaying the reference that the run gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// The models that answered, according to the provider.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answered_by: Vec<String>,
    /// The tokens of all questions about the run.
    pub usage: Usage,
}

/// Why a run gives no reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    /// The kind of reason.
    pub kind: RefusalKind,
    /// The reason in words.
    pub reason: String,
}

/// Kinds of reasons why a run gives no reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// No call of the run is recorded to have succeeded.
    NoSuccessfulCall,
    /// The run is recorded to have ended without an answer (rules alone).
    NotAnswered,
    /// The judge says that the run failed.
    VerdictFail,
    /// The judge says that the run contains no sound trajectory.
    NoProposal,
    /// The judge's proposal breaks a rule, twice.
    BreaksRules,
    /// The rules leave no call.
    NothingLeft,
    /// A call did not succeed when it was made again.
    VerificationFailed,
    /// The judge's verdict could not be read, twice.
    UnreadableVerdict,
    /// The judge's proposal could not be read, twice.
    UnreadableProposal,
    /// The image of the run cannot be shown to the judge.
    ImageUnusable,
    /// The judge gave no reply.
    NoReply,
    /// The reference could not be replayed.
    NotVerified,
}

impl RefusalKind {
    /// Each kind in the order above, its name in files, and the status that it gives a run.
    const ROWS: [(Self, &'static str, Status); 12] = [
        (Self::NoSuccessfulCall, "no_successful_call", Status::Rejected),
        (Self::NotAnswered, "not_answered", Status::Rejected),
        (Self::VerdictFail, "verdict_fail", Status::Rejected),
        (Self::NoProposal, "no_proposal", Status::Rejected),
        (Self::BreaksRules, "breaks_rules", Status::Rejected),
        (Self::NothingLeft, "nothing_left", Status::Rejected),
        (Self::VerificationFailed, "verification_failed", Status::Rejected),
        (Self::UnreadableVerdict, "unreadable_verdict", Status::Undecided),
        (Self::UnreadableProposal, "unreadable_proposal", Status::Undecided),
        (Self::ImageUnusable, "image_unusable", Status::Undecided),
        (Self::NoReply, "no_reply", Status::Undecided),
        (Self::NotVerified, "not_verified", Status::Undecided),
    ];

    /// The status that this reason gives a run.
    #[must_use]
    pub fn status(self) -> Status {
        Self::ROWS[self as usize].2
    }

    /// The name of the kind in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ROWS[self as usize].1
    }
}

/// The result of replaying a reference against servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// How the replay ended.
    pub result: VerificationResult,
    /// The hash of the configuration of the servers.
    pub servers: String,
    /// The number of calls in the replay.
    pub calls: usize,
    /// The calls that did not succeed. Places are those of the reference.
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
    /// The place of the call in the reference.
    pub place: CallPlace,
    /// The tool.
    pub tool: String,
    /// The outcome of the call, as in `m3 outcomes`, or why there is none.
    pub outcome: String,
    /// The evidence for the outcome.
    pub evidence: String,
}

/// Where an accepted run differs from the chosen one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disagreement {
    /// The index of the other run in `runs`.
    pub run: usize,
    /// The kind of difference.
    pub kind: DisagreementKind,
    /// The difference in words.
    pub detail: String,
}

/// The kinds of differences between two references of one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DisagreementKind {
    /// One reference calls tools that the other does not call, or calls them more often.
    Tools,
    /// The references call the same tools with different arguments.
    Arguments,
    /// The references have the same calls in other steps.
    Steps,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_refusals_stand_in_the_order_of_the_kinds_and_have_their_names() {
        for (place, (kind, name, _)) in RefusalKind::ROWS.into_iter().enumerate() {
            assert_eq!((kind as usize, serde_json::json!(kind)), (place, serde_json::json!(name)));
        }
    }
}
