//! Server-sent events (HTML, section 9.2) that carry messages. Their size is limited, and the results in them are kept
//! apart before rmcp parses them, because it loses unknown keys.

use std::sync::Arc;

use axum::body::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use reqwest::Response;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use sse_stream::{Error, Sse, SseStream};

use super::super::call_failure::CallFailure;
use super::super::lines::{MAX_MESSAGE, MAX_RESULT};
use super::super::message::Incoming;
use super::answers::{Answers, AwaitedRequest, read_apart};

/// Why a stream of events ends before the server ends it.
#[derive(Debug, thiserror::Error)]
enum StreamError {
    #[error("an event is too large")]
    TooLarge,
    #[error(transparent)]
    Read(reqwest::Error),
}

/// The stream that answers a request. An event that is too large ends the stream and the request.
pub(super) fn answering(
    response: Response,
    awaited: AwaitedRequest,
    answers: Arc<Answers>,
) -> BoxedSseResponse {
    let events = SseStream::from_bytes_stream(bounded(response, MAX_MESSAGE).boxed());
    keep_results(events, Some(awaited), answers)
}

/// Passes the events on, with the results of answers kept apart. `awaited` is the request that the stream answers, if
/// any.
pub(super) fn keep_results(
    events: impl Stream<Item = Result<Sse, Error>> + Send + 'static,
    awaited: Option<AwaitedRequest>,
    answers: Arc<Answers>,
) -> BoxedSseResponse {
    events
        .then(move |event| read(event, awaited.clone(), Arc::clone(&answers)))
        .flat_map(stream::iter)
        .boxed()
}

async fn read(
    event: Result<Sse, Error>,
    awaited: Option<AwaitedRequest>,
    answers: Arc<Answers>,
) -> Vec<Result<Sse, Error>> {
    let mut event = match (event, &awaited) {
        (Ok(event), _) => event,
        (Err(error), Some(awaited)) if is_too_large(&error) => {
            let refusal = answers.refused.refuse(awaited.id.clone(), CallFailure::TooLarge(MAX_RESULT));
            return vec![Ok(Sse { data: serde_json::to_string(&refusal).ok(), ..Sse::default() })];
        }
        (Err(error), _) => return vec![Err(error)],
    };
    // An event that is not a message may still have an id to resume after.
    let (None | Some("" | "message"), Some(data)) = (event.event.as_deref(), event.data.take()) else {
        return vec![Ok(event)];
    };
    let is_handshake = awaited.is_some_and(|awaited| awaited.is_handshake);
    let mut messages = match read_apart(data.into_bytes(), is_handshake).await {
        Incoming::Messages(messages) => messages,
        Incoming::Unreadable { id: Some(id), reason } => {
            vec![answers.refused.refuse(id, CallFailure::Malformed(reason))]
        }
        Incoming::Unreadable { id: None, .. } | Incoming::Noise => return vec![Ok(event)],
    };
    for message in &mut messages {
        answers.keep(message);
    }
    let with_message = |message| Ok(Sse { data: serde_json::to_string(message).ok(), ..event.clone() });
    messages.iter().map(with_message).collect()
}

fn is_too_large(error: &Error) -> bool {
    matches!(error, Error::Body(error) if matches!(error.downcast_ref(), Some(StreamError::TooLarge)))
}

/// The bytes of a body, until an event exceeds `limit`.
fn bounded(response: Response, limit: usize) -> impl Stream<Item = Result<Bytes, StreamError>> + Send {
    stream::unfold(Some((response, EventSize::default())), move |state| async move {
        let (mut response, mut size) = state?;
        match response.chunk().await {
            Ok(None) => None,
            Ok(Some(chunk)) if size.add(&chunk) <= limit => Some((Ok(chunk), Some((response, size)))),
            // The connection ends here; the rest of the event is not read.
            Ok(Some(_)) => Some((Err(StreamError::TooLarge), None)),
            Err(error) => Some((Err(StreamError::Read(error.without_url())), None)),
        }
    })
}

/// The size of the event being read: the bytes since the last empty line.
#[derive(Debug, Default)]
struct EventSize {
    bytes: usize,
    is_in_line: bool,
    is_after_return: bool,
}

impl EventSize {
    /// Adds a chunk; returns the largest size, up to this chunk, of the events with bytes in it.
    fn add(&mut self, chunk: &[u8]) -> usize {
        let mut largest = 0;
        for &byte in chunk {
            self.bytes += 1;
            largest = largest.max(self.bytes);
            if matches!(byte, b'\r' | b'\n') {
                // A line ends with a carriage return, a line feed, or both.
                let is_same_end = byte == b'\n' && self.is_after_return;
                if !is_same_end && !std::mem::take(&mut self.is_in_line) {
                    self.bytes = 0;
                }
            } else {
                self.is_in_line = true;
            }
            self.is_after_return = byte == b'\r';
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_an_event_is_counted_across_lines_and_chunks() {
        let mut size = EventSize::default();
        // Two lines of six bytes and a line end each; then the empty line.
        assert_eq!(size.add(b"data:a\ndata:b\n"), 14);
        assert_eq!(size.add(b"\n"), 15);
        assert_eq!(size.add(b"data:c\n\n"), 8);
        let mut size = EventSize::default();
        assert_eq!(size.add(b"data:a\r"), 7);
        assert_eq!(size.add(b"\ndata:b\r\n"), 16);
        assert_eq!(size.add(b"\r"), 17);
        // The second half of the last line end, and a new event.
        assert_eq!(size.add(b"\ndata:c"), 7);
        let mut size = EventSize::default();
        assert_eq!(size.add(b"data:a\rdata:b\r\rdata:c"), 15);
    }
}
