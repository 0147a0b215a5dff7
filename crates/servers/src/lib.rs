//! Our own MCP servers. Each is a [`Toolbox`](m3_mcp::Toolbox); the crate `m3_mcp` serves it.
//!
//! ```
//! use m3_mcp::Toolbox as _;
//! use m3_servers::builtin;
//!
//! // A server may read and write in the given folder and nowhere else; the server for mathematics needs no files.
//! let server = builtin("math", &std::env::temp_dir())?.unwrap();
//! assert!(server.tools().iter().any(|tool| tool.name == "add"));
//! # Ok::<(), m3_servers::WorkspaceError>(())
//! ```

#![forbid(unsafe_code)]

pub mod barcode;
mod builtin;
pub mod candidates;
pub mod distractors;
pub mod image;
pub mod math;
mod seed;
pub mod simulated;
mod tools;
mod turn;
mod work;

pub use builtin::{BUILTIN, builtin};
pub use m3_support::workspace::{Workspace, WorkspaceError};
