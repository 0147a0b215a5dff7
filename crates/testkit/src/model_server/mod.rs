//! A scripted model behind each wire, on 127.0.0.1: it answers by its script, in the form that the provider
//! documents, and checks every request against the documented form.
//!
//! It does not depend on the tested program: every request to [`ScriptedModel::base_url`] is checked.

mod anthropic;
mod bedrock;
mod checks;
mod gemini;
mod openai;

use std::collections::VecDeque;
use std::future::IntoFuture as _;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, Request, Response, Uri};
use checks::{Checks, Images};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::sync::oneshot;

/// The input tokens that every scripted reply reports.
pub const INPUT_TOKENS: u64 = 100;

/// The output tokens that every scripted reply reports.
pub const OUTPUT_TOKENS: u64 = 10;

/// SHA-256 in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The wire of a scripted model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptedWire {
    /// OpenAI chat completions.
    OpenAi,
    /// Anthropic messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
    /// Amazon Bedrock's Converse.
    Bedrock,
}

/// A request, in terms that are the same for all wires.
#[derive(Debug, Clone, Default)]
pub struct SeenRequest {
    /// The header `authorization`.
    pub authorization: Option<String>,
    /// The model that is asked for.
    pub model: String,
    /// The text of the system.
    pub system: String,
    /// The number of the user's messages that are not results of calls.
    pub user_turns: usize,
    /// All text of the user's last message, without results of tools.
    pub last_user_text: String,
    /// All texts, in order: of the system, the user, the model and the tools.
    pub texts: Vec<String>,
    /// SHA-256 of the bytes of all images, in order.
    pub images: Vec<String>,
    /// The offered tools.
    pub tools: Vec<String>,
    /// Results of tools so far: the call's id and the text.
    pub results: Vec<(String, String)>,
    /// The number of the requested turn of the model, from 1.
    pub turn: usize,
}

/// One action of the scripted model.
#[derive(Debug, Clone)]
pub enum ScriptedReply {
    /// Replies with a text.
    Say(String),
    /// Makes calls, all at once. A string instead of an object is written unchanged, as malformed arguments.
    Call(Vec<(String, Value)>),
    /// Replies with a text and makes calls.
    SayAndCall(String, Vec<(String, Value)>),
    /// Answers with exactly this response.
    Raw {
        /// The HTTP status.
        status: u16,
        /// Headers besides those of HTTP itself.
        headers: Vec<(String, String)>,
        /// The body.
        body: String,
    },
    /// Never answers, until the client leaves.
    Stall,
    /// Sends half of a reply and closes the connection.
    Cut,
    /// Waits, then does something else.
    After(Duration, Box<ScriptedReply>),
}

/// Decides the answer to a request.
type Script = dyn Fn(&SeenRequest) -> ScriptedReply + Send + Sync;

/// The server; it ends when this is dropped.
pub struct ScriptedModel {
    shared: Arc<SharedState>,
    base_url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct SharedState {
    wire: ScriptedWire,
    key: Option<String>,
    script: Box<Script>,
    seen: Mutex<SeenRequests>,
    images: Arc<Images>,
}

#[derive(Default)]
struct SeenRequests {
    requests: Vec<Value>,
    problems: Vec<String>,
}

impl ScriptedModel {
    /// Starts a server that accepts any key, or none.
    pub fn start(
        wire: ScriptedWire,
        script: impl Fn(&SeenRequest) -> ScriptedReply + Send + Sync + 'static,
    ) -> Self {
        Self::launch(wire, None, Box::new(script))
    }

    /// Starts a server that takes any key, or none, and does one thing after another; the last again and again.
    pub fn in_steps(wire: ScriptedWire, steps: impl IntoIterator<Item = ScriptedReply>) -> Self {
        let steps: Mutex<VecDeque<ScriptedReply>> = Mutex::new(steps.into_iter().collect());
        Self::start(wire, move |_| {
            let mut steps = steps.lock().unwrap();
            if steps.len() > 1 { steps.pop_front().unwrap() } else { steps[0].clone() }
        })
    }

    /// Starts a server that finds a problem with every request that has not this key.
    pub fn start_with_key(
        wire: ScriptedWire,
        key: &str,
        script: impl Fn(&SeenRequest) -> ScriptedReply + Send + Sync + 'static,
    ) -> Self {
        Self::launch(wire, Some(key.to_owned()), Box::new(script))
    }

    fn launch(wire: ScriptedWire, key: Option<String>, script: Box<Script>) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let version = match wire {
            ScriptedWire::OpenAi => "/v1",
            ScriptedWire::Anthropic | ScriptedWire::Bedrock => "",
            ScriptedWire::Gemini => "/v1beta",
        };
        let base_url = format!("http://{}{version}", listener.local_addr().unwrap());
        let shared =
            Arc::new(SharedState { wire, key, script, seen: Mutex::default(), images: Arc::default() });
        let (stop, stopped) = oneshot::channel();
        let router =
            Router::new().fallback(answer).layer(DefaultBodyLimit::disable()).with_state(shared.clone());
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    served = axum::serve(listener, router).into_future() => served.unwrap(),
                    _ = stopped => {}
                }
            });
            runtime.shutdown_background();
        });
        Self { shared, base_url, stop: Some(stop), thread: Some(thread) }
    }

    /// The base address for a model's name.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The bodies of all requests so far, with `sha256:..` of the bytes in place of images.
    pub fn requests(&self) -> Vec<Value> {
        self.shared.seen.lock().unwrap().requests.clone()
    }

    /// The problems of the requests so far.
    pub fn problems(&self) -> Vec<String> {
        self.shared.seen.lock().unwrap().problems.clone()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The server may have ended already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn answer(State(shared): State<Arc<SharedState>>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    // A client that leaves in the middle of its request gets no answer.
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else { return plain(400, String::new()) };
    let (seen, problems) = look(&shared, &parts.method, &parts.uri, &parts.headers, &bytes);
    if !problems.is_empty() {
        let message =
            serde_json::json!({ "error": { "type": "test_problem", "message": problems.join("; ") } });
        return plain(400, message.to_string());
    }
    let mut scripted = (shared.script)(&seen);
    while let ScriptedReply::After(wait, then) = scripted {
        tokio::time::sleep(wait).await;
        scripted = *then;
    }
    let rendered = |text: &str, calls: &[(String, Value)]| match shared.wire {
        ScriptedWire::OpenAi => openai::rendered(&seen, text, calls).to_string(),
        ScriptedWire::Anthropic => anthropic::rendered(&seen, text, calls).to_string(),
        ScriptedWire::Gemini => gemini::rendered(&seen, text, calls).to_string(),
        ScriptedWire::Bedrock => bedrock::rendered(&seen, text, calls).to_string(),
    };
    match scripted {
        ScriptedReply::Say(text) => plain(200, rendered(&text, &[])),
        ScriptedReply::Call(calls) => plain(200, rendered("", &calls)),
        ScriptedReply::SayAndCall(text, calls) => plain(200, rendered(&text, &calls)),
        ScriptedReply::Raw { status, headers, body } => {
            let mut response = plain(status, body);
            for (name, value) in headers {
                let name = axum::http::HeaderName::try_from(name).unwrap();
                response.headers_mut().insert(name, value.try_into().unwrap());
            }
            response
        }
        ScriptedReply::Cut => cut(&rendered("This is cut off in the middle.", &[])),
        ScriptedReply::Stall | ScriptedReply::After(..) => std::future::pending().await,
    }
}

/// Checks a request and keeps it.
fn look(
    shared: &SharedState,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    bytes: &Bytes,
) -> (SeenRequest, Vec<String>) {
    let mut checks = Checks::new(shared.images.clone());
    checks.that(*method == Method::POST, "the method", "is not POST");
    let content_type = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    checks.that(content_type.starts_with("application/json"), "content-type", "is not application/json");
    checks.that(headers.get_all("content-type").iter().count() < 2, "content-type", "is there twice");
    checks.that(uri.query().is_none(), "the address", "has a query");
    let authorization = headers.get("authorization").and_then(|value| value.to_str().ok());
    checks.seen.authorization = authorization.map(str::to_owned);
    let key = shared.key.as_deref();
    // OpenAI, "Images and vision"; Anthropic, "Errors"; Gemini, "Image understanding"; Bedrock, "Converse".
    let most_bytes = match shared.wire {
        ScriptedWire::OpenAi => 50_000_000,
        ScriptedWire::Anthropic => 32_000_000,
        ScriptedWire::Gemini => 20_000_000,
        ScriptedWire::Bedrock => 25_000_000,
    };
    checks.that(bytes.len() <= most_bytes, "the body", "is larger than the provider takes");
    let mut body: Value = serde_json::from_slice(bytes).unwrap_or_default();
    checks.that(body.is_object(), "the body", "is no JSON object");
    let path = uri.path();
    match shared.wire {
        ScriptedWire::OpenAi => openai::check(path, headers, key, &body, &mut checks),
        ScriptedWire::Anthropic => anthropic::check(path, headers, key, &body, &mut checks),
        ScriptedWire::Gemini => gemini::check(path, headers, key, &body, &mut checks),
        ScriptedWire::Bedrock => bedrock::check(path, headers, key, &body, &mut checks),
    }
    checks::hash_images(&mut body, &shared.images);
    let mut kept = shared.seen.lock().unwrap();
    kept.requests.push(body);
    let number = kept.requests.len();
    kept.problems.extend(checks.problems.iter().map(|problem| format!("request {number}: {problem}")));
    (checks.seen, checks.problems)
}

fn plain(status: u16, body: String) -> Response<Body> {
    let kind = if body.starts_with('<') { "text/html" } else { "application/json" };
    Response::builder().status(status).header("content-type", kind).body(Body::from(body)).unwrap()
}

/// Half of a body, although the header announces the whole length.
fn cut(body: &str) -> Response<Body> {
    let half = Bytes::copy_from_slice(&body.as_bytes()[..body.len() / 2]);
    let stream = futures_util::stream::unfold(Some(half), |half| async move {
        let Some(half) = half else {
            // Lets the header and the first half be sent before the connection closes.
            tokio::time::sleep(Duration::from_millis(20)).await;
            return Some((Err(std::io::Error::other("the connection is cut")), None));
        };
        Some((Ok::<_, std::io::Error>(half), None))
    });
    let response = Response::builder().header("content-type", "application/json");
    response.header("content-length", body.len()).body(Body::from_stream(stream)).unwrap()
}
