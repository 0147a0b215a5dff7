//! Claude Code: the file of a session, whose lines are a tree, with the files of its sub-agents beside it, and the
//! output of `stream-json`.

mod agents;
mod blocks;
mod branch;
mod line;
mod session;
mod stream;
#[cfg(test)]
mod tests;

use crate::formats::prelude::*;

/// Session files, recognized by members that only their lines have; the first lines may be headers of other kinds.
pub(super) const SESSION: Format = Format {
    name: "claude-code",
    title: "Claude Code: the file of a session",
    recognizes: |head| head.any(|line| is_message_line(line) || is_header(line)),
    read: session::read,
};

/// Streams of the program and of the Agent SDK.
pub(super) const STREAM: Format = Format {
    name: "claude-code-stream",
    title: "Claude Code: what `stream-json` prints",
    recognizes: |head| {
        // Cursor prints such lines, too, and its calls in lines of their own.
        let is_other = head.any(|line| line.says("type", "tool_call"));
        !is_other
            && head.any(|line| {
                let needs = match line.text("type") {
                    Some("assistant" | "user") => "message",
                    Some("system" | "result") => "subtype",
                    Some("stream_event") => "event",
                    _ => return false,
                };
                line.has("session_id") && line.has(needs)
            })
    },
    read: stream::read,
};

/// Whether a line is of the tree of a session: its root has the parent `null`.
fn is_message_line(line: &Json) -> bool {
    line.has("uuid")
        && line.has("sessionId")
        && line.get("parentUuid").is_some()
        && line.get("isSidechain").is_some()
}

fn is_header(line: &Json) -> bool {
    match line.text("type") {
        Some("summary") => line.has("leafUuid") && line.has("summary"),
        Some("queue-operation") => line.has("sessionId") && line.has("operation"),
        Some("file-history-snapshot") => line.has("messageId") && line.has("snapshot"),
        _ => false,
    }
}
