//! A request that waits for its answer, and the search for this answer among messages.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage};

use super::super::lines::LARGE;
use super::super::message::{Incoming, read_line};
use super::answers::own_id;

/// A request that waits for its answer.
#[derive(Debug, Clone)]
pub(super) struct AwaitedRequest {
    pub(super) id: RequestId,
    pub(super) is_handshake: bool,
}

impl AwaitedRequest {
    /// The request in a message; `None` if the message is not a request.
    pub(super) fn from_message(message: &ClientJsonRpcMessage) -> Option<Self> {
        let JsonRpcMessage::Request(request) = message else { return None };
        let is_handshake = matches!(
            request.request,
            ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_)
        );
        Some(Self { id: request.id.clone(), is_handshake })
    }
}

/// Parses a message, a large one on another thread.
pub(super) async fn read_apart(text: Vec<u8>, is_handshake: bool) -> Incoming {
    if text.len() <= LARGE {
        return read_line(&text, is_handshake);
    }
    let reading = tokio::task::spawn_blocking(move || read_line(&text, is_handshake));
    reading.await.unwrap_or(Incoming::Noise)
}

/// The message, if it answers the request. An error counts with any id, because the server may not have been able to
/// read the request's.
pub(super) fn answer_to(
    awaited: &AwaitedRequest,
    message: ServerJsonRpcMessage,
) -> Option<ServerJsonRpcMessage> {
    match message {
        JsonRpcMessage::Response(response) if own_id(&response.id) == awaited.id => {
            Some(JsonRpcMessage::response(response.result, awaited.id.clone()))
        }
        JsonRpcMessage::Error(error) => Some(JsonRpcMessage::error(error.error, Some(awaited.id.clone()))),
        _ => None,
    }
}
