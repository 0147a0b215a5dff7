//! Our own MCP servers. Each is a [`Toolbox`](m3_mcp::Toolbox); how it is served is not its concern.

pub mod barcode;
mod builtin;
pub mod image;
pub mod math;
pub mod simulated;
mod tools;
mod work;

pub use builtin::{BUILTIN, BuiltinError, builtin};
pub use m3_support::workspace::{Workspace, WorkspaceError};
