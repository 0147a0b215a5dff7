//! Which call uses what another one returned, found by value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CallPlace, Chain};

/// A call whose arguments have values that stand in the result of an earlier one and that the task itself does not
/// give.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dependency {
    /// The call whose result has them.
    pub from: CallPlace,
    /// The call that uses them.
    pub to: CallPlace,
    /// The values, at least one.
    pub values: Vec<SharedValue>,
}

/// A value that stands in a result and in arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharedValue {
    /// The value as the arguments have it, shortened and made safe to show.
    pub value: String,
    /// Where it stands in the result: a JSON pointer (RFC 6901), empty for a result that is text.
    pub in_result: String,
    /// Where it stands in the arguments: a JSON pointer.
    pub in_arguments: String,
}

/// All dependencies between calls of different steps, in the order of [`Dependency::to`], then of
/// [`Dependency::from`]. Calls that failed or have no recorded result give nothing.
#[must_use]
pub fn dependencies(_chain: &Chain) -> Vec<Dependency> {
    Vec::new()
}
