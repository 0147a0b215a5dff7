//! Models over HTTP: retries, limits and keys; and cassettes.

mod cassettes;
mod playing;
mod retries;
mod server;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use m3_llm::{
    Answered, Key, Message, Model, ModelError, ModelName, ModelOptions, Part, Request, Retry, Scope,
};
use serde_json::{Value, json};
use server::Server;

/// No test takes this long.
const LIMIT: Duration = Duration::from_mins(1);

/// A text that looks like a key.
const KEY: &str = "sk-test/0123456789+abcdef";

/// A model at this server, with a key.
fn model(server: &Server, mut options: ModelOptions) -> Model {
    options.key = Key::new(KEY);
    Model::open(name(server), options).unwrap()
}

fn name(server: &Server) -> ModelName {
    ModelName::parse(&format!("openai@http://{}/v1:test-model", server.address)).unwrap()
}

/// A user's question.
fn question(text: &str) -> Request {
    Request {
        system: "Be brief.".to_owned(),
        messages: vec![Arc::new(Message::User(vec![Part::Text(text.to_owned())]))],
        ..Request::default()
    }
}

fn scope(task: &str, repeat: u32) -> Scope {
    Scope { task: task.to_owned(), repeat, attempt: 1, workspace: None }
}

/// The body of a chat completion ("The chat completion object").
pub(crate) fn completion(text: &str) -> Value {
    json!({
        "id": "c", "object": "chat.completion", "created": 1, "model": "test-model",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    })
}

/// The body of an error ("Error codes").
fn error(code: &str, message: &str) -> String {
    json!({"error": {"message": message, "type": code, "code": code, "param": null}}).to_string()
}

/// The result of asking, and the tries that failed before.
async fn ask(model: &Model, request: &Request, scope: &Scope) -> (Result<Answered, ModelError>, Vec<Retry>) {
    let retries = Mutex::new(Vec::new());
    let told = |retry| retries.lock().unwrap().push(retry);
    let answered = tokio::time::timeout(LIMIT, model.ask(request, scope, &told)).await.unwrap();
    (answered, retries.into_inner().unwrap())
}

/// The text of an answer; fails if there is none.
async fn text(model: &Model, request: &Request, scope: &Scope) -> String {
    ask(model, request, scope).await.0.unwrap().reply.text
}
