//! How a call of the host ends.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::ToolResult;

/// A call that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct CallOutcome {
    /// The server's result, failures that the tool reports included, or why there is none.
    pub result: Result<ToolResult, CallError>,
    /// From sending the call to its end.
    pub elapsed: Duration,
    /// Before that: for a free place (`max_concurrent`) and for the server's restart.
    pub waited: Duration,
}

/// How long a call may take, by its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// From when it is sent to its server.
    pub sent: Duration,
    /// From `since`, with the wait for a place at its server, or for the server's restart.
    pub whole: Duration,
    /// One moment for calls that are made together.
    pub since: Instant,
}

impl CallLimits {
    /// As long as the server's configuration lets it.
    #[must_use]
    pub fn none() -> Self {
        Self { sent: Duration::MAX, whole: Duration::MAX, since: Instant::now() }
    }

    /// What is left of the whole.
    pub(super) fn left(&self) -> Duration {
        self.whole.saturating_sub(self.since.elapsed())
    }
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CallError {
    /// The configuration has no such server.
    #[error("no server is called `{server}`")]
    UnknownServer {
        /// The name that was called.
        server: String,
    },
    /// The server does not list the tool, or the configuration does not offer it. Nothing was sent.
    #[error("`{server}` offers no tool `{tool}`")]
    UnknownTool {
        /// The server.
        server: String,
        /// The name that was called.
        tool: String,
    },
    /// The server is disabled, did not start, or died too often.
    #[error("`{server}` is not available: {reason}")]
    Unavailable {
        /// The server.
        server: String,
        /// Why, in words.
        reason: String,
    },
    /// The server answers with an error of the protocol (JSON-RPC).
    #[error("`{server}` answers with error {code}: {message}")]
    Protocol {
        /// The server.
        server: String,
        /// The code of JSON-RPC.
        code: i32,
        /// The server's words; untrusted.
        message: String,
    },
    /// Neither a result nor progress for too long.
    #[error("`{server}` gave no sign for {limit:?}")]
    TimedOutIdle {
        /// The server.
        server: String,
        /// The limit.
        limit: Duration,
    },
    /// No result in time, whatever progress was reported.
    #[error("`{server}` gave no result within {limit:?}")]
    TimedOutTotal {
        /// The server.
        server: String,
        /// The limit.
        limit: Duration,
    },
    /// The caller's time was over before the call was sent: there was no free place, or the server was being restarted.
    #[error(
        "the call was never sent to `{server}`: its time, {limit:?}, was over while it waited for a place"
    )]
    NeverSent {
        /// The server.
        server: String,
        /// The limit.
        limit: Duration,
    },
    /// The caller cancelled the call.
    #[error("the call was cancelled")]
    Cancelled,
    /// The server died, or closed the connection, during the call.
    #[error("`{server}` died during the call: {reason}")]
    ServerDied {
        /// The server.
        server: String,
        /// How it ended, with the last line it wrote on standard error.
        reason: String,
    },
    /// The result was larger than the host accepts and was thrown away.
    #[error("the result of `{server}` is larger than {limit} bytes")]
    TooLarge {
        /// The server.
        server: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The server answered with something that is no answer.
    #[error("the answer of `{server}` cannot be read: {reason}")]
    Malformed {
        /// The server.
        server: String,
        /// What is wrong with it.
        reason: String,
    },
}
