//! Reasons that stop a whole run, because no other task could be run either.

use m3_llm::ModelBlocker;
use m3_mcp::results::StoreError;
use m3_support::files::{is_exhausted, is_full};
use m3_trajectory::FailureClass;

/// Why a whole run cannot go on. A task stopped by it should not count as failed: it can be run again as it is.
#[derive(Debug, thiserror::Error)]
pub enum RunBlocker {
    /// The model cannot be asked any more.
    #[error(transparent)]
    Model(#[from] ModelBlocker),
    /// There is no space for the results of tools, or no further file may be opened.
    #[error(transparent)]
    Results(StoreError),
}

impl RunBlocker {
    /// Turns a failure to keep a result into a blocker, if it would stop every other result too.
    ///
    /// # Errors
    /// The error itself, if it concerns this result only.
    pub(super) fn of_results(error: StoreError) -> Result<Self, StoreError> {
        let (StoreError::Folder { cause, .. } | StoreError::Write { cause, .. }) = &error;
        if is_full(cause) || is_exhausted(cause) { Ok(Self::Results(error)) } else { Err(error) }
    }

    /// The failure class of a task that fails for this reason.
    pub(super) fn failure(&self) -> FailureClass {
        match self {
            Self::Model(ModelBlocker::Model(_)) => FailureClass::Provider,
            Self::Model(ModelBlocker::Cassette(_)) | Self::Results(_) => FailureClass::Other,
        }
    }
}
