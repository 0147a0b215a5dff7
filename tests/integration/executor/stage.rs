//! A stage for one task: a model with the test's script, tools whose calls are noted, and the whole result.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use m3_executor::{Attempt, AttemptEnd, Mode, OfferedTools, Record, RunOptions, TaskEvent, Tools, attempt};
use m3_llm::{Cassette, Header, Model, ModelName, ModelOptions, Picture, Recorder, Scope};
use m3_mcp::results::{Keeps, ResultStore};
use m3_mcp::{Host, HostOptions};
use m3_support::redact::Redactor;
use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest};
use m3_trajectory::Task;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::tools;

/// The result of a task.
pub(super) struct Played {
    pub(super) record: Record,
    /// The bodies that the model got, with hashes where images were.
    pub(super) requests: Vec<Value>,
    /// The same requests in terms that are equal for all wires.
    pub(super) seen: Vec<SeenRequest>,
    pub(super) told: Vec<TaskEvent>,
    pub(super) workspace: TempDir,
    /// The calls of the tools with their arguments, in order.
    pub(super) called: Vec<(String, Value)>,
}

/// The task to play.
pub(super) struct Stage {
    pub(super) options: RunOptions,
    pub(super) stop: CancellationToken,
    pub(super) secrets: Vec<String>,
    pub(super) image: Option<Vec<u8>>,
    pub(super) wire: ScriptedWire,
    /// How many calls the server takes at once.
    pub(super) places: Option<usize>,
    /// Where everything is recorded.
    pub(super) cassette: Option<PathBuf>,
    lines: Vec<ScriptedReply>,
}

pub(super) fn text(text: impl Into<String>) -> ScriptedReply {
    ScriptedReply::Say(text.into())
}

pub(super) fn options(mode: Mode) -> RunOptions {
    RunOptions {
        no_images: false,
        mode,
        instruction: m3_executor::Instruction::Question,
        limits: m3_executor::Limits::default(),
        compress: false,
        result_limit: 2_000,
        max_image_side: None,
        settings: m3_llm::Settings::default(),
    }
}

/// Calls in the form of the staged mode.
pub(super) fn staged_calls(calls: &[(&str, Value)]) -> ScriptedReply {
    let calls: Vec<Value> =
        calls.iter().map(|(name, arguments)| json!({"name": name, "arguments": arguments})).collect();
    text(json!({ "tool_calls": calls }).to_string())
}

/// Calls in the form of the native mode.
pub(super) fn native_calls(calls: &[(&str, Value)]) -> ScriptedReply {
    let calls = calls.iter().map(|(name, arguments)| ((*name).to_owned(), arguments.clone()));
    ScriptedReply::Call(calls.collect())
}

/// An action of the react mode.
pub(super) fn action(calls: &[(&str, Value)]) -> ScriptedReply {
    let calls: Vec<Value> =
        calls.iter().map(|(name, arguments)| json!({"name": name, "arguments": arguments})).collect();
    text(format!("Thought: more is needed.\nAction: {}", Value::from(calls)))
}

/// A plan of the staged mode.
pub(super) fn plan(tools: &[&str]) -> ScriptedReply {
    text(json!({"tools": tools, "plan": "as it says"}).to_string())
}

impl Stage {
    pub(super) fn new(mode: Mode, lines: impl IntoIterator<Item = ScriptedReply>) -> Self {
        Self {
            options: options(mode),
            stop: CancellationToken::new(),
            secrets: Vec::new(),
            image: None,
            wire: ScriptedWire::OpenAi,
            places: None,
            cassette: None,
            lines: lines.into_iter().collect(),
        }
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Plays the task to its end.
    pub(super) async fn play(self) -> Played {
        self.play_until_stopped().await.unwrap()
    }

    /// Plays the task; `None` if it was interrupted.
    pub(super) async fn play_until_stopped(self) -> Option<Played> {
        let lines = Arc::new(Mutex::new(VecDeque::from(self.lines)));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (script, seeing) = (Arc::clone(&lines), Arc::clone(&seen));
        let server = ScriptedModel::start(self.wire, move |request| {
            seeing.lock().unwrap().push(request.clone());
            script.lock().unwrap().pop_front().unwrap_or_else(|| refusal("the script has ended"))
        });
        let wire = match self.wire {
            ScriptedWire::OpenAi => "openai",
            ScriptedWire::Anthropic => "anthropic",
            ScriptedWire::Gemini => "gemini",
            ScriptedWire::Bedrock => "bedrock",
        };
        let name = ModelName::parse(&format!("{wire}@{}:test-model", server.base_url())).unwrap();
        let record = |path: &PathBuf| Recorder::create_or_append(path, Header::new(&name)).unwrap();
        let recorder = self.cassette.as_ref().map(|path| Arc::new(record(path)));
        let mut model =
            Model::open(name.clone(), ModelOptions { tries: Some(2), ..ModelOptions::default() }).unwrap();
        if let Some(recorder) = &recorder {
            model = model.recorded_by(Arc::clone(recorder));
        }
        let workspace = tempfile::tempdir().unwrap();
        let (mut config, called) = tools::servers(workspace.path());
        config.servers[0].max_concurrent = self.places;
        let host = Arc::new(Host::start(&config, HostOptions::new(workspace.path()), Arc::new(|_| ())).await);
        let redactor = Redactor::new(&self.secrets).unwrap();
        let store = ResultStore::open(
            workspace.path().join("results"),
            workspace.path(),
            redactor.clone(),
            Keeps::All,
        )
        .unwrap()
        .with_limit(self.options.result_limit);
        let tools = Tools::live(Arc::clone(&host), store, recorder.clone());
        if let Some(recorder) = &recorder {
            recorder.record_catalog(&tools.catalog().to_json());
        }
        let image = self.image.map(|bytes| prepared(bytes, &model, workspace.path()));
        let told = Arc::new(Mutex::new(Vec::new()));
        let telling = Arc::clone(&told);
        let playing = played_by(Cast {
            tools: &tools,
            model: &model,
            options: &self.options,
            workspace: workspace.path(),
            image,
            events: Arc::new(move |event| telling.lock().unwrap().push(event)),
            stop: self.stop,
            redactor: &redactor,
        });
        // Nothing here takes long; a task that hangs fails the test.
        let attempted = tokio::time::timeout(Duration::from_mins(2), playing).await.unwrap();
        host.close().await;
        let record = match attempted {
            AttemptEnd::Done(record) => record,
            AttemptEnd::Interrupted(_) => return None,
            AttemptEnd::Blocked(_, record) => *record,
        };
        assert_eq!(server.problems(), [""; 0]);
        let left = lines.lock().unwrap().len();
        assert_eq!(left, 0, "lines of the script that nobody asked for: {record:#?}");
        let requests = server.requests();
        if self.wire == ScriptedWire::OpenAi {
            requests.iter().for_each(takes_turns);
        }
        let seen = seen.lock().unwrap().clone();
        let told = told.lock().unwrap().clone();
        let called = called.lock().unwrap().clone();
        Some(Played { record, requests, seen, told, workspace, called })
    }
}

/// Replays a recording, without a model and without servers.
pub(super) async fn replay(cassette: &Path, options: &RunOptions, image: Option<Vec<u8>>) -> Record {
    let cassette = Arc::new(Cassette::open(cassette).unwrap());
    let model = Model::replay(Arc::clone(&cassette)).unwrap();
    let workspace = tempfile::tempdir().unwrap();
    let redactor = Redactor::default();
    let store =
        ResultStore::open(workspace.path().join("results"), workspace.path(), redactor.clone(), Keeps::All)
            .unwrap()
            .with_limit(options.result_limit);
    let tools = Tools::replayed(cassette, store, None);
    let image = image.map(|bytes| prepared(bytes, &model, workspace.path()));
    let (events, stop) = (Arc::new(|_| ()), CancellationToken::new());
    let (workspace, redactor) = (workspace.path(), &redactor);
    let (tools, model) = (&tools, &model);
    match played_by(Cast { tools, model, options, workspace, image, events, stop, redactor }).await {
        AttemptEnd::Done(record) => record,
        AttemptEnd::Interrupted(_) => panic!("nobody stopped it"),
        AttemptEnd::Blocked(blocker, _) => panic!("{blocker}"),
    }
}

/// Everything that an attempt needs except the task.
struct Cast<'a> {
    tools: &'a Tools,
    model: &'a Model,
    options: &'a RunOptions,
    workspace: &'a Path,
    image: Option<(String, Arc<Picture>)>,
    events: m3_executor::Events,
    stop: CancellationToken,
    redactor: &'a Redactor,
}

async fn played_by(cast: Cast<'_>) -> AttemptEnd {
    let Cast { tools, model, options, workspace, image, events, stop, redactor } = cast;
    let question = Some("How many eels?".to_owned());
    let task = Task { id: "t1".to_owned(), question, ..Task::default() };
    let scope = Scope { task: task.id.clone(), repeat: 1, attempt: 1, workspace: Some(workspace.to_owned()) };
    let (task, offered) = (&task, Arc::new(OfferedTools::new(tools.catalog())));
    let playing = attempt(Attempt {
        task,
        image,
        workspace,
        tools,
        offered,
        model,
        options,
        scope,
        events,
        stop,
        redactor,
    });
    // Workers run many attempts, so they must be `Send`.
    is_send(playing).await
}

fn is_send<F: Future + Send>(future: F) -> F {
    future
}

fn prepared(bytes: Vec<u8>, model: &Model, workspace: &Path) -> (String, Arc<Picture>) {
    std::fs::write(workspace.join("task.png"), &bytes).unwrap();
    let picture = Picture::from_bytes("task.png", bytes, &model.image_limits()).unwrap();
    ("task.png".to_owned(), Arc::new(picture))
}

/// An error for which asking again does not help.
pub(super) fn refusal(message: &str) -> ScriptedReply {
    let body = json!({"error": {"message": message}}).to_string();
    ScriptedReply::Raw { status: 400, headers: Vec::new(), body }
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

    /// The purposes of the turns.
    pub(super) fn purposes(&self) -> Vec<&str> {
        self.record.turns.iter().map(|turn| turn.purpose.as_str()).collect()
    }

    /// Everything the model was sent with a request.
    pub(super) fn request(&self, index: usize) -> String {
        self.requests[index]["messages"].to_string()
    }

    /// The last message of a request.
    pub(super) fn last_message(&self, index: usize) -> &Value {
        self.requests[index]["messages"].as_array().unwrap().last().unwrap()
    }
}

/// Some servers of open models require that user and model alternate, and that no message is empty.
fn takes_turns(request: &Value) {
    let messages = request["messages"].as_array().unwrap();
    let is_in_turn = |pair: &[Value]| pair[0]["role"] != pair[1]["role"] || pair[0]["role"] == "tool";
    assert!(messages.windows(2).all(is_in_turn), "{messages:#?}");
    assert!(messages.iter().all(|message| message["content"] != ""), "{messages:#?}");
}
