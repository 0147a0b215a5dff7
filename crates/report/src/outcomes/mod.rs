//! The outcomes of a task's calls, which scores contain beside their numbers.

mod read;

pub use read::{OutcomesByTrajectory, OutcomesFileError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the format that `m3 outcomes --format json` writes.
pub const OUTCOMES_SCHEMA: &str = "m3.outcomes/1";

/// How many calls ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeCounts {
    /// No call of the protocol.
    pub illegal_format: u64,
    /// Of a tool that does not exist or was not offered.
    pub unknown_tool: u64,
    /// With arguments that the tool does not take.
    pub invalid_arguments: u64,
    /// Right, but the backend did not have or give what was asked for.
    pub resource_not_found: u64,
    /// With a normal result.
    pub success: u64,
}

/// What became of a task's calls, as scores keep it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Counts")]
#[schemars(!from)]
pub struct TaskOutcomes {
    /// Calls by outcome.
    #[serde(flatten)]
    pub counts: OutcomeCounts,
    /// Calls that fit their schema and were not executed; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_executed: u64,
}

/// Outcomes as they are read: a missing one counts 0, and an unknown one is an error.
#[derive(Default, Deserialize)]
#[serde(default, expecting = "an object", deny_unknown_fields)]
struct Counts {
    illegal_format: u64,
    unknown_tool: u64,
    invalid_arguments: u64,
    resource_not_found: u64,
    success: u64,
    not_executed: u64,
}

impl From<Counts> for TaskOutcomes {
    fn from(counts: Counts) -> Self {
        let Counts {
            illegal_format,
            unknown_tool,
            invalid_arguments,
            resource_not_found,
            success,
            not_executed,
        } = counts;
        let counts =
            OutcomeCounts { illegal_format, unknown_tool, invalid_arguments, resource_not_found, success };
        Self { counts, not_executed }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl OutcomeCounts {
    /// The counts in the order of the table of outcomes: failures first, success last.
    #[must_use]
    pub fn all(&self) -> [u64; 5] {
        [
            self.illegal_format,
            self.unknown_tool,
            self.invalid_arguments,
            self.resource_not_found,
            self.success,
        ]
    }
}
