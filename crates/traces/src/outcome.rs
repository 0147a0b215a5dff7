//! A result that waits to be joined to its call.

use m3_trajectory::json::Json;

/// A result of a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outcome {
    /// The id of its call.
    pub(crate) id: Option<String>,
    /// The name of its tool.
    pub(crate) tool: Option<String>,
    /// A text, a list of parts, or a value.
    pub(crate) result: Option<Json>,
    /// Whether the trace says that the call failed.
    pub(crate) is_error: bool,
    /// The kind of failure.
    pub(crate) error_type: Option<String>,
    /// The duration of the call in seconds, if the trace has it.
    pub(crate) seconds: Option<f64>,
}

impl Outcome {
    /// A result of the call with this id.
    pub(crate) fn new(id: Option<String>, result: Option<Json>) -> Self {
        Self { id, result, ..Self::default() }
    }
}
