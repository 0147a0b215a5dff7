//! Converts calls and tools to the form in which a cassette keeps them, the protocol's own JSON, and back.

use m3_llm::{Cassette, RecordedCall};
use m3_mcp::{CallError, CallOutcome, ToolCatalog, ToolName, ToolResult};
use m3_support::text::shortened;

/// Converts the outcome of a call to the form in which a cassette keeps it.
#[must_use]
pub fn to_record(outcome: &CallOutcome) -> RecordedCall {
    let result = match &outcome.result {
        Ok(result) => Ok(result.to_wire()),
        Err(error) => Err(serde_json::to_value(error).unwrap_or_default()),
    };
    RecordedCall { result, elapsed: outcome.elapsed, waited: outcome.waited }
}

/// Converts a recorded call of a tool back to its outcome. If the recorded error cannot be parsed any more, because
/// secrets in it were replaced, it becomes [`CallError::Malformed`] with the error's text as the reason.
#[must_use]
pub fn from_record(tool: &ToolName, call: RecordedCall) -> CallOutcome {
    let result = call.result.map(ToolResult::from_wire).map_err(|error| {
        let reason = shortened(&error.to_string(), 300);
        serde_json::from_value(error)
            .unwrap_or_else(|_| CallError::Malformed { server: tool.server.clone(), reason })
    });
    CallOutcome { result, elapsed: call.elapsed, waited: call.waited }
}

/// The tools that were offered according to a cassette; empty if the cassette does not record them.
#[must_use]
pub fn recorded_catalog(cassette: &Cassette) -> ToolCatalog {
    cassette.catalog().map_or_else(ToolCatalog::default, ToolCatalog::from_json)
}
