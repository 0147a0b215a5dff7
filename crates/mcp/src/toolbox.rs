//! The tools of one of our own servers, independent of how it is served.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Tool, ToolResult};

/// The future of an answer.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// The tools of one server and their implementation.
pub trait Toolbox: Send + Sync + 'static {
    /// The server's name.
    fn name(&self) -> &str;

    /// The tools; always the same.
    fn tools(&self) -> &[Tool];

    /// Answers a call, with [`Answer::UnknownTool`] if the tool is not one of [`Toolbox::tools`]. Arguments are not
    /// checked yet ([`super::arguments`] does that).
    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> Answering<'a>;

    /// Another instance without the state of this one, for a separate task or session. `None` if calls leave no
    /// state, so that this one can serve everybody.
    fn fresh(&self) -> Option<Arc<dyn Toolbox>> {
        None
    }
}

/// How a call ends.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A result, which may report a failure of the tool.
    Result(ToolResult),
    /// The protocol's error for an unknown tool (JSON-RPC code -32602).
    UnknownTool,
    /// A result that is marked as an error and explains what is wrong with the arguments, so that a model can correct
    /// itself (MCP 2025-11-25, "Error Handling").
    InvalidArguments(String),
    /// Another error of the protocol.
    ProtocolError {
        /// JSON-RPC error code.
        code: i32,
        /// The message of the error.
        message: String,
    },
    /// No answer: the server dies.
    Crash,
}
