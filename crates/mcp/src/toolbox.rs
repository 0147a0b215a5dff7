//! What a server of ours offers, apart from how it is served.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Tool, ToolResult};

/// An answer in the making.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// The tools of one server and what they do.
pub trait Toolbox: Send + Sync + 'static {
    /// The server's name.
    fn name(&self) -> &str;

    /// The tools, always the same ones.
    fn tools(&self) -> &[Tool];

    /// Answers a call. The tool is one of [`Toolbox::tools`], or [`Answer::UnknownTool`] is the answer; arguments
    /// are not checked yet ([`super::arguments`] does that).
    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> Answering<'a>;

    /// Another instance, which knows nothing of the calls made to this one: for a task, or a session, of its own.
    /// `None` where calls leave nothing behind, so that this one serves for all.
    fn fresh(&self) -> Option<Arc<dyn Toolbox>> {
        None
    }
}

/// How a call ends.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// With a result, failures of the tool included.
    Result(ToolResult),
    /// With the protocol's error for a tool that is not there (JSON-RPC code -32602).
    UnknownTool,
    /// With a result that is marked as an error and says what is wrong with the arguments, so that a model can correct
    /// itself (MCP 2025-11-25, "Error Handling").
    InvalidArguments(String),
    /// With another error of the protocol.
    ProtocolError {
        /// JSON-RPC error code.
        code: i32,
        /// What is said.
        message: String,
    },
    /// The server dies without a word.
    Crash,
}
