//! References from runs (M³-Bench, section 3.1, Judge and Summarize).
//!
//! ```text
//! runs of a task -> verdict -> proposal -> rules (or rules alone) -> shortest first -> replay -> reference
//! ```
//!
//! | file | what it does |
//! | --- | --- |
//! | `material` | a run in words, shortened by rule |
//! | `prompts` | the judge's instructions, and the fence around what is judged |
//! | `reply` | what the judge replies, read strictly |
//! | `ask` | asks the judge, or the journal |
//! | `decide` | one run: verdict, proposal, rules |
//! | `choose` | several runs of a task: which one, and where the others differ |
//! | `verify` | replays a reference against servers |
//! | `work` | all tasks, several at once |
//! | `journal` | replies and results of replays, so that nothing is asked twice |
//! | `provenance` | what is written with a reference |
//! | `written` | whether a file is as it was written |

mod ask;
mod build;
mod choose;
mod decide;
mod journal;
mod material;
mod prompts;
mod provenance;
mod reply;
mod verify;
mod work;
mod written;

pub use ask::{Asker, OnRetry};
pub use build::leave_out_results;
pub use decide::NO_RESULTS;
pub use journal::{JournalRecord, JudgeJournal, JudgeJournalLine, KeptAnswer};
use m3_llm::ModelBlocker;
use m3_outcomes::ReplayError;
use m3_support::journal::JournalError;
use m3_trajectory::SourceError;
pub use provenance::{
    Disagreement, DisagreementKind, FailedCall, JudgeMode, JudgedRun, PromptHashes, Provenance,
    REFERENCE_SCHEMA, Refusal, RefusalKind, Status, Verification, VerificationResult,
};
pub use reply::{Opinion, Verdict};
pub use verify::Verifier;
pub use work::{JudgeEnd, JudgeTask, JudgeWork, JudgedTask, RunSource};
pub use written::{is_as_written, seal};

/// Why judging cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The judge cannot be asked.
    #[error(transparent)]
    Blocked(#[from] ModelBlocker),
    /// A run cannot be read any more.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A replay could not be done.
    #[error("{0}")]
    Replay(#[source] ReplayError),
    /// Judging was stopped.
    #[error("judging was interrupted")]
    Interrupted,
}

impl From<ReplayError> for JudgeError {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Cancelled => Self::Interrupted,
            error @ (ReplayError::Workspace(_) | ReplayError::Exhausted(_)) => Self::Replay(error),
        }
    }
}
