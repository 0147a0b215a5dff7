//! All formats: one file and one row each.

mod adk;
mod agentevals;
mod agents;
mod anthropic;
mod atif;
mod chat;
mod chat_exports;
mod claude_code;
mod codex;
mod dialects;
mod expected;
mod gemini;
mod inspect;
mod langchain;
mod langsmith;
mod mcp;
mod mcp_bench;
mod mcpagentbench;
mod mcptoolbenchpp;
mod openhands;
mod prelude;
mod promptfoo;
mod responses;
mod signs;
mod smolagents;
mod spans;
mod sqlite;
mod streamed_calls;
mod training;
mod turns;
mod vercel;

pub(crate) use dialects::TEXTS;
pub(crate) use expected::NAME as EXPECTED_CALLS;
pub(crate) use signs::NAME as SIGNS;

use crate::head::Head;
use crate::input::{Input, ReadError, Sink};

/// A format of files that hold traces.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The name of the format for users.
    pub name: &'static str,
    /// A title for users: the content of the files.
    pub title: &'static str,
    /// Whether a file with this beginning has the format.
    pub(crate) recognizes: fn(&Head) -> bool,
    /// Reads a whole file.
    pub(crate) read: fn(&Input<'_>, &mut dyn Sink) -> Result<(), ReadError>,
}

/// All formats, in the order in which they are tried: the first that recognizes a file reads it, so the most specific
/// formats come first.
pub const FORMATS: &[Format] = &[
    inspect::ARCHIVE,
    sqlite::FORMAT,
    mcp::LOGS,
    atif::FORMAT,
    spans::LANGFUSE,
    spans::OBSERVATIONS,
    spans::MLFLOW,
    spans::OPENINFERENCE,
    spans::VERCEL,
    spans::OTEL,
    langsmith::RUNS,
    agents::FORMAT,
    inspect::DOCUMENT,
    codex::ROLLOUT,
    codex::EXEC,
    claude_code::SESSION,
    claude_code::STREAM,
    mcp::TRAFFIC,
    promptfoo::RESULTS,
    mcpagentbench::RESULTS,
    mcpagentbench::TASKS,
    mcp_bench::TASKS,
    mcptoolbenchpp::RECORDS,
    openhands::HISTORY,
    smolagents::MEMORY,
    turns::TURNS,
    expected::CONVERSATIONS,
    chat_exports::TREES,
    adk::EVAL_SET,
    adk::SESSION,
    chat::REPLIES,
    responses::REPLIES,
    anthropic::REPLIES,
    gemini::REPLIES,
    langchain::MESSAGES,
    langchain::graph::STATES,
    langchain::graph::UPDATES,
    agentevals::GRAPHS,
    agentevals::CASES,
    vercel::STREAM,
    vercel::RESULT,
    training::SHAREGPT,
    training::XLAM,
    training::BFCL,
    training::GLAIVE,
    // Its calls and results are sure signs, whatever parts its texts have.
    chat::MESSAGES,
    responses::ITEMS,
    gemini::CONTENTS,
    spans::MESSAGES,
    vercel::UI_MESSAGES,
    vercel::MESSAGES,
    anthropic::MESSAGES,
    // Their members are named like those of messages, and they have no roles.
    expected::CALLS,
    dialects::MESSAGES,
    // Messages are better than the text that was rendered from them.
    training::RENDERED,
    signs::FORMAT,
];
