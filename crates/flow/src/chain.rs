//! The calls of a trajectory as flow sees them.

use m3_trajectory::json::Json;
use serde::{Deserialize, Serialize};

/// Where a call stands in its trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallPlace {
    /// The step, from 0.
    pub step: usize,
    /// The call within the step, from 0.
    pub call: usize,
}

/// How a call ended, as far as is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallStatus {
    /// It was executed, and gave a normal result.
    Succeeded,
    /// It failed, for this reason.
    Failed(String),
    /// No result of it is recorded, as in references.
    NotRecorded,
}

/// A call of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainCall {
    /// Its place in the trajectory: step and call.
    pub place: CallPlace,
    /// The tool as `server/tool`.
    pub tool: String,
    /// Its arguments; `None` if the file has none.
    pub arguments: Option<Json>,
    /// The tool's result, if recorded.
    pub result: Option<Json>,
    /// How it ended.
    pub standing: CallStatus,
    /// What its tool declares: `Some(true)` if it changes nothing, `Some(false)` if it changes something (the
    /// annotation `readOnlyHint` of the Model Context Protocol); `None` if it declares nothing.
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
