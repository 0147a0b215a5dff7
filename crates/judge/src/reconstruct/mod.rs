//! The optimal trajectory of a run (M³-Bench, section 3.1): without failed and redundant calls, with independent calls
//! made at once. A model may propose it; rules decide.
//!
//! `docs/judge-rules.md` says which rules, with the reason and an example of each.
//!
//! | part | what it does |
//! | --- | --- |
//! | `repeats` | which calls were needless repeats |
//! | `order` | which calls keep their order, and the earliest step of each |
//! | `rules` | the optimal trajectory by rules alone |
//! | `check` | whether a proposal keeps the rules |

mod check;
mod order;
mod repeats;
mod rules;
#[cfg(test)]
mod tests;

pub use check::check;
use m3_support::text::shortened;
use m3_trajectory::json::{Json, Keys};
pub use rules::by_rules;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CallPlace, ChainCall};
use m3_flow::Dependency;

/// The longest arguments of a left-out call that are kept whole, in bytes.
const LONGEST: usize = 10_000;

/// The deepest nesting of a left-out call's arguments that are kept as JSON; deeper ones are kept as text.
const DEEPEST: usize = 50;

/// The calls of a run after reconstruction: kept, removed, merged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Rebuilt")]
pub struct Reconstruction {
    /// The steps of the reference, each call by its place in the run.
    pub steps: Vec<Vec<CallPlace>>,
    /// Calls that were left out.
    pub removed: Vec<RemovedCall>,
    /// Calls that were moved into an earlier step.
    pub merged: Vec<MergedCall>,
    /// The dependencies between the calls that are left.
    pub dependencies: Vec<Dependency>,
}

/// A call that was left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemovedCall {
    /// The place of the call in the run.
    pub place: CallPlace,
    /// The tool.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: Value,
    /// Why the call was left out.
    pub reason: RemovalReason,
    /// The evidence for the reason.
    pub evidence: String,
}

impl RemovedCall {
    fn new(call: &ChainCall, reason: RemovalReason, evidence: String) -> Self {
        let arguments = call.arguments.as_ref().map_or(Value::Null, kept_arguments);
        Self { place: call.place, tool: call.tool.clone(), arguments, reason, evidence }
    }
}

/// The arguments of a call that was left out, as JSON. They are text if standard JSON cannot express them (an
/// infinity), or if they are so long or deeply nested that the file could not be read again.
fn kept_arguments(arguments: &Json) -> Value {
    let text = arguments.to_text(Keys::AsRead);
    let value = if text.len() > LONGEST || depth(arguments) > DEEPEST { None } else { arguments.to_value() };
    value.unwrap_or_else(|| Value::String(shortened(&text, LONGEST)))
}

fn depth(value: &Json) -> usize {
    match value {
        Json::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Json::Object(members) => 1 + members.iter().map(|(_, value)| depth(value)).max().unwrap_or(0),
        _ => 0,
    }
}

/// Why a call was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RemovalReason {
    /// The call failed.
    Failed,
    /// The call was not executed, so its result is unknown.
    NotRecorded,
    /// An earlier call of the same tool with the same arguments gave the same.
    Repeated,
    /// The model that proposed the trajectory left it out, and no call that is left depends on it.
    Proposed,
}

/// A call that was moved into an earlier step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergedCall {
    /// The place of the call in the run.
    pub place: CallPlace,
    /// The tool.
    pub tool: String,
    /// The new step of the call, from 0.
    pub step: usize,
    /// Why the call may be moved.
    pub evidence: String,
}

/// A trajectory that a model proposes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Proposal {
    /// The steps, each with its calls.
    pub steps: Vec<Vec<ProposedCall>>,
}

/// A call of a proposal.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposedCall {
    /// The tool as `server/tool`.
    pub name: String,
    /// Its arguments.
    pub arguments: Option<Json>,
}

/// A rule that a proposal breaks. Places in the proposal are counted from 0 and shown from 1.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Violation {
    /// The proposal has no call.
    #[error("it has no calls")]
    Empty,
    /// The run has no successful call with this name and these arguments, or fewer of them than the proposal.
    #[error("step {} calls `{name}` with arguments that no successful call of the run had{more}", place.step + 1)]
    Invented {
        /// The call's place in the proposal.
        place: CallPlace,
        /// The tool.
        name: String,
        /// A clause about the nearest call of the run; may be empty.
        more: String,
    },
    /// A call that depends on another one does not come in a later step.
    #[error("`{to}` in step {} uses {value}, which `{from}` in step {} returns; it has to come later", to_step + 1, from_step + 1)]
    Order {
        /// The tool whose result is used.
        from: String,
        /// Its step in the proposal.
        from_step: usize,
        /// The tool that uses it.
        to: String,
        /// Its step in the proposal.
        to_step: usize,
        /// The value that is used.
        value: String,
    },
    /// A call uses a value that is only returned by a call that is left out.
    #[error("`{to}` in step {} uses {value}, which only `{from}` returned, and that call is left out", to_step + 1)]
    MissingSource {
        /// The tool whose result is used.
        from: String,
        /// The tool that uses it.
        to: String,
        /// Its step in the proposal.
        to_step: usize,
        /// The value that is used.
        value: String,
    },
    /// Two calls touch the same file, or the same state of a server, in another order than in the run.
    #[error("`{first}` in step {} and `{second}` in step {}: {reason}; `{second}` {must}", first_step + 1, second_step + 1)]
    Conflict {
        /// The tool of the call that came first in the run.
        first: String,
        /// Its step in the proposal.
        first_step: usize,
        /// The tool of the other call.
        second: String,
        /// Its step in the proposal.
        second_step: usize,
        /// What both touch.
        reason: String,
        /// The required order, such as "has to come in a later step".
        must: String,
    },
    /// The proposal has more calls or steps than the run.
    #[error("it is longer than the run: {0}")]
    Longer(String),
}
