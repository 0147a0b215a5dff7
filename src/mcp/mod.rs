//! Tools, as servers of the Model Context Protocol (MCP) offer them: the types, the host that starts servers and
//! calls their tools, and the way our own servers are served. Everything of `rmcp` stays in here.
//!
//! MCP is specified at <https://modelcontextprotocol.io/specification/2025-11-25>.

pub mod arguments;
mod catalog;
pub mod config;
mod content;
pub mod names;
pub mod redact;
pub mod results;
mod tool;
mod toolbox;

pub use catalog::{RejectedTool, ServerTools, ToolCatalog};
pub use content::{Content, ToolResult};
pub use tool::{Tool, ToolName};
pub use toolbox::{Answer, Answering, Toolbox};
