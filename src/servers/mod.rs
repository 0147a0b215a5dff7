//! Our own MCP servers. Each is a [`Toolbox`](crate::mcp::Toolbox); how it is served is not its concern.

pub mod barcode;
mod builtin;
pub mod image;
pub mod math;
pub mod simulated;
mod tools;
mod workspace;

pub use builtin::{BUILTIN, BuiltinError, builtin};
pub use workspace::{Workspace, WorkspaceError};
