//! Where a call stands: [`PlaceReport`].

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a call stands in its trajectory, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct PlaceReport {
    /// The step.
    pub step: usize,
    /// The call within the step.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub call: usize,
    /// The call within the trajectory.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub index: usize,
}

/// Counts from 1: step 1, call 2 is `1.2`.
impl fmt::Display for PlaceReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.step + 1, self.call + 1)
    }
}

impl PlaceReport {
    /// Stands for a place that a score does not give.
    pub(super) fn unknown() -> Self {
        Self { step: usize::MAX, call: usize::MAX, index: usize::MAX }
    }

    /// Whether the score gives this place.
    pub(crate) fn is_known(&self) -> bool {
        self.step < usize::MAX
    }
}
