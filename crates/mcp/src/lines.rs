//! Reads a server's standard output line by line, and never holds more than one message of limited size.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use m3_support::text::shortened;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::call_failure::CallFailure;
use super::message::{Incoming, read_line, response_id};
use super::status::{Events, HostEvent};

/// The most bytes of content in a result: 64 MiB.
pub const MAX_RESULT: usize = 64 << 20;

/// The longest message, in bytes: 64 MiB in base64 take a third more, and its members need room.
pub(super) const MAX_MESSAGE: usize = MAX_RESULT / 3 * 4 + (1 << 20);

/// How many bytes of the beginning and of the end of a longer message are kept, to find its id.
const KEPT: usize = 1 << 10;

/// From this size on, a message is parsed on another thread, because it takes long.
pub(super) const LARGE: usize = 1 << 20;

/// The most lines of noise that are reported; all are counted.
const REPORTED_NOISE: u64 = 5;

/// The answers that were refused, and why: shared between the reader and the calls.
#[derive(Debug, Default)]
pub(super) struct RefusedAnswers(Mutex<HashMap<RequestId, CallFailure>>);

impl RefusedAnswers {
    /// Refuses the answer to a request; returns the message in its place, which ends the call.
    pub(super) fn refuse(&self, id: RequestId, reason: CallFailure) -> ServerJsonRpcMessage {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A hostile server may invent ids that no call ever looks up.
        if answers.len() > 10_000 {
            answers.clear();
        }
        answers.insert(id.clone(), reason);
        JsonRpcMessage::error(ErrorData::new(ErrorCode::PARSE_ERROR, "", None), Some(id))
    }

    /// Why the answer to this request was refused, if it was.
    pub(super) fn take(&self, id: &RequestId) -> Option<CallFailure> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}

/// How long a server's standard output is read after its end.
const AFTER_END: Duration = Duration::from_millis(500);

/// Reads a server's standard output until its end.
pub(super) struct LineReader {
    pub(super) server: String,
    pub(super) events: Events,
    pub(super) noise: Arc<AtomicU64>,
    pub(super) refused: Arc<RefusedAnswers>,
    pub(super) messages: mpsc::Sender<ServerJsonRpcMessage>,
    /// Cancelled when the process has ended.
    pub(super) has_left: CancellationToken,
    /// Cancelled when the server writes the headers that language servers put before each message.
    pub(super) writes_headers: CancellationToken,
}

/// The result of reading a line.
pub(super) enum Line {
    /// The line is in the buffer.
    Whole,
    /// The line was too long; its end is in this second buffer.
    TooLong(Vec<u8>),
    /// There are no more lines.
    End,
}

impl LineReader {
    pub(super) async fn run(self, stdout: impl AsyncRead + Unpin) {
        let mut stdout = BufReader::with_capacity(64 << 10, stdout);
        let mut line = Vec::new();
        let mut is_handshake = true;
        loop {
            let read = tokio::select! {
                biased;
                read = next_line(&mut stdout, &mut line, MAX_MESSAGE) => read,
                () = self.silence() => return,
            };
            let incoming = match read {
                Line::End => return,
                Line::Whole if line.len() > LARGE => {
                    let text = std::mem::take(&mut line);
                    let reading = move || (read_line(&text, is_handshake), text);
                    let Ok((incoming, text)) = tokio::task::spawn_blocking(reading).await else { return };
                    line = text;
                    incoming
                }
                Line::Whole => read_line(&line, is_handshake),
                Line::TooLong(end) => {
                    let server = self.server.clone();
                    (self.events)(HostEvent::Oversized { server, limit: MAX_MESSAGE });
                    self.refuse(response_id(&line, &end), CallFailure::TooLarge(MAX_RESULT)).await;
                    continue;
                }
            };
            match incoming {
                Incoming::Messages(messages) => {
                    for message in messages {
                        if matches!(message, JsonRpcMessage::Response(_)) {
                            is_handshake = false;
                        }
                        if self.messages.send(message).await.is_err() {
                            return;
                        }
                    }
                }
                Incoming::Unreadable { id, reason } => {
                    self.count_noise(&line);
                    self.refuse(id, CallFailure::Malformed(reason)).await;
                }
                Incoming::Noise => self.count_noise(&line),
            }
        }
    }

    /// Waits until the process has ended and no more output is expected from it: processes that it started may hold its
    /// standard output open for ever. Output that is there already is read first, however long that takes.
    async fn silence(&self) {
        self.has_left.cancelled().await;
        tokio::time::sleep(AFTER_END).await;
    }

    /// Ends the call whose answer is refused; a call whose id is unknown ends by its time limit.
    async fn refuse(&self, id: Option<RequestId>, reason: CallFailure) {
        let Some(id) = id else { return };
        // This fails only when the connection has been closed.
        let _ = self.messages.send(self.refused.refuse(id, reason)).await;
    }

    fn count_noise(&self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let length = line.trim_ascii().strip_prefix(b"Content-Length: ");
        let is_first = self.noise.load(Ordering::Relaxed) == 0;
        if is_first
            && length.is_some_and(|length| !length.is_empty() && length.iter().all(u8::is_ascii_digit))
        {
            self.writes_headers.cancel();
        }
        if self.noise.fetch_add(1, Ordering::Relaxed) < REPORTED_NOISE {
            let start = &line[..line.len().min(1 << 10)];
            let line = shortened(String::from_utf8_lossy(start).trim_end(), 200);
            (self.events)(HostEvent::Noise { server: self.server.clone(), line });
        }
    }
}

/// Reads the next line, without its end, into `line`; if it is longer than `limit`, only its beginning. A last line
/// without a line break counts: the server may have died while writing it, or forgotten the line break.
pub(super) async fn next_line(
    stdout: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    limit: usize,
) -> Line {
    line.clear();
    // Memory for one large message should not be kept for as long as the server runs.
    line.shrink_to(LARGE);
    let mut end = None::<Vec<u8>>;
    loop {
        let Ok(available) = stdout.fill_buf().await else { return Line::End };
        if available.is_empty() {
            return if line.is_empty() || end.is_some() { Line::End } else { Line::Whole };
        }
        let newline = available.iter().position(|&byte| byte == b'\n');
        let part = &available[..newline.unwrap_or(available.len())];
        if let Some(end) = &mut end {
            end.extend_from_slice(&part[part.len().saturating_sub(KEPT)..]);
            let surplus = end.len().saturating_sub(KEPT);
            end.drain(..surplus);
        } else if line.len() + part.len() > limit {
            line.extend_from_slice(&part[..part.len().min(KEPT)]);
            let mut kept = line[line.len().saturating_sub(KEPT)..].to_vec();
            kept.extend_from_slice(&part[part.len().saturating_sub(KEPT)..]);
            end = Some(kept);
            line.truncate(KEPT);
            line.shrink_to(KEPT);
        } else {
            line.extend_from_slice(part);
        }
        let consumed = newline.map_or(available.len(), |newline| newline + 1);
        stdout.consume(consumed);
        if newline.is_some() {
            return end.map_or(Line::Whole, Line::TooLong);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_long_line_keeps_its_ends_and_does_not_harm_the_next() {
        let text = format!("short\n{{\"id\":1{}\"end\"}}\nnext\nlast", "x".repeat(5000));
        // A small buffer gives small pieces, as from a pipe.
        let mut stdout = BufReader::with_capacity(16, text.as_bytes());
        let mut line = Vec::new();
        assert!(matches!(next_line(&mut stdout, &mut line, 100).await, Line::Whole));
        assert_eq!(line, b"short");
        let Line::TooLong(end) = next_line(&mut stdout, &mut line, 100).await else { panic!("too long") };
        assert!(line.starts_with(b"{\"id\":1xx") && line.len() <= KEPT);
        assert!(end.ends_with(b"xx\"end\"}") && end.len() <= KEPT);
        assert!(matches!(next_line(&mut stdout, &mut line, 100).await, Line::Whole));
        assert_eq!(line, b"next");
        assert!(matches!(next_line(&mut stdout, &mut line, 100).await, Line::Whole));
        assert_eq!(line, b"last");
        assert!(matches!(next_line(&mut stdout, &mut line, 100).await, Line::End));
    }
}
