//! Several servers over streamable HTTP, each at `/{server}/mcp`; a single one also at `/mcp`.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::serve::ListenerExt as _;
use m3_support::text::percent_encoded;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use super::sessions::Sessions;
use super::{MAX_MESSAGE, ServeError};
use crate::Toolbox;
use m3_web::Serving;

/// How long connections get to end by themselves when the server is stopped.
const PATIENCE: Duration = Duration::from_secs(3);

/// Names of this machine that another site cannot take over.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The address to listen at, and the hosts that requests may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpOptions {
    /// The address to listen at; port 0 takes any free one.
    pub address: SocketAddr,
    /// Names and addresses, beside those of loopback, that requests may give as `Host`, with or without a port. An
    /// address other than loopback needs at least one. There is no authentication: anybody who can reach the address
    /// can call the tools.
    pub allowed_hosts: Vec<String>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self { address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), allowed_hosts: Vec::new() }
    }
}

/// Running servers, which end when this value is stopped or dropped.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    names: Vec<String>,
    serving: Serving,
}

type Service = StreamableHttpService<Handler, Sessions>;

/// Starts to serve; on return connections are accepted. Must be called within a tokio runtime.
///
/// Web pages are kept out: a request whose `Host` is not allowed, or whose `Origin` is not a page on this machine, is
/// answered with 403 (MCP, "Streamable HTTP", on DNS rebinding).
///
/// # Errors
/// [`ServeError::Bind`], [`ServeError::Remote`] and [`ServeError::DuplicateName`].
pub async fn http(toolboxes: Vec<Arc<dyn Toolbox>>, options: &HttpOptions) -> Result<HttpServer, ServeError> {
    http_beside(Router::new(), toolboxes, options).await
}

/// Starts to serve tools beside the routes of `router`. Requests of other sites are refused for both.
///
/// # Errors
/// The errors of [`http`].
pub async fn http_beside(
    router: Router,
    toolboxes: Vec<Arc<dyn Toolbox>>,
    options: &HttpOptions,
) -> Result<HttpServer, ServeError> {
    let address = options.address;
    if !address.ip().is_loopback() && options.allowed_hosts.is_empty() {
        return Err(ServeError::Remote { address });
    }
    let stop = CancellationToken::new();
    let mut services = HashMap::new();
    let mut names = Vec::new();
    for toolbox in toolboxes {
        let name = toolbox.name().to_owned();
        let service = service(toolbox, options, &stop);
        if services.insert(path(&name), service).is_some() {
            return Err(ServeError::DuplicateName { name });
        }
        names.push(name);
    }
    if let [name] = names.as_slice()
        && let Some(single) = services.get(&path(name)).cloned()
    {
        services.insert("/mcp".to_owned(), single);
    }
    let bind = |source| ServeError::Bind { address, source };
    let listener = TcpListener::bind(address).await.map_err(bind)?;
    let address = listener.local_addr().map_err(bind)?;
    // Answers are small, so waiting to fill packets would only delay them.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let hosts: Arc<[String]> = options.allowed_hosts.clone().into();
    let guarded = router.layer(axum::middleware::from_fn_with_state(hosts, keep_pages_out));
    let router = guarded.fallback_service(Router::new().fallback(dispatch).with_state(Arc::new(services)));
    Ok(HttpServer { address, names, serving: Serving::start(listener, router, stop) })
}

async fn keep_pages_out(State(hosts): State<Arc<[String]>>, request: Request, next: Next) -> Response {
    if is_from_here(request.headers(), &hosts) {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "requests of other sites are not answered\n").into_response()
}

/// Whether a request names this machine, or one of `hosts`, and does not come from a page of another site.
fn is_from_here(headers: &HeaderMap, hosts: &[String]) -> bool {
    let value = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let without_port = |authority: &str| match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host.to_owned(),
        _ => authority.to_owned(),
    };
    let is_known = |authority: &str| {
        let host = without_port(authority);
        let is_host =
            |known: &str| known.eq_ignore_ascii_case(&host) || known.eq_ignore_ascii_case(authority);
        LOOPBACK.into_iter().any(is_host) || hosts.iter().any(|known| is_host(known))
    };
    let is_page_of_here = |origin: &str| {
        origin.strip_prefix("http://").is_some_and(|host| LOOPBACK.contains(&without_port(host).as_str()))
    };
    value(header::HOST).is_some_and(is_known)
        && (!headers.contains_key(header::ORIGIN) || value(header::ORIGIN).is_some_and(is_page_of_here))
}

fn service(toolbox: Arc<dyn Toolbox>, options: &HttpOptions, stop: &CancellationToken) -> Service {
    let hosts = LOOPBACK.iter().map(ToString::to_string).chain(options.allowed_hosts.iter().cloned());
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(LOOPBACK.map(|host| format!("http://{host}:*")))
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_MESSAGE)
        .with_cancellation_token(stop.child_token());
    StreamableHttpService::new(move || Ok(Handler(Arc::clone(&toolbox))), Arc::new(Sessions::new()), config)
}

async fn dispatch(State(services): State<Arc<HashMap<String, Service>>>, request: Request) -> Response {
    let Some(service) = services.get(request.uri().path()) else {
        return (StatusCode::NOT_FOUND, "no server is here; the path is /{server}/mcp\n").into_response();
    };
    let ends_session = request.method() == Method::DELETE;
    let mut response = service.handle(request).await.map(Body::new);
    if ends_session && response.status() == StatusCode::ACCEPTED {
        // The session is gone and nothing is left to do, whereas 202 would mean that something follows.
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response
}

/// The path of a server, whose name may hold anything.
fn path(name: &str) -> String {
    format!("/{}/mcp", percent_encoded(name))
}

impl HttpServer {
    /// The address at which the servers listen, with the actual port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The servers with their endpoints, in the order given.
    pub fn endpoints(&self) -> impl Iterator<Item = (&str, String)> {
        self.names.iter().map(|name| (name.as_str(), format!("http://{}{}", self.address, path(name))))
    }

    /// Stops: takes no more connections, ends the sessions and waits for open connections, a few seconds at most.
    pub async fn stop(self) {
        self.stop_within(PATIENCE).await;
    }

    /// Stops serving, and gives requests that are being answered at most `patience` to finish.
    pub async fn stop_within(self, patience: Duration) {
        self.serving.stop(patience).await;
    }
}
