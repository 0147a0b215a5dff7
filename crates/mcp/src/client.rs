//! One connection to a server that speaks MCP: the beginning of the session, the list of tools, calls with their time limits.
//!
//! rmcp's service numbers requests and finds their answers. Time limits, cancellation and the end of a connection are
//! handled here, because a server that stops reading must not keep a call from ending.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientConfig, ClientNotification,
    ClientRequest, ErrorCode, ErrorData, Implementation, ListToolsRequest, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, RequestId, ServerResult,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, Peer, PeerRequestOptions, RequestContext, RequestHandle,
    RunningService, ServiceError,
};
use rmcp::transport::Transport;
use rmcp::{ClientHandler, RoleClient, service};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::call_failure::{CallFailure, NoConnection, Versions, describe, short, whole_reason};
use super::config::Timeouts;
use super::lines::RefusedAnswers;
use super::status::ReadyServer;
use super::stdio::StdioChild;

/// The most pages of a server's list of tools.
const MAX_PAGES: usize = 100;

/// How many tools of a page are compared with those before, to see that the list begins again.
const MAX_SAME: usize = 100;

/// The most tools that a server may list.
const MAX_TOOLS: usize = 10_000;

/// The most bytes of a server's list of tools; the benchmark's 232 tools take 161 KB together.
const MAX_LIST: usize = 8 << 20;

/// If a cancellation cannot be sent for this long, the server has stopped reading.
const DELIVERY: Duration = Duration::from_millis(500);

/// A connection to a server.
pub(super) struct Client {
    peer: Peer<RoleClient>,
    /// Ends the service when it is dropped.
    _service: RunningService<RoleClient, Handler>,
    /// The facts from the handshake; nothing is known about tools yet.
    pub(super) greeting: ReadyServer,
    /// Whether the server has resources that can be read.
    pub(super) has_resources: bool,
    listeners: Arc<Listeners>,
    refused: Arc<RefusedAnswers>,
    /// Set when no answer will come any more.
    ended: CancellationToken,
    stop: CancellationToken,
    pub(super) child: Option<StdioChild>,
    calls: AtomicUsize,
    undelivered: AtomicUsize,
}

impl Client {
    /// Begins the session. The caller limits the time. `ended` is set by the transport when it ends.
    ///
    /// # Errors
    /// [`NoConnection`] if the server's part of it is wrong.
    pub(super) async fn connect(
        transport: impl Transport<RoleClient> + 'static,
        lifecycle: ClientLifecycleMode,
        ended: CancellationToken,
        refused: Arc<RefusedAnswers>,
    ) -> Result<Self, NoConnection> {
        let listeners = Arc::new(Listeners::default());
        let stop = CancellationToken::new();
        let handler = Handler(Arc::clone(&listeners));
        let service =
            service::serve_client_with_lifecycle_and_ct(handler, transport, lifecycle, stop.clone()).await;
        let service = service.map_err(|error| describe(&error))?;
        let peer = service.peer().clone();
        let info = peer.peer_info();
        let info = info.as_ref();
        let implementation = info.and_then(|info| info.server_info.as_ref());
        let greeting = ReadyServer {
            protocol_version: info.map_or(String::new(), |info| short(info.protocol_version.as_str())),
            name: implementation.map_or(String::new(), |server| short(&server.name)),
            version: implementation.map_or(String::new(), |server| short(&server.version)),
            ..ReadyServer::default()
        };
        let has_resources = info.is_some_and(|info| info.capabilities.resources.is_some());
        Ok(Self {
            peer,
            _service: service,
            greeting,
            has_resources,
            listeners,
            refused,
            ended,
            stop,
            child: None,
            calls: AtomicUsize::new(0),
            undelivered: AtomicUsize::new(0),
        })
    }

    /// All tools as the server lists them. The caller limits the time.
    ///
    /// # Errors
    /// [`NoConnection`] if there is no list. A list that does not end is cut off, which is not an error.
    pub(super) async fn list_tools(&self) -> Result<Vec<Value>, NoConnection> {
        let mut tools = Vec::new();
        let mut bytes = 0;
        let mut cursor = None::<String>;
        let mut seen = HashSet::new();
        for _ in 0..MAX_PAGES {
            let params =
                cursor.take().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let request = ListToolsRequest { params, ..ListToolsRequest::default() };
            let answer = self.request(ClientRequest::ListToolsRequest(request)).await;
            let mut page = match answer {
                Ok(Value::Object(page)) => page,
                Ok(other) => {
                    return Err(
                        format!("its list of tools is no object: {}", short(&other.to_string())).into()
                    );
                }
                // A server without tools need not know the method.
                Err(CallFailure::Protocol { code, .. })
                    if code == ErrorCode::METHOD_NOT_FOUND.0 && tools.is_empty() =>
                {
                    break;
                }
                Err(failure) => {
                    let reason = format!("no list of its tools: {}", failure.describe());
                    let is_closed = matches!(failure, CallFailure::Died(_));
                    return Err(NoConnection { is_closed, versions: Versions::Unknown, reason });
                }
            };
            match page.remove("tools") {
                // Some servers never end the list, and begin it again.
                Some(Value::Array(listed))
                    if !listed.is_empty()
                        && listed.iter().take(MAX_SAME).all(|tool| tools.contains(tool)) =>
                {
                    break;
                }
                Some(Value::Array(listed)) => tools.extend(listed.into_iter().take_while(|tool| {
                    bytes += serde_json::to_vec(tool).map_or(0, |text| text.len());
                    bytes <= MAX_LIST
                })),
                _ if tools.is_empty() => return Err("its list of tools has no `tools`".to_owned().into()),
                _ => break,
            }
            match page.remove("nextCursor") {
                Some(Value::String(next))
                    if tools.len() < MAX_TOOLS && bytes <= MAX_LIST && seen.insert(next.clone()) =>
                {
                    cursor = Some(next);
                }
                _ => break,
            }
        }
        tools.truncate(MAX_TOOLS);
        Ok(tools)
    }

    /// Sends a request and waits for its answer or the end of the connection.
    async fn request(&self, request: ClientRequest) -> Result<Value, CallFailure> {
        let handle = self.peer.send_cancellable_request(request, PeerRequestOptions::default()).await;
        let RequestHandle { mut rx, id, .. } = handle.map_err(|_| CallFailure::Died(None))?;
        tokio::select! {
            biased;
            answer = &mut rx => self.read(answer.map_err(|_| CallFailure::Died(None))?, &id),
            () = self.ended.cancelled() => match rx.try_recv() {
                Ok(answer) => self.read(answer, &id),
                Err(_) => Err(CallFailure::Died(None)),
            },
        }
    }

    /// Calls a tool, or reads a resource. If this ends without an answer while the connection lasts, for whatever reason,
    /// a cancellation is sent to the server.
    pub(super) async fn call(
        self: &Arc<Self>,
        request: ClientRequest,
        timeouts: &Timeouts,
        cancel: &CancellationToken,
        mut on_progress: impl FnMut(ProgressNotificationParam) + Send,
    ) -> Result<Value, CallFailure> {
        let started = Instant::now();
        let handle = self.peer.send_cancellable_request(request, PeerRequestOptions::default()).await;
        let RequestHandle { mut rx, id, progress_token, .. } = handle.map_err(|_| CallFailure::Died(None))?;
        let (listener, mut progress) = mpsc::channel(16);
        self.listeners.lock().insert(progress_token.clone(), listener);
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut pending = Pending { client: self, id, token: progress_token, is_answered: false };
        let total = started + timeouts.total;
        let mut idle = started + timeouts.idle;
        loop {
            tokio::select! {
                biased;
                answer = &mut rx => {
                    pending.is_answered = true;
                    return self.read(answer.map_err(|_| CallFailure::Died(None))?, &pending.id);
                }
                () = self.ended.cancelled() => {
                    pending.is_answered = true;
                    return rx.try_recv().map_err(|_| CallFailure::Died(None)).and_then(|answer| self.read(answer, &pending.id));
                }
                () = cancel.cancelled() => return Err(CallFailure::Cancelled),
                () = sleep_until(total) => return Err(CallFailure::Total),
                Some(report) = progress.recv() => {
                    idle = Instant::now() + timeouts.idle;
                    on_progress(report);
                }
                () = sleep_until(idle) => return Err(CallFailure::Idle),
            }
        }
    }

    fn read(&self, answer: Result<ServerResult, ServiceError>, id: &RequestId) -> Result<Value, CallFailure> {
        match answer {
            Ok(ServerResult::CustomResult(result)) => Ok(result.0),
            Ok(other) => {
                serde_json::to_value(other).map_err(|error| CallFailure::Malformed(error.to_string()))
            }
            Err(ServiceError::McpError(error)) => Err(self.refused.take(id).unwrap_or_else(|| {
                CallFailure::Protocol { code: error.code.0, message: error.message.into_owned() }
            })),
            Err(ServiceError::TransportSend(error)) => {
                Err(CallFailure::Died(Some(whole_reason(error.error.as_ref()))))
            }
            Err(_) => Err(CallFailure::Died(None)),
        }
    }

    /// Whether no call can be answered any more.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.is_cancelled() || self.peer.is_transport_closed()
    }

    /// Waits while a cancellation is being sent to a server that does not read; the connection may end in that time.
    pub(super) async fn settled(&self) {
        while self.undelivered.load(Ordering::Relaxed) > 0 && !self.has_ended() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Ends the connection without waiting for anything.
    pub(super) fn kill(&self) {
        self.ended.cancel();
        self.stop.cancel();
        if let Some(child) = &self.child {
            child.process.kill();
        }
    }

    /// Ends the connection, and the process with everything it started: about 7 s at most.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        if let Some(child) = &self.child {
            child.stdin.close().await;
            child.process.close().await;
        }
        self.ended.cancel();
    }

    /// Tells the server that an answer is no longer needed. If the server does not even read this message, and no
    /// other call is waiting for it, the connection is ended.
    fn cancel_request(self: &Arc<Self>, id: RequestId) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        self.undelivered.fetch_add(1, Ordering::Relaxed);
        let peer = self.peer.clone();
        let client = Arc::downgrade(self);
        runtime.spawn(async move {
            let reason = "nobody waits for the result any more".to_owned();
            let params = CancelledNotificationParam::new(Some(id), Some(reason));
            let note = ClientNotification::CancelledNotification(CancelledNotification::new(params));
            let mut sending = std::pin::pin!(peer.send_notification(note));
            while tokio::time::timeout(DELIVERY, &mut sending).await.is_err() {
                let Some(client) = Weak::upgrade(&client) else { return };
                if client.calls.load(Ordering::Relaxed) == 0 {
                    client.kill();
                    break;
                }
            }
            if let Some(client) = Weak::upgrade(&client) {
                client.undelivered.fetch_sub(1, Ordering::Relaxed);
            }
        });
    }
}

/// A call that waits for its answer. It may be dropped at any time.
struct Pending<'a> {
    client: &'a Arc<Client>,
    id: RequestId,
    token: ProgressToken,
    is_answered: bool,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.client.listeners.lock().remove(&self.token);
        self.client.calls.fetch_sub(1, Ordering::Relaxed);
        if !self.is_answered {
            self.client.cancel_request(self.id.clone());
        }
    }
}

/// The calls that wait for progress.
#[derive(Debug, Default)]
struct Listeners(Mutex<HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>>);

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers the requests of a server, and passes its reports of progress on to the calls that wait for them. No capability
/// is declared, so a server that asks for roots, sampling or a user's input gets the error that there is no such method; a
/// question to the user is declined.
struct Handler(Arc<Listeners>);

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let implementation = Implementation::new("m3", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), implementation)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    #[expect(deprecated, reason = "servers of before the deprecation ask for it")]
    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "roots/list", None))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        if let Some(listener) = self.0.lock().get(&progress.progress_token) {
            // Reports that come too fast are dropped: it only matters that there is progress.
            let _ = listener.try_send(progress);
        }
    }
}
