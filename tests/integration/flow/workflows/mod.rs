//! Workflows over real MCP servers, variants of them, and labels that say which variants leave behind the same: what
//! metrics of flow are judged by. The test `flow` makes a small set, the benchmark `flow` a large one.
//!
//! ```text
//! families -> Plan -> changes -> Plan -> execution (servers) -> Run -> label -> Set -> figures (m3 score)
//! ```
//!
//! A seed makes the same workflows and variants everywhere. They are run on our servers `image`, `barcode` and `math`,
//! and on `files` and `memory`, two of other authors that keep state. Each run begins with an empty workspace, in which
//! the task's image is, and an empty memory. Labels come from what a run leaves behind alone (`label`).

pub(crate) mod changes;
pub(crate) mod execution;
mod families;
pub(crate) mod figures;
mod files;
pub(crate) mod graphs;
pub(crate) mod label;
pub(crate) mod pictures;
mod plan;
mod random;
mod remains;
mod scenes;
mod servers;
pub(crate) mod set;
