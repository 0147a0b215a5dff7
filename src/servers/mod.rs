//! Our own MCP servers. Each is a [`Toolbox`](crate::mcp::Toolbox); how it is served is not its concern.

pub mod barcode;
pub mod math;
pub mod simulated;
mod tools;
