//! A stage for one task: a model that says what the test wrote, tools that are watched, and all that came of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use m3::executor::{Attempt, Attempted, Mode, Record, RunOptions, Told, Tools, attempt};
use m3::llm::{Model, ModelName, ModelOptions, Picture, PictureLimits, Scope};
use m3::mcp::redact::Redactor;
use m3::mcp::results::ResultStore;
use m3::mcp::{Host, HostOptions};
use m3::trajectory::Task;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::tools;

/// What the model does with a request.
#[derive(Debug, Clone)]
pub(super) enum Say {
    /// It writes this.
    Text(String),
    /// It calls tools by the provider's tool calling: name and arguments, each with an id of its own.
    Calls(Vec<(String, String)>),
    /// It answers with an error.
    Status(u16, String),
    /// It never answers.
    Nothing,
}

/// A model that follows a script.
#[derive(Clone, Default)]
struct Script {
    lines: Arc<Mutex<VecDeque<Say>>>,
    requests: Arc<Mutex<Vec<Value>>>,
}

/// What came of it.
pub(super) struct Played {
    pub(super) record: Record,
    /// The bodies that the model got.
    pub(super) requests: Vec<Value>,
    pub(super) told: Vec<Told>,
    pub(super) workspace: TempDir,
    /// What the tools were called with, in order of the calls.
    pub(super) called: Vec<(String, Value)>,
}

/// What is to be played.
pub(super) struct Stage {
    pub(super) options: RunOptions,
    pub(super) stop: CancellationToken,
    pub(super) secrets: Vec<String>,
    pub(super) image: Option<Vec<u8>>,
    lines: Vec<Say>,
}

pub(super) fn text(text: impl Into<String>) -> Say {
    Say::Text(text.into())
}

pub(super) fn options(mode: Mode) -> RunOptions {
    RunOptions {
        mode,
        instruction: m3::executor::Instruction::Question,
        limits: m3::executor::Limits::default(),
        compress: false,
        result_limit: 2_000,
        max_image_side: None,
        settings: m3::llm::Settings::default(),
    }
}

/// Calls as the staged mode asks for them.
pub(super) fn staged_calls(calls: &[(&str, Value)]) -> Say {
    let calls: Vec<Value> =
        calls.iter().map(|(name, arguments)| json!({"name": name, "arguments": arguments})).collect();
    text(json!({ "tool_calls": calls }).to_string())
}

/// Calls as the native mode has them.
pub(super) fn native_calls(calls: &[(&str, Value)]) -> Say {
    Say::Calls(calls.iter().map(|(name, arguments)| ((*name).to_owned(), arguments.to_string())).collect())
}

/// An action of the react mode.
pub(super) fn action(calls: &[(&str, Value)]) -> Say {
    let calls: Vec<Value> =
        calls.iter().map(|(name, arguments)| json!({"name": name, "arguments": arguments})).collect();
    text(format!("Thought: more is needed.\nAction: {}", Value::from(calls)))
}

/// A plan of the staged mode.
pub(super) fn plan(tools: &[&str]) -> Say {
    text(json!({"tools": tools, "plan": "as it says"}).to_string())
}

impl Stage {
    pub(super) fn new(mode: Mode, lines: impl IntoIterator<Item = Say>) -> Self {
        Self {
            options: options(mode),
            stop: CancellationToken::new(),
            secrets: Vec::new(),
            image: None,
            lines: lines.into_iter().collect(),
        }
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Plays it to its end.
    pub(super) async fn play(self) -> Played {
        self.play_until_stopped().await.unwrap()
    }

    /// Plays it; nothing if it was interrupted.
    pub(super) async fn play_until_stopped(self) -> Option<Played> {
        let script = Script { lines: Arc::new(Mutex::new(self.lines.into())), ..Script::default() };
        let address = serve(script.clone()).await;
        let name = ModelName::parse(&format!("openai@http://{address}/v1:test-model")).unwrap();
        let model = Model::open(name, ModelOptions { tries: 2, ..ModelOptions::default() }).unwrap();
        let workspace = tempfile::tempdir().unwrap();
        let (config, called) = tools::servers();
        let host = Arc::new(Host::start(&config, HostOptions::new(workspace.path()), Arc::new(|_| ())).await);
        let redactor = Redactor::new(&self.secrets).unwrap();
        let store = ResultStore::open(workspace.path().join("results"), workspace.path(), redactor.clone())
            .unwrap()
            .with_limit(self.options.result_limit);
        let tools = Tools::live(Arc::clone(&host), store, None);
        let image = self.image.map(|bytes| {
            std::fs::write(workspace.path().join("task.png"), &bytes).unwrap();
            let (max_side, max_bytes) = model.image_limits();
            let limits = PictureLimits { max_side, max_bytes };
            ("task.png".to_owned(), Arc::new(Picture::from_bytes("task.png", bytes, &limits).unwrap()))
        });
        let task =
            Task { id: "t1".to_owned(), question: Some("How many eels?".to_owned()), ..Task::default() };
        let told = Arc::new(Mutex::new(Vec::new()));
        let telling = Arc::clone(&told);
        let offered = tools.catalog().clone();
        let playing = attempt(Attempt {
            task: &task,
            image,
            workspace: workspace.path(),
            tools: &tools,
            offered: &offered,
            model: &model,
            options: &self.options,
            scope: Scope {
                task: task.id.clone(),
                repeat: 1,
                attempt: 1,
                workspace: Some(workspace.path().to_owned()),
            },
            events: Arc::new(move |event| telling.lock().unwrap().push(event)),
            stop: self.stop,
            redactor: &redactor,
        });
        // Nothing here takes long; what hangs fails.
        let attempted = tokio::time::timeout(Duration::from_mins(2), playing).await.unwrap();
        host.close().await;
        let record = match attempted {
            Attempted::Done(record) => record,
            Attempted::Interrupted => return None,
        };
        let left = script.lines.lock().unwrap().len();
        assert_eq!(left, 0, "lines of the script that nobody asked for: {record:#?}");
        let requests = script.requests.lock().unwrap().clone();
        let told = told.lock().unwrap().clone();
        let called = called.lock().unwrap().clone();
        Some(Played { record, requests, told, workspace, called })
    }
}

impl Played {
    /// Outcomes of the calls, step by step.
    pub(super) fn outcomes(&self) -> Vec<Vec<&str>> {
        let steps = self.record.steps.iter();
        steps.map(|step| step.calls.iter().map(|call| call.outcome.as_str()).collect()).collect()
    }

    /// The names of the calls, step by step.
    pub(super) fn names(&self) -> Vec<Vec<&str>> {
        let steps = self.record.steps.iter();
        steps.map(|step| step.calls.iter().map(|call| call.name.as_str()).collect()).collect()
    }

    /// What the turns were for.
    pub(super) fn purposes(&self) -> Vec<&str> {
        self.record.turns.iter().map(|turn| turn.purpose.as_str()).collect()
    }

    /// All that the model was told with a request.
    pub(super) fn request(&self, index: usize) -> String {
        self.requests[index]["messages"].to_string()
    }

    /// The last message of a request.
    pub(super) fn last_message(&self, index: usize) -> &Value {
        self.requests[index]["messages"].as_array().unwrap().last().unwrap()
    }
}

async fn serve(script: Script) -> std::net::SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new()
        .route("/v1/chat/completions", post(reply))
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(script);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

async fn reply(State(script): State<Script>, body: axum::body::Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap();
    check(&body);
    let number = {
        let mut requests = script.requests.lock().unwrap();
        requests.push(body);
        requests.len()
    };
    let line = script.lines.lock().unwrap().pop_front();
    let message = match line {
        Some(Say::Text(text)) => json!({"role": "assistant", "content": text}),
        Some(Say::Calls(calls)) => {
            let calls: Vec<Value> = calls
                .iter()
                .enumerate()
                .map(|(index, (name, arguments))| {
                    let function = json!({"name": name, "arguments": arguments});
                    json!({"id": format!("call-{number}-{index}"), "type": "function", "function": function})
                })
                .collect();
            json!({"role": "assistant", "content": null, "tool_calls": calls})
        }
        Some(Say::Status(status, message)) => {
            let body = json!({"error": {"message": message}}).to_string();
            return (StatusCode::from_u16(status).unwrap(), body).into_response();
        }
        Some(Say::Nothing) => std::future::pending().await,
        None => return (StatusCode::BAD_REQUEST, "the script has ended").into_response(),
    };
    let finish = if message["tool_calls"].is_array() { "tool_calls" } else { "stop" };
    json!({
        "id": "reply", "model": "test-model-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    })
    .to_string()
    .into_response()
}

/// What every request keeps to: roles in turn, every call answered once, nothing empty.
fn check(body: &Value) {
    let messages = body["messages"].as_array().unwrap();
    let mut before = "";
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let role = message["role"].as_str().unwrap();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            assert_eq!(open.remove(0), id, "an answer to another call");
        } else {
            assert!(open.is_empty(), "a call was not answered");
            assert!(role != before, "two messages of {role} in a row");
        }
        if let Some(calls) = message["tool_calls"].as_array() {
            open = calls.iter().map(|call| call["id"].as_str().unwrap()).collect();
        } else {
            assert!(message["content"].as_str() != Some(""), "an empty message");
        }
        before = role;
    }
    assert!(open.is_empty(), "a call was not answered");
    assert_ne!(before, "assistant", "the last message is the model's own");
}
