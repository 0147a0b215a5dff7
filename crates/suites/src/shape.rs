//! The difficulty of a task, by the shape of its reference.

use m3_trajectory::Trajectory;

/// The classes of MCPAgentBench (section 3.3), by the calls of a reference and their steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// No call.
    None,
    /// One call.
    Single,
    /// Two calls in one step.
    DualParallel,
    /// Two calls in two steps.
    DualSerial,
    /// Three calls or more, in any steps.
    Multi,
}

impl Shape {
    /// The class of a task.
    #[must_use]
    pub fn from_reference(reference: &Trajectory) -> Self {
        let steps: Vec<usize> =
            reference.steps.iter().map(|step| step.calls.len()).filter(|calls| *calls > 0).collect();
        match steps[..] {
            [] => Self::None,
            [1] => Self::Single,
            [2] => Self::DualParallel,
            [1, 1] => Self::DualSerial,
            _ => Self::Multi,
        }
    }

    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "no_call",
            Self::Single => "single",
            Self::DualParallel => "dual_parallel",
            Self::DualSerial => "dual_serial",
            Self::Multi => "multi",
        }
    }
}
