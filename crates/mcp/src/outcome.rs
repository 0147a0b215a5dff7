//! How a call of the host ends.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::ToolResult;

/// A call that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct CallOutcome {
    /// The server's result, which may report a failure, or why there is no result.
    pub result: Result<ToolResult, CallError>,
    /// The time from sending the call to its end.
    pub elapsed: Duration,
    /// The wait before that, for a free place (`max_concurrent`) and for the server's restart.
    pub waited: Duration,
}

impl CallOutcome {
    /// A call that ended before it was sent.
    pub(super) fn not_sent(error: CallError, waited: Duration) -> Self {
        Self { result: Err(error), elapsed: Duration::ZERO, waited }
    }
}

/// The time limits that a caller sets for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// The longest time after the call is sent to its server.
    pub sent: Duration,
    /// The longest time from `since`, including the wait for a place or for the server's restart.
    pub whole: Duration,
    /// The start of the time, the same for calls that are made together.
    pub since: Instant,
}

impl CallLimits {
    /// No limits beyond those of the server's configuration.
    #[must_use]
    pub fn none() -> Self {
        Self { sent: Duration::MAX, whole: Duration::MAX, since: Instant::now() }
    }

    /// The time that is left of `whole`.
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
        /// The name of the tool that was called.
        tool: String,
    },
    /// The server is disabled, did not start, or died too often.
    #[error("`{server}` is not available: {reason}")]
    Unavailable {
        /// The server.
        server: String,
        /// The reason in words.
        reason: String,
    },
    /// The server answers with an error of the protocol (JSON-RPC).
    #[error("`{server}` answers with error {code}: {message}")]
    Protocol {
        /// The server.
        server: String,
        /// The error's code in JSON-RPC.
        code: i32,
        /// The server's message; untrusted.
        message: String,
    },
    /// There was neither a result nor progress for too long.
    #[error("`{server}` gave no sign for {limit:?}")]
    TimedOutIdle {
        /// The server.
        server: String,
        /// The limit.
        limit: Duration,
    },
    /// There was no result in time, whatever progress was reported.
    #[error("`{server}` gave no result within {limit:?}")]
    TimedOutTotal {
        /// The server.
        server: String,
        /// The limit.
        limit: Duration,
    },
    /// The caller's time was over before the call was sent: there was no free place, or the server was restarting.
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
        /// How the server ended, with the last line that it wrote on standard error.
        reason: String,
    },
    /// The server, or a gateway before it, answers the call with a failure of HTTP (RFC 9110, section 15).
    #[error("`{server}` answers with {reason}")]
    Status {
        /// The server.
        server: String,
        /// The status code.
        status: u16,
        /// The status and what the body says, as `HTTP 500 Internal Server Error: ..`; untrusted.
        reason: String,
    },
    /// The result was larger than the host accepts and was discarded.
    #[error("the result of `{server}` is larger than {limit} bytes")]
    TooLarge {
        /// The server.
        server: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The server's answer is not a valid result.
    #[error("the answer of `{server}` cannot be read: {reason}")]
    Malformed {
        /// The server.
        server: String,
        /// The reason.
        reason: String,
    },
}
