//! The configuration of servers: which there are and how they are reached.
//!
//! [`HostConfig::open`] reads the files of desktop clients and editors (`mcpServers`), of VS Code and of
//! Open-M3-Bench (`servers`, an object or a list); `docs/mcp.md` describes every key. A file of the wrong shape is an
//! error that names everything wrong in it. A server that cannot be reached as configured, because a variable is not
//! set for example, becomes [`Transport::Unusable`]: the others still work.

mod error;
mod fields;
mod model;
mod read;
mod secrets;
mod server;
#[cfg(test)]
mod tests;
mod variables;

pub use error::{ConfigError, ConfigProblem};
pub use model::{HostConfig, InProcess, ServerConfig, Timeouts, ToolFilter, Transport};
pub use read::problem_of_name;
