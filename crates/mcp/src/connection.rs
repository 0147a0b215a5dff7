//! A connection to a server over any transport: how it is made, and how it is called.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, ProgressNotificationParam,
    ProtocolVersion, ReadResourceRequest, ReadResourceRequestParams,
};
use rmcp::service::ClientLifecycleMode;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::ServerTools;
use super::call_failure::{CallFailure, NoConnection, Versions};
use super::client::Client;
use super::config::{ServerConfig, Timeouts, Transport};
use super::content::{Content, ToolResult};
use super::http;
use super::in_process::Direct;
use super::lines::MAX_RESULT;
use super::process::Launch;
use super::resource;
use super::status::{Events, ReadyServer, StartError};
use super::stdio::{self, StdioChild};

/// Settings that all servers of a host share.
pub(super) struct Surroundings {
    /// The working directory of servers that name none.
    pub(super) workspace: PathBuf,
    pub(super) guard: Option<PathBuf>,
    pub(super) events: Events,
}

/// A connection to a server.
#[derive(Clone)]
pub(super) enum Connection {
    Client(Arc<Client>),
    Direct(Arc<Direct>),
}

/// A server that has just been started.
pub(super) struct StartedServer {
    pub(super) connection: Connection,
    /// The tools that the configuration offers, without those that can only be called as tasks.
    pub(super) tools: ServerTools,
    /// Whether the server has resources that can be read.
    pub(super) has_resources: bool,
    pub(super) ready: ReadyServer,
}

/// Starts a server: process or connection, beginning of the session, tools, all within its start timeout. The session
/// begins with the handshake of the versions up to 2025-11-25, and without one if the server refuses it, as since
/// 2026-07-28: servers that speak both take the handshake, so all but the newest ones are greeted as they always were.
///
/// # Errors
/// [`StartError`] if any step fails; nothing is left running then.
pub(super) async fn start(
    config: &ServerConfig,
    surroundings: &Surroundings,
    noise: &Arc<AtomicU64>,
) -> Result<StartedServer, StartError> {
    let started = Instant::now();
    let begin = |lifecycle| Box::pin(begin(config, surroundings, noise, started, lifecycle));
    let refused = match begin(ClientLifecycleMode::Initialize).await {
        Err(NoSession { error, versions: Versions::Refused }) => error,
        ended => return ended.map_err(|failure| failure.error),
    };
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    match begin(ClientLifecycleMode::Discover { preferred_versions }).await {
        Err(NoSession { versions: Versions::Unknown | Versions::Refused, .. }) => Err(refused),
        ended => ended.map_err(|failure| failure.error),
    }
}

async fn begin(
    config: &ServerConfig,
    surroundings: &Surroundings,
    noise: &Arc<AtomicU64>,
    started: Instant,
    lifecycle: ClientLifecycleMode,
) -> Result<StartedServer, NoSession> {
    match &config.transport {
        Transport::Stdio { command, args, env, cwd } => {
            let workspace = surroundings.workspace.as_path();
            let folder = cwd.as_deref().map_or(workspace.to_owned(), |cwd| workspace.join(cwd));
            let launch = Launch { command, args, env, folder: &folder, guard: surroundings.guard.as_deref() };
            begin_process(config, &launch, &surroundings.events, noise, started, lifecycle).await
        }
        Transport::Http { url, headers } => begin_http(config, url, headers, started, lifecycle).await,
        Transport::Unusable { reason } => Err(StartError::Unusable { reason: reason.clone() }.into()),
        Transport::InProcess(server) => {
            let toolbox = Arc::clone(&server.0);
            let server = config.name.clone();
            let tools = ServerTools { server, tools: toolbox.tools().to_vec(), rejected: Vec::new() };
            let greeting = ReadyServer {
                name: toolbox.name().to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                ..ReadyServer::default()
            };
            let connection =
                Connection::Direct(Arc::new(Direct { toolbox, ended: CancellationToken::new() }));
            Ok(accepted(config, (connection, greeting, false), tools, started))
        }
    }
}

/// The fault of a server that speaks as language servers do. It is reported at once: waiting for the handshake would not
/// help.
const HEADERS: &str = "it writes headers (`Content-Length: ..`) before its messages, as language servers do; in MCP a message \
                       is a line";

/// Why a session did not begin.
struct NoSession {
    error: StartError,
    versions: Versions,
}

impl From<StartError> for NoSession {
    fn from(error: StartError) -> Self {
        Self { error, versions: Versions::Unknown }
    }
}

async fn begin_http(
    config: &ServerConfig,
    url: &str,
    headers: &BTreeMap<String, String>,
    started: Instant,
    lifecycle: ClientLifecycleMode,
) -> Result<StartedServer, NoSession> {
    let limit = config.timeouts.start;
    let attempt = async {
        let client = http::connect(url, headers, lifecycle).await?;
        let tools = client.list_tools().await?;
        Ok::<_, NoConnection>(from_client(config, client, tools, started))
    };
    match tokio::time::timeout(limit.saturating_sub(started.elapsed()), attempt).await {
        Ok(attempt) => attempt.map_err(|NoConnection { reason, versions, .. }| {
            let error = StartError::Unreachable { url: url.to_owned(), reason };
            NoSession { error, versions }
        }),
        Err(_) => Err(StartError::TimedOut { limit, stderr: Vec::new() }.into()),
    }
}

async fn begin_process(
    config: &ServerConfig,
    launch: &Launch<'_>,
    events: &Events,
    noise: &Arc<AtomicU64>,
    started: Instant,
    lifecycle: ClientLifecycleMode,
) -> Result<StartedServer, NoSession> {
    let refused = Arc::default();
    let (child, transport) = stdio::start(launch, &config.name, events, noise, &refused)?;
    let (ended, writes_headers) = (transport.ended.clone(), transport.writes_headers.clone());
    let limit = config.timeouts.start;
    let attempt = async {
        let begin = async {
            let client = Client::connect(transport, lifecycle, ended, refused).await?;
            let tools = client.list_tools().await?;
            Ok::<_, NoConnection>((client, tools))
        };
        tokio::select! {
            session = begin => session,
            () = writes_headers.cancelled() => Err(HEADERS.to_owned().into()),
        }
    };
    let failure = match tokio::time::timeout(limit.saturating_sub(started.elapsed()), attempt).await {
        Ok(Ok((mut client, tools))) => {
            client.child = Some(child);
            return Ok(from_client(config, client, tools, started));
        }
        Ok(Err(NoConnection { is_closed, reason, versions })) => {
            if is_closed {
                // Waits for the end of the process, and for all of its standard error.
                let _ = child.process.last_words().await;
            }
            let stderr = child.process.stderr().await;
            let error = match child.process.ending().filter(|_| is_closed) {
                Some(how) => StartError::Exited { how, stderr },
                None => StartError::Protocol { reason, stderr },
            };
            NoSession { error, versions }
        }
        Err(_) => StartError::TimedOut { limit, stderr: child.process.stderr().await }.into(),
    };
    child.process.end().await;
    Err(failure)
}

fn from_client(config: &ServerConfig, client: Client, tools: Vec<Value>, started: Instant) -> StartedServer {
    let (greeting, has_resources) = (client.greeting.clone(), client.has_resources);
    let connection = Connection::Client(Arc::new(client));
    accepted(
        config,
        (connection, greeting, has_resources),
        ServerTools::from_wire(&config.name, tools),
        started,
    )
}

/// A server whose session has begun, with the tools that can be called.
fn accepted(
    config: &ServerConfig,
    (connection, greeting, has_resources): (Connection, ReadyServer, bool),
    mut tools: ServerTools,
    started: Instant,
) -> StartedServer {
    tools.tools.retain(|tool| config.tools.offers(&tool.name));
    tools.reject_tasks();
    let (offered, rejected) = (tools.tools.len(), tools.rejected.len());
    let ready = ReadyServer { tools: offered, rejected, start: started.elapsed(), ..greeting };
    StartedServer { connection, tools, has_resources, ready }
}

impl Connection {
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        timeouts: &Timeouts,
        cancel: &CancellationToken,
        on_progress: impl FnMut(ProgressNotificationParam) + Send,
    ) -> Result<ToolResult, CallFailure> {
        let result = match self {
            Self::Client(client) => {
                let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
                let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
                ToolResult::from_wire(client.call(request, timeouts, cancel, on_progress).await?)
            }
            Self::Direct(direct) => direct.call(tool, arguments, timeouts, cancel).await?,
        };
        bounded(result)
    }

    /// Reads a resource, in the form of a call.
    pub(super) async fn read_resource(
        &self,
        uri: &str,
        timeouts: &Timeouts,
        cancel: &CancellationToken,
        on_progress: impl FnMut(ProgressNotificationParam) + Send,
    ) -> Result<ToolResult, CallFailure> {
        let Self::Client(client) = self else {
            let (code, message) = (ErrorCode::METHOD_NOT_FOUND.0, "it has no resources".to_owned());
            return Err(CallFailure::Protocol { code, message });
        };
        let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
        let request = ClientRequest::ReadResourceRequest(request);
        let answer = client.call(request, timeouts, cancel, on_progress).await?;
        bounded(
            resource::result_of(answer)
                .ok_or_else(|| CallFailure::Malformed("it has no `contents`".to_owned()))?,
        )
    }

    pub(super) fn has_ended(&self) -> bool {
        match self {
            Self::Client(client) => client.has_ended(),
            Self::Direct(direct) => direct.ended.is_cancelled(),
        }
    }

    /// The server's process, if it is a child of this one.
    fn child(&self) -> Option<&StdioChild> {
        match self {
            Self::Client(client) => client.child.as_ref(),
            Self::Direct(_) => None,
        }
    }

    /// Waits until the cancellations of unanswered calls no longer block other messages.
    pub(super) async fn settled(&self) {
        if let Self::Client(client) = self {
            client.settled().await;
        }
    }

    /// How the server ended, in words.
    pub(super) async fn last_words(&self) -> String {
        let words = match (self.child(), self) {
            (Some(child), _) => child.process.last_words().await,
            (None, Self::Client(_)) => Some("it closed the connection".to_owned()),
            (None, Self::Direct(_)) => Some("it crashed".to_owned()),
        };
        words.unwrap_or_else(|| "it closed its standard output".to_owned())
    }

    /// The last lines of the server's standard error.
    pub(super) async fn stderr(&self) -> Vec<String> {
        match self.child() {
            Some(child) => child.process.stderr().await,
            None => Vec::new(),
        }
    }

    /// Whether one failed call means that the whole server is gone: a further request to an HTTP endpoint may still
    /// succeed.
    pub(super) fn dies_whole(&self) -> bool {
        matches!(self, Self::Direct(_)) || self.child().is_some()
    }

    /// Ends the server at once, without waiting.
    pub(super) fn kill(&self) {
        match self {
            Self::Client(client) => client.kill(),
            Self::Direct(direct) => direct.ended.cancel(),
        }
    }

    /// Ends the server at once and waits until it is gone: 5 s at most.
    pub(super) async fn end(&self) {
        self.kill();
        if let Some(child) = self.child() {
            child.process.end().await;
        }
    }

    /// Ends the server: about 7 s at most.
    pub(super) async fn close(&self) {
        match self {
            Self::Client(client) => client.close().await,
            Self::Direct(direct) => direct.ended.cancel(),
        }
    }
}

/// The result, or an error if it is too large.
fn bounded(result: ToolResult) -> Result<ToolResult, CallFailure> {
    if size(&result) > MAX_RESULT { Err(CallFailure::TooLarge(MAX_RESULT)) } else { Ok(result) }
}

/// The size of a result's content in bytes; files count by the size of what their base64 decodes to.
fn size(result: &ToolResult) -> usize {
    let decoded = |part: &Content| part.data().map_or(0, |data| data.len() / 4 * 3);
    let text = |part: &Content| part.as_text().map_or(0, str::len);
    result.content.iter().map(|part| decoded(part) + text(part)).sum()
}
