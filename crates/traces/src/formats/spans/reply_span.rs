//! Replies and tool runs with their places in a trace.

use super::roles::{AssistantMessage, MessagePart, Reply, ToolRun};
use crate::trace::TracedCall;

/// A reply with its place in the trace.
#[derive(Debug)]
pub(super) struct ReplySpan {
    /// The id of the reply, unique within the trace.
    pub(super) id: String,
    /// The start of the reply.
    pub(super) start: Option<u64>,
    /// The agent or the call that the reply belongs to.
    pub(super) caller: Option<usize>,
    /// The reply itself.
    pub(super) reply: Reply,
    /// The model's message: of several alternatives, the one that was continued.
    pub(super) assistant: Option<AssistantMessage>,
}

/// A tool run with its place in the trace.
#[derive(Debug)]
pub(super) struct ToolSpan {
    /// The index of the span.
    pub(super) span: usize,
    /// The start and the end of the run.
    pub(super) start: Option<u64>,
    pub(super) end: Option<u64>,
    /// The agent or the call that the run belongs to.
    pub(super) caller: Option<usize>,
    /// The tool run itself.
    pub(super) ran: ToolRun,
}

/// The calls of a message, to complete them.
pub(super) fn calls_mut(assistant: &mut Option<AssistantMessage>) -> impl Iterator<Item = &mut TracedCall> {
    assistant.iter_mut().flatten().filter_map(|spoken| match spoken {
        MessagePart::Call(call) => Some(call),
        _ => None,
    })
}
