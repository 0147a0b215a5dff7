//! Models over HTTP: retries, limits and keys; and cassettes.

mod cassettes;
mod playing;
mod retries;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use m3_llm::{
    Key, Message, Model, ModelAnswer, ModelError, ModelName, ModelOptions, Part, Request, Retry, Scope,
};
use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest};
use serde_json::{Value, json};

/// No test takes this long.
const LIMIT: Duration = Duration::from_mins(1);

/// A text that looks like a key.
const KEY: &str = "sk-test/0123456789+abcdef";

/// A model at this server, with a key.
fn model(server: &ScriptedModel, options: ModelOptions) -> Model {
    model_at(server.base_url(), options)
}

fn model_at(address: &str, mut options: ModelOptions) -> Model {
    options.key = Key::new(KEY);
    Model::open(name_at(address), options).unwrap()
}

fn name(server: &ScriptedModel) -> ModelName {
    name_at(server.base_url())
}

fn name_at(address: &str) -> ModelName {
    ModelName::parse(&format!("openai@{address}:test-model")).unwrap()
}

/// A server that does one thing after another.
fn serve(steps: impl IntoIterator<Item = ScriptedReply>) -> ScriptedModel {
    ScriptedModel::in_steps(ScriptedWire::OpenAi, steps)
}

/// A reply of the model.
fn reply(text: &str) -> ScriptedReply {
    ScriptedReply::Say(text.to_owned())
}

/// An answer with a header and a body.
fn answer(status: u16, (name, value): (&str, &str), body: &str) -> ScriptedReply {
    ScriptedReply::Raw { status, headers: vec![(name.to_owned(), value.to_owned())], body: body.to_owned() }
}

/// A failure, with a body.
fn failure(status: u16, body: &str) -> ScriptedReply {
    ScriptedReply::Raw { status, headers: Vec::new(), body: body.to_owned() }
}

/// What repeats the key: a reply, or an error.
fn echo(status: u16, seen: &SeenRequest) -> ScriptedReply {
    match (status, format!("{:?}", seen.authorization)) {
        (200, authorization) => ScriptedReply::Say(authorization),
        (_, authorization) => failure(status, &error("bad", &format!("no: {authorization}"))),
    }
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
async fn ask(
    model: &Model,
    request: &Request,
    scope: &Scope,
) -> (Result<ModelAnswer, ModelError>, Vec<Retry>) {
    let retries = Mutex::new(Vec::new());
    let told = |retry| retries.lock().unwrap().push(retry);
    let answered = tokio::time::timeout(LIMIT, model.ask(request, scope, &told)).await.unwrap();
    (answered, retries.into_inner().unwrap())
}

/// The text of an answer; fails if there is none.
async fn text(model: &Model, request: &Request, scope: &Scope) -> String {
    ask(model, request, scope).await.0.unwrap().reply.text
}
