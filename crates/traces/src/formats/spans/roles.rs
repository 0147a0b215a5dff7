//! What a span is, in the same words for all dialects.

use crate::content::Content;
use crate::conversation::Outcome;
use crate::trace::TracedCall;
use crate::usage::Usage;

/// What a span is.
#[derive(Debug)]
pub(super) enum Role {
    /// What a request to a model brought back.
    Reply(Reply),
    /// A tool that was run.
    Call(Ran),
    /// An agent, or what runs agents.
    Agent(Agent),
    /// What is below it has no part in the trajectory.
    Aside,
    /// Anything else; what is below it belongs to what is above it.
    Other,
}

/// What a request to a model brought back.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// The messages of the request, if they are recorded.
    pub(super) input: Option<Vec<Turn>>,
    /// What the model said, with its alternatives; empty if it is not recorded.
    pub(super) outputs: Vec<Said>,
    /// Tokens.
    pub(super) usage: Usage,
    /// The model.
    pub(super) model: Option<String>,
    /// Whether the request failed.
    pub(super) is_failed: bool,
}

/// A message of a request.
#[derive(Debug, Clone)]
pub(super) enum Turn {
    /// Of the user.
    User(Content),
    /// Of the model.
    Said(Said),
    /// The result of a call.
    Result(Outcome),
}

/// What a model said, in its order.
pub(super) type Said = Vec<Spoken>;

/// A piece of what a model said.
#[derive(Debug, Clone)]
pub(super) enum Spoken {
    /// A text.
    Text(String),
    /// A call.
    Call(TracedCall),
    /// The result of a call that the provider ran.
    Result(Outcome),
}

/// A tool that was run.
#[derive(Debug, Default)]
pub(super) struct Ran {
    /// The call, with what the span knows of it.
    pub(super) call: TracedCall,
    /// The server that the tool is of.
    pub(super) server: Option<String>,
    /// Whether it is what a client or a server of MCP did for a call.
    pub(super) is_mcp: bool,
    /// Whether control is passed on: what is below it is not inside the call.
    pub(super) passes_control: bool,
    /// Whether messages tell results better than this span.
    pub(super) is_second: bool,
    /// What a failure says.
    pub(super) message: Option<String>,
}

/// An agent.
#[derive(Debug, Default)]
pub(super) struct Agent {
    /// Its name.
    pub(super) name: Option<String>,
    /// All its messages, for traces whose replies are not recorded.
    pub(super) turns: Vec<Turn>,
    /// What it was asked, if no message tells it.
    pub(super) question: Option<Content>,
    /// What it answered, if no reply tells it.
    pub(super) answer: Option<String>,
    /// Whether its caller waits for it, so that what it does is inside a call.
    pub(super) returns: bool,
}

/// The calls of what a model said.
pub(super) fn calls(said: &Said) -> impl Iterator<Item = &TracedCall> {
    said.iter().filter_map(|spoken| match spoken {
        Spoken::Call(call) => Some(call),
        _ => None,
    })
}

/// The texts of what a model said; `None` if there are none.
pub(super) fn text(said: &Said) -> Option<String> {
    let texts = said.iter().filter_map(|spoken| match spoken {
        Spoken::Text(text) if !text.is_empty() => Some(text.as_str()),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
