//! The results that arrive in streams of events. rmcp reads such a stream itself, into types that lose what they do
//! not know; so it is given an empty result there, and gets the whole one back when it hands the answer on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{CustomResult, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult};
use serde_json::Value;

use super::super::lines::Refused;

/// What is known of the answers on one connection.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// The requests that wait, each with its result once that is here: a server cannot make us keep others.
    waiting: Mutex<HashMap<RequestId, Option<Value>>>,
    pub(super) refused: Arc<Refused>,
}

impl Answers {
    pub(super) fn new(refused: Arc<Refused>) -> Self {
        Self { waiting: Mutex::default(), refused }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Option<Value>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request is about to be sent. It waits no more once this is dropped, unless told to
    /// [`keep_waiting`](Expected::keep_waiting).
    pub(super) fn expect(&self, id: &RequestId) -> Expected<'_> {
        self.lock().entry(id.clone()).or_default();
        Expected { answers: self, id: Some(id.clone()) }
    }

    /// Nobody waits for this answer any more.
    pub(super) fn forget(&self, id: &RequestId) {
        self.lock().remove(id);
    }

    /// Takes the result out of an answer in a stream of events. The first one counts.
    pub(super) fn keep(&self, message: &mut ServerJsonRpcMessage) {
        let JsonRpcMessage::Response(response) = message else { return };
        let ServerResult::CustomResult(CustomResult(result)) = &mut response.result else { return };
        if let Some(kept) = self.lock().get_mut(&own_id(&response.id)) {
            kept.get_or_insert(result.take());
        }
        response.result = ServerResult::empty(());
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

/// The id of the request that is answered: ours are numbers, and some servers answer with their digits as a string.
pub(super) fn own_id(id: &RequestId) -> RequestId {
    match id {
        RequestId::String(text) => text.parse().map_or_else(|_| id.clone(), RequestId::Number),
        RequestId::Number(_) => id.clone(),
    }
}

/// A request that is being sent.
pub(super) struct Expected<'a> {
    answers: &'a Answers,
    id: Option<RequestId>,
}

impl Expected<'_> {
    /// It was sent: the answer may come at any time.
    pub(super) fn keep_waiting(mut self) {
        self.id = None;
    }
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let mut waiting = self.answers.lock();
            // A result that is here already is on its way in another stream.
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

    fn kept(answers: &Answers, id: RequestId, result: Value) -> Value {
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
        assert_eq!(kept(&answers, RequestId::String("7".into()), json!({"a": 1})), json!({"a": 1}));
        assert_eq!(kept(&answers, id.clone(), json!({"a": 1})), json!({}));
        drop(answers.expect(&id));
        assert_eq!(kept(&answers, id.clone(), json!({"a": 1})), json!({}));
        answers.expect(&id).keep_waiting();
        answers.forget(&id);
        assert_eq!(kept(&answers, id.clone(), json!({"a": 1})), json!({}));
        answers.expect(&id).keep_waiting();
        let (mut first, mut second) = (answer(id.clone(), json!(1)), answer(id.clone(), json!(2)));
        answers.keep(&mut first);
        answers.keep(&mut second);
        answers.restore(&mut first);
        assert_eq!(serde_json::to_value(first).unwrap()["result"], 1);
        assert!(answers.lock().is_empty());
    }
}
