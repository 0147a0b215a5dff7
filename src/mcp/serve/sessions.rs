//! The sessions of streamable HTTP: `rmcp`'s own, with our transport around each and a limit on their number.

use std::time::Duration;

use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::WorkerTransport;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use tokio_util::sync::CancellationToken;

use super::transport::ToolTransport;

/// More sessions than these are refused: a client that only ever begins new ones must not fill the memory.
const MAX_SESSIONS: usize = 1000;

/// A session unused for so long is closed. A model may think for minutes, a person reads for longer.
const IDLE: Duration = Duration::from_hours(1);

/// How long an answer is kept for a client whose connection broke, which comes back after three seconds.
const KEPT: Duration = Duration::from_secs(10);

/// The sessions of one server.
pub(super) struct Sessions(LocalSessionManager);

#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
    #[error("more than {MAX_SESSIONS} sessions at once")]
    TooMany,
}

impl Sessions {
    pub(super) fn new() -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(IDLE);
        sessions.session_config.completed_cache_ttl = KEPT;
        Self(sessions)
    }
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = ToolTransport<WorkerTransport<LocalSessionWorker>>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionsError> {
        if self.0.sessions.read().await.len() >= MAX_SESSIONS {
            return Err(SessionsError::TooMany);
        }
        let (id, transport) = self.0.create_session().await?;
        Ok((id, ToolTransport::new(transport, CancellationToken::new())))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionsError> {
        Ok(self.0.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionsError> {
        Ok(self.0.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionsError> {
        Ok(self.0.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        Ok(self.0.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionsError> {
        Ok(self.0.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        Ok(self.0.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        Ok(self.0.resume(id, last_event_id).await?)
    }
}
