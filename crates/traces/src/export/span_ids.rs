//! Ids of spans: those that `m3 export` gives a trajectory, and those of the spans that it was read from.

use m3_trajectory::Trajectory;
use m3_trajectory::json::Json;

use super::trajectory;
use crate::fields::Fields as _;

/// The id of a trajectory's trace.
pub(super) fn trace_id(key: &str) -> &str {
    key.get(..32).unwrap_or_default()
}

/// A span id of 16 digits: the number in the trajectory, and a hash that differs between trajectories.
pub(super) fn span_id(key: &str, number: usize) -> String {
    format!("{}{:06x}", key.get(32..42).unwrap_or_default(), (number + 1) & 0xff_ffff)
}

/// Ids of a trajectory among spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanIds {
    /// The id of the trace, 32 hexadecimal digits.
    pub trace: String,
    /// The id of the span of the whole trajectory, 16 digits; `None` if the id is not known.
    pub span: Option<String>,
}

impl SpanIds {
    /// The ids of the trace that a trajectory was read from, if it was read from spans; else the ids that its spans get
    /// when it is exported, as the `times`th trajectory with its id.
    #[must_use]
    pub fn for_trajectory(trajectory: &Trajectory, times: u64) -> Self {
        let exported = trajectory::key(&trajectory.id, times);
        let exported = Self { trace: trace_id(&exported).to_owned(), span: Some(span_id(&exported, 0)) };
        let import = trajectory.get("import");
        let recorded =
            import.and_then(|record| record.first(&["trace", "trace_id", "id"])).and_then(Json::as_str);
        match recorded.filter(|id| is_trace_id(id)) {
            Some(trace) if trace != exported.trace => Self { trace: trace.to_owned(), span: None },
            _ => exported,
        }
    }
}

/// Whether a text has the form of a trace id: 32 hexadecimal digits, not all of them 0.
fn is_trace_id(id: &str) -> bool {
    id.len() == 32
        && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && id.bytes().any(|byte| byte != b'0')
}
