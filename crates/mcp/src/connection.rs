//! A connection to a server over any transport: how it is made, and how it is called.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, ProgressNotificationParam,
    ReadResourceRequest, ReadResourceRequestParams,
};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::ServerTools;
use super::call_failure::{CallFailure, NoConnection, Versions};
use super::client::{Client, Lifecycle};
use super::config::{ServerConfig, Timeouts, Transport};
use super::content::{Content, ToolResult};
use super::http;
use super::in_process::Direct;
use super::lines::MAX_RESULT;
use super::process::Launch;
use super::resource;
use super::status::{Events, StartError};
use super::stdio;

/// Data that all servers of a host share.
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
    pub(super) tools: ServerTools,
    pub(super) protocol_version: String,
    pub(super) name: String,
    pub(super) version: String,
    /// Whether the server has resources that can be read.
    pub(super) has_resources: bool,
    pub(super) time: Duration,
}

/// Starts a server: process or connection, beginning of the session, tools, all within its start timeout.
///
/// # Errors
/// [`StartError`] if any step fails; nothing is left running then.
pub(super) async fn start(
    config: &ServerConfig,
    surroundings: &Surroundings,
    noise: &Arc<AtomicU64>,
) -> Result<StartedServer, StartError> {
    let started = Instant::now();
    match &config.transport {
        Transport::Stdio { command, args, env, cwd } => {
            let workspace = surroundings.workspace.as_path();
            let folder = cwd.as_deref().map_or(workspace.to_owned(), |cwd| workspace.join(cwd));
            let launch = Launch { command, args, env, folder: &folder, guard: surroundings.guard.as_deref() };
            let begin =
                |lifecycle| begin_process(config, &launch, &surroundings.events, noise, started, lifecycle);
            with_or_without_handshake(
                Box::pin(begin(Lifecycle::Initialize)),
                Box::pin(begin(Lifecycle::Discover)),
            )
            .await
        }
        Transport::Http { url, headers } => {
            let begin = |lifecycle| begin_http(config, url, headers, started, lifecycle);
            with_or_without_handshake(
                Box::pin(begin(Lifecycle::Initialize)),
                Box::pin(begin(Lifecycle::Discover)),
            )
            .await
        }
        Transport::Unusable { reason } => Err(StartError::Unusable { reason: reason.clone() }),
        Transport::InProcess(server) => {
            let toolbox = Arc::clone(&server.0);
            let tools = ServerTools {
                server: config.name.clone(),
                tools: toolbox.tools().to_vec(),
                rejected: Vec::new(),
            };
            let name = toolbox.name().to_owned();
            Ok(StartedServer {
                connection: Connection::Direct(Arc::new(Direct::new(toolbox))),
                tools,
                protocol_version: String::new(),
                name,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                has_resources: false,
                time: started.elapsed(),
            })
        }
    }
}

/// The fault of a server that more time does not mend.
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

/// Begins a session with the handshake, and without one if the server refuses it: servers that speak both take the
/// handshake, so all but the newest ones are greeted as they always were.
async fn with_or_without_handshake(
    with: impl Future<Output = Result<StartedServer, NoSession>>,
    without: impl Future<Output = Result<StartedServer, NoSession>>,
) -> Result<StartedServer, StartError> {
    let refused = match with.await {
        Err(NoSession { error, versions: Versions::Refused }) => error,
        ended => return ended.map_err(|failure| failure.error),
    };
    match without.await {
        Err(NoSession { versions: Versions::Unknown | Versions::Refused, .. }) => Err(refused),
        ended => ended.map_err(|failure| failure.error),
    }
}

async fn begin_http(
    config: &ServerConfig,
    url: &str,
    headers: &BTreeMap<String, String>,
    started: Instant,
    lifecycle: Lifecycle,
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
    lifecycle: Lifecycle,
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
        Ok(Err(NoConnection { is_closed: true, reason, versions })) => {
            let _ = child.process.last_words().await;
            let stderr = child.process.stderr().await;
            let error = match child.process.ending() {
                Some(how) => StartError::Exited { how, stderr },
                None => StartError::Protocol { reason, stderr },
            };
            NoSession { error, versions }
        }
        Ok(Err(NoConnection { is_closed: false, reason, versions })) => NoSession {
            error: StartError::Protocol { reason, stderr: child.process.stderr().await },
            versions,
        },
        Err(_) => StartError::TimedOut { limit, stderr: child.process.stderr().await }.into(),
    };
    child.process.end().await;
    Err(failure)
}

fn from_client(config: &ServerConfig, client: Client, tools: Vec<Value>, started: Instant) -> StartedServer {
    let greeting = client.greeting.clone();
    StartedServer {
        connection: Connection::Client(Arc::new(client)),
        tools: ServerTools::from_wire(&config.name, tools),
        protocol_version: greeting.protocol_version,
        name: greeting.name,
        version: greeting.version,
        has_resources: greeting.has_resources,
        time: started.elapsed(),
    }
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
            Self::Direct(direct) => direct.has_ended(),
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
        let words = match self {
            Self::Client(client) => match &client.child {
                Some(child) => child.process.last_words().await,
                None => Some("it closed the connection".to_owned()),
            },
            Self::Direct(_) => Some("it crashed".to_owned()),
        };
        words.unwrap_or_else(|| "it closed its standard output".to_owned())
    }

    /// The last lines of the server's standard error.
    pub(super) async fn stderr(&self) -> Vec<String> {
        match self {
            Self::Client(client) => match &client.child {
                Some(child) => child.process.stderr().await,
                None => Vec::new(),
            },
            Self::Direct(_) => Vec::new(),
        }
    }

    /// Whether one failed call means that the whole server is gone: a further request to an HTTP endpoint may still
    /// succeed.
    pub(super) fn dies_whole(&self) -> bool {
        match self {
            Self::Client(client) => client.child.is_some(),
            Self::Direct(_) => true,
        }
    }

    /// Ends the server at once, without waiting.
    pub(super) fn kill(&self) {
        match self {
            Self::Client(client) => client.kill(),
            Self::Direct(direct) => direct.kill(),
        }
    }

    /// Ends the server at once and waits until it is gone: 5 s at most.
    pub(super) async fn end(&self) {
        self.kill();
        if let Self::Client(client) = self
            && let Some(child) = &client.child
        {
            child.process.end().await;
        }
    }

    /// Ends the server: about 7 s at most.
    pub(super) async fn close(&self) {
        match self {
            Self::Client(client) => client.close().await,
            Self::Direct(direct) => direct.kill(),
        }
    }
}

/// The result, or an error if it is too large.
fn bounded(result: ToolResult) -> Result<ToolResult, CallFailure> {
    if size(&result) > MAX_RESULT { Err(CallFailure::TooLarge(MAX_RESULT)) } else { Ok(result) }
}

/// The size of a result's content in bytes; files count by the size of what their base64 decodes to.
fn size(result: &ToolResult) -> usize {
    let decoded = |data: &str| data.len() / 4 * 3;
    let blob = |resource: &Map<String, Value>| match resource.get("blob") {
        Some(Value::String(blob)) => decoded(blob),
        _ => 0,
    };
    let parts = result.content.iter().map(|part| match part {
        Content::Image { data, .. } | Content::Audio { data, .. } => decoded(data),
        Content::Resource(resource) => blob(resource) + part.as_text().map_or(0, str::len),
        _ => part.as_text().map_or(0, str::len),
    });
    parts.sum()
}
