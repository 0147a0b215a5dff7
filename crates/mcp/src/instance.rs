//! A server that is kept running: restarted a limited number of times, and called by a limited number of calls at
//! once.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::{Mutex as AsyncMutex, Semaphore};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::call_failure::CallFailure;
use super::config::ServerConfig;
use super::connection::{Connection, StartedServer, Surroundings, start};
use super::outcome::{CallError, CallLimits, CallOutcome};
use super::resource::{self, READ_RESOURCE};
use super::status::{HostEvent, ServerState, ServerStatus, StartError};
use super::{ServerTools, ToolName, ToolResult};

/// A server that is not ready after this time is reported as slow, again and again.
const SLOW: Duration = Duration::from_secs(10);

/// A server of a host.
pub(super) struct Instance {
    config: Arc<ServerConfig>,
    surroundings: Arc<Surroundings>,
    places: Option<Semaphore>,
    /// The connection to the server; without one, the state that is shown says why. The lock is held during a restart:
    /// other calls wait for it.
    living: AsyncMutex<Option<Connection>>,
    restarts: AtomicU32,
    noise: Arc<AtomicU64>,
    shown: Mutex<Snapshot>,
    /// Set when the host closes: nothing is started any more.
    closing: CancellationToken,
}

/// The state that can be read without waiting.
struct Snapshot {
    state: ServerState,
    stderr: Vec<String>,
    tools: Arc<ServerTools>,
    has_resources: bool,
    /// The addresses that results of this session have linked to: only these can be read.
    links: HashSet<String>,
}

impl Instance {
    /// Starts a server, unless it is disabled. The result is in its status.
    pub(super) async fn start(config: Arc<ServerConfig>, surroundings: Arc<Surroundings>) -> Self {
        let tools = ServerTools { server: config.name.clone(), tools: Vec::new(), rejected: Vec::new() };
        let shown = Snapshot {
            state: ServerState::Disabled,
            stderr: Vec::new(),
            tools: Arc::new(tools),
            has_resources: false,
            links: HashSet::new(),
        };
        let places = config.max_concurrent.map(|places| places.clamp(1, Semaphore::MAX_PERMITS));
        let mut instance = Self {
            places: places.map(Semaphore::new),
            config,
            surroundings,
            living: AsyncMutex::default(),
            restarts: AtomicU32::new(0),
            noise: Arc::default(),
            shown: Mutex::new(shown),
            closing: CancellationToken::new(),
        };
        if !instance.config.is_disabled {
            *instance.living.get_mut() = match instance.start_watched().await {
                Ok(started) => {
                    let ready = started.ready.clone();
                    let connection = instance.adopt(started);
                    instance.report(|server| HostEvent::Ready { server, ready });
                    Some(connection)
                }
                Err(error) => {
                    instance.shown().stderr = error.stderr().to_vec();
                    instance.fail(error);
                    None
                }
            };
        }
        instance
    }

    fn report(&self, event: impl FnOnce(String) -> HostEvent) {
        (self.surroundings.events)(event(self.config.name.clone()));
    }

    /// Shows and reports that the server cannot be called.
    fn fail(&self, error: StartError) {
        self.shown().state = ServerState::Failed(error.clone());
        self.report(|server| HostEvent::Failed { server, error });
    }

    /// Shows a server that has just been started. The links of an earlier session are no longer valid.
    fn adopt(&self, started: StartedServer) -> Connection {
        let mut shown = self.shown();
        shown.links.clear();
        shown.has_resources = started.has_resources;
        shown.state = ServerState::Ready(started.ready);
        shown.tools = Arc::new(started.tools);
        started.connection
    }

    /// Starts the server, and reports an event if it takes long.
    async fn start_watched(&self) -> Result<StartedServer, StartError> {
        let mut starting = std::pin::pin!(start(&self.config, &self.surroundings, &self.noise));
        let began = Instant::now();
        loop {
            if let Ok(started) = timeout(SLOW, &mut starting).await {
                return started;
            }
            self.report(|server| HostEvent::Slow { server, waited: began.elapsed() });
        }
    }

    pub(super) fn config(&self) -> &Arc<ServerConfig> {
        &self.config
    }

    pub(super) fn tools(&self) -> Arc<ServerTools> {
        Arc::clone(&self.shown().tools)
    }

    pub(super) async fn status(&self) -> ServerStatus {
        // During a restart, when the lock is held, the lines of the last start are returned.
        let connection = self.living.try_lock().ok().and_then(|living| living.clone());
        let (mut state, mut stderr) = {
            let shown = self.shown();
            (shown.state.clone(), shown.stderr.clone())
        };
        if let Some(connection) = connection {
            stderr = connection.stderr().await;
            if connection.has_ended() {
                state = ServerState::Died { reason: connection.last_words().await };
            }
        }
        ServerStatus {
            server: self.config.name.clone(),
            state,
            restarts: self.restarts.load(Ordering::Relaxed),
            noise: self.noise.load(Ordering::Relaxed),
            stderr,
        }
    }

    /// Calls a tool; a tool that is not offered is not sent to the server.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        limits: CallLimits,
        cancel: &CancellationToken,
    ) -> CallOutcome {
        let asked = Instant::now();
        if !self.offers(tool) {
            return self.unknown(tool, Duration::ZERO);
        }
        let ready = async {
            let place = match &self.places {
                Some(places) => places.acquire().await.ok(),
                None => None,
            };
            self.connection().await.map(|connection| (place, connection))
        };
        let ready = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(CallError::Cancelled),
            () = self.closing.cancelled() => Err(self.unavailable(&StartError::Closed)),
            ready = timeout(limits.left(), ready) => match ready {
                // A place that becomes free at the very end comes too late for a call whose time is over.
                Ok(ready) if !limits.left().is_zero() => ready.map_err(|error| self.unavailable(&error)),
                _ => Err(CallError::NeverSent { server: self.config.name.clone(), limit: limits.whole }),
            },
        };
        let waited = asked.elapsed();
        let (_place, connection) = match ready {
            Ok(ready) => ready,
            Err(error) => return CallOutcome::not_sent(error, waited),
        };
        // A server that was restarted may list other tools.
        if !self.offers(tool) {
            return self.unknown(tool, waited);
        }
        let sent = Instant::now();
        let call = self.call_on(&connection, tool, arguments, cancel);
        let left = limits.left();
        let result = timeout(left.min(limits.sent), call).await.unwrap_or_else(|_| {
            // Reports whichever limit was reached.
            let limit = if left < limits.sent { limits.whole } else { limits.sent };
            Err(CallError::TimedOutTotal { server: self.config.name.clone(), limit })
        });
        CallOutcome { result, elapsed: sent.elapsed(), waited }
    }

    async fn call_on(
        &self,
        connection: &Connection,
        tool: &str,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Result<ToolResult, CallError> {
        let on_progress = |report: rmcp::model::ProgressNotificationParam| {
            (self.surroundings.events)(HostEvent::Progress {
                tool: ToolName { server: self.config.name.clone(), tool: tool.to_owned() },
                progress: report.progress,
                total: report.total,
                message: report.message,
            });
        };
        let timeouts = &self.config.timeouts;
        let called = if self.reads_resources(tool) {
            let uri = arguments.get("uri").and_then(Value::as_str).unwrap_or_default();
            if !self.shown().links.contains(uri) {
                return Ok(ToolResult::error(resource::no_link(uri)));
            }
            connection.read_resource(uri, timeouts, cancel, on_progress).await
        } else {
            connection.call(tool, arguments, timeouts, cancel, on_progress).await
        };
        let failure = match called {
            Ok(result) => {
                resource::keep_links(&mut self.shown().links, &result);
                return Ok(result);
            }
            Err(failure) => failure,
        };
        let server = self.config.name.clone();
        Err(match failure {
            CallFailure::Protocol { code, message } => CallError::Protocol { server, code, message },
            CallFailure::Idle => CallError::TimedOutIdle { server, limit: timeouts.idle },
            CallFailure::Total => CallError::TimedOutTotal { server, limit: timeouts.total },
            CallFailure::Cancelled => CallError::Cancelled,
            CallFailure::TooLarge(limit) => CallError::TooLarge { server, limit },
            CallFailure::Malformed(reason) => CallError::Malformed { server, reason },
            CallFailure::Status(status, reason) => CallError::Status { server, status, reason },
            CallFailure::Died(reason) if !connection.dies_whole() && reason.is_some() => {
                CallError::ServerDied { server, reason: reason.unwrap_or_default() }
            }
            CallFailure::Died(_) => {
                let reason = connection.last_words().await;
                connection.kill();
                // The caller that cancelled may have ended the server first.
                if cancel.is_cancelled() {
                    return Err(CallError::Cancelled);
                }
                CallError::ServerDied { server, reason }
            }
        })
    }

    /// A connection that can be called; a server that died is started again.
    async fn connection(&self) -> Result<Connection, StartError> {
        loop {
            let connection = self.living().await?;
            connection.settled().await;
            if !connection.has_ended() {
                return Ok(connection);
            }
        }
    }

    async fn living(&self) -> Result<Connection, StartError> {
        let mut living = self.living.lock().await;
        if self.closing.is_cancelled() {
            return Err(StartError::Closed);
        }
        let state = self.shown().state.clone();
        let reason = match (&*living, state) {
            (Some(connection), _) if !connection.has_ended() => return Ok(connection.clone()),
            (Some(connection), _) => {
                let reason = connection.last_words().await;
                let stderr = connection.stderr().await;
                self.shown().stderr = stderr;
                // Remains of the old server might be in the way of the new one.
                connection.end().await;
                self.report(|server| HostEvent::Died { server, reason: reason.clone() });
                reason
            }
            (None, ServerState::Died { reason }) => reason,
            (None, ServerState::Failed(error)) => return Err(error),
            // A server without a connection that is shown as ready has been closed meanwhile.
            (None, ServerState::Disabled | ServerState::Ready(_)) => return Err(StartError::Disabled),
        };
        *living = None;
        let limit = self.config.restarts;
        let restarts = self.restarts.load(Ordering::Relaxed);
        if restarts >= limit {
            let error = StartError::Restarts { restarts, reason };
            self.fail(error.clone());
            return Err(error);
        }
        self.shown().state = ServerState::Died { reason };
        self.restarts.store(restarts + 1, Ordering::Relaxed);
        match self.start_watched().await {
            Ok(started) => {
                let connection = self.adopt(started);
                self.report(|server| HostEvent::Restarted { server, restart: restarts + 1, limit });
                *living = Some(connection.clone());
                Ok(connection)
            }
            Err(error) => {
                self.shown().stderr = error.stderr().to_vec();
                self.shown().state = ServerState::Died { reason: error.to_string() };
                Err(error)
            }
        }
    }

    /// Ends the server: about 7 s at most. Running calls are lost.
    pub(super) async fn close(&self) {
        // Calls that wait for a place or a restart then release the lock.
        self.closing.cancel();
        let before = self.living.lock().await.take();
        if let Some(connection) = before {
            let stderr = connection.stderr().await;
            connection.close().await;
            self.shown().stderr = stderr;
        }
    }

    /// Whether this is the host's own tool, which reads resources of a server that has some and no tool of this name,
    /// offered or not. The user's filter applies to it as to the server's tools.
    pub(super) fn reads_resources(&self, tool: &str) -> bool {
        let shown = self.shown();
        tool == READ_RESOURCE
            && shown.has_resources
            && self.config.tools.offers(READ_RESOURCE)
            && !shown.tools.tools.iter().any(|offered| offered.name == READ_RESOURCE)
            && !shown.tools.rejected.iter().any(|rejected| rejected.name == READ_RESOURCE)
    }

    /// Whether the server offers the tool. A server that failed to start may offer any; for a server that died, its
    /// last list counts.
    fn offers(&self, tool: &str) -> bool {
        if self.reads_resources(tool) {
            return true;
        }
        let shown = self.shown();
        matches!(shown.state, ServerState::Failed(_) | ServerState::Disabled)
            || shown.tools.tools.iter().any(|offered| offered.name == tool)
    }

    fn unknown(&self, tool: &str, waited: Duration) -> CallOutcome {
        let error = CallError::UnknownTool { server: self.config.name.clone(), tool: tool.to_owned() };
        CallOutcome::not_sent(error, waited)
    }

    fn unavailable(&self, error: &StartError) -> CallError {
        CallError::Unavailable { server: self.config.name.clone(), reason: error.to_string() }
    }

    fn shown(&self) -> MutexGuard<'_, Snapshot> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
