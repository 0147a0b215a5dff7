//! Reads a client's messages line by line, so that a message that cannot be read is answered with an error instead of
//! silence.
//!
//! `rmcp` skips lines that are too long or that it cannot parse as JSON (nested too deep, half of a surrogate pair),
//! and the client would wait for an answer until its time is up. Here such a line is replaced by a request with the
//! same id that [`Handler`](super::handler::Handler) refuses, so that there is one writer of answers.

use rmcp::model::RequestId;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWriteExt as _, BufReader, DuplexStream};

use super::MAX_MESSAGE;
use crate::lines::{LARGE, Line, next_line};
use crate::message::id_of_request;

/// The method that stands for a request that could not be read; `params.reason` says why.
pub(super) const REFUSED: &str = "m3/unreadable";

/// The most bytes that are on their way to `rmcp`.
const BUFFER: usize = 64 << 10;

/// Returns the messages of `reader` with the unreadable ones replaced. The stream ends when `reader` does.
pub(super) fn readable(reader: impl AsyncRead + Send + Unpin + 'static) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(BUFFER);
    tokio::spawn(copy(reader, ours));
    theirs
}

async fn copy(reader: impl AsyncRead + Unpin, mut out: DuplexStream) {
    let mut reader = BufReader::with_capacity(BUFFER, reader);
    let mut line = Vec::new();
    loop {
        let refused = match next_line(&mut reader, &mut line, MAX_MESSAGE).await {
            Line::End => return,
            Line::TooLong(end) => {
                let reason = format!("the message is larger than {MAX_MESSAGE} bytes");
                id_of_request(&line, &end).map(|id| (id, reason))
            }
            Line::Whole if line.len() > LARGE => {
                let text = std::mem::take(&mut line);
                let checking = move || (unreadable(&text), text);
                let Ok((refused, text)) = tokio::task::spawn_blocking(checking).await else { return };
                line = text;
                refused
            }
            Line::Whole => unreadable(&line),
        };
        if let Some((id, reason)) = refused {
            let request =
                json!({"jsonrpc": "2.0", "id": id, "method": REFUSED, "params": {"reason": reason}});
            line = request.to_string().into_bytes();
        }
        line.push(b'\n');
        // This fails only when the connection has been closed.
        if out.write_all(&line).await.is_err() {
            return;
        }
    }
}

/// Why a line is not JSON, and the id of the request in it. `None` for a line that can be read, and for one without
/// an id, because then no answer is possible.
fn unreadable(line: &[u8]) -> Option<(RequestId, String)> {
    let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if text.trim_ascii().is_empty() {
        return None;
    }
    let error = serde_json::from_slice::<Value>(text).err()?;
    let id = id_of_request(text, text)?;
    Some((id, format!("the message cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_no_json_is_refused() {
        let refused = |line: &str| unreadable(line.as_bytes()).map(|(id, _)| id);
        let deep = |depth: usize| {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            format!(
                r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"arguments":{open}{close}}}}}"#
            )
        };
        assert_eq!(refused(&deep(100)), None);
        assert_eq!(refused(&deep(200)), Some(RequestId::Number(3)));
        let half = r#"{"method":"tools/call","params":{"id":9,"x":"\ud800"},"jsonrpc":"2.0","id":"a"}"#;
        assert_eq!(refused(half), Some(RequestId::String("a".into())));
        for line in ["", "\r", "hello", "{\"id\":", "\u{feff}{\"id\":1}"] {
            assert_eq!(refused(line), None, "{line}");
        }
    }
}
