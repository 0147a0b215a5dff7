//! The calls of a trajectory as flow sees them.

use m3_trajectory::json::Json;
use serde::{Deserialize, Serialize};

/// The place of a call in its trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallPlace {
    /// The step, from 0.
    pub step: usize,
    /// The call within the step, from 0.
    pub call: usize,
}

/// How a call ended, if that is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallStatus {
    /// The call was executed, and gave a normal result.
    Succeeded,
    /// The call failed, for this reason.
    Failed(String),
    /// No result of the call is recorded, as in references.
    NotRecorded,
}

/// A call of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainCall {
    /// The call's place in the trajectory: step and call.
    pub place: CallPlace,
    /// The tool as `server/tool`.
    pub tool: String,
    /// The call's arguments; `None` if the file has none.
    pub arguments: Option<Json>,
    /// The tool's result, if recorded.
    pub result: Option<Json>,
    /// How the call ended.
    pub standing: CallStatus,
    /// Whether the tool declares that it changes something: `Some(true)` if it changes nothing, `Some(false)` if it
    /// changes something (the annotation `readOnlyHint` of the Model Context Protocol); `None` if it declares nothing.
    pub read_only: Option<bool>,
}

/// The calls of a run in the order of their places, and what the model knew before the first.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// The calls.
    pub calls: Vec<ChainCall>,
    /// The task's own texts: its question, its prompt, the path of its image. A value found there need not have come
    /// from a result.
    pub given: Vec<String>,
}

impl Chain {
    /// The call at a place.
    #[must_use]
    pub fn at(&self, place: CallPlace) -> Option<&ChainCall> {
        let index = self.calls.binary_search_by_key(&place, |call| call.place).ok()?;
        self.calls.get(index)
    }
}
