//! A result that waits to be joined to its call.

use m3_trajectory::json::Json;

use crate::content::Content;

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
    /// The time at which the result came, in seconds.
    pub(crate) ended: Option<f64>,
    /// The duration of the call in seconds, if the trace has it.
    pub(crate) seconds: Option<f64>,
}

impl Outcome {
    /// A result in parts, of the call with this id.
    pub(crate) fn new(id: Option<String>, content: &Content) -> Self {
        Self { id, result: Some(content.to_json()), ..Self::default() }
    }
}
