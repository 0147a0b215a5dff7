//! The role of a span, in one form for all dialects.

use crate::formats::prelude::*;
use crate::spans::Span;

/// The role of a span.
#[derive(Debug)]
pub(super) enum Role {
    /// A request to a model, with its reply.
    Reply(Reply),
    /// A tool that was run.
    Call(ToolRun),
    /// An agent, or a span that runs agents.
    Agent(Agent),
    /// A span outside the trajectory, with all spans below it.
    Aside,
    /// Any other span; the spans below it belong to the span above it.
    Other,
}

/// A model's reply to one request.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// The messages of the request, if they are recorded.
    pub(super) input: Option<Vec<Turn>>,
    /// The model's message, with its alternatives; empty if it is not recorded.
    pub(super) outputs: Vec<AssistantMessage>,
    /// The tokens of the request and the reply.
    pub(super) usage: Usage,
    /// The name of the model.
    pub(super) model: Option<String>,
    /// Whether the request failed.
    pub(super) is_failed: bool,
}

/// A message of a request.
#[derive(Debug, Clone)]
pub(super) enum Turn {
    /// A message of the user.
    User(Content),
    /// A message of the model.
    Assistant(AssistantMessage),
    /// The result of a call.
    Result(Outcome),
    /// A message of an unknown role: it makes a request another than the one before.
    Unknown,
}

/// A message of the model: its parts in their order.
pub(super) type AssistantMessage = Vec<MessagePart>;

impl Turn {
    /// The words of the user, if the turn is the user's.
    pub(super) fn user(&self) -> Option<&Content> {
        if let Self::User(content) = self { Some(content) } else { None }
    }

    /// The message of the model, if the turn is the model's.
    pub(super) fn assistant(self) -> Option<AssistantMessage> {
        if let Self::Assistant(assistant) = self { Some(assistant) } else { None }
    }
}

/// A part of a model's message.
#[derive(Debug, Clone)]
pub(super) enum MessagePart {
    /// A text.
    Text(String),
    /// A call.
    Call(TracedCall),
    /// The result of a call that the provider ran.
    Result(Outcome),
}

/// A tool that was run.
#[derive(Debug, Default)]
pub(super) struct ToolRun {
    /// The call, with the facts of the span.
    pub(super) call: TracedCall,
    /// The server of the tool.
    pub(super) server: Option<String>,
    /// Whether the span is of an MCP client or server that worked for a call.
    pub(super) is_mcp: bool,
    /// Whether control is passed on: the spans below it are not inside the call.
    pub(super) passes_control: bool,
    /// Whether results in messages are better than the result in this span.
    pub(super) is_second: bool,
    /// The message of a failure.
    pub(super) message: Option<String>,
}

/// An agent, with the facts of its span.
#[derive(Debug, Default)]
pub(super) struct Agent {
    /// The name of the agent.
    pub(super) name: Option<String>,
    /// All its messages, for traces whose replies are not recorded.
    pub(super) turns: Vec<Turn>,
    /// The question to the agent, if no message has it.
    pub(super) question: Option<Content>,
    /// The answer of the agent, if no reply has it.
    pub(super) answer: Option<String>,
    /// Whether the caller waits for the agent, so that its work is inside a call.
    pub(super) returns: bool,
}

impl ToolRun {
    /// The run of this call that a span records; the span says whether it failed.
    pub(super) fn new(span: &Span, call: TracedCall) -> Self {
        let is_error = span.is_failed();
        let error_type = is_error.then(|| span.error_type()).flatten();
        let message = span.error_message().map(str::to_owned);
        Self { call: TracedCall { is_error, error_type, ..call }, message, ..Self::default() }
    }
}

/// The calls of a model's message.
pub(super) fn calls(assistant: &AssistantMessage) -> impl Iterator<Item = &TracedCall> {
    assistant.iter().filter_map(|spoken| match spoken {
        MessagePart::Call(call) => Some(call),
        _ => None,
    })
}

/// The texts of a model's message; `None` if there are none.
pub(super) fn text(assistant: &AssistantMessage) -> Option<String> {
    let texts = assistant.iter().filter_map(|spoken| match spoken {
        MessagePart::Text(text) if !text.is_empty() => Some(text.as_str()),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
