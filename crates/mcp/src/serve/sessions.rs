//! The sessions of streamable HTTP: sessions of `rmcp`, limited in number, each with a [`ToolTransport`].

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::WorkerTransport;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use tokio_util::sync::CancellationToken;

use super::transport::ToolTransport;

/// The most sessions. Beyond this, the longest unused one is ended, so that a client that only begins new sessions
/// neither fills the memory nor locks others out.
const MAX_SESSIONS: usize = 1000;

/// A session that is unused for this long is closed. A model may think for minutes, and a person may read for longer.
const IDLE: Duration = Duration::from_hours(1);

/// How long an answer is kept for a client whose connection broke; it reconnects after three seconds.
const KEPT: Duration = Duration::from_secs(10);

/// The sessions of one server.
pub(super) struct Sessions {
    inner: LocalSessionManager,
    /// When each session was last used.
    used: Mutex<HashMap<SessionId, Instant>>,
}

impl Sessions {
    pub(super) fn new() -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(IDLE);
        sessions.session_config.completed_cache_ttl = KEPT;
        Self { inner: sessions, used: Mutex::default() }
    }

    fn used(&self) -> MutexGuard<'_, HashMap<SessionId, Instant>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self, id: &SessionId) {
        if let Some(last) = self.used().get_mut(id) {
            *last = Instant::now();
        }
    }

    /// Makes room for one more session. Sessions that ended by themselves are removed here at the latest.
    async fn make_place(&self) -> Result<(), LocalSessionManagerError> {
        let longest_unused = {
            let open = self.inner.sessions.read().await;
            let mut used = self.used();
            used.retain(|id, _| open.contains_key(id));
            if open.len() < MAX_SESSIONS {
                return Ok(());
            }
            used.iter().min_by_key(|(_, last)| **last).map(|(id, _)| id.clone())
        };
        match longest_unused {
            Some(id) => self.close_session(&id).await,
            None => Ok(()),
        }
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = ToolTransport<WorkerTransport<LocalSessionWorker>>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), LocalSessionManagerError> {
        self.make_place().await?;
        let (id, transport) = self.inner.create_session().await?;
        self.used().insert(id.clone(), Instant::now());
        Ok((id, ToolTransport::new(transport, CancellationToken::new())))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, LocalSessionManagerError> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, LocalSessionManagerError> {
        self.touch(id);
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), LocalSessionManagerError> {
        self.used().remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, LocalSessionManagerError> {
        self.touch(id);
        self.inner.create_stream(id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), LocalSessionManagerError> {
        self.touch(id);
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, LocalSessionManagerError> {
        self.touch(id);
        self.inner.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, LocalSessionManagerError> {
        self.touch(id);
        self.inner.resume(id, last_event_id).await
    }
}
