//! Tools, as servers of the Model Context Protocol (MCP) offer them: the types, the host that starts servers and
//! calls their tools, and serving our own servers. No other crate uses `rmcp`.
//!
//! MCP is specified at <https://modelcontextprotocol.io/specification/2025-11-25>.
//!
//! ```
//! use m3_mcp::arguments::ArgumentSchema;
//! use serde_json::json;
//!
//! let schema = json!({"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]});
//! let schema = ArgumentSchema::new(schema.as_object().ok_or("no object")?)?;
//! let problems = schema.problems(&json!({"x": "3"}))?;
//! assert_eq!((problems[0].pointer.as_str(), problems[0].keyword.as_str()), ("/x", "type"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod arguments;
mod call_failure;
mod catalog;
mod client;
pub mod config;
mod connection;
mod content;
pub mod guard;
mod host;
mod http;
mod in_process;
mod instance;
mod kept_output;
mod lines;
mod message;
pub mod names;
mod outcome;
mod own_program;
mod process;
mod resource;
pub mod results;
pub mod serve;
mod status;
mod stdio;
mod tail;
mod tool;
mod toolbox;

pub use catalog::{RejectedTool, ServerTools, ToolCatalog};
pub use content::{Content, ToolResult};
pub use host::{Host, HostOptions};
pub use kept_output::KeptOutput;
pub use lines::MAX_RESULT;
pub use outcome::{CallError, CallLimits, CallOutcome};
pub use own_program::OwnProgram;
pub use process::end_servers_soon;
pub use resource::{READ_RESOURCE, links_of, read_resource_tool};
pub use status::{Events, HostEvent, ReadyServer, ServerState, ServerStatus, StartError};
pub use tool::{Tool, ToolName};
pub use toolbox::{Answer, Answering, Toolbox};
