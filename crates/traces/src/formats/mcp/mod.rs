//! The Model Context Protocol: JSON-RPC messages as they went between client and server, a line each, and the logs of desktop
//! clients.

mod log;
mod session;

use crate::formats::prelude::*;
use crate::values::opened;
use session::{Message, Sessions};

/// Logs of desktop clients, recognized by their lines; also those without calls, to refuse them with a reason.
pub(super) const LOGS: Format = Format {
    name: "mcp-log",
    title: "MCP: the log of a desktop client",
    recognizes: |head| {
        head.shape == Shape::Text && head.text.lines().any(|line| log::message(line).is_some())
            || head.any(log::is_debug_line)
    },
    read: log::read,
};

/// JSON-RPC messages.
pub(super) const TRAFFIC: Format = Format {
    name: "mcp",
    title: "MCP: JSON-RPC messages",
    recognizes: |head| {
        let is_message = |value: &Json| value.says("jsonrpc", "2.0");
        head.any(|record| {
            items_or_one(record).iter().any(is_message)
                || body(record).is_some_and(|body| items_or_one(&body).iter().any(is_message))
        })
    },
    read,
};

/// The message in an envelope: a value, or a text of JSON.
fn body(envelope: &Json) -> Option<Cow<'_, Json>> {
    let body = opened(envelope.first(&["msg", "message", "data"])?);
    matches!(*body, Json::Object(_) | Json::Array(_)).then_some(body)
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut sessions = Sessions::default();
    let name = log::server_of_file(input.source.name());
    input.values(sink, |_, record| {
        for envelope in items_or_one(&record.value) {
            self::envelope(&mut sessions, envelope, record.line, name.as_deref());
        }
        Ok(())
    })?;
    sessions.finish(sink)
}

/// Adds a message, a batch of messages, or the content of an envelope around either.
fn envelope(sessions: &mut Sessions, value: &Json, line: Option<u64>, server: Option<&str>) {
    let mut about = Message { line, server, ..Message::default() };
    if value.has("jsonrpc") || matches!(value, Json::Array(_)) {
        return sessions.messages(value, &about);
    }
    about.time = value.first(&["ts", "time", "timestamp", "@timestamp"]).and_then(time);
    about.from = value.first_text(&["dir", "direction", "from", "sender", "source"]);
    match body(value) {
        Some(message) => sessions.messages(&message, &about),
        None => sessions.skipped(),
    }
}

#[cfg(test)]
mod tests;
