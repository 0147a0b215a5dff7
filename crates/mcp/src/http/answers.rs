//! Requests that wait for their answers, and results that arrive in streams of events. rmcp parses such streams itself,
//! into types that lose unknown keys; so it gets an empty result there, and the complete one is put back when rmcp returns
//! the answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomResult, JsonRpcMessage, ListToolsResult, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use serde_json::Value;

use super::super::lines::{LARGE, RefusedAnswers};
use super::super::message::{Incoming, read_line};

/// The answers on one connection.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// The waiting requests, each with its result once it has arrived. Results of other requests are not kept, so a
    /// server cannot fill our memory.
    waiting: Mutex<HashMap<RequestId, Option<Value>>>,
    pub(super) refused: Arc<RefusedAnswers>,
}

impl Answers {
    pub(super) fn new(refused: Arc<RefusedAnswers>) -> Self {
        Self { waiting: Mutex::default(), refused }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Option<Value>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a request is about to be sent. It stops waiting when the returned value is dropped, unless
    /// [`keep_waiting`](PendingRequest::keep_waiting) was called.
    pub(super) fn expect(&self, id: &RequestId) -> PendingRequest<'_> {
        self.lock().entry(id.clone()).or_default();
        PendingRequest { answers: self, id: Some(id.clone()) }
    }

    /// Notes that this answer is no longer needed.
    pub(super) fn forget(&self, id: &RequestId) {
        self.lock().remove(id);
    }

    /// Takes the result out of an answer that rmcp reads. If there are several, the first one counts. rmcp sees a list of
    /// tools, because it makes headers of some arguments (MCP 2026-07-28, `x-mcp-header`).
    pub(super) fn keep(&self, message: &mut ServerJsonRpcMessage) {
        let JsonRpcMessage::Response(response) = message else { return };
        let ServerResult::CustomResult(CustomResult(result)) = &mut response.result else { return };
        let tools = result.get("tools").and_then(Value::as_array).map(|tools| {
            let read = tools.iter().filter_map(|tool| serde_json::from_value(tool.clone()).ok());
            ListToolsResult::with_all_items(read.collect())
        });
        if let Some(kept) = self.lock().get_mut(&own_id(&response.id)) {
            kept.get_or_insert(result.take());
        }
        response.result = tools.map_or_else(|| ServerResult::empty(()), ServerResult::ListToolsResult);
    }

    /// Puts the result back into an answer.
    pub(super) fn restore(&self, message: &mut ServerJsonRpcMessage) {
        match message {
            JsonRpcMessage::Response(response) => {
                if let Some(result) = self.lock().remove(&own_id(&response.id)).flatten() {
                    response.result = ServerResult::CustomResult(CustomResult(result));
                }
            }
            JsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.forget(&own_id(id));
                }
            }
            _ => {}
        }
    }
}

/// The id of the request that is answered. Our ids are numbers, but some servers answer with their digits as a
/// string.
fn own_id(id: &RequestId) -> RequestId {
    match id {
        RequestId::String(text) => text.parse().map_or_else(|_| id.clone(), RequestId::Number),
        RequestId::Number(_) => id.clone(),
    }
}

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

/// A request that is being sent.
pub(super) struct PendingRequest<'a> {
    answers: &'a Answers,
    id: Option<RequestId>,
}

impl PendingRequest<'_> {
    /// Notes that the request was sent: the answer may arrive at any time.
    pub(super) fn keep_waiting(mut self) {
        self.id = None;
    }
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let mut waiting = self.answers.lock();
            // A result that has arrived already is being delivered by another stream.
            if waiting.get(&id).is_some_and(Option::is_none) {
                waiting.remove(&id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(id: RequestId, result: Value) -> ServerJsonRpcMessage {
        JsonRpcMessage::response(ServerResult::CustomResult(CustomResult(result)), id)
    }

    fn kept_and_restored(answers: &Answers, id: RequestId, result: Value) -> Value {
        let mut message = answer(id, result);
        answers.keep(&mut message);
        answers.restore(&mut message);
        serde_json::to_value(message).unwrap()["result"].clone()
    }

    #[test]
    fn a_result_is_kept_once_and_only_for_a_request_that_waits() {
        let answers = Answers::default();
        let id = RequestId::Number(7);
        answers.expect(&id).keep_waiting();
        assert_eq!(
            kept_and_restored(&answers, RequestId::String("7".into()), json!({"a": 1})),
            json!({"a": 1})
        );
        assert_eq!(kept_and_restored(&answers, id.clone(), json!({"a": 1})), json!({}));
        drop(answers.expect(&id));
        assert_eq!(kept_and_restored(&answers, id.clone(), json!({"a": 1})), json!({}));
        answers.expect(&id).keep_waiting();
        answers.forget(&id);
        assert_eq!(kept_and_restored(&answers, id.clone(), json!({"a": 1})), json!({}));
        answers.expect(&id).keep_waiting();
        let (mut first, mut second) = (answer(id.clone(), json!(1)), answer(id.clone(), json!(2)));
        answers.keep(&mut first);
        answers.keep(&mut second);
        answers.restore(&mut first);
        assert_eq!(serde_json::to_value(first).unwrap()["result"], 1);
        assert!(answers.lock().is_empty());
    }
}
