//! The outcomes of a task's calls, which scores contain beside their numbers.

mod read;

pub use read::OutcomesByTrajectory;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the format that `m3 outcomes --format json` writes.
pub const OUTCOMES_SCHEMA: &str = "m3.outcomes/1";

/// Makes the counts of the outcomes, in the order of their table: failures first, success last.
macro_rules! outcomes {
    ($($(#[$meaning:meta])* $name:ident,)*) => {
        /// The number of calls by outcome.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub struct OutcomeCounts {
            $($(#[$meaning])* pub $name: u64,)*
        }

        impl OutcomeCounts {
            /// The counts in the order of the table of outcomes: failures first, success last.
            #[must_use]
            pub fn all(&self) -> [u64; [$(stringify!($name)),*].len()] {
                [$(self.$name),*]
            }
        }

        /// Outcomes as they are read: a missing one counts 0, and an unknown member is an error.
        #[derive(Default, Deserialize)]
        #[serde(default, expecting = "an object", deny_unknown_fields)]
        struct Counts {
            $($name: u64,)*
            not_executed: u64,
        }

        impl From<Counts> for TaskOutcomes {
            fn from(Counts { $($name,)* not_executed }: Counts) -> Self {
                Self { counts: OutcomeCounts { $($name,)* }, not_executed }
            }
        }

        impl TaskOutcomes {
            /// The outcomes, as results name them, and calls that fit their schema and were not executed.
            pub const NAMES: [&'static str; [$(stringify!($name)),*].len() + 1] =
                [$(stringify!($name),)* Self::NOT_EXECUTED];

            /// The counts in the order of [`TaskOutcomes::NAMES`].
            #[must_use]
            pub fn all(&self) -> [u64; Self::NAMES.len()] {
                [$(self.counts.$name,)* self.not_executed]
            }

            /// The sums of both counts.
            #[must_use]
            pub fn with(self, other: Self) -> Self {
                let counts = OutcomeCounts { $($name: self.counts.$name.saturating_add(other.counts.$name),)* };
                Self { counts, not_executed: self.not_executed.saturating_add(other.not_executed) }
            }
        }
    };
}

outcomes! {
    /// Calls that are not valid in the protocol.
    illegal_format,
    /// Calls of a tool that does not exist or was not offered.
    unknown_tool,
    /// Calls with arguments that the tool does not take.
    invalid_arguments,
    /// Right calls whose resource the backend did not have or give.
    resource_not_found,
    /// Calls with a normal result.
    success,
}

/// The outcomes of a task's calls, as scores keep them.
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

impl TaskOutcomes {
    /// The name of the count of calls that were not executed.
    pub const NOT_EXECUTED: &'static str = "not_executed";
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
