//! What the calls of a trajectory make, and which later calls use it: files in their versions, ids that results return,
//! names that calls give.
//!
//! `docs/flow.md` says what is followed. `docs/judge-rules.md` says which equal values count as a use, with an example
//! of each, and what cannot be found in this way.
//!
//! | part | what it does |
//! | --- | --- |
//! | `chain` | the calls of a trajectory as flow sees them |
//! | `tools` | what the name of a tool says: changes something, only looks |
//! | `roles` | whether a call looks or changes something |
//! | `names` | which names of arguments and fields are alike |
//! | `leaves` | the single values of arguments and results |
//! | **files** | |
//! | `paths`, `path_overlaps` | paths, and which calls name the same |
//! | `named_paths`, `texts` | paths among arguments, and which of them a call writes; names of files in texts |
//! | `result_paths`, `default_names` | paths in results; names of files that no argument gives |
//! | `tracker`, `known_files` | step by step: what each call finds under its names, and what exists after it |
//! | `lineage` | the versions: who makes each, who reads it |
//! | `contents` | which versions hold the same |
//! | `files`, `effects` | who reads what another call wrote; state, which no value shows |
//! | **values** | |
//! | `tokens`, `plain`, `vectors` | texts as tokens, numbers by their values; small numbers that stand together |
//! | `significance`, `task` | which equal values are more than chance; what the task itself says |
//! | `asked_names` | which names the task asks for |
//! | `value_index`, `reader` | what is looked for, and what one result has of it |
//! | `uses`, `value_use`, `positions` | who uses whose values, or a place in a list that another call returned |
//! | `values` | the uses as places in arguments, with the names that calls give |

mod asked_names;
mod chain;
mod contents;
mod default_names;
mod effects;
mod files;
mod known_files;
mod leaves;
mod lineage;
#[cfg(test)]
mod lineage_tests;
mod named_paths;
mod names;
mod path_overlaps;
mod paths;
mod plain;
mod positions;
mod reader;
mod result_paths;
mod roles;
mod significance;
mod task;
#[cfg(test)]
mod tests;
mod texts;
mod tokens;
mod tools;
mod tracker;
mod uses;
mod value_index;
mod value_use;
mod values;
mod vectors;
#[cfg(test)]
mod writing_tests;

use std::collections::BTreeMap;

pub use asked_names::AskedNames;
pub use contents::{Content, call_keys, contents};
pub use effects::{Conflict, Effects};
pub use lineage::{CallView, Lineage, Mention, Role, Version};
pub use names::{names_input_file, words as words_of_name};
pub use path_overlaps::PathOverlaps;
pub use paths::{is_file_path, may_be_same_file};
pub use roles::CallRole;
use serde::{Deserialize, Serialize};
pub use significance::says_nothing;
pub use texts::whole_words;
pub use tools::{changes_by_name, creates, looks_by_name, may_make_by_name, without_server};
pub use uses::{Uses, find_uses};
pub use value_use::Use;
pub use values::{
    Origin, ValueUse, counterpart, given_names, numbered_names, plain as plain_value, thing_named, value_uses,
};

pub use chain::{CallPlace, CallStatus, Chain, ChainCall};

/// A call whose arguments have values that stand in the result of an earlier one and that the task itself does not
/// give.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dependency {
    /// The call whose result has the values.
    pub from: CallPlace,
    /// The call that uses the values.
    pub to: CallPlace,
    /// The values, at least one.
    pub values: Vec<SharedValue>,
}

/// A value that stands in a result and in arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedValue {
    /// The value as the arguments have it, shortened and made safe to show.
    pub value: String,
    /// The place of the value in the result: a JSON pointer (RFC 6901), empty for a result that is text; it leads into
    /// text that is JSON. For a file that the call wrote and whose path need not stand in its result: `arguments`, then
    /// the JSON pointer of the path in the arguments of that call, such as `arguments/output_path`.
    pub in_result: String,
    /// The place of the value in the arguments: a JSON pointer.
    pub in_arguments: String,
}

/// The most values of one dependency that are listed.
const MAX_VALUES: usize = 50;

/// All dependencies between calls of different steps, in the order of [`Dependency::to`], then of
/// [`Dependency::from`]. Calls that failed or have no recorded result give nothing.
///
/// If several calls returned a value, the first is its source; within a step, the first in the order of the file. If
/// several wrote a file, the last is its source. Time and memory grow with the size of the chain, not with its square;
/// of each result, the first 32 MiB of text are read.
#[must_use]
pub fn dependencies(chain: &Chain) -> Vec<Dependency> {
    listed(chain, &find_uses(chain).found)
}

/// The dependencies that these uses make.
#[must_use]
pub fn listed(chain: &Chain, uses: &[Use]) -> Vec<Dependency> {
    let mut pairs: BTreeMap<(usize, usize), Vec<SharedValue>> = BTreeMap::new();
    for found in uses {
        let values = pairs.entry((found.to, found.from)).or_default();
        let shared = SharedValue {
            value: found.value.clone(),
            in_result: found.in_result.clone(),
            in_arguments: found.in_arguments.clone(),
        };
        // A value inside an argument that is found as a whole adds nothing.
        let is_known = values.iter().any(|known| known.in_arguments == shared.in_arguments);
        if values.len() < MAX_VALUES && !is_known {
            values.push(shared);
        }
    }
    let place = |call: usize| chain.calls[call].place;
    pairs
        .into_iter()
        .map(|((to, from), values)| Dependency { from: place(from), to: place(to), values })
        .collect()
}
