//! Converts calls and tools to the form in which a cassette keeps them, the protocol's own JSON, and back.

use m3_llm::{Cassette, RecordedCall};
use m3_mcp::{CallError, CallOutcome, ToolCatalog, ToolName, ToolResult};
use m3_support::text::shortened;

/// A call as it is recorded.
#[must_use]
pub fn to_record(outcome: &CallOutcome) -> RecordedCall {
    let result = match &outcome.result {
        Ok(result) => Ok(result.to_wire()),
        Err(error) => Err(serde_json::to_value(error).unwrap_or_default()),
    };
    RecordedCall { result, elapsed: outcome.elapsed, waited: outcome.waited }
}

/// The recorded call of this tool. A reason that cannot be parsed any more, because secrets in it were replaced, is
/// given as text.
#[must_use]
pub fn from_record(tool: &ToolName, call: RecordedCall) -> CallOutcome {
    let result = call.result.map(ToolResult::from_wire).map_err(|error| {
        let reason = shortened(&error.to_string(), 300);
        serde_json::from_value(error)
            .unwrap_or_else(|_| CallError::Malformed { server: tool.server.clone(), reason })
    });
    CallOutcome { result, elapsed: call.elapsed, waited: call.waited }
}

/// The tools that a cassette says were offered; none if it does not say.
#[must_use]
pub fn recorded_catalog(cassette: &Cassette) -> ToolCatalog {
    cassette.catalog().map_or_else(ToolCatalog::default, ToolCatalog::from_json)
}
