//! The logs of desktop clients: lines of text with a time, the server's name and a message. Some versions write only
//! the names of methods; such logs are refused.

use super::session::{Message, Sessions};
use crate::formats::prelude::*;
use crate::input::LONGEST;
use crate::lines::each_line;
use crate::time::rfc3339;

/// The marks before a message, with its sender.
const MARKS: [(&str, &str); 2] = [("Message from client:", "client"), ("Message from server:", "server")];

/// A line that is about a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    time: &'a str,
    /// The server, as the log calls it.
    server: Option<&'a str>,
    from: &'static str,
    text: &'a str,
}

/// The message in a line, if it has one.
pub(super) fn message(line: &str) -> Option<Line<'_>> {
    let line = line.trim_start();
    let (time, rest) = line.split_once(' ')?;
    rfc3339(time)?;
    let (head, from, text) = MARKS.iter().find_map(|(mark, from)| {
        let (head, text) = rest.split_once(mark)?;
        Some((head, *from, text.trim()))
    })?;
    let names = head.split('[').skip(1).filter_map(|part| Some(part.split_once(']')?.0));
    let is_level = |name: &&str| ["trace", "debug", "info", "warn", "warning", "error"].contains(name);
    Some(Line { time, server: names.into_iter().find(|name| !is_level(name)), from, text })
}

/// The JSON value of a message, without the `{ metadata: undefined }` that some versions add.
fn value(text: &str) -> Option<Json> {
    let cut = || text.rfind(" { ").and_then(|end| text.get(..end));
    let value = parse(text.as_bytes()).ok().or_else(|| parse(cut()?.as_bytes()).ok());
    value.map(|(value, _)| value).filter(|value| matches!(value, Json::Object(_) | Json::Array(_)))
}

/// Whether a value is a line of Claude Code's own logs of its servers, which describe events in words.
pub(super) fn is_debug_line(value: &Json) -> bool {
    ["debug", "error"].iter().any(|key| value.text(key).is_some())
        && ["timestamp", "sessionId", "cwd"].iter().all(|key| value.text(key).is_some())
        && !value.has("type")
}

/// The server of a file named `mcp-server-NAME.log`.
pub(super) fn server_of_file(name: &str) -> Option<String> {
    let name = name.rsplit(['/', '\\']).next()?.strip_prefix("mcp-server-")?.strip_suffix(".log")?;
    (!name.is_empty()).then(|| name.to_owned())
}

pub(super) fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    if input.head.is_json() {
        return Err(ReadError::refused(
            "a log that Claude Code keeps of an MCP server: it says which tools were called, but not with what arguments; \
             take the session itself, the file `SESSION.jsonl` below `~/.claude/projects`",
        ));
    }
    let mut sessions = Sessions::default();
    let file = server_of_file(input.source.name());
    let (mut read, mut without, mut broken) = (0_u64, 0_u64, Vec::new());
    each_line::<ReadError>(input.source, LONGEST, |number, bytes| {
        let line = String::from_utf8_lossy(bytes);
        let Some(about) = message(&line) else { return Ok(()) };
        match value(about.text) {
            Some(value) => {
                read += 1;
                let server = about.server.or(file.as_deref());
                let time = rfc3339(about.time);
                sessions
                    .messages(&value, &Message { line: Some(number), time, from: Some(about.from), server });
            }
            None if !about.text.starts_with(['{', '[']) => without += 1,
            None => broken.push(number),
        }
        Ok(())
    })?;
    for number in broken {
        sink.warn(Some(number), "a message that is no JSON, left out: it was cut");
    }
    if read == 0 && without > 0 {
        return Err(ReadError::refused(
            "a log without the contents of messages: this version of the desktop client writes the names of methods, but no \
             arguments and no results; record the JSON-RPC messages themselves, one on each line",
        ));
    }
    if without > 0 {
        sink.warn(None, &format!("messages whose contents are not in the log, left out: {without}"));
    }
    sessions.finish(sink)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_years_are_understood() {
        let parts = |line| message(line).map(|line| (line.server, line.from, line.text.starts_with('{')));
        let json = r#"{"jsonrpc":"2.0"}"#;
        let text = format!(
            "2025-03-01T10:00:00.000Z [shop] [info] Message from client: {json} {{ metadata: undefined }}"
        );
        assert_eq!(parts(&text), Some((Some("shop"), "client", true)));
        assert!(message(&text).and_then(|line| value(line.text)).is_some());
        let text = format!("2025-10-01T10:00:00.000Z [info] [shop] Message from server: {json}");
        assert_eq!(parts(&text), Some((Some("shop"), "server", true)));
        let text =
            "2026-02-01T10:00:00.000Z [info] [shop] Message from client: method=\"tools/call\" id=3 params";
        assert_eq!(parts(text), Some((Some("shop"), "client", false)));
        assert_eq!(parts("He said: Message from client: {}"), None);
        assert_eq!(value(r#"{"a": "x { y"} { metadata: undefined }"#).unwrap().text("a"), Some("x { y"));
        assert_eq!(server_of_file("logs/mcp-server-my shop.log").as_deref(), Some("my shop"));
    }
}
