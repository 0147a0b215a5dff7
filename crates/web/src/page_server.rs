//! Serves a page to people on this machine: on loopback only, and only to requests with the token of its address.
//!
//! Every path begins with the token, so no cookie is needed: browsers would also send it to any other server of this
//! machine. Requests without it, for another host (DNS rebinding) or from another page are answered with 403.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{self, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response;
use m3_support::text::hexadecimal;
use rustls::crypto::ring::default_provider;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::Serving;

/// The longest body of a request, in bytes: a decision with the arguments of all calls.
const MAX_BODY: usize = 8 << 20;

/// How long a body may take to come.
const BODY_WAIT: Duration = Duration::from_secs(30);

/// How long connections get to end by themselves when the server is stopped.
const PATIENCE: Duration = Duration::from_secs(2);

/// The content of a server: a page, and answers to its requests, several at a time.
pub trait Handler: Send + Sync + 'static {
    /// The page itself, and the policy that allows its own style and script.
    fn page(&self) -> Page;

    /// Answers a request of the page.
    fn answer(&self, request: &Request<'_>) -> Response;
}

/// A handler whose answers change something; behind a [`Mutex`] it answers one request at a time.
pub trait HandlerMut: Send + 'static {
    /// See [`Handler::page`].
    fn page(&self) -> Page;

    /// Answers a request of the page.
    fn answer(&mut self, request: &Request<'_>) -> Response;
}

impl<D: HandlerMut> Handler for Mutex<D> {
    fn page(&self) -> Page {
        self.lock().unwrap_or_else(PoisonError::into_inner).page()
    }

    fn answer(&self, request: &Request<'_>) -> Response {
        self.lock().unwrap_or_else(PoisonError::into_inner).answer(request)
    }
}

/// A page with its content security policy.
#[derive(Debug, Clone)]
pub struct Page {
    /// The HTML of the page.
    pub html: String,
    /// The content security policy.
    pub policy: String,
}

/// A request of the page.
#[derive(Debug)]
pub struct Request<'a> {
    /// Whether the request is to change something.
    pub is_post: bool,
    /// The path after the token, such as `api/list`.
    pub path: &'a str,
    /// The text after the question mark.
    pub query: &'a str,
    /// The content, which should be JSON.
    pub body: &'a [u8],
}

/// An answer to the page.
#[derive(Debug)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The media type.
    pub kind: &'static str,
    /// The content.
    pub body: Vec<u8>,
}

impl Request<'_> {
    /// A parameter of the query.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<String> {
        let mut pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        let (_, value) = pairs.find(|(key, _)| *key == name)?;
        percent_encoding::percent_decode_str(value).decode_utf8().ok().map(std::borrow::Cow::into_owned)
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// The response to a request whose body is something else.
    pub fn json(&self) -> Result<Value, Response> {
        serde_json::from_slice(self.body).map_err(|_| Response::error(400, "the request is no JSON"))
    }

    /// A parameter that is a number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<usize> {
        self.parameter(name)?.parse().ok()
    }
}

impl Response {
    /// An answer in JSON.
    #[must_use]
    pub fn json(value: &impl Serialize) -> Self {
        Self::with_status(200, value)
    }

    /// An answer in JSON with another status than 200.
    #[must_use]
    pub fn with_status(status: u16, value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => Self { status, kind: "application/json", body },
            Err(error) => Self { status: 500, kind: "text/plain", body: error.to_string().into_bytes() },
        }
    }

    /// An error: `{"error": ..}` with this message.
    #[must_use]
    pub fn error(status: u16, message: &str) -> Self {
        Self::with_status(status, &json!({ "error": message }))
    }

    /// An answer that is an image.
    #[must_use]
    pub fn image(kind: &'static str, body: Vec<u8>) -> Self {
        Self { status: 200, kind, body }
    }

    /// The answer to a request for an unknown path.
    #[must_use]
    pub fn not_found() -> Self {
        Self::error(404, "there is nothing of that name here")
    }
}

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum PageServerError {
    /// The port is taken, or the system forbids it.
    #[error("failed to listen at 127.0.0.1:{port}: {source}\nhint: name another port, or 0 for a free one")]
    Bind {
        /// The port that was asked for.
        port: u16,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The system has no random numbers.
    #[error("the system gives no random numbers, so that the page cannot be kept to you")]
    NoRandomness,
}

/// A page that is served until the server is stopped or dropped.
#[derive(Debug)]
pub struct PageServer {
    address: SocketAddr,
    token: String,
    serving: Serving,
}

struct ServerState {
    /// SHA-256 of the token: comparing hashes does not reveal the token through the time it takes.
    token: [u8; 32],
    port: u16,
    handler: Arc<dyn Handler>,
}

impl PageServer {
    /// Starts to serve at 127.0.0.1; port 0 takes any free one. On return connections are accepted. Must be called
    /// within a tokio runtime.
    ///
    /// # Errors
    /// [`PageServerError`].
    pub async fn start(handler: impl Handler, port: u16) -> Result<Self, PageServerError> {
        let token = token()?;
        let bind = |source| PageServerError::Bind { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let handler: Arc<dyn Handler> = Arc::new(handler);
        let shared = ServerState { token: Sha256::digest(&token).into(), port: address.port(), handler };
        let router = Router::new().fallback(handle).with_state(Arc::new(shared));
        let serving = Serving::start(listener, router, CancellationToken::new());
        Ok(Self { address, token, serving })
    }

    /// The address of the page, with its token.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://{}/{}/", self.address, self.token)
    }

    /// Stops: takes no more connections and waits for open ones, a moment at most.
    pub async fn stop(self) {
        self.serving.stop(PATIENCE).await;
    }
}

/// A token of 256 random bits, in hexadecimal.
fn token() -> Result<String, PageServerError> {
    let mut bytes = [0; 32];
    default_provider().secure_random.fill(&mut bytes).map_err(|_| PageServerError::NoRandomness)?;
    Ok(hexadecimal(&bytes))
}

async fn handle(State(shared): State<Arc<ServerState>>, request: extract::Request) -> response::Response {
    let (parts, body) = request.into_parts();
    let (token, path) = parts.uri.path().trim_start_matches('/').split_once('/').unwrap_or_default();
    if !is_for_us(&parts.headers, shared.port)
        || Into::<[u8; 32]>::into(Sha256::digest(token)) != shared.token
    {
        return plain(StatusCode::FORBIDDEN, "use the address that m3 printed, with its token\n");
    }
    let is_post = match parts.method {
        Method::GET => false,
        Method::POST if is_json(&parts.headers) => true,
        Method::POST => return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send JSON\n"),
        _ => return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and POST\n"),
    };
    let body = tokio::time::timeout(BODY_WAIT, axum::body::to_bytes(body, MAX_BODY)).await;
    let Ok(Ok(body)) = body else {
        return plain(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large, or came too slowly\n");
    };
    let (path, query) = (path.to_owned(), parts.uri.query().unwrap_or_default().to_owned());
    // On another thread, because files are read, locked and flushed.
    let answered = tokio::task::spawn_blocking(move || answer(&shared, is_post, &path, &query, &body)).await;
    answered.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "the request failed\n"))
}

fn answer(shared: &ServerState, is_post: bool, path: &str, query: &str, body: &Bytes) -> response::Response {
    let handler = &shared.handler;
    if path.is_empty() && !is_post {
        let Page { html, policy } = handler.page();
        return responded(StatusCode::OK, "text/html; charset=utf-8", &policy, html.into_bytes());
    }
    let reply = handler.answer(&Request { is_post, path, query, body });
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    responded(status, reply.kind, CLOSED, reply.body)
}

/// The policy of answers that are not pages: nothing in them runs, even if they are opened as a page.
const CLOSED: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

fn plain(status: StatusCode, text: &'static str) -> response::Response {
    responded(status, "text/plain; charset=utf-8", CLOSED, text.as_bytes().to_vec())
}

fn responded(status: StatusCode, kind: &'static str, policy: &str, body: Vec<u8>) -> response::Response {
    let mut response = response::Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    if let Ok(policy) = HeaderValue::from_str(policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Whether a request names this server as its host, and does not come from another page.
fn is_for_us(headers: &HeaderMap, port: u16) -> bool {
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let mut named = headers.get_all(header::HOST).iter();
    let is_host = match (named.next(), named.next()) {
        (Some(host), None) => hosts.iter().any(|ours| host.as_bytes().eq_ignore_ascii_case(ours.as_bytes())),
        _ => false,
    };
    let is_ours = |origin: &HeaderValue| {
        hosts.iter().any(|ours| origin.as_bytes() == format!("http://{ours}").as_bytes())
    };
    is_host && headers.get_all(header::ORIGIN).iter().all(is_ours)
}

/// Whether the body is declared as JSON. A form on another page cannot send this type without asking first.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.split(';').next().unwrap_or_default().trim() == "application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let header = |(name, value): &(&str, &str)| {
            (header::HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(header).collect()
    }

    #[test]
    fn only_our_own_host_and_origin_are_let_in() {
        let allowed: [&[(&str, &str)]; 3] = [
            &[("host", "127.0.0.1:80")],
            &[("host", "LOCALHOST:80")],
            &[("host", "127.0.0.1:80"), ("origin", "http://127.0.0.1:80")],
        ];
        for pairs in allowed {
            assert!(is_for_us(&headers(pairs), 80), "{pairs:?}");
        }
        let refused: [&[(&str, &str)]; 8] = [
            &[],
            &[("host", "127.0.0.1")],
            &[("host", "127.0.0.1:81")],
            &[("host", "evil.example:80")],
            &[("host", "127.0.0.1:80.evil.example")],
            &[("host", "127.0.0.1:80"), ("origin", "http://evil.example")],
            &[("host", "127.0.0.1:80"), ("origin", "null")],
            &[("host", "127.0.0.1:80"), ("origin", "https://127.0.0.1:80")],
        ];
        for pairs in refused {
            assert!(!is_for_us(&headers(pairs), 80), "{pairs:?}");
        }
        let mut twice = headers(&[("host", "127.0.0.1:80")]);
        twice.append("host", HeaderValue::from_static("evil.example"));
        assert!(!is_for_us(&twice, 80));
    }

    #[test]
    fn tokens_differ_and_cannot_be_guessed() {
        let (one, two) = (token().unwrap(), token().unwrap());
        assert_ne!(one, two);
        assert_eq!(one.len(), 64);
    }
}
